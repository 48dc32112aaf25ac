"""Changing what a catalog holds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from knowrepo.index.catalog.opening import Opened
from knowrepo.index.catalog.rows import Document, Field, StoredChunk
from knowrepo.index.catalog.whole import Tables
from knowrepo.index.text import analysed

_CHUNK_FIELDS = tuple(
    name for name in StoredChunk.__dataclass_fields__ if name not in {"id", "document"}
)


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
    ) -> None:
        """Store a document in the place of what the catalog has under its key.

        Chunks that are as they were are left alone: of a session that grew, only
        what is new is written.
        """
        tags = sorted(set(tags))
        number, old_title = self._forget_front_matter(document.key)
        fields = [name for name in Document.__dataclass_fields__ if name != "id"]
        cursor = self._db.execute(
            f"INSERT INTO documents (id, {', '.join(fields)})"
            f" VALUES (?, {', '.join('?' * len(fields))})",
            [number, *(getattr(document, name) for name in fields)],
        )
        number = cursor.lastrowid or 0
        rows = self._db.executemany
        rows("INSERT OR IGNORE INTO tags VALUES (?, ?)", [(tag, number) for tag in tags])
        rows("INSERT OR IGNORE INTO names VALUES (?, ?, ?)", [(n, f, number) for n, f in names])
        terms = list(terms)
        rows("INSERT OR IGNORE INTO terms VALUES (?, ?, ?)", [(t, number, f) for t, f in terms])
        rows(
            "INSERT INTO term_counts VALUES (?, 1)"
            " ON CONFLICT (term) DO UPDATE SET documents = documents + 1",
            [(term,) for term in {"", *(term for term, _ in terms)} if terms],
        )
        self._put_chunks(number, " ".join((document.title, *tags)), old_title, chunks)

    def _put_chunks(
        self, document: int, title: str, old_title: str, chunks: Iterable[StoredChunk]
    ) -> None:
        old = {
            row[1]: row
            for row in self._db.execute(
                f"SELECT id, {', '.join(_CHUNK_FIELDS)} FROM chunks WHERE document = ?", (document,)
            )
        }
        kept: set[str] = set()
        if old:  # what goes makes room for what comes: all must be known first
            chunks = list(chunks)
            new = {chunk.uid: _row(chunk) for chunk in chunks}
            same = title == old_title
            kept = {uid for uid, row in old.items() if same and new.get(uid) == row[1:]}
            self._forget_chunks(old_title, [row for uid, row in old.items() if uid not in kept])
        for chunk in chunks:  # a new session's one by one: it may be larger than the memory
            if chunk.uid in kept:
                continue
            cursor = self._db.execute(
                f"INSERT INTO chunks (document, {', '.join(_CHUNK_FIELDS)})"
                f" VALUES (?, {', '.join('?' * len(_CHUNK_FIELDS))})",
                (document, *_row(chunk)),
            )
            self._db.execute(
                "INSERT INTO words (rowid, title, heading, body) VALUES (?, ?, ?, ?)",
                (cursor.lastrowid, *_words(title, chunk.heading, chunk.text)),
            )

    def _forget_chunks(self, title: str, rows: list[tuple[Any, ...]]) -> None:
        heading, text = (_CHUNK_FIELDS.index(name) + 1 for name in ("heading", "text"))
        # A table without content of its own has to be told what it forgets.
        self._db.executemany(
            "INSERT INTO words (words, rowid, title, heading, body) VALUES ('delete', ?, ?, ?, ?)",
            [(row[0], *_words(title, row[heading], row[text])) for row in rows],
        )
        self._db.executemany("DELETE FROM chunks WHERE id = ?", [(row[0],) for row in rows])

    def _forget_front_matter(self, key: str) -> tuple[int | None, str]:
        """Remove a document but its chunks; returns its number and its title for words."""
        row = self._db.execute("SELECT id, title FROM documents WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None, ""
        number, title = row
        tags = self._db.execute(
            "SELECT tag FROM tags WHERE document = ? ORDER BY tag", (number,)
        ).fetchall()
        self._db.execute(
            "UPDATE term_counts SET documents = documents - 1 WHERE term IN"
            " (SELECT term FROM terms WHERE document = ?1 UNION SELECT '' WHERE EXISTS"
            " (SELECT 1 FROM terms WHERE document = ?1))",
            (number,),
        )
        self._db.execute(
            "DELETE FROM term_counts WHERE documents = 0"
            " AND term IN (SELECT term FROM terms WHERE document = ?1 UNION SELECT '')",
            (number,),
        )
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
            self._put_chunks(number, "", title, [])
            self._db.execute("DELETE FROM leaving WHERE document = ?", (number,))
        return True

    def _shrink(self, key: str, most: int) -> bool:
        """Remove ``most`` chunks of a document that has more than that; says whether it had."""
        rows = self._db.execute(
            f"SELECT c.id, {', '.join(f'c.{name}' for name in _CHUNK_FIELDS)} FROM documents d"
            " JOIN chunks c ON c.document = d.id WHERE d.key = ? LIMIT ?",
            (key, most + 1),
        ).fetchall()
        if len(rows) <= most:
            return False
        title = self._title_for_words(key)
        self._forget_chunks(title, rows[:most])
        self._db.execute("UPDATE documents SET oid = '', stamp = '' WHERE key = ?", (key,))
        return True

    def _title_for_words(self, key: str) -> str:
        rows = self._db.execute(
            "SELECT d.title, t.tag FROM documents d LEFT JOIN tags t ON t.document = d.id"
            " WHERE d.key = ? ORDER BY t.tag",
            (key,),
        ).fetchall()
        return " ".join((rows[0][0], *(tag for _, tag in rows if tag is not None)))

    def leave(self, keys: Iterable[str]) -> None:
        """Hide exactly these documents from readers, until they are removed or wanted again."""
        self._db.execute("DELETE FROM leaving")
        self._db.executemany(
            "INSERT INTO leaving SELECT id FROM documents WHERE key = ?", [(key,) for key in keys]
        )

    def restamp(self, key: str, *, stamp: str, date: str | None = None) -> None:
        """Note a new stamp of a document whose content is the same, and perhaps a new date."""
        self._db.execute(
            "UPDATE documents SET stamp = ?, date = coalesce(?, date) WHERE key = ?",
            (stamp, date, key),
        )

    def set_meta(self, key: str, value: str) -> None:
        """Keep a value."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


def _words(title: str, heading: str, text: str) -> tuple[str, str, str]:
    return analysed(title), analysed(heading), analysed(text)


def _row(chunk: StoredChunk) -> tuple[Any, ...]:
    return tuple(getattr(chunk, name) for name in _CHUNK_FIELDS)
