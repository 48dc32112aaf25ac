"""A labelled set as a knowledge repository, and what of it answers each question.

Owns which files a set becomes: dialogues become archived transcripts, passages and bundles
concepts, transcripts go through the archive as anybody's do. What answers is told in terms
of these files: a path, and the lines of it, or no lines where the whole of it does.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from knowrepo.bench.corpus import as_line
from knowrepo.bench.labelled_records import lines_of
from knowrepo.bench.place import empty_repository
from knowrepo.bench.sets import LabelledSet, Question, Row, files_of
from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository, repository_at

Answers = dict[str, frozenset[int]]
"""``{path: lines of it}`` of what answers a question."""

_MADE = "made.json"  # beside a repository that is whole: which file each source became
_DATES = ("%I:%M %p on %d %B, %Y", "%Y/%m/%d %H:%M", "%B-%d-%Y", "%Y-%m-%d")


@dataclass(frozen=True)
class Made:
    """A set as a repository.

    ``places`` says of a row, a concept or a transcript of the set in which file it is, and in
    which line where it is one. ``exchanges`` are, of each dialogue, the lines at which an
    exchange begins.
    """

    repository: Repository
    places: Mapping[str, tuple[str, int]]
    exchanges: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


def made(labelled: LabelledSet, folder: Path, *, group: str = "") -> Made:
    """Return a set as the repository in ``folder``, made now where it is not there.

    With ``group`` it holds that group and no other.
    """
    note = folder / _MADE
    root = folder / "repository"
    if note.is_file():
        kept = json.loads(note.read_bytes())
        places = {name: (path, line) for name, (path, line) in kept["places"].items()}
        exchanges = {path: tuple(lines) for path, lines in kept["exchanges"].items()}
        return Made(repository_at(root.resolve()), places, exchanges)
    folder.mkdir(parents=True, exist_ok=True)
    done = _written(labelled, empty_repository(root), group)
    note.write_text(
        json.dumps({"places": dict(done.places), "exchanges": dict(done.exchanges)}),
        encoding="utf-8",
    )
    return done


def _written(labelled: LabelledSet, here: Repository, group: str) -> Made:
    if labelled.form == "sessions":
        return _archived(labelled, here)
    if labelled.form == "bundles":
        return _copied(labelled, here, group)
    rows = [row for row in labelled.rows if not group or row.group == group]
    return _dialogues(rows, here) if labelled.spoken else _passages(rows, here)


def answers(labelled: LabelledSet, question: Question, done: Made) -> Answers:
    """Return what answers a question; of what became no file there is nothing."""
    found: dict[str, set[int]] = {}
    for name in (*question.right, *question.elsewhere):
        if name not in done.places:
            continue
        path, line = done.places[name]
        lines = found.setdefault(path, set())
        if labelled.form == "sessions":
            source = labelled.folder / "corpus" / name
            lines |= lines_of(question.records.get(name, ()), source, done.repository.root / path)
        elif line:
            lines.add(line)
    return {path: frozenset(lines) for path, lines in found.items()}


# -- rows -------------------------------------------------------------------------


def _dialogues(rows: Iterable[Row], here: Repository) -> Made:
    """Write each session as an archived transcript; its first speaker is the user."""
    sessions: dict[str, list[Row]] = {}
    for row in rows:
        sessions.setdefault(row.session, []).append(row)
    folder = here.sessions / "claude"
    folder.mkdir(parents=True)
    places: dict[str, tuple[str, int]] = {}
    exchanges: dict[str, tuple[int, ...]] = {}
    for session, turns in sessions.items():
        name = str(uuid.uuid5(uuid.NAMESPACE_URL, session))
        path = f"sessions/claude/{name}.jsonl"
        users = {"user", turns[0].speaker}
        records = [_record(turn, name, is_user=turn.speaker in users) for turn in turns]
        (here.root / path).write_text("".join(map(as_line, records)), encoding="utf-8")
        places |= {turn.id: (path, line) for line, turn in enumerate(turns, start=1)}
        exchanges[path] = tuple(
            line for line, turn in enumerate(turns, start=1) if turn.speaker in users or line == 1
        )
    return Made(here, places, exchanges)


def _record(turn: Row, session: str, *, is_user: bool) -> dict[str, Any]:
    role = "user" if is_user else "assistant"
    text = turn.text
    if turn.speaker not in {"user", "assistant"}:
        text = f"{turn.speaker}: {text}"
    message: dict[str, Any] = {"role": role, "content": text}
    if not is_user:
        message |= {"content": [{"type": "text", "text": text}], "id": turn.id}
    return {
        "type": role, "uuid": turn.id, "sessionId": session, "timestamp": _time(turn.title),
        "message": message,
    }  # fmt: skip


def _time(title: str) -> str:
    """Return the time that a title says, as transcripts write it; empty where it says none."""
    told = re.sub(r"\(\w+\) ", "", title.strip())
    for form in _DATES:
        try:
            return f"{datetime.strptime(told, form).isoformat()}.000Z"
        except ValueError:
            continue
    return ""


def _passages(rows: Iterable[Row], here: Repository) -> Made:
    """Write each row as a concept that has no title: what is measured is its text."""
    places: dict[str, tuple[str, int]] = {}
    for row in rows:
        name = re.sub(r"[^\w.-]", "-", row.id)
        path = here.root / "concepts" / f"{name}.md"
        if path.exists():
            raise KnowError(f"{row.id}: two rows have this name")
        path.write_text(f"---\ntype: Reference\n---\n{row.text}\n", encoding="utf-8")
        places[row.id] = (f"concepts/{name}.md", 0)
    _stage(here)
    return Made(here, places)


# -- bundles and transcripts ------------------------------------------------------


def _copied(labelled: LabelledSet, here: Repository, group: str) -> Made:
    places = {}
    for source in files_of(labelled):
        name = source.relative_to(labelled.folder / "bundles").as_posix()
        if group and not name.startswith(f"{group}/"):
            continue
        target = here.root / "concepts" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        places[name] = (f"concepts/{name}", 0)
    _stage(here)
    return Made(here, places)


def _archived(labelled: LabelledSet, here: Repository) -> Made:
    from knowrepo.sessions.archive import archive
    from knowrepo.sessions.discover import find_sources

    corpus = labelled.folder / "corpus"
    places = {}
    for outcome in archive(here, find_sources([corpus])):
        if outcome.session:
            name = outcome.source.relative_to(corpus).as_posix()
            places[name] = (f"sessions/{outcome.session}.jsonl", 0)
    return Made(here, places)


def _stage(here: Repository) -> None:
    command = ["git", "-C", str(here.root), "-c", "core.autocrlf=false", "add", "-A", "-f"]
    subprocess.run(command, check=True, capture_output=True)
