"""What is archived: finding sessions, telling them by name, and summing them up.

Owns the way from the files below `sessions/` to sessions with their sub-agents,
and the quick look at one that a list of thousands can afford. It writes nothing,
and follows no symbolic link: a clone may bring one that leads elsewhere.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.sessions import store
from knowrepo.sessions.forget import TOMBSTONE
from knowrepo.sessions.lines import Line, read_lines
from knowrepo.sessions.readers import reader_of
from knowrepo.sessions.record import SessionFacts

SHORTEST_PREFIX = 4
"""Characters of an id below which it names nothing."""

_SHOWN_ID = 8  # characters of an id in a list, where they are enough to tell it
_SUFFIX = ".jsonl"
_PART = re.compile(r"(.+)\.[0-9]+")  # of a session that is kept in several files
_SPILLED = "tool-"  # a tool's output in a file of its own: part of a session, and no agent's
# A list reads this much of a session's head, more while it lacks a fact, and
# this much of its tail.
_HEADS = (1 << 14, 1 << 16, 1 << 18, 1 << 20)
_TAIL = 1 << 13
_CANDIDATES = 10  # of an ambiguous name that are listed


@dataclass(frozen=True)
class Archived:
    """A session in the archive.

    ``path`` is its first file. It need not be there: sub-agents may have been
    archived without the session that called them. ``size`` is the bytes of its
    own files, ``below`` the files of its sub-agents.
    """

    agent: str
    id: str
    path: Path
    size: int = 0
    parent: str = ""
    below: tuple[Archived, ...] = ()

    @property
    def name(self) -> str:
        """`AGENT/ID`, or `AGENT/PARENT/ID`: its place below `sessions/`."""
        return "/".join(filter(None, (self.agent, self.parent, self.id)))

    @property
    def place(self) -> store.SessionName:
        """The same as the archive knows it."""
        return store.SessionName(self.agent, self.id, self.parent)

    @property
    def sub_agents(self) -> int:
        """How many sub-agents it called that are archived."""
        return sum(not other.id.startswith(_SPILLED) for other in self.below)

    @property
    def whole_size(self) -> int:
        """Bytes of all its files, and of those below it."""
        return self.size + sum(other.size for other in self.below)


# -- finding -------------------------------------------------------------------


def find(repository: Repository, *, forgotten: bool = False) -> list[Archived]:
    """Return the archived sessions, each with its sub-agents, ordered by name.

    One that was forgotten is no more archived, though a merge may have brought its
    files back; with ``forgotten`` it is found too, by whichever file of it is left.
    """
    top = repository.inside(repository.sessions)
    found: list[Archived] = []
    for agent in _folders(top):
        gone = set() if forgotten else _forgotten(top / agent)
        own = {
            session.id: session for session in _sessions(top / agent, agent, forgotten=forgotten)
        }
        for parent in _folders(top / agent):
            folder = top / agent / parent
            below = tuple(_sessions(folder, agent, parent, forgotten=forgotten))
            if below and parent not in gone:
                path = top / agent / f"{parent}{_SUFFIX}"
                own[parent] = replace(
                    own.get(parent, Archived(agent, parent, path)), below=below
                )  # fmt: skip
        found += (own[name] for name in sorted(own))
    return found


def _forgotten(folder: Path) -> set[str]:
    """Return the ids of the sessions in a folder that have a tombstone."""
    with os.scandir(folder) as entries:
        return {
            entry.name.removesuffix(TOMBSTONE)
            for entry in entries
            if entry.name.endswith(TOMBSTONE)
        }


def _folders(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(e.name for e in entries if e.is_dir(follow_symlinks=False))
    except FileNotFoundError:  # nothing has been archived yet
        return []


def _sessions(
    folder: Path, agent: str, parent: str = "", *, forgotten: bool = False
) -> Iterator[Archived]:
    gone = set() if forgotten else _forgotten(folder)
    with os.scandir(folder) as entries:
        sizes = {
            entry.name.removesuffix(_SUFFIX): entry.stat().st_size
            for entry in entries
            if entry.name.endswith(_SUFFIX) and entry.is_file(follow_symlinks=False)
        }
    whole: dict[str, int] = {}
    for name in sorted(sizes):
        first = _first_part(name, None if forgotten else {*sizes, *gone})
        whole[first] = whole.get(first, 0) + sizes[name]
    for name, size in whole.items():
        if name not in gone:
            yield Archived(agent, name, folder / f"{name}{_SUFFIX}", size, parent)


def _first_part(name: str, names: Container[str] | None) -> str:
    """Return the session that a file's stem names; ``names`` has those that may be one."""
    part = _PART.fullmatch(name)
    return part[1] if part and (names is None or part[1] in names) else name


# -- naming --------------------------------------------------------------------


def resolve(repository: Repository, given: str, *, forgotten: bool = False) -> Archived:
    """Return the session that ``given`` names.

    That is a path of an archived file, an id, `AGENT/ID`, or the beginning of an
    id. Sub-agents are looked at where no session answers to it. For ``forgotten``
    see `find`.
    """
    sessions = find(repository, forgotten=forgotten)
    if not sessions and (forgotten or not find(repository, forgotten=True)):
        raise KnowError("nothing is archived yet", hint="know archive PATH…")
    if forgotten:  # a part may be all that is left
        given = _without_part(given)
    everything = [*sessions, *(other for session in sessions for other in session.below)]
    if given.endswith(_SUFFIX):
        return _at_path(repository, everything, given)
    *folders, name = [part for part in given.split("/") if part] or [""]
    candidates = [s for s in everything if folders == s.name.split("/")[: len(folders)]]
    exact = [session for session in candidates if session.name == given]
    exact = exact or [session for session in candidates if session.id == name]
    if not exact and len(name) < SHORTEST_PREFIX:
        raise KnowError(
            f"{given}: too short to name a session",
            hint=f"give {SHORTEST_PREFIX} characters of its id or more; see `know sessions`",
        )
    begun = [session for session in candidates if session.id.startswith(name)]
    begun = begun or [s for s in everything if _is_told_by(s, [*folders, name])]
    found = exact or [session for session in begun if not session.parent] or begun
    if not found:
        raise _unknown(repository, given, forgotten=forgotten)
    if len(found) > 1:
        names = ", ".join(session.name for session in found[:_CANDIDATES])
        more = f" and {len(found) - _CANDIDATES} more" if len(found) > _CANDIDATES else ""
        raise KnowError(f"{given}: {len(found)} sessions begin so", hint=f"{names}{more}")
    return found[0]


def _unknown(repository: Repository, given: str, *, forgotten: bool) -> KnowError:
    """Return the error for a name that no session answers to, or only one that was forgotten."""
    if not forgotten:
        with suppress(KnowError):
            name = resolve(repository, given, forgotten=True).name
            return KnowError(
                f"{name}: was forgotten", hint=f"its files are here: `know forget {name} --yes`"
            )
    return KnowError(f"{given}: no archived session", hint="`know sessions` lists them")


def _at_path(repository: Repository, everything: list[Archived], given: str) -> Archived:
    for start in (Path.cwd(), repository.root):
        path = Path(os.path.normpath(start / given))
        if path.is_relative_to(start) or path.exists():
            path = path.parent.resolve() / path.name
            first = path.with_name(_whole(path) + _SUFFIX)
            for session in everything:
                if session.path.parent.resolve() / session.path.name in (path, first):
                    return session
    raise KnowError(
        f"{given}: no file of this repository's archive", hint="`know sessions` lists them"
    )


def _whole(path: Path) -> str:
    stem = path.name.removesuffix(_SUFFIX)
    part = _PART.fullmatch(stem)
    return part[1] if part else stem


def _without_part(given: str) -> str:
    part = None if given.endswith(_SUFFIX) else _PART.fullmatch(given)
    return part[1] if part else given


def short_names(sessions: Iterable[Archived]) -> dict[str, str]:
    """Return by its name each session's `AGENT/BEGINNING-OF-ID`, long enough to tell it."""
    given = sorted(sessions, key=lambda session: session.id)
    names: dict[str, str] = {}
    for index, session in enumerate(given):
        beside = [given[i].id for i in (index - 1, index + 1) if 0 <= i < len(given)]
        shared = max((_shared(session.id, other) for other in beside), default=0)
        names[session.name] = f"{session.agent}/{session.id[: max(_SHOWN_ID, shared + 1)]}"
    return names


def _is_told_by(session: Archived, parts: list[str]) -> bool:
    """Say whether each part begins a part of the session's name, in upper case or in lower."""
    *folders, name = session.name.lower().split("/")
    *given, last = [part.lower() for part in parts]
    pairs = zip(folders, given, strict=False)
    return (
        len(given) <= len(folders)
        and name.startswith(last)
        and all(folder.startswith(part) for folder, part in pairs)
    )


def _shared(a: str, b: str) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))


# -- summing up ----------------------------------------------------------------


def glance(session: Archived) -> SessionFacts:
    """Sum a session up from its head and its tail, however long it is.

    What `Reader.facts` finds by reading all of it is the same but for a title
    given in the middle, and a branch. A session without a file of its own is
    summed up by the first of its sub-agents.
    """
    reader = reader_of(session.agent)
    parts = store.parts(session.path)
    if not parts and session.below:
        return glance(session.below[0])
    if reader is None or not parts:
        return SessionFacts()
    facts = SessionFacts()
    for most in _HEADS:
        lines, whole = _head(parts[0], most)
        facts = reader.facts(lines, session.id)
        if whole or (facts.date and facts.project and facts.first_user_line):
            break
    if not whole or len(parts) > 1:
        last = reader.facts(_tail(parts[-1], _TAIL), session.id)
        if last.title and last.title != last.first_user_line:
            facts = replace(facts, title=last.title)
    return facts


def _head(path: Path, most: int) -> tuple[list[Line], bool]:
    """Return the lines in the first ``most`` bytes, and whether these are all."""
    with path.open("rb") as stream:
        data = stream.read(most)
        whole = len(data) < most or not stream.read(1)
    if not whole:
        data = data[: data.rfind(b"\n") + 1]
    return list(store.resolved(read_lines(io.BytesIO(data)))), whole


def _tail(path: Path, most: int) -> list[Line]:
    with path.open("rb") as stream:
        start = max(0, stream.seek(0, io.SEEK_END) - most)
        stream.seek(start)
        data = stream.read(most)
    if start:
        data = data[data.find(b"\n") + 1 :] if b"\n" in data else b""
    return list(store.resolved(read_lines(io.BytesIO(data))))
