"""What the tests of readers of documents, databases and Markdown share."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from helpers import jsonl, make_repository
from knowrepo.sessions.archive import archive
from knowrepo.sessions.lines import Line, read_lines
from knowrepo.sessions.readers import recognise
from knowrepo.sessions.record import Reader, Record, SessionFacts
from knowrepo.sessions.source import Source, as_lines


def lines_of(records: Iterable[Mapping[str, Any]]) -> list[Line]:
    """Return records as the lines of a JSON lines file."""
    return list(read_lines(io.BytesIO(jsonl(map(dict, records)))))


def told(reader: Reader, *records: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(record.role, record.text) for record in reader.read(lines_of(records))]


def unpacked(path: Path) -> dict[str, tuple[list[Record], SessionFacts]]:
    """Return the records and facts of the sessions in a source, as if they were archived."""
    found = recognise(Source(path))
    assert found is not None
    assert found.sessions is not None
    out = {}
    for session in found.sessions:
        lines = list(as_lines(session.records))
        assert found.reader.recognises([line.record for line in lines if line.record])
        assert {found.reader.session_id(line.record or {}) for line in lines} <= {session.id, ""}
        facts = found.reader.facts(lines, session.id)
        name = f"{session.parent}/{session.id}" if session.parent else session.id
        out[name] = (list(found.reader.read(lines)), facts)
    return out


def only(path: Path) -> tuple[list[Record], SessionFacts]:
    (session,) = unpacked(path).values()
    return session


def agent_of(path: Path) -> str:
    found = recognise(Source(path))
    return found.reader.agent if found else ""


def dumped(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")
    return path


def archived(folder: Path, *states: Callable[[], Path]) -> dict[str, bytes]:
    """Archive states of a source, one after the other, into a repository of their own."""
    repository = make_repository(folder)
    for state in states:
        outcomes = list(archive(repository, [state()]))
        assert outcomes
        assert not [o for o in outcomes if o.action in ("failed", "not a transcript")], outcomes
    paths = repository.sessions.rglob("*.jsonl")
    return {str(path.relative_to(repository.sessions)): path.read_bytes() for path in paths}


def grows_the_same(
    tmp_path: Path, early: Callable[[], Path], late: Callable[[], Path]
) -> dict[str, bytes]:
    """Say that the order in which two states of a source are archived does not matter."""
    forth = archived(tmp_path / "forth", early, late)
    back = archived(tmp_path / "back", late, early)
    again = archived(tmp_path / "again", early, late, late, early)
    assert forth == back == again
    return forth
