"""Editing a JSON text in place: what is not asked for keeps every byte.

Owns finding the parts of a text, and adding, replacing and removing one in the
style of what stands around it. Loading and dumping a file that a person keeps
would reflow its lists and rewrite its numbers. Knows nothing of what the text
means; every function returns a new text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_SPACE = re.compile(r"[ \t\r\n]*")


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


@dataclass(frozen=True)
class Part:
    """A value in a text: ``text[start:end]``.

    ``outer`` is where its member begins: at the key, in an object, else at the value.
    """

    key: str
    value: Any
    outer: int
    start: int
    end: int


def whole(text: str) -> Part:
    """Return the one value of a text; raises ValueError where it is not JSON."""
    start = _skip(text, 1 if text.startswith("\ufeff") else 0)
    value, end = _DECODER.raw_decode(text, start)
    if _skip(text, end) != len(text):
        raise json.JSONDecodeError("Extra data", text, _skip(text, end))
    return Part("", value, start, start, end)


def parts(text: str, container: Part) -> list[Part]:
    """Return the members of an object, or the items of a list, in their order."""
    found = []
    keyed = isinstance(container.value, dict)
    place = _skip(text, container.start + 1)
    while place < container.end - 1:
        outer, key = place, ""
        if keyed:
            key, place = _DECODER.raw_decode(text, place)
            place = _skip(text, _skip(text, place) + 1)
        value, end = _DECODER.raw_decode(text, place)
        found.append(Part(key, value, outer, place, end))
        place = _skip(text, end)
        if text[place] == ",":
            place = _skip(text, place + 1)
    return found


def at(text: str, *path: str | int) -> Part | None:
    """Return the value that keys and numbers lead to; of equal keys the last counts."""
    part = whole(text)
    for step in path:
        inside = parts(text, part) if isinstance(part.value, dict | list) else []
        if isinstance(step, str):
            inside = [other for other in inside if other.key == step][-1:]
        else:
            inside = inside[step : step + 1]
        if not inside:
            return None
        part = inside[0]
    return part


def add(text: str, container: Part, value: object, *, key: str = "") -> str:
    """Add a value at the end of a container, under ``key`` where that is an object."""
    inside = parts(text, container)
    lead = text[container.start + 1 : inside[0].outer] if inside else _lead(text, container)
    if "\n" in lead:
        lead = _newline(text) + lead.rpartition("\n")[2]
        colon, between = ": ", "," + lead
        rendered = json.dumps(value, indent=_unit(text), ensure_ascii=False).replace("\n", lead)
    else:
        colon, between = _inline_style(text)
        rendered = json.dumps(value, separators=(between, colon), ensure_ascii=False)
    if key:
        rendered = json.dumps(key, ensure_ascii=False) + colon + rendered
    if inside:
        return text[: inside[-1].end] + between + rendered + text[inside[-1].end :]
    tail = _newline(text) + _indentation(text, container.start) if "\n" in lead else ""
    return text[: container.start + 1] + lead + rendered + tail + text[container.end - 1 :]


def remove(text: str, container: Part, part: Part) -> str:
    """Remove a member or item, and the comma and space that belong to it."""
    inside = parts(text, container)
    number = next(n for n, other in enumerate(inside) if other.start == part.start)
    if len(inside) == 1:
        return text[: container.start + 1] + text[container.end - 1 :]
    if number == 0:
        return text[: part.outer] + text[inside[1].outer :]
    return text[: inside[number - 1].end] + text[part.end :]


def put(text: str, part: Part, value: object) -> str:
    """Put a plain value in the place of another."""
    return text[: part.start] + json.dumps(value, ensure_ascii=False) + text[part.end :]


def _skip(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match else place


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str) -> str:
    """Return what one level is indented by, after the first indented line."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found.group(1) if found else "  "


def _indentation(text: str, place: int) -> str:
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _lead(text: str, container: Part) -> str:
    """Return what goes before the first item of an empty container."""
    body = text.strip()
    if "\n" not in body and container.end - container.start < len(body):
        return ""  # all of the text is one line, and stays one
    return _newline(text) + _indentation(text, container.start) + _unit(text)


def _inline_style(text: str) -> tuple[str, str]:
    """Return the separators of a text on one line: after keys, and between items."""
    tight = re.search(r'":[^\s]', text) is not None
    return (":", ",") if tight else (": ", ", ")
