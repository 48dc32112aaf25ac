"""What `know archive` says of what became of its sources.

Owns the line for each session, the summary, the line of the log, and what the
archive costs. It archives nothing.
"""

from __future__ import annotations

import contextlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from knowrepo.cli.common import say, show
from knowrepo.units import count, size

if TYPE_CHECKING:
    from knowrepo.git.layout import Repository
    from knowrepo.sessions.outcome import Outcome

_SHOWN = ("new", "grown", "joined", "unchanged", "not mapped", "private", "forgotten", "failed")
_MOST_FOLDERS = 5  # of projects that are not mapped, told by name


def tell(outcome: Outcome, *, quiet: bool, named: bool, dry_run: bool) -> None:
    """Print what became of a source, where somebody wants to know."""
    if outcome.action == "not a transcript":
        if named or outcome.note:  # it was named, or nearly is one
            note = f" ({outcome.note})" if outcome.note else ""
            say(f"{outcome.source}: not a transcript that know can read{note}")
    elif outcome.action == "failed":
        say(f"{outcome.source}: {outcome.note}")
    elif quiet:  # what a session's hooks print would become its agent's context
        return
    elif outcome.action in {"new", "grown", "joined"}:
        show(f"{'would be ' if dry_run else ''}{_line(outcome)}")
    elif outcome.note or named:
        show(_line(outcome))


def _line(outcome: Outcome) -> str:
    """Return what became of a source, in one line."""
    name = outcome.session or str(outcome.source)
    parts = [outcome.note] if outcome.note else []
    if outcome.action in {"new", "grown", "joined"}:
        added = f" (+{outcome.added})" if outcome.action != "new" else ""
        parts += [f"{count(outcome.lines, 'line')}{added}", size(outcome.size), *_remarks(outcome)]
    return f"{name}: {', '.join([outcome.action, *parts])}"


def _remarks(outcome: Outcome) -> Iterable[str]:
    kept = outcome.kept
    if kept.redacted:
        kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(kept.redacted.items()))
        yield f"redacted {kinds}"
    if kept.stubbed:
        yield f"{count(kept.stubbed, 'payload')} stubbed"
    if kept.dropped:
        yield f"{count(kept.dropped, 'progress line')} dropped"
    if kept.bad:
        numbers = ", ".join(map(str, kept.bad[:5])) + ("…" if len(kept.bad) > 5 else "")
        yield f"{count(len(kept.bad), 'bad line')} kept as text (line {numbers})"
    if kept.pending:
        yield "its last line is unfinished and waits"


def sum_up(told: list[Outcome], denied: Counter[str], *, dry_run: bool, named: bool) -> None:
    """Print how many sessions of each agent became what.

    ``denied`` counts the sessions of each folder that is not mapped here.
    """
    agents: dict[str, Counter[str]] = defaultdict(Counter)
    grown: Counter[str] = Counter()
    other = 0
    for outcome in told:
        if outcome.action in _SHOWN:
            agent = outcome.session.partition("/")[0] or outcome.agent or "-"
            agents[agent][outcome.action] += 1
            grown[agent] += outcome.grown
        elif outcome.action == "not a transcript":
            other += 1
    if len(told) > 1 and agents:
        shown = [action for action in _SHOWN if any(row[action] for row in agents.values())]
        rows = [["agent", *shown, "bytes added"]]
        for agent, row in sorted(agents.items()):
            rows.append([agent, *(str(row[action]) for action in shown), size(grown[agent])])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for cells in rows:
            first, *rest = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
            say("  ".join([cells[0].ljust(len(first)), *rest]))
    if other and not named:
        say(f"passed over {count(other, 'other file')}: no transcript that know can read")
    if any(row["not mapped"] for row in agents.values()):
        if folders := _most(denied):
            say(f"not mapped: {folders}")
        say("not mapped: of other projects; `know init --project FOLDER` maps one to a repository")
    if dry_run:
        say("nothing was changed (--dry-run)")


def _most(denied: Counter[str]) -> str:
    """Return the folders of which most sessions do not belong here."""
    known = [(folder, number) for folder, number in denied.most_common() if folder]
    told = [f"{folder} ({count(number, 'session')})" for folder, number in known[:_MOST_FOLDERS]]
    more = len(known) - len(told)
    return ", ".join([*told, *([f"and {count(more, 'folder')} more"] if more else [])])


def print_stats(here: Repository) -> None:
    """Print what each kind of content costs, over all that is archived."""
    from knowrepo.sessions.listing import find
    from knowrepo.sessions.stats import KINDS, content_costs
    from knowrepo.sessions.store import chunks

    sessions = find(here)
    below = [one for session in sessions for one in session.below]
    costs: Counter[str] = Counter()
    for session in [*sessions, *below]:
        costs.update(content_costs(line.rstrip(b"\n") for line in chunks(session.path)))
    total = costs.total()
    for kind in KINDS:
        share = costs[kind] / total if total else 0.0
        show(f"{kind:<16} {size(costs[kind]):>9} {share:>7.1%}")
    show(f"{'all':<16} {size(total):>9}")
    many = f"{count(len(sessions), 'session')} and {count(len(below), 'file')} below them"
    say(f"{many}; toolUseResult and thinking are archived and not searched")


@contextlib.contextmanager
def noted(here: Repository, told: list[Outcome], *, dry_run: bool) -> Iterator[None]:
    """Write into the log what became of the sources; a run that only says so leaves no line."""
    from knowrepo.upkeep import logs

    if dry_run:
        yield
        return
    with logs.noted(here, "archive") as what:
        try:
            yield
        finally:
            actions = Counter(outcome.action.replace(" ", "_") for outcome in told)
            what.update(sorted(actions.items()))
