"""What an archive sums up to: sessions, tokens, tools, projects, over time.

Owns the sums and the file that keeps each session's own (`stats.json` among the derived
files), by the stamp of its files, so that only what changed is read again. It goes through
sessions one by one, and holds of each a few numbers. How it looks is the command's business.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from knowrepo.concepts.model import FOLDER, is_concept_path
from knowrepo.config import write_atomically
from knowrepo.git import plumbing
from knowrepo.git.layout import Repository
from knowrepo.index import Progress
from knowrepo.index.catalog.schema import CHUNK_RULE
from knowrepo.sessions import listing, store
from knowrepo.sessions.listing import Archived
from knowrepo.sessions.origin import Origin, folder_name, origin_of
from knowrepo.sessions.readers import reader_of
from knowrepo.sessions.record import Reader, Record
from knowrepo.upkeep.usage import Meter, Tokens, name_of

VERSION = f"1.{CHUNK_RULE}"
"""Of what is kept: the second number changes where a reader says something else."""

_MOST_TOOLS = 200  # names of one session; what comes after them is no tool of anybody's
_OTHERS = "(others)"


@dataclass(frozen=True)
class Tool:
    """Calls of a tool. ``told`` are those whose agent says how they ended."""

    calls: int = 0
    told: int = 0
    failed: int = 0

    def plus(self, other: Tool) -> Tool:
        """Return the sum of both."""
        return Tool(self.calls + other.calls, self.told + other.told, self.failed + other.failed)


@dataclass(frozen=True)
class Sums:
    """One archived file's own numbers, as they are kept."""

    stamp: str
    date: str = ""
    project: str = ""
    records: int = 0
    turns: int = 0  # of a person
    tools: Mapping[str, Tool] = field(default_factory=dict)
    models: Mapping[str, Tokens] = field(default_factory=dict)


@dataclass
class Share:
    """What one project, agent, model or day has of everything."""

    sessions: int = 0
    tokens: Tokens = field(default_factory=Tokens)


@dataclass
class Stats:
    """Everything that is summed up; ``with_tokens`` are sessions whose agent tells them."""

    sessions: int = 0
    sub_agents: int = 0
    concepts: int = 0
    records: int = 0
    turns: int = 0
    size: int = 0
    first: str = ""
    last: str = ""
    with_tokens: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    agents: dict[str, Share] = field(default_factory=dict)
    projects: dict[str, Share] = field(default_factory=dict)
    models: dict[str, Share] = field(default_factory=dict)
    days: dict[str, Share] = field(default_factory=dict)
    tools: dict[str, Tool] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Only:
    """What is counted: sessions from a date to another, of a project, of an agent."""

    since: str = ""
    until: str = ""
    project: str = ""
    agent: str = ""

    def takes(self, session: Archived, sums: Sums, origin: Origin) -> bool:
        """Say whether a session counts; its sub-agents count with it."""
        if self.until and not (sums.date and sums.date[: len(self.until)] <= self.until):
            return False
        return (
            self.agent in ("", session.agent)
            and origin.answers(self.project)
            and sums.date >= self.since
        )


def collect(
    repository: Repository, only: Only, *, progress: Progress = lambda _done, _total: None
) -> Stats:
    """Sum the archive up; raises nothing for a session that cannot be read, but names it."""
    found = listing.find(repository)
    kept = _Kept(repository)
    stats = Stats(concepts=sum(map(is_concept_path, plumbing.tracked(repository, FOLDER))))
    try:
        for done, session in enumerate(found, start=1):
            if only.agent in ("", session.agent):
                _count(stats, session, kept, only, repository.sessions)
            progress(done, len(found))
    finally:
        kept.save(found)
    return stats


def _count(stats: Stats, session: Archived, kept: _Kept, only: Only, folder: Path) -> None:
    try:
        own = kept.sums(session)
        agents = [kept.sums(other) for other in session.below]
    except OSError as error:
        stats.unreadable.append(f"{session.name}: {error.strerror or error}")
        return
    if not own.stamp and agents:  # only its sub-agents are archived
        own = Sums("", agents[0].date, agents[0].project)
    origin = origin_of(folder, session.place, own.project)
    if not only.takes(session, own, origin):
        return
    stats.sessions += 1
    stats.sub_agents += session.sub_agents
    stats.size += session.whole_size
    stats.turns += own.turns
    stats.first = min(filter(None, (stats.first, own.date)), default="")
    stats.last = max(stats.last, own.date)
    shares = [
        group.setdefault(name, Share())
        for group, name in (
            (stats.agents, session.agent),
            (stats.projects, origin.name),
            (stats.days, own.date[:10]),
        )
    ]
    for share in shares:
        share.sessions += 1
    models: set[str] = set()
    for sums in (own, *agents):
        stats.records += sums.records
        for name, tool in sums.tools.items():
            stats.tools[name] = stats.tools.get(name, Tool()).plus(tool)
        for name, tokens in sums.models.items():
            models.add(name)
            for one in (stats.models.setdefault(name, Share()), *shares):
                one.tokens = one.tokens.plus(tokens)
            stats.tokens = stats.tokens.plus(tokens)
    stats.with_tokens += bool(models)
    for name in models:
        stats.models[name].sessions += 1


# -- one session ------------------------------------------------------------------


def sums_of(session: Archived, stamp: str) -> Sums:
    """Read one archived session and add it up."""
    reader = reader_of(session.agent)
    lines = store.SessionLines(session.path)
    if reader is None:
        return Sums(stamp, records=sum(1 for _ in lines))
    meter = Meter(session.agent)
    records = 0
    for line in lines:
        records += 1
        if line.record is not None:
            meter.see(line.record)
    facts = reader.facts(lines, session.id)
    tools, turns = _tools(reader, lines)
    project = folder_name(facts.project)
    return Sums(stamp, facts.date, project, records, turns, tools, meter.by_model())


def _tools(reader: Reader, lines: store.SessionLines) -> tuple[dict[str, Tool], int]:
    """Return what tools were called, how often they failed, and a person's turns."""
    calls: Counter[str] = Counter()
    told: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    names: dict[str, str] = {}
    turns = 0
    for record in reader.read(lines):
        turns += record.role == "user"
        for call in record.calls:
            name = name_of(call.name)
            if name not in calls and len(calls) >= _MOST_TOOLS:
                name = _OTHERS
            calls[name] += 1
            names[call.id] = name
        for name, wrong in _ends(record, names):
            told[name] += 1
            failed[name] += wrong
    return {name: Tool(calls[name], told[name], failed[name]) for name in calls}, turns


def _ends(record: Record, names: Mapping[str, str]) -> Iterator[tuple[str, bool]]:
    for result in record.results:
        if result.failed is not None and result.call in names:
            yield names[result.call], result.failed


# -- what is kept -----------------------------------------------------------------


class _Kept:
    """The sums of sessions that were read before."""

    def __init__(self, repository: Repository) -> None:
        self._path = repository.locks / "stats.json"
        self._known = dict(_read(self._path.read_bytes() if self._path.is_file() else b""))
        self._new = False

    def sums(self, session: Archived) -> Sums:
        """Return a session's sums, read again where its files changed."""
        stamp = store.stamp(session.path)
        known = self._known.get(session.name)
        if known is None or known.stamp != stamp:
            known = sums_of(session, stamp)
            self._known[session.name] = known
            self._new = True
        return known

    def save(self, found: Iterable[Archived]) -> None:
        """Keep what is known of the sessions that are there; it is no matter where it fails."""
        names = {one.name for session in found for one in (session, *session.below)}
        kept = {name: asdict(sums) for name, sums in self._known.items() if name in names}
        if self._new or len(kept) < len(self._known):
            with contextlib.suppress(OSError):
                data = json.dumps({"version": VERSION, "sessions": kept}).encode()
                write_atomically(self._path, data)


def _read(data: bytes) -> Iterator[tuple[str, Sums]]:
    """Yield what is kept; what is damaged, or of another version, is read anew."""
    try:
        kept = json.loads(data or b"{}")
        if kept.get("version") != VERSION:
            return
        for name, sums in kept["sessions"].items():
            yield name, _sums(sums)
    except (ValueError, TypeError, KeyError, AttributeError):
        return


def _sums(kept: dict[str, Any]) -> Sums:
    tools = {str(name): Tool(**tool) for name, tool in kept.pop("tools").items()}
    models = {str(name): Tokens(*tokens) for name, tokens in kept.pop("models").items()}
    return Sums(**kept, tools=tools, models=models)
