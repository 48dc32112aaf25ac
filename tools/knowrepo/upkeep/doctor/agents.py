"""The checks of what agents leave us: their hooks, how long they keep sessions, the queue.

Owns what is known of each agent's retention:

- Claude Code removes transcripts older than `cleanupPeriodDays` when it starts,
  30 by default.
- Gemini CLI removes chats older than `general.sessionRetention.maxAge`, `30d` by
  default since February 2026, unless `enabled` is false.
- The others that know reads say nothing of removing sessions.

Settings are other people's data: they are read, never edited here.
"""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from typing import Any

from knowrepo.errors import KnowError
from knowrepo.upkeep.doctor.check import Found, Place, listed, ok, warn

_DAYS = 30
_LONG = 365
_HOURS = {"h": 1 / 24, "d": 1.0, "w": 7.0, "m": 30.0}
_INSTALL = "`know hooks install --agent claude`"
_OLDEST = 86_400  # seconds that an entry may wait before somebody should look


def hooks(here: Place) -> Found:
    """Whether Claude Code tells us of its sessions, where it is used at all."""
    from knowrepo.sessions.capture import agent_settings, settings_file

    installed, problems = [], []
    for scope in ("user", "project", "local"):
        path = settings_file.claude_settings(scope, here.folder)
        try:
            settings = agent_settings.check(settings_file.read(path).text)
        except KnowError as error:
            problems.append(error.message)
            continue
        if agent_settings.ours(settings):
            installed.append(str(path))
            problems += [f"{path}: {problem}" for problem in agent_settings.problems(settings)]
    if problems:
        return warn(listed(problems), _INSTALL)
    if installed:
        return ok(f"installed in {listed(installed)}")
    if not _uses("claude"):
        return ok("none installed, and no sessions of Claude Code here")
    return warn("Claude Code does not note its sessions for the archive", _INSTALL)


def retention(here: Place) -> Found:
    """Whether an agent deletes sessions that nobody has archived yet."""
    kept: list[tuple[str, float, str]] = []
    if _uses("claude"):
        kept.append(("Claude Code", _claude_days(), f"`cleanupPeriodDays` in {_claude_settings()}"))
    if _uses("gemini"):
        key = "`general.sessionRetention.maxAge`"
        kept.append(("Gemini CLI", _gemini_days(), f"{key} in {_gemini_settings()}"))
    short = [one for one in kept if one[1] < _LONG]
    seen = "; ".join(f"{agent} deletes sessions after {days:g} days" for agent, days, _ in short)
    if not short:
        return ok("no agent here deletes sessions within a year")
    if [agent for agent, _, _ in short] == ["Claude Code"] and hooks(here).verdict == "ok":
        return ok(f"{seen}; its hooks note each before that")
    raised = listed([where for _, _, where in short])
    return warn(seen, f"archive before that (`know archive --all`), or raise {raised}")


def queue(_: Place) -> Found:
    """Whether what hooks noted gets archived."""
    from knowrepo import hook
    from knowrepo.sessions.capture import queue as queued

    held = queued.waiting()
    folder = Path(hook.state_dir())
    seen = f"{held.waiting} waiting, {held.resting} archived and not ended"
    if held.broken:
        return warn(
            f"{seen}, {held.broken} that are no entries",
            f"look at {folder / hook.QUEUE / 'broken'}, and remove what is there",
        )
    if held.oldest is not None and time.time() - held.oldest > _OLDEST:
        days = (time.time() - held.oldest) / 86_400
        return warn(f"{seen}, the oldest for {days:.0f} days", "`know archive --queued`")
    return ok(seen)


def _uses(agent: str) -> bool:
    """Say whether an agent's folder of sessions is there."""
    from knowrepo.sessions.discover import places

    return any(place.agent == agent and place.folder.is_dir() for place in places())


def _claude_settings() -> Path:
    from knowrepo.sessions.capture.settings_file import claude_settings

    return claude_settings("user", Path())


def _claude_days() -> float:
    days = _json(_claude_settings()).get("cleanupPeriodDays", _DAYS)
    return float(days) if isinstance(days, int | float) and not isinstance(days, bool) else _DAYS


def _gemini_settings() -> Path:
    base = os.environ.get("GEMINI_CLI_HOME", "").strip()
    return (Path(base) if base else Path.home()) / ".gemini" / "settings.json"


def _gemini_days() -> float:
    general = _json(_gemini_settings()).get("general", {})
    kept = general.get("sessionRetention", {}) if isinstance(general, dict) else {}
    if not isinstance(kept, dict):
        return _DAYS
    if kept.get("enabled") is False:
        return float("inf")
    age = re.fullmatch(r"(\d+)([hdwm])", str(kept.get("maxAge", f"{_DAYS}d")))
    return int(age[1]) * _HOURS[age[2]] if age else _DAYS


def _json(path: Path) -> dict[str, Any]:
    """Return an agent's settings; what cannot be read says nothing."""
    try:
        settings = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return settings if isinstance(settings, dict) else {}
