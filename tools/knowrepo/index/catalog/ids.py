"""How documents and chunks are called: ids and keys, as short as they are unique."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from knowrepo.index.catalog.conditions import batches

_LAST_CHARACTER = "\U0010ffff"
_SHORTEST = 4  # digits of an id that are shown
_AT_ONCE = 100  # ids that are asked for in one statement


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
        """Return the digits of an id that are shown; see `shown_ids`."""
        return self.shown_ids([uid])[uid]

    def shown_ids(self, uids: Iterable[str]) -> dict[str, str]:
        """Return the digits of ids that are shown: one more than is unique now, four or more."""
        found: dict[str, str] = {}
        for some in batches(list(dict.fromkeys(uids)), _AT_ONCE):
            rows = self._db.execute(
                f"WITH asked (uid) AS (VALUES {', '.join(['(?)'] * len(some))})"
                f" SELECT uid, {_NEIGHBOURS} FROM asked",
                list(some),
            )
            found.update((uid, _told(uid, neighbours)) for uid, *neighbours in rows)
        return found


# The ids before and after one, of documents and of chunks; empty where there are none.
_NEIGHBOURS = ", ".join(
    f"coalesce((SELECT near.uid FROM {table} near WHERE near.uid {sign} asked.uid"
    f" ORDER BY near.uid {order} LIMIT 1), '')"
    for table in ("documents", "chunks")
    for sign, order in (("<", "DESC"), (">", "ASC"))
)


def _told(uid: str, neighbours: Sequence[str]) -> str:
    """Return so much of an id that all but its last character tell it from its neighbours."""
    length = _SHORTEST
    while length <= len(uid) and any(one.startswith(uid[: length - 1]) for one in neighbours):
        length += 1
    return uid[:length]
