"""Renaming a tag everywhere, so that a vocabulary can be put in order.

Owns how a tag is replaced in a list or in a comma string; a concept that has
the new one already loses the old one. Every edit keeps all other bytes.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

from knowrepo.concepts.document import parse
from knowrepo.concepts.editing import edit


def retagged(files: Mapping[str, bytes], old: str, new: str) -> dict[str, bytes]:
    """Return the new bytes of the concepts that carry the tag ``old``, by path.

    Raises KnowError for the first that cannot be edited: all are, or none.
    """
    found = {}
    for path, data in files.items():
        with edit.in_file(path):
            after = with_tag_renamed(data, old, new)
        if after != data:
            found[path] = after
    return found


def with_tag_renamed(data: bytes, old: str, new: str) -> bytes:
    """Return a concept's bytes with one tag renamed; the same bytes where it has no such tag."""
    value = parse(data).front.get("tags")
    if isinstance(value, str):
        text = _in_text(value, old, new)
        return data if text == value else edit.set_value(data, ["tags"], text)
    if not isinstance(value, list):
        return data
    there = [number for number, item in enumerate(value) if _word(item) == old]
    keep = 0 if any(_word(item) == new for item in value) else 1
    for number in reversed(there[keep:]):
        data = edit.remove(data, ["tags", number])
    return edit.set_value(data, ["tags", there[0]], new) if there[:keep] else data


def near(tag: str, tags: Iterable[str]) -> list[str]:
    """Return the tags that are spelled nearly as ``tag``."""
    folded = {one.casefold(): one for one in tags}
    return [folded[one] for one in difflib.get_close_matches(tag.casefold(), folded, 3, 0.6)]


def _in_text(value: str, old: str, new: str) -> str:
    parts = value.split(",")
    if old not in map(_word, parts):
        return value
    kept: list[str] = []
    has_new = any(_word(part) == new for part in parts)
    for part in parts:
        if _word(part) == old:
            if has_new:
                continue
            part, has_new = part.replace(part.strip(), new), True
        kept.append(part)
    return ",".join(kept).lstrip() if value == value.lstrip() else ",".join(kept)


def _word(item: object) -> str:
    return " ".join(item.split()) if isinstance(item, str) else ""
