"""Which concepts hold a term, as bitmaps: the cost of asking hardly grows with their number.

Owns the table `postings`: for each term, for each way in which a concept holds it, and
for each block of numbers of documents, the bits of those that do. To have what
two common terms share is one operation on some hundred bytes, where rows would have to be
gone through one by one. Of a rare term a block is a byte or two: zeros are not kept.
The term `ALL` is held by every concept.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from knowrepo.index.catalog.conditions import batches
from knowrepo.index.catalog.rows import CALLED, Field

ALL = ""
BLOCK = 4096
"""Numbers of documents in a block: its bits and a term fit a page of SQLite's several times."""
_BLOCK_BYTES = BLOCK // 8


@dataclass(frozen=True)
class Holders:
    """Sets of concepts as the bits of integers, the blocks that hold any laid end to end."""

    blocks: tuple[int, ...]
    every: int
    """All concepts."""
    called: Mapping[str, int]
    """Those that are called by a term: it stands in a title, an alias or a tag."""
    said: Mapping[str, int]
    """Those of which it is said elsewhere in their front matter, and only there."""

    def numbers(self, bits: int) -> list[int]:
        """Return the numbers of the documents in a set, in order."""
        return [self.blocks[at // BLOCK] * BLOCK + at % BLOCK for at in _positions(bits)]

    def set_of(self, numbers: Iterable[int]) -> int:
        """Return the set of some documents; those that are no concepts are left out."""
        bits = bytearray(len(self.blocks) * _BLOCK_BYTES)
        places = {block: index * BLOCK for index, block in enumerate(self.blocks)}
        for number in numbers:
            block, within = divmod(number, BLOCK)
            if block in places:
                at = places[block] + within
                bits[at >> 3] |= 1 << (at & 7)
        return int.from_bytes(bits, "little") & self.every


def held(db: sqlite3.Connection, terms: Sequence[str], hidden: Sequence[int] = ()) -> Holders:
    """Return who holds some terms, without the documents that are hidden."""
    rows: list[tuple[str, int, int, int, bytes]] = []
    for some in batches(sorted({ALL, *terms})):
        rows += db.execute(
            "SELECT term, called, block, start, bits FROM postings"
            f" WHERE term IN ({','.join('?' * len(some))})",
            list(some),
        )
    blocks = tuple(sorted(block for term, _, block, _, _ in rows if term == ALL))
    places = {block: index * _BLOCK_BYTES for index, block in enumerate(blocks)}
    found: tuple[dict[str, int], dict[str, int]] = ({}, {})
    for term, called, block, start, bits in rows:
        if block in places:
            more = int.from_bytes(bits, "little") << 8 * (places[block] + start)
            found[called][term] = found[called].get(term, 0) | more
    said, called_by = found
    holders = Holders(blocks, said.get(ALL, 0), called_by, said)
    if not hidden:
        return holders
    shown = holders.every & ~holders.set_of(hidden)
    return Holders(
        blocks, shown, *({t: b & shown for t, b in d.items()} for d in (called_by, said))
    )


def add(db: sqlite3.Connection, number: int, terms: Iterable[tuple[str, Field]]) -> None:
    """Note that a document holds terms, each in some fields."""
    _change(db, number, terms, held=True)


def remove(db: sqlite3.Connection, number: int, terms: Iterable[tuple[str, Field]]) -> None:
    """Note that a document holds terms no longer; ``terms`` is what was added."""
    _change(db, number, terms, held=False)


def count_also(db: sqlite3.Connection, numbers: range) -> None:
    """Have numbers that are no document's count among the concepts."""
    for block in range(numbers.start // BLOCK, -(-numbers.stop // BLOCK)):
        first, last = max(numbers.start, block * BLOCK), min(numbers.stop, (block + 1) * BLOCK)
        bits = ((1 << (last - first)) - 1) << (first - block * BLOCK)
        bits |= _block(db, block, [ALL]).get((ALL, False), 0)
        db.execute(
            "INSERT OR REPLACE INTO postings VALUES (?, ?, ?, ?, ?)",
            (ALL, False, block, *_packed(bits)),
        )


def _change(
    db: sqlite3.Connection, number: int, terms: Iterable[tuple[str, Field]], *, held: bool
) -> None:
    ways: dict[str, bool] = {}
    for term, field in terms:
        ways[term] = ways.get(term, False) or field in CALLED
    if not ways:
        return
    ways[ALL] = False
    block, at = divmod(number, BLOCK)
    before = _block(db, block, list(ways))
    kept, gone = [], []
    for term, called in ways.items():
        bits = before.get((term, called), 0)
        bits = bits | 1 << at if held else bits & ~(1 << at)
        if bits:
            kept.append((term, called, block, *_packed(bits)))
        else:
            gone.append((term, called, block))
    db.executemany("INSERT OR REPLACE INTO postings VALUES (?, ?, ?, ?, ?)", kept)
    db.executemany("DELETE FROM postings WHERE term = ? AND called = ? AND block = ?", gone)


def _block(db: sqlite3.Connection, block: int, terms: Sequence[str]) -> dict[tuple[str, bool], int]:
    found: dict[tuple[str, bool], int] = {}
    for some in batches(terms):
        rows = db.execute(
            "SELECT term, called, start, bits FROM postings WHERE block = ? AND called IN (0, 1)"
            f" AND term IN ({','.join('?' * len(some))})",
            [block, *some],
        )
        for term, called, start, bits in rows:
            found[term, bool(called)] = int.from_bytes(bits, "little") << 8 * start
    return found


def _packed(bits: int) -> tuple[int, bytes]:
    """Return bits without the zero bytes at either end, and how many were at the start."""
    start = ((bits & -bits).bit_length() - 1) // 8
    bits >>= 8 * start
    return start, bits.to_bytes((bits.bit_length() + 7) // 8, "little")


def _positions(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
