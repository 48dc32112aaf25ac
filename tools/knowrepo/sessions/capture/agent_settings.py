"""Our hooks in an agent's settings: which they are, and how they get in and out.

Owns what is installed for Claude Code, how ours are told from other people's
(by the program that they run), and editing the text of a settings file.
`settings_file` reads and writes the files.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from knowrepo.sessions.capture import json_text

Kind = Literal["", "hook", "sweep", "status"]

EVENTS = ("SessionStart", "Stop", "SubagentStop", "PreCompact", "SessionEnd")
SWEEP_EVENT = "SessionStart"
# Seconds. A hook ends itself after one; a sweep runs beside the session, and
# what one does not finish is the next one's.
_HOOK_TIMEOUT = 5
_SWEEP_TIMEOUT = 60


@dataclass(frozen=True)
class Commands:
    """The command lines that are installed.

    They are lines for a shell: every version of Claude Code runs these, while
    only newer ones know `args`.
    """

    hook: str
    sweep: str
    status: str

    @classmethod
    def of(cls, hook: str, know: str) -> Commands:
        """Return the commands that run these two programs."""
        return cls(
            hook=_line(hook),
            sweep=_line(know, "archive", "--queued", "--quiet"),
            status=_line(hook, "--status"),
        )

    def wanted(self) -> dict[tuple[str, Kind], dict[str, Any]]:
        """Return what belongs into the settings, by event and kind."""
        found: dict[tuple[str, Kind], dict[str, Any]] = {}
        for event in EVENTS:
            run = {"type": "command", "command": self.hook, "timeout": _HOOK_TIMEOUT}
            found[event, "hook"] = run
        run = {"type": "command", "command": self.sweep, "async": True, "timeout": _SWEEP_TIMEOUT}
        found[SWEEP_EVENT, "sweep"] = run
        return found


# Agents whose settings we do not edit, after their documentation: the file, and
# what to add. Their hooks say what ours reads; a session without a transcript's
# path is looked up by its id.
BY_HAND = {
    "codex": ("~/.codex/config.toml", 'notify = [{word}, "--agent", "codex"]'),
    "gemini": (
        "~/.gemini/settings.json",
        '{{"hooks": {{"AfterAgent": [{{"hooks": [{{"type": "command", "command": {line}}}]}}],'
        ' "SessionEnd": [{{"hooks": [{{"type": "command", "command": {line}}}]}}]}}}}',
    ),
    "copilot": (
        "~/.copilot/hooks/know.json",
        '{{"version": 1, "hooks": {{"sessionEnd": [{{"type": "command", "bash": {ending}}}]}}}}',
    ),
    "cursor": (
        "~/.cursor/hooks.json",
        '{{"version": 1, "hooks": {{"stop": [{{"command": {line}}}],'
        ' "sessionEnd": [{{"command": {line}}}]}}}}',
    ),
}


def by_hand(agent: str, hook: str) -> tuple[str, str]:
    """Return the settings file of another agent, and the text to add there by hand."""
    file, text = BY_HAND[agent]
    words = (hook, "--agent", agent)
    return file, text.format(
        word=json.dumps(hook),
        line=json.dumps(_line(*words)),
        ending=json.dumps(_line(*words, "--event", "sessionEnd")),
    )


@dataclass(frozen=True)
class Ours:
    """A handler of ours: where it stands in the settings, and what it runs."""

    event: str
    group: int
    number: int
    kind: Kind
    words: tuple[str, ...]

    @property
    def path(self) -> tuple[str | int, ...]:
        """The keys and numbers that lead to it."""
        return ("hooks", self.event, self.group, "hooks", self.number)


def check(text: str) -> dict[str, Any]:
    """Return the settings; raises ValueError where a text is none that can be edited."""
    settings = json_text.whole(text).value
    if not isinstance(settings, dict):
        raise ValueError("it is not a JSON object")
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        raise ValueError("`hooks` is not an object")
    for event, groups in hooks.items():
        if not isinstance(groups, list):
            raise ValueError(f"`hooks.{event}` is not a list")
    return settings


def ours(settings: dict[str, Any]) -> list[Ours]:
    """Return our handlers in the order of the settings; what is malformed is not ours."""
    return [
        Ours(event, group, number, kind, words)
        for event, groups in settings.get("hooks", {}).items()
        for group, entry in enumerate(groups)
        for number, handler in enumerate(_handlers(entry))
        for kind, words in [recognise(handler)]
        if kind in ("hook", "sweep")
    ]


def recognise(handler: object) -> tuple[Kind, tuple[str, ...]]:
    """Tell which of our commands a handler runs, if any, and give its words."""
    if not isinstance(handler, dict) or not isinstance(handler.get("command"), str):
        return "", ()
    arguments = handler.get("args")
    if isinstance(arguments, list):
        words = [handler["command"], *map(str, arguments)]
    else:
        words = _words(handler["command"])
    if not words:
        return "", ()
    program = re.split(r"[\\/]", words[0])[-1].removesuffix(".exe")
    kind: Kind = ""
    if program == "know-hook":
        kind = "status" if "--status" in words else "hook"
    elif program == "know" and words[1:2] == ["archive"] and "--queued" in words:
        kind = "sweep"
    return kind, tuple(words)


def programs(settings: dict[str, Any]) -> list[str]:
    """Return the programs that our handlers run."""
    status, words = recognise(settings.get("statusLine"))
    found = {handler.words[0] for handler in ours(settings)}
    return sorted(found | ({words[0]} if status else set()))


def problems(settings: dict[str, Any]) -> list[str]:
    """Return why what is installed cannot work, or not all of it."""
    handlers = ours(settings)
    if not handlers:
        return []
    there = {(handler.event, handler.kind) for handler in handlers}
    missing = [event for event in EVENTS if (event, "hook") not in there]
    found = [f"{name} is not there" for name in programs(settings) if shutil.which(name) is None]
    if missing:
        found.append(f"no hook on {', '.join(missing)}")
    if (SWEEP_EVENT, "sweep") not in there:
        found.append(f"no sweep on {SWEEP_EVENT}")
    found = [f"{what}; install the hooks again" for what in found]
    if settings.get("disableAllHooks") is True:
        found.append("`disableAllHooks` is set: no hook runs")
    return found


def install(text: str, commands: Commands, *, status_line: bool) -> tuple[str, list[str]]:
    """Put our hooks into a text; returns it with the names of the containers that were made.

    Those that are there keep what else was set on them and get the current
    command; doubles, and those of events that are no longer used, go.
    """
    wanted = commands.wanted()
    handlers = ours(check(text))
    first: dict[tuple[str, Kind], Ours] = {}
    for handler in handlers:
        first.setdefault((handler.event, handler.kind), handler)
    for handler in reversed(handlers):  # so that the places of those before stay true
        key = (handler.event, handler.kind)
        if key not in wanted or handler is not first[key]:
            text = _drop(text, handler)
    for handler in ours(check(text)):
        text = _update(text, handler.path, wanted[handler.event, handler.kind]["command"])
    made: list[str] = []
    for event in EVENTS:
        missing = [run for key, run in wanted.items() if key[0] == event and key not in first]
        if missing:
            text = _make(text, (), "hooks", {}, made)
            text = _make(text, ("hooks",), event, [], made)
            text = _add(text, ("hooks", event), {"hooks": missing})
    return _install_status_line(text, commands.status, asked=status_line), made


def uninstall(text: str, made: set[str] | None) -> str:
    """Take our hooks out of a text, with the containers in ``made`` that they leave empty.

    Where it is not known what was made, None, everything that they leave empty goes.
    """
    handlers = ours(check(text))
    if made is None:
        made = {"hooks", *(f"hooks.{handler.event}" for handler in handlers)} if handlers else set()
    for handler in reversed(handlers):
        text = _drop(text, handler)
    for event in list(check(text).get("hooks", {})):
        text = _remove_if(text, ("hooks",), event, empty=f"hooks.{event}" in made)
    text = _remove_if(text, (), "hooks", empty="hooks" in made)
    line = check(text).get("statusLine")
    return _remove(text, (), "statusLine") if recognise(line)[0] == "status" else text


def _handlers(group: object) -> Iterator[object]:
    handlers = group.get("hooks") if isinstance(group, dict) else None
    yield from handlers if isinstance(handlers, list) else ()


def _line(*words: str) -> str:
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def _words(line: str) -> list[str]:
    try:
        words = shlex.split(line, posix=os.name != "nt")
    except ValueError:  # a quote that is not closed: somebody else's affair
        return []
    return [word.strip('"') for word in words] if os.name == "nt" else words


def _install_status_line(text: str, command: str, *, asked: bool) -> str:
    settings = check(text)
    if recognise(settings.get("statusLine"))[0] == "status":
        return _update(text, ("statusLine",), command)
    if asked and "statusLine" not in settings:
        return _add(text, (), {"type": "command", "command": command}, key="statusLine")
    return text


def _update(text: str, path: tuple[str | int, ...], command: str) -> str:
    """Give a handler another command where it has not this one."""
    handler = json_text.at(text, *path)
    if handler is None or (handler.value["command"] == command and "args" not in handler.value):
        return text
    if "args" in handler.value:
        text = _remove(text, path, "args")
    part = json_text.at(text, *path, "command")
    return json_text.put(text, part, command) if part else text


def _drop(text: str, handler: Ours) -> str:
    """Remove a handler, and the group that it alone made up."""
    *group, number = handler.path
    text = _remove(text, tuple(group), number)
    left = json_text.at(text, *group)
    if left and not left.value:
        text = _remove(text, ("hooks", handler.event), handler.group)
    return text


def _make(text: str, path: tuple[str | int, ...], key: str, empty: object, made: list[str]) -> str:
    if json_text.at(text, *path, key) is not None:
        return text
    made.append(".".join(map(str, (*path, key))))
    return _add(text, path, empty, key=key)


def _add(text: str, path: tuple[str | int, ...], value: object, *, key: str = "") -> str:
    container = json_text.at(text, *path)
    return json_text.add(text, container, value, key=key) if container else text


def _remove(text: str, path: tuple[str | int, ...], step: str | int) -> str:
    container, part = json_text.at(text, *path), json_text.at(text, *path, step)
    return json_text.remove(text, container, part) if container and part else text


def _remove_if(text: str, path: tuple[str | int, ...], key: str, *, empty: bool) -> str:
    part = json_text.at(text, *path, key)
    return _remove(text, path, key) if empty and part and not part.value else text
