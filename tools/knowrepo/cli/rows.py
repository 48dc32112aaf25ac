"""Rows of a query as text: a table for people, CSV, JSON and Markdown for programs.

Every cell is freed of what a terminal would obey before it is put between others, so that no
cell can reach beyond its place.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from knowrepo.cli.width import columns_of, cut
from knowrepo.terminal import json_text, plain

Row = Sequence[Any]
LONGEST_CELL = 200  # characters, where a table need not fit a terminal
_NARROWEST = 6  # columns that a cell keeps, however many there are


def formats() -> dict[str, Callable[[Sequence[str], Iterable[Row]], Iterator[str]]]:
    """Return ``{format: what yields its lines}``, the first being the default."""
    return {"table": as_table, "csv": as_csv, "json": as_json, "jsonl": as_jsonl, "md": as_markdown}


def as_table(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    """Yield a table; on a terminal it fits the width, and cells are cut."""
    right = [False] * len(columns)  # numbers, and nothing else, stand at the right
    texts = [False] * len(columns)
    cells = []
    for row in rows:
        cells.append([_line(value, LONGEST_CELL) for value in row])
        for index, value in enumerate(row):
            right[index] = right[index] or _is_number(value)
            texts[index] = texts[index] or not (value is None or _is_number(value))
    heads = [_line(name, LONGEST_CELL) for name in columns]
    widths = [max(map(columns_of, column)) for column in zip(heads, *cells, strict=True)]
    if sys.stdout.isatty():
        widths = _fitting(widths)
    right = [number and not text for number, text in zip(right, texts, strict=True)]
    yield _joined(heads, widths, right)
    yield "  ".join("-" * width for width in widths)
    for line in cells:
        yield _joined(line, widths, right)


def as_csv(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    """Yield CSV with a header; nothing stands for null."""
    import csv
    import io
    import itertools

    for row in itertools.chain([columns], rows):
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="").writerow(
            ["" if value is None else plain(_text(value)) for value in row]
        )
        yield buffer.getvalue()


def as_json(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    """Yield one object: `version`, `columns`, and `rows` as lists, a line each."""
    yield f'{{"version": 1, "columns": {json_text(list(columns))}, "rows": ['
    before = ""
    for row in rows:
        if before:
            yield f"{before},"
        before = json_text([_json(value) for value in row])
    if before:
        yield before
    yield "]}"


def as_jsonl(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    """Yield an object a row; a name that stands twice gets a number."""
    names: list[str] = []
    for column in columns:
        spellings = (column, *(f"{column}_{number}" for number in range(2, len(columns) + 2)))
        names.append(next(name for name in spellings if name not in names))
    for row in rows:
        yield json_text(dict(zip(names, map(_json, row), strict=True)))


def as_markdown(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    """Yield a Markdown table."""
    yield _piped(columns)
    yield _piped(["---"] * len(columns))
    for row in rows:
        yield _piped([_line(value, LONGEST_CELL) for value in row])


def _piped(cells: Iterable[str]) -> str:
    escaped = (_line(c, LONGEST_CELL).replace("\\", "\\\\").replace("|", "\\|") for c in cells)
    return f"| {' | '.join(escaped)} |"


# -- cells ------------------------------------------------------------------------


def _text(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list | tuple | dict):
        return json_text(_json(value))
    return str(value)


def _line(value: Any, most: int) -> str:
    """Return a value as one line of at most ``most`` characters."""
    text = _text(value)
    short = plain(text[: most * 4])  # escapes may take up much of it
    line = " ".join(short.split())
    return line if len(line) <= most and len(text) <= most * 4 else line[: most - 1] + "…"


def _json(value: Any) -> Any:
    from decimal import Decimal
    from math import isfinite

    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float | Decimal):
        return float(value) if isfinite(value) else None
    if isinstance(value, list | tuple):
        return [_json(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _json(item) for key, item in value.items()}
    return _text(value)


def _is_number(value: Any) -> bool:
    from decimal import Decimal

    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


# -- widths -----------------------------------------------------------------------


def _fitting(widths: Sequence[int]) -> list[int]:
    """Return widths that fit the terminal: the widest give way first."""
    import shutil

    found = list(widths)
    room = shutil.get_terminal_size().columns - 2 * (len(found) - 1)
    while sum(found) > room and max(found) > _NARROWEST:
        widest = max(found)
        second = max((width for width in found if width < widest), default=_NARROWEST)
        many = found.count(widest)
        give = min(widest - max(second, _NARROWEST), -(-(sum(found) - room) // many))
        found = [width - give if width == widest else width for width in found]
    return found


def _joined(cells: Iterable[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    parts = []
    for cell, width, to_right in zip(cells, widths, right, strict=True):
        text = cut(cell, width)
        space = " " * (width - columns_of(text))
        parts.append(space + text if to_right else text + space)
    return "  ".join(parts).rstrip()
