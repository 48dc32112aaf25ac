"""``know stats``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from knowrepo.cli.common import (
    AgentOption,
    JsonOption,
    ProjectOption,
    QuietOption,
    RepoOption,
    SinceOption,
    UntilOption,
    iso_date,
    progress,
    repository,
    say,
    session_agent,
    show,
    show_json,
)
from knowrepo.cli.width import columns_of
from knowrepo.terminal import plain
from knowrepo.units import count, size

if TYPE_CHECKING:
    from knowrepo.upkeep.stats import Share, Stats, Tool
    from knowrepo.upkeep.usage import Tokens

_NAME = 28  # columns of a name
_PLOT = 40  # columns of the longest bar
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_MONTHS_FROM, _WEEKS_FROM = 120, 21  # days that are shown by month, by week


def stats(
    since: SinceOption = "",
    until: UntilOption = "",
    project: ProjectOption = "",
    agent: AgentOption = "",
    limit: Annotated[
        int, typer.Option("-k", "--limit", metavar="N", min=0, help="Names a list; 0 for all.")
    ] = 10,
    as_json: JsonOption = False,
    repo: RepoOption = None,
    quiet: QuietOption = False,
) -> None:
    """Sum the archive up: sessions, tokens, tools, projects and models, over time.

    A session counts at its first record's date, with its sub-agents. Tokens are
    those that the agents wrote down. What was read once is read again only where
    it changed.

    \b
    Examples:
      know stats
      know stats --since 2026-05 --project app
      know stats --json
    """
    from knowrepo.upkeep.stats import Only, collect

    since, until = iso_date("since", since), iso_date("until", until)
    here = repository(repo)
    only = Only(since, until, project, session_agent(here, agent))
    with progress("reading", quiet=quiet) as tell:
        found = collect(here, only, progress=tell)
    for note in found.unreadable:
        say(f"{note}: not counted")
    if as_json:
        show_json(_facts(found))
        return
    for line in _lines(found, limit):
        show(line)


# -- for people -------------------------------------------------------------------


def _lines(stats: Stats, limit: int) -> Iterator[str]:
    more = f" with {count(stats.sub_agents, 'sub-agent')}" if stats.sub_agents else ""
    when = f", {stats.first[:10]} to {stats.last[:10]}" if stats.first else ""
    yield f"sessions   {stats.sessions:,}{more}, {size(stats.size)}{when}"
    yield f"records    {stats.records:,}, of these {count(stats.turns, 'turn')} of a person"
    yield f"concepts   {stats.concepts:,}"
    if stats.with_tokens:
        told = (
            f"; {stats.with_tokens:,} sessions tell" if stats.with_tokens < stats.sessions else ""
        )
        yield f"tokens     {_tokens(stats.tokens)}{told}"
    by_time = _by_time(stats.days)
    yield from _plot("by time", by_time, _sessions, 0)
    yield from _plot("agents", _largest(stats.agents), _sessions, limit)
    yield from _plot("projects", _largest(stats.projects), _sessions, limit)
    yield from _plot("models", _largest(stats.models), _sessions, limit)
    tools = dict(sorted(stats.tools.items(), key=lambda item: (-item[1].calls, item[0])))
    yield from _plot("tools", tools, _calls, limit)


def _sessions(share: Share) -> tuple[int, str]:
    told = f", {_amount(share.tokens.written)} tokens written" if any(share.tokens) else ""
    return share.sessions, f"{count(share.sessions, 'session')}{told}"


def _calls(tool: Tool) -> tuple[int, str]:
    rate = f", {tool.failed / tool.told:.1%} failed" if tool.told else ""
    return tool.calls, f"{count(tool.calls, 'call')}{rate}"


def _tokens(tokens: Tokens) -> str:
    return (
        f"{_amount(tokens.read)} read, {_amount(tokens.written)} written,"
        f" cache {_amount(tokens.cache_read)} read and {_amount(tokens.cache_written)} written"
    )


def _amount(number: int) -> str:
    value = float(number)
    for unit in ("", "k", "M"):
        if value < 999.5:
            return f"{value:.0f}" if not unit else f"{value:.3g}{unit}"
        value /= 1000
    return f"{value:.4g}G"


def _largest(shares: Mapping[str, Share]) -> dict[str, Share]:
    return dict(sorted(shares.items(), key=lambda item: (-item[1].sessions, item[0])))


def _by_time(days: Mapping[str, Share]) -> dict[str, Share]:
    """Return the shares of months, of weeks by their Monday, or of days, none left out between."""
    from knowrepo.upkeep.stats import Share

    starts = _starts([day for day in days if day])
    found = {start: Share() for start in starts}
    for day, share in days.items():
        start = max((start for start in starts if start <= day), default="")
        into = found.setdefault(start, Share())
        into.sessions += share.sessions
        into.tokens = into.tokens.plus(share.tokens)
    return found


def _starts(days: list[str]) -> list[str]:
    from datetime import date, timedelta

    try:
        known = [date.fromisoformat(day) for day in days]
    except ValueError:  # a transcript may say anything
        return sorted({day[:7] for day in days})
    if not known:
        return []
    day, last = min(known), max(known)
    span = (last - day).days
    if span > _MONTHS_FROM:
        months = range(day.year * 12 + day.month - 1, last.year * 12 + last.month)
        return [f"{month // 12:04d}-{month % 12 + 1:02d}" for month in months][-240:]
    step = 1 if span <= _WEEKS_FROM else 7
    day -= timedelta(days=day.weekday() if step == 7 else 0)
    return [(day + timedelta(days=n)).isoformat() for n in range(0, (last - day).days + 1, step)]


def _plot(title: str, rows: Mapping[str, Any], told: Any, limit: int) -> Iterator[str]:
    """Yield a line for each row: its name, a bar, and what it is."""
    if not rows:
        return
    import shutil

    shown = list(rows.items())[: limit or None]
    values = [(plain(name) or "(none)", *told(row)) for name, row in shown]
    most = max(value for _, value, _ in values) or 1
    width = min(_NAME, max(columns_of(name) for name, _, _ in values))
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else 80
    longest = max(len(text) for _, _, text in values)
    bar = max(4, min(_PLOT, room - width - longest - 4))
    yield ""
    yield title
    for name, value, text in values:
        yield f"  {_padded(name, width)} {_bar(value / most, bar)} {text}"
    if len(rows) > len(shown):
        yield f"  and {len(rows) - len(shown):,} more; `-k 0` shows all"


def _bar(share: float, width: int) -> str:
    """Return a bar in ``width`` columns; what is more than nothing is seen."""
    if not _draws_blocks():
        return ("#" * max(round(share * width), share > 0)).ljust(width)
    eighths = max(round(share * width * 8), int(share > 0))
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (_EIGHTHS[rest] if rest else "")).ljust(width)


def _draws_blocks() -> bool:
    try:
        _EIGHTHS.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _padded(text: str, width: int) -> str:
    if columns_of(text) > width:
        while columns_of(text) > width - 1:
            text = text[:-1]
        text += "…" if _draws_blocks() else "~"
    return text + " " * (width - columns_of(text))


# -- for programs -----------------------------------------------------------------


def _facts(stats: Stats) -> dict[str, Any]:
    return {
        "version": 1,
        "sessions": stats.sessions,
        "sub_agents": stats.sub_agents,
        "concepts": stats.concepts,
        "records": stats.records,
        "turns": stats.turns,
        "size": stats.size,
        "first": stats.first,
        "last": stats.last,
        "sessions_with_tokens": stats.with_tokens,
        "tokens": stats.tokens._asdict(),
        "agents": _shares(stats.agents.items()),
        "projects": _shares(stats.projects.items()),
        "models": _shares(stats.models.items()),
        "days": _shares(stats.days.items()),
        "tools": {name: vars(tool) for name, tool in sorted(stats.tools.items())},
    }


def _shares(shares: Iterable[tuple[str, Share]]) -> dict[str, Any]:
    return {
        name: {"sessions": share.sessions, "tokens": share.tokens._asdict()}
        for name, share in sorted(shares)
    }
