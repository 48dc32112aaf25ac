"""Changing what a catalog holds."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from itertools import chain, islice
from operator import attrgetter

from knowrepo.index.catalog import chunks as chunk_tables
from knowrepo.index.catalog import postings
from knowrepo.index.catalog.opening import Opened
from knowrepo.index.catalog.rows import Document, Field, StoredChunk, trust
from knowrepo.index.catalog.schema import hide_leaving
from knowrepo.index.catalog.whole import Tables

_FIELDS = tuple(name for name in Document.__dataclass_fields__ if name != "id")
_values = attrgetter(*_FIELDS)
_INSERT_DOCUMENT = (
    f"INSERT INTO documents (id, {', '.join(_FIELDS)}) VALUES (?, {', '.join('?' * len(_FIELDS))})"
)
_DAY = len("2026-05-01")  # of a date: documents of one day are equally new
_HELD = 2_000  # chunks of a document that are held in memory; a larger one comes in parts


class Catalog(Opened, Tables):
    """An open catalog. Use it as a context manager, or close it."""

    def put(
        self,
        document: Document,
        chunks: Iterable[StoredChunk],
        *,
        tags: Iterable[str] = (),
        names: Iterable[tuple[str, Field]] = (),
        terms: Iterable[tuple[str, Field]] = (),
        analyses: Mapping[str, str] = {},
    ) -> None:
        """Store a document in the place of what the catalog has under its key.

        Chunks, in the order of ``seq``, that are as they were are left alone: of a
        session that grew, only what is new is written. What fails on the way, or
        contradicts itself (ValueError), changes nothing. ``analyses`` are those of
        texts that were analysed before.
        """
        chunks = iter(chunks)
        first = list(islice(chunks, _HELD))
        chunk_tables.check(first)
        "".join(_values(document)).encode()
        tags, names, terms = sorted(set(tags)), list(names), list(terms)
        # A savepoint makes FTS5 write out what it has gathered, which costs more
        # than a small document itself. One that is whole and sound needs none.
        with self.part() if len(first) == _HELD else contextlib.nullcontext():
            old, old_title = self._forget_front_matter(document.key)
            number = self._put_front_matter(old, document, tags, names, terms)
            title = " ".join((document.title, *tags))
            if old is None:
                chunk_tables.add(
                    self._db, self._words, number, title, chain(first, chunks), analyses
                )
            else:
                chunk_tables.replace(
                    self._db, self._words, number, title, old_title, chain(first, chunks), analyses
                )

    def _put_front_matter(
        self,
        number: int | None,
        document: Document,
        tags: list[str],
        names: list[tuple[str, Field]],
        terms: list[tuple[str, Field]],
    ) -> int:
        cursor = self._db.execute(_INSERT_DOCUMENT, (number, *_values(document)))
        number = cursor.lastrowid or 0
        rows = self._db.executemany
        if tags:
            rows("INSERT INTO tags VALUES (?, ?)", [(tag, number) for tag in tags])
        if names:
            order = (
                trust(document.status, document.superseded_by),
                document.date[:_DAY],
                document.path,
            )
            rows(
                "INSERT OR IGNORE INTO names VALUES (?, ?, ?, ?, ?, ?, ?)",
                [(*name, *order, number, document.stale_after) for name in names],
            )
        if terms:
            rows(
                "INSERT OR IGNORE INTO terms VALUES (?, ?, ?)", [(number, *term) for term in terms]
            )
            postings.add(self._db, number, terms)
        return number

    def count_also(self, more: int) -> None:
        """Count so many concepts more that hold no word that will be asked for."""
        (last,) = self._db.execute("SELECT coalesce(max(id), 0) FROM documents").fetchone()
        if more:
            postings.count_also(self._db, range(last + 1, last + 1 + more))

    def _forget_front_matter(self, key: str) -> tuple[int | None, str]:
        """Remove a document but its chunks; returns its number and its title for words."""
        row = self._db.execute("SELECT id, title FROM documents WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None, ""
        number, title = row
        tags = self._db.execute(
            "SELECT tag FROM tags WHERE document = ? ORDER BY tag", (number,)
        ).fetchall()
        terms = self._db.execute("SELECT term, field FROM terms WHERE document = ?", (number,))
        postings.remove(self._db, number, terms.fetchall())
        for table, column in (
            ("tags", "document"), ("names", "document"), ("terms", "document"),
            ("documents", "id"),
        ):  # fmt: skip
            self._db.execute(f"DELETE FROM {table} WHERE {column} = ?", (number,))
        return number, " ".join((title, *(tag for (tag,) in tags)))

    def remove(self, key: str, *, most: int | None = None) -> bool:
        """Remove a document, if it is there; says whether nothing of it is left.

        With ``most``, at most so many of its chunks go. Hide it before: what is
        left of it is no whole document, and is not taken for one later.
        """
        if most is not None and self._shrink(key, most):
            return False
        number, title = self._forget_front_matter(key)
        if number is not None:
            chunk_tables.replace(self._db, self._words, number, "", title, [], {})
            self._db.execute("DELETE FROM leaving WHERE document = ?", (number,))
        return True

    def _shrink(self, key: str, most: int) -> bool:
        """Remove ``most`` chunks of a document that has more than that; says whether it had."""
        title = self._title_for_words(key)
        if not chunk_tables.shrink(self._db, self._words, key, most, title):
            return False
        self._db.execute("UPDATE documents SET oid = '', stamp = '' WHERE key = ?", (key,))
        return True

    def _title_for_words(self, key: str) -> str:
        rows = self._db.execute(
            "SELECT d.title, t.tag FROM documents d LEFT JOIN tags t ON t.document = d.id"
            " WHERE d.key = ? ORDER BY t.tag",
            (key,),
        ).fetchall()
        return " ".join(
            (*(title for title, _ in rows[:1]), *(tag for _, tag in rows if tag is not None))
        )

    def leave(self, keys: Iterable[str]) -> None:
        """Hide exactly these documents from readers, until they are removed or wanted again."""
        self._db.execute("DELETE FROM leaving")
        self._db.executemany(
            "INSERT INTO leaving SELECT id FROM documents WHERE key = ?", [(key,) for key in keys]
        )

    def hide(self, keys: Iterable[str]) -> None:
        """Hide exactly these documents from what is asked of this very connection from now on.

        Nothing can be put into the catalog after it.
        """
        with self.transaction():
            self.leave(keys)
        self._hides = hide_leaving(self._db)

    def restamp(self, key: str, *, stamp: str, date: str | None = None) -> None:
        """Note a new stamp of a document whose content is the same, and perhaps a new date."""
        self._db.execute(
            "UPDATE documents SET stamp = ?, date = coalesce(?, date) WHERE key = ?",
            (stamp, date, key),
        )
        if date is not None:
            self._db.execute(
                "UPDATE names SET date = ?"
                " WHERE document = (SELECT id FROM documents WHERE key = ?)",
                (date[:_DAY], key),
            )

    def attribute(self, key: str, *, project: str, identity: str) -> None:
        """Note of which project a document is whose content is the same."""
        self._db.execute(
            "UPDATE documents SET project = ?, identity = ? WHERE key = ?", (project, identity, key)
        )

    def set_meta(self, key: str, value: str) -> None:
        """Keep a value."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
