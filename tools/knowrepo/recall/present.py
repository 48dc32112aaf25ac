"""What is shown of an answer: lines, bodies, and the fields of its JSON.

Owns what a person or an agent reads: plain lines, one a hit. Recalled text is
quoted with where it comes from; it is never put as an instruction. Markdown and
lists of places are `written`'s; which format is asked for, colours, and the width
of a terminal are the command line's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby

from knowrepo.recall import shown
from knowrepo.recall.hits import Hit
from knowrepo.recall.route import Answer
from knowrepo.recall.tokens import estimate
from knowrepo.units import shorten

JSON_VERSION = 1
A_LINE = 60
"""Tokens of a line of the compact index by our estimate, which is 50 of a real count."""
NOTHING = "no confident match"
_TITLE, _TITLE_AGAIN = 44, 24  # characters of a title, and of one that the reader saw above
_CITED = 100  # characters of a title, and of a heading, above a body
_LEAST = 24  # characters that a summary keeps, however long the rest is
_IN_ORDER = frozenset({"newest", "structured"})  # routes that order equal scores themselves
_MOST_LISTED = 40  # items of a list that `--explain` tells


@dataclass(frozen=True)
class Line:
    """A line of the compact index in its parts: whoever fits it to a width cuts the middle."""

    id: str  # with its brackets
    place: str  # path and date
    title: str
    summary: str
    score: str

    def __str__(self) -> str:
        told = f"{self.title}: {self.summary}" if self.summary else self.title
        return " ".join(filter(None, (self.id, self.place, "|", told, self.score)))


def parts(hit: Hit, *, scored: bool = True, again: bool = False, snippet: str = "") -> Line:
    """Return a hit as the parts of a line.

    ``again`` says that the line above told of the same document. A ``snippet`` stands
    for the summary, in full.
    """
    longest = _TITLE if hit.summary or snippet else _TITLE + shown.SUMMARY
    title = shorten(hit.title, min(longest, _TITLE_AGAIN) if again else longest)
    date = f" {hit.date}" if hit.date else ""
    bare = Line(
        id=f"[{hit.id}]",
        place=" ".join(f"{hit.shown_path}{date}".split()),  # a file name may hold the end of a line
        title=title + _marks(hit),
        summary="",
        score=f"score={hit.score:.2f}" if scored else "",
    )
    room = A_LINE - estimate(f"{bare}: ")
    return replace(bare, summary=snippet or _fitting(hit.summary, room))


def line(hit: Hit, *, scored: bool = True, again: bool = False, snippet: str = "") -> str:
    """Return a hit as one line of the compact index."""
    return str(parts(hit, scored=scored, again=again, snippet=snippet))


def body(hit: Hit) -> str:
    """Return a hit with its whole text under a line that says where it comes from."""
    return f"{citation(hit)}\n\n{text_of(hit)}".rstrip() + "\n"


def citation(hit: Hit) -> str:
    """Return the line that says where a text comes from."""
    place = f"{hit.path}:{hit.line}" if hit.line > 1 else hit.path
    title, heading = (shorten(text, _CITED) for text in (hit.title, hit.heading))
    if shown.key_of(title).startswith(shown.key_of(heading)):
        heading = ""  # the turn that a session is called after
    told = f"{title} > {heading}" if heading else title
    date = f" {hit.date}" if hit.date else ""
    return " ".join(f"[{hit.id}] {place}{date} | {told}{_marks(hit)}".split())


def text_of(hit: Hit) -> str:
    """Return the text of a hit as a reader needs it."""
    text = shown.said_once(hit.text, hit.title) if hit.kind == "concept" else hit.text
    return text.strip()


def ordered(answer: Answer) -> list[Hit]:
    """Return the hits of an answer; of equal scores in the order of paths and places."""
    if answer.route in _IN_ORDER:
        return answer.hits
    return [
        hit
        for _, equal in groupby(answer.hits, lambda hit: hit.score)
        for hit in sorted(equal, key=lambda hit: (hit.path, hit.place, hit.line))
    ]


def trail(answer: Answer) -> str:
    """Return the line that says how an answer came about."""
    none = "no match" if answer.confident or not answer.confidence else NOTHING
    hits = {0: none, 1: "1 hit"}.get(len(answer.hits), f"{len(answer.hits)} hits")
    reason = f" ({answer.reason})" if answer.reason else ""
    return f"{answer.route}{reason}: {hits} in {answer.seconds * 1000:.1f} ms"


def explained(answer: Answer, told: Mapping[str, object]) -> Iterator[str]:
    """Yield how an answer came about, line by line, and what made the score of each hit."""
    sure = "confident" if answer.confident else "not confident"
    yield f"route: {answer.route}" + (f" ({answer.reason})" if answer.reason else "")
    yield f"confidence: {answer.confidence:.2f}, {sure}"
    for name, value in told.items():
        yield f"{name}: {_told(value) or 'none'}"
    for hit in ordered(answer):
        yield f"[{hit.id}] score={_told(hit.score)} {_told(hit.evidence)}".rstrip()


def answer_fields(answer: Answer) -> dict[str, object]:
    """Return what JSON shows of an answer but for its hits."""
    return {
        "version": JSON_VERSION,
        "query": answer.query,
        "route": answer.route,
        "reason": answer.reason,
        "confident": answer.confident,
        "confidence": round(answer.confidence, 4),
        "seconds": round(answer.seconds, 6),
        "behind": answer.behind,
        "pending": answer.pending,
        "notes": answer.notes,
        **({"revision": answer.revision} if answer.revision else {}),
    }


def fields(hit: Hit, *, full: bool) -> dict[str, object]:
    """Return a hit as the object that JSON shows."""
    found: dict[str, object] = {
        "id": hit.id,
        "uid": hit.uid,
        "kind": hit.kind,
        "path": hit.path,
        "line": hit.line,
        "type": hit.type,
        "title": hit.title,
        "heading": hit.heading,
        "date": hit.date,
        "summary": hit.summary,
        "score": hit.score,
        "marks": list(hit.marks),
        "also": list(hit.also),
    }
    if full:
        found["text"] = hit.text
    return found


def _marks(hit: Hit) -> str:
    """Return what is to be known of a hit's standing, and which others say the same."""
    marks = list(hit.marks)
    if hit.also:
        more = len(hit.also) - 1
        marks.append(f"={hit.also[0]}" + (f", +{more}" if more else ""))
    return "".join(f" ({mark})" for mark in marks)


def _fitting(summary: str, room: int) -> str:
    """Return as much of a summary as fits into so many tokens."""
    limit = len(summary)
    while limit > _LEAST and (tokens := estimate(summary)) > room:
        limit = max(_LEAST, min(limit - 1, limit * max(room, 0) // tokens))
        summary = shorten(summary, limit)
    return summary


def _told(value: object) -> str:
    """Return a value as people read it: numbers short, lists with commas, pairs with `=`."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no"}.get(value, "") if value is not None else ""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Mapping):
        return " ".join(f"{name}={_told(one)}" for name, one in value.items())
    if isinstance(value, Collection) and not isinstance(value, str):
        listed = [_told(one) for one in list(value)[:_MOST_LISTED]]
        more = len(value) - len(listed)
        return ", ".join([*listed, *([f"and {more} more"] if more else [])])
    return " ".join(str(value).split())
