"""Where the records that a label names stand in an archived transcript.

Owns how they are found again: by their id, else by their line, which redaction and stubs may
have changed since.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import takewhile
from pathlib import Path

_ALIKE = 60
"""Characters that a line has in common with what became of it, at least."""
_LOOKED_AT = 400


def lines_of(labels: Iterable[str], source: Path, archived: Path) -> set[int]:
    """Return the lines, from 1 on, of the records that are labelled.

    A label is a record's `uuid` or `id`, or `L` and the line of ``source`` in which it is.
    What is not found is left out.
    """
    labels = list(labels)
    if not labels or not archived.is_file():
        return set()
    lines = archived.read_bytes().split(b"\n")
    by_id = _ids(lines)
    found = {by_id[label] for label in labels if label in by_id}
    rest = [label for label in labels if label not in by_id and label[1:].isdigit()]
    if rest:
        before = source.read_bytes().split(b"\n")
        numbers = [int(label[1:]) for label in rest]
        became = (_again(before[n - 1], lines) for n in numbers if n <= len(before))
        found |= {line for line in became if line}
    return found


def _ids(lines: list[bytes]) -> dict[str, int]:
    found: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        record = _object(line)
        for value in (record.get("uuid"), record.get("id")):
            if isinstance(value, str):
                found.setdefault(value, number)
    return found


def _again(line: bytes, lines: list[bytes]) -> int:
    """Return the line that a line became: the same, or one of its time that begins as it does."""
    line = line.strip()
    time = str(_object(line).get("timestamp") or "").encode()
    best, at = _ALIKE, 0
    for number, other in enumerate(lines, start=1):
        if other.strip() == line:
            return number
        if time and time in other:
            alike = _alike(line, other)
            if alike > best:
                best, at = alike, number
    return at


def _alike(one: bytes, other: bytes) -> int:
    """Return with how many bytes both begin."""
    pairs = zip(one[:_LOOKED_AT], other[:_LOOKED_AT], strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _object(line: bytes) -> dict[str, object]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
