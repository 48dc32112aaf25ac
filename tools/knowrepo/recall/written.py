"""An answer as Markdown, and as a list of places: for other documents and other programs.

Owns that recalled text stays what it is there: a quotation that nothing in it can
end, and a line that no file's name can break.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import quote

from knowrepo.recall.hits import Hit
from knowrepo.recall.present import parts, text_of
from knowrepo.sessions.export.markdown import fenced
from knowrepo.terminal import plain

_MEANS_SOMETHING = re.compile(r"([\\`*_{}\[\]<>#|~&!])")
_C_ESCAPES = {"\a": "\\a", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\v": "\\v", "\f": "\\f",
              "\r": "\\r", '"': '\\"', "\\": "\\\\"}  # fmt: skip


def item(
    hit: Hit, *, full: bool, again: bool = False, snippet: Sequence[tuple[str, bool]] = ()
) -> str:
    """Return a hit as an item of a list, linked; with ``full`` its body below, quoted."""
    line = parts(hit, again=again)
    link = quote(hit.path, errors="surrogateescape") + (f"#L{hit.line}" if hit.line > 1 else "")
    date = f", {hit.date}" if hit.date else ""
    head = f"- [{_inline(line.title)}]({link}) (`{hit.id}`{date})"
    if full:
        quoted = "".join(f"  > {line}\n" for line in fenced(plain(text_of(hit))).splitlines())
        return f"{head}\n\n{quoted}"
    told = "".join(
        f"**{_inline(text)}**" if matched else _inline(text) for text, matched in snippet
    )
    told = told or _inline(hit.summary)
    return f"{head}: {told}" if told else head


def paths(hits: Iterable[Hit]) -> Iterator[str]:
    """Yield `path:line` of each hit, each place once.

    A path with characters that no line can hold is quoted as git does.
    """
    yield from dict.fromkeys(f"{_quoted(hit.path)}:{hit.line}" for hit in hits)


def _inline(text: str) -> str:
    """Return a text as Markdown that shows it and nothing else, in one line."""
    return _MEANS_SOMETHING.sub(r"\\\1", re.sub(r"\s+", " ", plain(text)))


def _quoted(path: str) -> str:
    if path.isprintable() and '"' not in path and "\\" not in path:
        return path
    escaped = (
        _C_ESCAPES.get(c)
        or (
            c
            if c.isprintable()
            else "".join(f"\\{b:03o}" for b in c.encode(errors="surrogateescape"))
        )
        for c in path
    )
    return f'"{"".join(escaped)}"'
