"""How ``know recall`` prints what was found: in its format, for a terminal or a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from knowrepo.cli.common import say, show, show_json

if TYPE_CHECKING:
    from knowrepo.recall.budget import Passage
    from knowrepo.recall.hits import Hit
    from knowrepo.recall.present import Line
    from knowrepo.recall.route import Answer

FORMATS = ("text", "json", "md", "paths")
_NARROWEST = 20  # columns that title and summary have, however narrow a terminal is
Pieces = Sequence[tuple[str, bool]]


class Form(NamedTuple):
    """What of an answer is printed, and how."""

    format: str = "text"
    full: bool = False
    snippet: bool = False
    budget: int = 0  # tokens; 0 where there is none
    explain: bool = False
    nearest: bool = False  # also where no hit is worth showing unasked
    quiet: bool = False

    @property
    def needs_text(self) -> bool:
        """Whether hits must come with their whole text."""
        return self.bodies or self.snippet

    @property
    def bodies(self) -> bool:
        """Whether whole texts are printed."""
        return self.full or self.budget > 0


class Printed(NamedTuple):
    """What was printed: the answer as far as it was shown, and how many characters.

    ``heard``: whether somebody listens still.
    """

    answer: Answer
    characters: int
    heard: bool


def print_answer(answer: Answer, form: Form) -> Printed:
    """Print an answer, and on standard error how it came about."""
    from dataclasses import replace

    from knowrepo.recall import present

    withheld = not answer.confident and not form.nearest
    hidden = withheld and bool(answer.hits)
    if withheld:
        answer = replace(answer, hits=[])
    characters = 0
    if form.format == "json":
        found = _object(answer, form)
        characters, heard = len(str(found)), show_json(found)
    else:
        heard = True
        for text in _texts(answer, form):
            characters += len(text)
            heard = show(text, styled=True)
            if not heard:
                break
    printed = Printed(answer, characters, heard)
    if form.quiet:
        return printed
    for note in answer.notes:
        say(f"note: {note}")
    if form.explain and form.format != "json":
        for told in present.explained(answer, _explanation(answer)):
            say(told)
    say(present.trail(answer))
    if hidden:
        say("  `--all` shows the nearest")
    return printed


def print_found(hits: list[Hit], form: Form, at: int = -1, missing: Sequence[str] = ()) -> None:
    """Print what was asked for by id; ``at`` is the place of the id among its neighbours."""
    from knowrepo.recall import present

    if form.format == "json":
        around = {"at": at} if at >= 0 else {}
        found = [present.fields(hit, full=form.full) for hit in hits]
        show_json(
            {"version": present.JSON_VERSION, **around, "missing": list(missing), "hits": found}
        )
    elif form.format == "text" and not form.full and at >= 0:
        for index, hit in enumerate(hits):
            mark = "> " if index == at else "  "
            show(mark + _line(present.parts(hit, scored=False, again=True), indent=2), styled=True)
    else:
        for text in _listed(hits, form):
            show(text, styled=True)


def _texts(answer: Answer, form: Form) -> Iterator[str]:
    """Yield what is printed of an answer, plain but for styles."""
    from knowrepo.recall import present

    hits = present.ordered(answer)
    if form.budget:
        packed = [passage.hit for passage in _packed(hits, form)]
        yield from _listed(packed, form._replace(full=True))
    else:
        yield from _listed(
            hits, form, scored=answer.route != "newest",
            snippets={hit.uid: _snippet(answer, hit) for hit in hits} if form.snippet else {},
        )  # fmt: skip


def _listed(
    hits: Sequence[Hit],
    form: Form,
    *,
    scored: bool = True,
    snippets: Mapping[str, Pieces] | None = None,
) -> Iterator[str]:
    """Yield hits in any format but JSON."""
    from knowrepo.recall import present
    from knowrepo.terminal import plain

    snippets = snippets or {}
    if form.format == "paths":
        from knowrepo.recall.written import paths

        yield from paths(hits)
        return
    seen: set[str] = set()
    for hit in hits:
        again = hit.path in seen
        seen.add(hit.path)
        pieces = snippets.get(hit.uid, ())
        if form.format == "md":
            from knowrepo.recall.written import item

            yield item(hit, full=form.full, again=again, snippet=pieces)
        elif form.full:
            yield plain(present.body(hit))
        else:
            line = present.parts(hit, scored=scored, again=again, snippet=_joined(pieces))
            yield _line(line, pieces=pieces)


def _line(line: Line, *, pieces: Pieces = (), indent: int = 0) -> str:
    """Return a line: whole where a program reads it, fitted to a terminal, in colours."""
    from knowrepo.cli import style
    from knowrepo.terminal import plain

    if not sys.stdout.isatty():
        return plain(str(line))
    from shutil import get_terminal_size

    from knowrepo.cli.width import columns_of, cut

    id_, place, score = plain(line.id), plain(line.place), plain(line.score)
    title = plain(line.title)
    if pieces:  # a part that was asked for is not cut
        told = f"{title}: {_joined(pieces, bold=style.is_styled())}"
    else:
        taken = columns_of(f"{id_} {place} |  {score}") + indent
        room = max(_NARROWEST, get_terminal_size().columns - taken)
        fits = line.summary and room - columns_of(title) > _NARROWEST // 2
        told = cut(f"{title}: {plain(line.summary)}" if fits else title, room)
    if style.is_styled():
        id_ = style.styled(id_, style.CYAN)
        place, bar, score = (style.styled(text, style.DIM) for text in (place, "|", score))
    else:
        bar = "|"
    return " ".join(filter(None, (id_, place, bar, told, score)))


def _joined(pieces: Pieces, *, bold: bool = False) -> str:
    """Return a snippet with what matched in bold type, or between stars."""
    from knowrepo.cli import style

    def marked(text: str) -> str:
        return style.styled(text, style.BOLD) if bold else f"**{text}**"

    return "".join(marked(text) if matched else text for text, matched in pieces)


def _snippet(answer: Answer, hit: Hit) -> Pieces:
    from knowrepo.recall.present import text_of
    from knowrepo.recall.snippet import pieces

    return pieces(text_of(hit), _words(answer))


def _words(answer: Answer) -> Sequence[str]:
    from knowrepo.index.text import content_words
    from knowrepo.recall.search import MOST_WORDS

    return content_words(answer.query)[:MOST_WORDS]


def _packed(hits: Sequence[Hit], form: Form) -> list[Passage]:
    from knowrepo.recall.budget import pack

    return pack(hits, form.budget)


def _explanation(answer: Answer) -> dict[str, object]:
    return {"terms": [str(word) for word in _words(answer)], **answer.explanation}


def _object(answer: Answer, form: Form) -> dict[str, Any]:
    """Return an answer as the object that JSON shows."""
    from knowrepo.recall import present

    hits = present.ordered(answer)
    told = present.answer_fields(answer)
    if form.explain:
        told["explanation"] = _explanation(answer)
    if form.budget:
        packed = _packed(hits, form)
        used = sum(passage.tokens for passage in packed)
        told["budget"] = {"tokens": form.budget, "used": used}
        more = [{"ids": list(one.ids), "tokens": one.tokens, "cut": one.cut} for one in packed]
        hits = [passage.hit for passage in packed]
    else:
        more = [{} for _ in hits]
    if form.snippet:
        more = [{"snippet": _joined(_snippet(answer, hit))} for hit in hits]
    full = form.full or form.budget > 0
    told["hits"] = [
        {
            **present.fields(hit, full=full),
            **({"evidence": dict(hit.evidence)} if form.explain else {}),
            **extra,
        }
        for hit, extra in zip(hits, more, strict=True)
    ]
    return told
