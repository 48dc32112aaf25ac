"""How documents and chunks are called: ids and keys, as short as they are unique."""

from __future__ import annotations

import sqlite3

_LAST_CHARACTER = "\U0010ffff"


class Ids:
    """What of an open catalog concerns names. Only for `Queries` to inherit."""

    _db: sqlite3.Connection

    def with_prefix(self, prefix: str, limit: int = 20) -> list[tuple[str, str, int]]:
        """Return (id, `document` or `chunk`, number) of what has an id with this prefix."""
        rows = self._db.execute(
            "SELECT uid, 'document', id FROM documents WHERE uid >= ? AND uid < ?"
            " UNION ALL SELECT uid, 'chunk', id FROM chunks WHERE uid >= ? AND uid < ?"
            " ORDER BY 1 LIMIT ?",
            (prefix, prefix + _LAST_CHARACTER, prefix, prefix + _LAST_CHARACTER, limit),
        )
        return rows.fetchall()

    def shown_key(self, key: str, shortest: int) -> str:
        """Return a key cut to ``shortest`` characters or more, while it stays the only one."""
        for length in range(shortest, len(key), 4):
            prefix = key[:length]
            row = self._db.execute(
                "SELECT count(*) FROM (SELECT 1 FROM documents WHERE key >= ? AND key < ? LIMIT 2)",
                (prefix, prefix + _LAST_CHARACTER),
            ).fetchone()
            if row[0] == 1:
                return prefix
        return key

    def shown_folder(self, folder: str, shortest: int) -> str:
        """Return a folder of keys cut to ``shortest`` characters or more, while no other has it."""
        for length in range(shortest, len(folder), 4):
            prefix = folder[:length]
            row = self._db.execute(
                "SELECT 1 FROM documents WHERE key >= ? AND key < ?"
                " AND key != ? AND NOT (key >= ? AND key < ?) LIMIT 1",
                (prefix, prefix + _LAST_CHARACTER, folder,
                 f"{folder}/", f"{folder}/{_LAST_CHARACTER}"),
            ).fetchone()  # fmt: skip
            if row is None:
                return prefix
        return folder

    def shown_id(self, uid: str) -> str:
        """Return the digits of an id that are shown: one more than is unique now, four or more."""
        longest = 0
        for table in ("documents", "chunks"):
            for order, sign in (("DESC", "<"), ("ASC", ">")):
                row = self._db.execute(
                    f"SELECT uid FROM {table} WHERE uid {sign} ? ORDER BY uid {order} LIMIT 1",
                    (uid,),
                ).fetchone()
                if row:
                    longest = max(longest, _shared(uid, row[0]))
        return uid[: max(4, longest + 2)]


def _shared(a: str, b: str) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))
