"""An answer as text and as JSON.

Owns what a person or an agent reads: plain lines, one a hit. Recalled text is
quoted with where it comes from; it is never put as an instruction.
"""

from __future__ import annotations

from collections.abc import Iterator

from knowrepo.recall.hits import Hit
from knowrepo.recall.route import Answer
from knowrepo.terminal import json_text
from knowrepo.units import shorten

JSON_VERSION = 1
_TITLE = 60


def line(hit: Hit, *, scored: bool = True) -> str:
    """Return a hit as one line of the compact index."""
    title = shorten(hit.title, _TITLE)
    marks = "".join(f" ({mark})" for mark in hit.marks)
    date = f" {hit.date}" if hit.date else ""
    summary = "" if hit.summary == title else f": {hit.summary}"
    score = f" score={hit.score:.2f}" if scored else ""
    place = " ".join(hit.shown_path.split())  # a file name may hold the end of a line
    return f"[{hit.id}] {place}{date} | {title}{marks}{summary}{score}"


def body(hit: Hit) -> str:
    """Return a hit with its whole text under a line that says where it comes from."""
    place = f"{hit.path}:{hit.line}" if hit.line > 1 else hit.path
    heading = f" > {hit.heading}" if hit.heading else ""
    date = f" {hit.date}" if hit.date else ""
    marks = "".join(f" ({mark})" for mark in hit.marks)
    head = " ".join(f"[{hit.id}] {place}{date} | {hit.title}{heading}{marks}".split())
    return f"{head}\n\n{hit.text.strip()}\n"


def text(answer: Answer, *, full: bool) -> Iterator[str]:
    """Yield the lines of an answer."""
    for hit in answer.hits:
        yield body(hit) if full else line(hit, scored=answer.route != "newest")


def trail(answer: Answer) -> str:
    """Return the line that says how an answer came about."""
    hits = {0: "no match", 1: "1 hit"}.get(len(answer.hits), f"{len(answer.hits)} hits")
    reason = f" ({answer.reason})" if answer.reason else ""
    return f"{answer.route}{reason}: {hits} in {answer.seconds * 1000:.1f} ms"


def as_json(answer: Answer, *, full: bool) -> str:
    """Return an answer as JSON."""
    return json_text(
        {
            "version": JSON_VERSION,
            "query": answer.query,
            "route": answer.route,
            "reason": answer.reason,
            "seconds": round(answer.seconds, 6),
            "behind": answer.behind,
            "pending": answer.pending,
            "notes": answer.notes,
            "hits": [fields(hit, full=full) for hit in answer.hits],
        }
    )


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
    }
    if full:
        found["text"] = hit.text
    return found
