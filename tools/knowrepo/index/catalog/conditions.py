"""The condition that a filter is in SQL, and values a few at a time.

Owns what passes a filter. Nothing is asked here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TypeVar

from knowrepo.index.catalog.rows import Filter

_T = TypeVar("_T")


def passing(only: Filter, *, date: str = "d.date") -> tuple[str, list[str]]:
    """Return a condition on `documents d`, always valid, and its values.

    ``date`` is what the dates of the filter are compared with: a session goes
    over days, so where chunks are looked for, theirs count.
    """
    conditions, values = ["1"], []
    for column in ("kind", "agent"):
        if getattr(only, column):
            conditions.append(f"d.{column} = ?")
            values.append(getattr(only, column))
    if only.type:
        conditions.append("d.type = ? COLLATE NOCASE")
        values.append(only.type)
    if only.tag:
        conditions.append("d.id IN (SELECT document FROM tags WHERE tag = ? COLLATE NOCASE)")
        values.append(only.tag)
    if only.since:
        conditions.append(f"{date} >= ?")
        values.append(only.since)
    if only.until:
        # What has no date is of no time: `since` leaves it out by itself.
        conditions.append(f"{date} != '' AND substr({date}, 1, length(?)) <= ?")
        values += [only.until, only.until]
    if only.session:
        conditions.append("d.kind = 'session' AND instr(d.key, ?)")
        values.append(only.session)
    if only.project:
        from knowrepo.sessions.origin import normal_identity

        conditions.append("(d.project = ? OR d.identity != '' AND d.identity = ?)")
        values += [only.project, normal_identity(only.project)]
    if only.keys is not None:
        conditions.append("d.key IN (SELECT value FROM json_each(?))")
        values.append(json.dumps(sorted(only.keys)))
    # Bytes of an argument that are no UTF-8 come as surrogates, which SQLite refuses.
    return " AND ".join(conditions), [value.encode(errors="replace").decode() for value in values]


def batches(items: Sequence[_T], size: int = 500) -> Iterator[Sequence[_T]]:
    """Yield items in runs that are short enough for the placeholders of one statement."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
