"""What became of the knowledge as Markdown, for a release note or a pull request.

Owns the escaping for a code host's Markdown: a title comes from anybody, and must not
link, call somebody by name, or be markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowrepo.concepts.listed import shown_as_it_is
from knowrepo.history.between import Between, Entry, Sessions
from knowrepo.terminal import plain
from knowrepo.units import count

_JOINER = "\u2060"  # invisible; breaks `@name`, `#12`, `www.` and what else a host would link
_LINKED = re.compile(r"(?<=[@#])(?=\w)|(?<=:)(?=//)|(?<=www)(?=\.)", re.IGNORECASE)


def markdown(found: Between) -> str:
    """Return what differs as Markdown."""
    return "\n".join(_markdown(found))


def _markdown(found: Between) -> Iterator[str]:
    yield f"## Knowledge: {_shown(found.range.said)}"
    if not found.entries and not found.sessions:
        yield from ("", "No concept and no session differs.")
    kind = ""
    for entry in found.entries:
        if entry.kind != kind:
            kind = entry.kind
            yield from ("", f"### {kind.capitalize()}", "")
        yield f"- {_item(entry)}"
    if found.sessions:
        yield from (
            "",
            "### Sessions",
            "",
            *(f"- {_shown(sessions(one))}" for one in found.sessions),
        )


def _item(entry: Entry) -> str:
    text = f"**{_shown(entry.title)}** ({_code(entry.path)})"
    if entry.renamed_from:
        text += f", was {_code(entry.renamed_from)}"
    if entry.kind == "superseded":
        return f"{text}, now {_code(entry.superseded_by)}"
    if entry.kind == "added":
        draft = " *(draft)*" if entry.status == "draft" else ""
        return text + draft + (f": {_shown(entry.description)}" if entry.description else "")
    return text + (f": {_shown(', '.join(entry.changes))}" if entry.changes else "")


def sessions(one: Sessions) -> str:
    """Return how many sessions of a project are new, grew, and are gone."""
    parts = [
        f"{count(one.added, 'session')} added" if one.added else "",
        f"{one.changed} grown" if one.changed else "",
        f"{one.removed} removed" if one.removed else "",
    ]
    return f"{one.project or '(no project known)'}: {', '.join(filter(None, parts))}"


def _shown(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line, and that a host links nowhere."""
    return _LINKED.sub(_JOINER, shown_as_it_is(" ".join(plain(text).split())))


def _code(text: str) -> str:
    """Return a path as code, whatever it holds."""
    line = " ".join(plain(text).split())
    longest = max((len(ticks) for ticks in re.findall("`+", line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{line}{pad}{fence}"
