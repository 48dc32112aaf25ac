"""Who or what brought each statement of a concept: commits, sessions and records.

Owns that a statement has the commits of its lines, and the sources that its footnotes
name. What git knows of lines is `git.blame`'s business.
"""

from __future__ import annotations

import posixpath
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import unquote

from knowrepo.concepts.document import parse
from knowrepo.errors import KnowError
from knowrepo.git import blame, history
from knowrepo.git.layout import Repository
from knowrepo.git.revisions import Commit
from knowrepo.history import trace
from knowrepo.history.statements import Statement, statements
from knowrepo.history.versions import Version, version
from knowrepo.sessions.tracked import session_of


class Source(NamedTuple):
    """An entry of `sources`; ``session`` and ``record`` are empty where it names none."""

    id: str
    resource: str
    title: str
    author: str
    session: str
    record: str


class Share(NamedTuple):
    """How many lines of a statement a commit brought; None for what is in none yet."""

    commit: Commit | None
    lines: int


@dataclass(frozen=True)
class Origin:
    """Where a statement came from: its commits, the newest first, and its sources."""

    statement: Statement
    shares: tuple[Share, ...]
    sources: tuple[Source, ...]

    @property
    def commit(self) -> Commit | None:
        """The last commit that changed it."""
        return self.shares[0].commit


@dataclass(frozen=True)
class Blamed:
    """A concept with the origins of its statements; ``sources`` are those of the whole."""

    path: str
    version: Version
    origins: tuple[Origin, ...]
    sources: tuple[Source, ...]
    shallow: bool = False


def origins(repository: Repository, name: str) -> Blamed:
    """Return where the statements of the concept that ``name`` means came from.

    It is read as it is in the work tree. Raises KnowError where there is no such concept.
    """
    path = trace.find(repository, name)
    if not (repository.root / path).exists():
        raise KnowError(f"{path}: removed", hint=f"`know history {shlex.quote(path)}` says when")
    lines = blame.lines(repository, path)
    data = b"".join(line.text + b"\n" for line in lines)
    document = parse(data)
    texts = data.decode("utf-8", "replace").split("\n")[:-1]
    listed = list(_sources(repository, path, document.front.get("sources")))
    by_id = {one.id: one for one in listed if one.id}
    found = tuple(
        Origin(one, _shares(lines[one.start - 1 : one.end]), tuple(_cited(one, by_id, listed)))
        for one in statements(document, texts)
    )
    shallow = history.is_shallow(repository)
    return Blamed(path, version(path, data), found, tuple(listed), shallow)


def _shares(lines: Iterable[blame.Line]) -> tuple[Share, ...]:
    """Return the commits of some lines; what is not committed is newest of all."""
    counted = Counter(line.commit for line in lines if line.text.strip())
    shares = [Share(commit, number) for commit, number in counted.items()]
    shares.sort(key=lambda share: _instant(share.commit), reverse=True)
    return tuple(shares) or (Share(None, 0),)


def _instant(commit: Commit | None) -> float:
    from datetime import datetime

    return datetime.fromisoformat(commit.time).timestamp() if commit else float("inf")


def _cited(
    statement: Statement, by_id: Mapping[str, Source], listed: Iterable[Source]
) -> Iterable[Source]:
    if statement.key == "sources":
        return listed
    return [by_id[note] for note in statement.notes if note in by_id]


def _sources(repository: Repository, path: str, value: Any) -> Iterable[Source]:
    for entry in value if isinstance(value, list) else ():
        if not isinstance(entry, dict):
            continue
        named = {key: _text(entry.get(key)) for key in ("id", "resource", "title", "author")}
        session, record = _record(repository, path, named["resource"])
        yield Source(**named, session=session, record=record)


def _text(value: Any) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _record(repository: Repository, path: str, resource: str) -> tuple[str, str]:
    """Return the session and the record that a resource names, where it names one of ours."""
    target, _, record = resource.partition("#")
    target = unquote(target)
    if "://" in target or "\0" in target or not target:
        return "", ""
    full = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    if not full.startswith("sessions/"):
        return "", ""
    name = session_of(repository, repository.root / full)
    if name is None:
        return "", ""
    return "/".join(filter(None, (name.agent, name.parent, name.id))), unquote(record)
