"""Where OpenCode keeps its sessions, and the form that they are archived in.

Owns the three places: the document of `opencode export` (`{info, messages: [{info,
parts}]}`); `opencode.db` (tables session, message, part; since 1.2), and its table
session_message where a newer version keeps a session only there; and the folders
of JSON files before it (`storage/session/<project>/`, and `storage/session/info/`
of the first ones), of which the session's own file is the source.

A session is archived as its own fields, then one record a message with its parts,
in the form of the export, so that all forms of one session are the same. Fields of
the session that follow from its messages (cost, tokens, changed files, the time of
the last change) are left out, and so are todos, which the calls that set them hold.
What messages mean is `opencode`'s.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from knowrepo.sessions.database import Database, tables, text_value
from knowrepo.sessions.lines import BOM, decode
from knowrepo.sessions.readers.base import (
    parse_json,
    plain,
    safe_id,
    unreadable,
)
from knowrepo.sessions.readers.values import (
    list_of,
    object_of,
    text_of,
)
from knowrepo.sessions.source import Native, Source, opened

_DERIVED = frozenset({
    "cost", "tokens", "summary", "todos", "agent", "model",
    "time_updated", "time_compacting", "time_archived",
})  # fmt: skip
_DERIVED_START = ("summary_", "tokens_")
# Columns of the table whose name or form is another in the export.
_COLUMNS = {"project_id": "projectID", "parent_id": "parentID", "workspace_id": "workspaceID"}
_JSON_COLUMNS = frozenset({"revert", "permission", "goal", "metadata"})
_NO_TITLE = re.compile(r"(?:New|Child) session - \d{4}-\d\d-\d\dT[\d:.]+Z")
_NEEDED = {
    "session": frozenset({"id"}),
    "message": frozenset({"id", "session_id", "data"}),
    "part": frozenset({"id", "message_id", "data"}),
}


def sessions_in(source: Source) -> Iterable[Native] | None:
    """Return the sessions of a source; None where it is not OpenCode's."""
    if source.is_database:
        database = _opened(source.path)
        return None if database is None else _from_database(database)
    document = source.document
    if not isinstance(document, dict):
        return None
    info = object_of(document, "info")
    if _is_export(document, info):
        return [_native(info, list_of(document, "messages"))]
    folders = _folders(source.path, document)
    if folders is None:
        return None
    return [replace(_native(document, _StoredMessages(*folders)), elsewhere=True)]


def _is_export(document: Mapping[str, Any], info: Mapping[str, Any]) -> bool:
    messages = document.get("messages")
    if not isinstance(messages, list) or not text_of(info, "id"):
        return False
    if not messages:
        return text_of(info, "id").startswith("ses")
    return all(isinstance(m, dict) and "info" in m and "parts" in m for m in messages)


def _native(info: Mapping[str, Any], messages: Iterable[object], stamp: str = "") -> Native:
    session, parent = safe_id(text_of(info, "id")), safe_id(text_of(info, "parentID"))
    return Native(session, _Session(info, messages), parent=parent, stamp=stamp)


@dataclass(frozen=True)
class _Session:
    """The records of a session; they can be gone through more than once."""

    info: Mapping[str, Any]
    messages: Iterable[object]

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        yield {"info": _own_fields(self.info)}
        for message in self.messages:
            yield message if isinstance(message, dict) else unreadable(plain(message))


def _own_fields(info: Mapping[str, Any]) -> dict[str, Any]:
    kept = {
        name: value
        for name, value in info.items()
        if value is not None and name not in _DERIVED and not name.startswith(_DERIVED_START)
    }
    if isinstance(kept.get("time"), dict):
        kept["time"] = {"created": kept["time"].get("created")}
    if _NO_TITLE.fullmatch(text_of(kept, "title")):
        del kept["title"]  # so that the one that is given later is the longer record
    return kept


def _folders(path: Path, document: Mapping[str, Any]) -> tuple[Path, Path] | None:
    """Return where the messages and parts of a session lie whose own file is ``path``."""
    path = path.absolute()
    if text_of(document, "id") != path.stem or "time" not in document:
        return None
    if len(path.parents) < 3 or path.parents[1].name != "session":
        return None
    first_form = path.parent.name == "info" and (path.parents[1] / "message").is_dir()
    root = path.parents[1] if first_form else path.parents[2]
    parts = root / "part" / path.stem if first_form else root / "part"
    return root / "message" / path.stem, parts


@dataclass(frozen=True)
class _StoredMessages:
    """The messages of a session that is kept as a file a message and a file a part."""

    messages: Path
    parts: Path

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        for path in _files(self.messages):
            info = _file(path)
            parts = [_file(part) for part in _files(self.parts / path.stem)]
            yield {"info": info, "parts": parts}


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.suffix == ".json" and path.is_file())


def _file(path: Path) -> Mapping[str, Any]:
    with opened(path) as stream:
        text = decode(stream.read().removeprefix(BOM))
    value = parse_json(text)
    return value if isinstance(value, dict) else unreadable(text, id=path.stem)


def _opened(path: Path) -> Database | None:
    """Return the database at ``path``, or None where it is not OpenCode's."""
    if not tables(path) >= _NEEDED.keys():
        return None
    database = Database(path)
    ours = all(database.columns(table) >= needed for table, needed in _NEEDED.items())
    return database if ours else None


def _from_database(database: Database) -> Iterator[Native]:
    for row in database.all("SELECT id FROM session ORDER BY id"):
        (session,) = database.all("SELECT * FROM session WHERE id = ?", row["id"]) or [{}]
        if text_value(session.get("id")):
            messages = _DatabaseMessages(database, text_value(session["id"]))
            yield _native(_from_columns(session), messages, _stamp(database, session))


def _stamp(database: Database, session: Mapping[str, Any]) -> str:
    """Return what changes with every change of a session: parts are edited in place.

    Empty where the tables cannot tell.
    """
    marks = [session.get("time_updated")]
    for table in ("message", "part"):
        if not database.columns(table) >= {"session_id", "time_updated"}:
            return ""
        query = (
            f"SELECT count(*) AS rows, max(time_updated) AS latest, sum(time_updated) AS all_of"
            f" FROM {table} WHERE session_id = ?"
        )
        (row,) = database.all(query, session["id"])
        marks += row.values()
    return ".".join(map(str, marks))


def _from_columns(row: Mapping[str, Any]) -> dict[str, Any]:
    info: dict[str, Any] = {}
    for column, value in row.items():
        if value is None:
            continue
        if isinstance(value, bytes):
            value = text_value(value)
        if column == "time_created":
            info["time"] = {"created": value}
        elif column == "share_url":
            info["share"] = {"url": value}
        elif column in _JSON_COLUMNS and isinstance(value, str):
            parsed = parse_json(value)
            info[column] = value if parsed is None else parsed
        else:
            info[_COLUMNS.get(column, column)] = value
    return info


@dataclass(frozen=True)
class _DatabaseMessages:
    """The messages of a session in the database, read one by one."""

    database: Database
    session: str

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        messages = self._names("message")
        for message in messages:
            yield {"info": self._info(message), "parts": list(self._parts(message))}
        if not messages and "session_message" in self.database.tables():
            for event in self._names("session_message"):
                yield self._event(event)

    def _names(self, table: str) -> list[str]:
        dated = "time_created" in self.database.columns(table)
        order = "time_created, id" if dated else "id"
        query = f"SELECT id FROM {table} WHERE session_id = ? ORDER BY {order}"
        return [text_value(row["id"]) for row in self.database.all(query, self.session)]

    def _info(self, message: str) -> dict[str, Any]:
        rows = self.database.all("SELECT data FROM message WHERE id = ?", message)
        return _parsed(rows, {"id": message, "sessionID": self.session})

    def _parts(self, message: str) -> Iterator[dict[str, Any]]:
        own = {"sessionID": self.session, "messageID": message}
        query = "SELECT id, data FROM part WHERE message_id = ? ORDER BY id"
        for row in self.database.all(query, message):
            yield _parsed([row], {"id": text_value(row["id"]), **own})

    def _event(self, event: str) -> dict[str, Any]:
        rows = self.database.all("SELECT type, data FROM session_message WHERE id = ?", event)
        kind = text_value(rows[0]["type"]) if rows else ""
        return _parsed(rows, {"type": kind, "id": event, "sessionID": self.session})


def _parsed(rows: list[dict[str, Any]], own: dict[str, Any]) -> dict[str, Any]:
    """Return the object in a row's column ``data`` with the fields that have their own columns."""
    text = text_value(rows[0]["data"]) if rows else ""
    value = parse_json(text)
    if not isinstance(value, dict):
        return {**own, **unreadable(text)}
    return {**value, **own}
