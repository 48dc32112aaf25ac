"""Labelled sets: questions, and what answers them, as they lie in a folder.

Owns the three forms in which a set may lie, and nothing of what becomes of it (that is
`making`'s):

- rows: `corpus.jsonl`, `queries.jsonl` and `qrels.jsonl`, each plain or as `.gz`. A row of
  the corpus is a turn of a dialogue, or a passage that nobody says.
- bundles: a folder `bundles/` of OKF bundles, and `dev.jsonl`.
- sessions: a folder `corpus/` of transcripts as agents write them, and `dev.jsonl`.

Of the last two the file of questions may be named in place of the folder.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from knowrepo.errors import KnowError

Form = Literal["rows", "bundles", "sessions"]
Unit = Literal["session", "turns", "row", "concept"]

QUESTIONS = "dev.jsonl"
_FOLDERS: dict[str, Form] = {"bundles": "bundles", "corpus": "sessions"}
_SPOKEN = frozenset({"user", "assistant"})


@dataclass(frozen=True)
class Row:
    """A row of a corpus: a turn that ``speaker`` says, or a passage that nobody does."""

    id: str
    group: str
    session: str
    title: str
    speaker: str
    text: str


@dataclass(frozen=True)
class Question:
    """A question. ``right`` names what answers it; empty where nothing does.

    Those are rows, concepts from `concepts/` on, or files of transcripts from `corpus/` on.
    ``elsewhere`` answers too, but lies in another group. ``records`` are, of a transcript,
    the names of its records that answer.
    """

    id: str
    kind: str
    text: str
    group: str
    right: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    records: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def answerable(self) -> bool:
        """Whether anything answers it."""
        return bool(self.right or self.elsewhere)


@dataclass(frozen=True)
class LabelledSet:
    """A set. ``rows`` are those of a corpus of rows; the other forms have files in ``folder``."""

    name: str
    form: Form
    folder: Path
    questions: tuple[Question, ...]
    rows: tuple[Row, ...] = ()

    @property
    def spoken(self) -> bool:
        """Whether the rows are turns of dialogues."""
        return any(row.speaker for row in self.rows)

    @property
    def unit(self) -> Unit:
        """What is relevant or not, where nobody says.

        Of transcripts and dialogues the session; of the dialogues of several users with an
        assistant, each of which is cut into short sessions, the exchange; else the concept.
        """
        if self.form == "sessions":
            return "session"
        if not self.spoken:
            return "concept"
        named = {row.speaker for row in self.rows} - _SPOKEN
        return "session" if named or len(self.groups) < 2 else "turns"

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups, each of which can be searched alone."""
        return tuple(dict.fromkeys(question.group for question in self.questions))

    def fingerprint(self) -> str:
        """Return 12 digits that name what is searched, whatever is asked of it."""
        digest = hashlib.sha256(self.form.encode())
        if self.form == "rows":
            digest.update(repr(self.rows).encode())
        else:
            for path in files_of(self):
                digest.update(f"\0{path.relative_to(self.folder).as_posix()}\0".encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
        return digest.hexdigest()[:12]


def files_of(labelled: LabelledSet) -> list[Path]:
    """Return the files that are searched, of a set of bundles or of sessions."""
    name = next(name for name, form in _FOLDERS.items() if form == labelled.form)
    return sorted(path for path in (labelled.folder / name).rglob("*") if path.is_file())


def read_set(place: Path) -> LabelledSet:
    """Read the set in a folder, or of a file of questions. Raises KnowError."""
    place = place.expanduser().resolve()
    folder, asked = (place.parent, place) if place.is_file() else (place, place / QUESTIONS)
    try:
        if _file(folder, "corpus") is not None:
            return _rows(folder)
        for name, form in _FOLDERS.items():
            if (folder / name).is_dir():
                parse = _of_bundle if form == "bundles" else _of_session
                questions = tuple(map(parse, _lines(asked)))
                return LabelledSet(_name(folder, asked), form, folder, questions)
    except (KeyError, TypeError, AttributeError) as error:
        raise KnowError(f"{folder}: a line of it lacks {error}, or is of another form") from error
    raise KnowError(
        f"{place}: no labelled set",
        hint="a set has corpus.jsonl, queries.jsonl and qrels.jsonl; or bundles/ and dev.jsonl;"
        " or corpus/ and dev.jsonl",
    )


def _name(folder: Path, asked: Path) -> str:
    return folder.name if asked.name == QUESTIONS else f"{folder.name}-{asked.stem}"


def _rows(folder: Path) -> LabelledSet:
    rows = tuple(
        Row(
            one["id"], str(one.get("group", "")), str(one.get("session", "")),
            str(one.get("title") or ""), str(one.get("speaker") or ""), one["text"],
        )
        for one in _lines(_there(folder, "corpus"))
    )  # fmt: skip
    known = {row.id for row in rows}
    right = {one["q"]: tuple(one["d"]) for one in _lines(_there(folder, "qrels"))}
    for question, named in right.items():
        if strange := set(named) - known:
            raise KnowError(f"{folder}: {question} is answered by {strange.pop()}: no such row")
    questions = tuple(
        Question(
            one["id"], str(one.get("kind", "")), one["text"], str(one.get("group", "")),
            right.get(one["id"], ()),
        )
        for one in _lines(_there(folder, "queries"))
    )  # fmt: skip
    above = folder.parent.name
    short = len(folder.name) <= 3  # a language, as a rule: the set is what lies above
    return LabelledSet(f"{above}-{folder.name}" if short else folder.name, "rows", folder,
                       questions, rows)  # fmt: skip


def _of_bundle(one: dict[str, Any]) -> Question:
    bundle = one["bundle"]
    return Question(
        one["id"], one["kind"], one["text"], bundle,
        tuple(f"{bundle}/{path}" for path in one["answers"]),
        tuple(name.replace(":", "/", 1) for name in one.get("also") or ()),
    )  # fmt: skip


def _of_session(one: dict[str, Any]) -> Question:
    own = one.get("session")
    also = tuple(one.get("also") or ())
    records = {own: tuple(one.get("uuids") or ())} if own else {}
    records |= {name: tuple(some) for name, some in (one.get("also_uuids") or {}).items()}
    right = (own, *also) if own else also
    return Question(one["id"], one["kind"], one["text"], "", right, records=records)


def _there(folder: Path, name: str) -> Path:
    path = _file(folder, name)
    if path is None:
        raise KnowError(f"{folder}: has no {name}.jsonl")
    return path


def _file(folder: Path, name: str) -> Path | None:
    paths = (folder / f"{name}.jsonl", folder / f"{name}.jsonl.gz")
    return next((path for path in paths if path.is_file()), None)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        data = path.read_bytes()
        for line in (gzip.decompress(data) if path.suffix == ".gz" else data).split(b"\n"):
            if line.strip():
                yield json.loads(line)
    except (OSError, EOFError, ValueError) as error:
        raise KnowError(f"{path}: cannot be read: {error}") from error
