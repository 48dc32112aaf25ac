"""``know hooks``: the hooks of agents, and of git (see `hooks_git`)."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from knowrepo.cli.common import JsonOption, RepoOption, repository, say, show, show_json
from knowrepo.units import count

if TYPE_CHECKING:
    from knowrepo.sessions.capture.agent_settings import Commands
    from knowrepo.sessions.capture.settings_file import SettingsFile

_SCOPES = ("user", "project", "local")

app = typer.Typer(
    no_args_is_help=True, help="The hooks by which agents note their sessions, and those of git."
)

AgentOption = Annotated[
    str,
    typer.Option(
        "--agent", metavar="AGENT", help="The agent: claude; others are told what to add by hand."
    ),
]
ScopeOption = Annotated[
    str,
    typer.Option(
        "--scope", metavar="SCOPE", help="`user`, `project` (shared), or `local` (not shared)."
    ),
]
GitOption = Annotated[
    bool, typer.Option("--git", help="The hooks that git runs in this clone, without pre-commit.")
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Show what would change; write nothing.")
]


@app.command("install")
def install(
    agent: AgentOption = "",
    scope: ScopeOption = "user",
    status_line: Annotated[
        bool, typer.Option("--status-line", help="Also tell from a status line, if there is none.")
    ] = False,
    git: GitOption = False,
    dry_run: DryRunOption = False,
    repo: RepoOption = None,
) -> None:
    """Have an agent note its sessions, or git check commits and index after them.

    Edits the agent's settings in place: other hooks, other keys and the
    formatting stay, and a second run changes nothing. With --git, a hook that is
    there already is kept and runs first; what pre-commit runs is left to it, and
    in a folder that others share nothing is written: it says what to add.

    \b
    Examples:
      know hooks install --agent claude
      know hooks install --agent claude --scope local --dry-run
      know hooks install --git
    """
    from knowrepo.sessions.capture import agent_settings, settings_file

    if git:
        from knowrepo.cli import hooks_git

        hooks_git.install(repository(repo), dry_run=dry_run)
        if not agent:
            return
    if not _is_claude(agent):
        _tell_by_hand(agent)
        return
    file = settings_file.read(_path(scope))
    text, made = agent_settings.install(file.text, _commands(), status_line=status_line)
    if dry_run:
        _show_difference(file, text)
        return
    known = settings_file.made(file) or set()
    if file.content is None:
        known, made = set(), [*made, settings_file.MADE_FILE]
    elif (name := settings_file.was_blank(file)) is not None:
        known, made = set(), [*made, name]
    if made:
        settings_file.remember_made(file, known | set(made))
    if file.content is not None and text == file.text:
        show(f"{file.path}: the hooks are there already")
    else:
        settings_file.write(file, text)
        show(f"{file.path}: hooks installed; sessions that start from now on use them")
    _remark(text, scope, status_line=status_line)


@app.command("uninstall")
def uninstall(
    agent: AgentOption = "",
    scope: ScopeOption = "user",
    git: GitOption = False,
    dry_run: DryRunOption = False,
    repo: RepoOption = None,
) -> None:
    """Take our hooks out of an agent's settings, or of git, and nothing else.

    With --git, a hook that was there before is there again as it was.

    \b
    Examples:
      know hooks uninstall --agent claude
      know hooks uninstall --git
    """
    from knowrepo.sessions.capture import agent_settings, settings_file

    if git:
        from knowrepo.cli import hooks_git

        hooks_git.uninstall(repository(repo), dry_run=dry_run)
        if not agent:
            return
    if not _is_claude(agent):
        file_name, _ = agent_settings.by_hand(agent, "know-hook")
        show(f"{agent}: take out of {file_name} by hand what names know-hook")
        return
    file = settings_file.read(_path(scope))
    known = settings_file.made(file)
    text = agent_settings.uninstall(file.text, known)
    emptied = bool(known) and agent_settings.check(text) == {}
    if known and emptied and (before := settings_file.blank(known)) is not None:
        text = before
    if dry_run:
        _show_difference(file, text)
        return
    if file.content is None or text == file.text:
        show(f"{file.path}: no hooks of ours there")
    elif known and emptied and settings_file.MADE_FILE in known:
        settings_file.delete(file)
        show(f"{file.path}: removed; nothing but our hooks was in it")
    else:
        settings_file.write(file, text)
        show(f"{file.path}: hooks removed")
    settings_file.remember_made(file, None)


@app.command("status")
def status(as_json: JsonOption = False, repo: RepoOption = None) -> None:
    """Say where hooks are installed, what waits in the queue, and the last error.

    Of git it says what runs at each stage, and how the last run in the background
    went. Exits with 1 where hooks are installed that cannot work.

    \b
    Examples:
      know hooks status
      know hooks status --json
    """
    import time

    from knowrepo import hook
    from knowrepo.cli import hooks_git
    from knowrepo.sessions.capture import queue

    in_git = hooks_git.status(repo)
    installed = [_state(scope) for scope in _SCOPES]
    waiting = queue.waiting()
    now = time.time()
    oldest = None if waiting.oldest is None else max(0, int(now - waiting.oldest))
    folder = Path(hook.state_dir())
    error = _last_line(folder / hook.LOG)
    if as_json:
        held = {
            "folder": str(folder / hook.QUEUE), "waiting": waiting.waiting,
            "oldest_seconds": oldest, "resting": waiting.resting, "taken": waiting.taken,
            "broken": waiting.broken,
        }  # fmt: skip
        answer = {"claude": installed, "queue": held, "last_error": error, "git": in_git}
        show_json({"version": 1, **answer}, indent=2)
    else:
        for state in installed:
            show(_state_line(state))
        age = "" if oldest is None else f", the oldest for {_age(oldest)}"
        show(f"queue: {count(waiting.waiting, 'transcript')} waiting for a sweep{age}")
        show(f"       {waiting.resting} archived and not ended, {waiting.taken} in a sweep's hands")
        if waiting.broken:
            show(f"       {waiting.broken} unreadable, in {folder / hook.QUEUE / 'broken'}")
        if error:
            show(f"last error of know-hook: {error}")
        show("\n".join(hooks_git.lines(in_git)))
    broken = any(state["programs"] and state["problems"] for state in installed)
    if broken or hooks_git.is_broken(in_git):
        raise typer.Exit(1)


def _is_claude(agent: str) -> bool:
    from knowrepo.errors import UsageError
    from knowrepo.sessions.capture.agent_settings import BY_HAND

    if not agent:
        raise UsageError("whose hooks?", hint="--git, --agent claude, or both")
    if agent != "claude" and agent not in BY_HAND:
        others = ", ".join(BY_HAND)
        raise UsageError(
            f"--agent {agent}: not known",
            hint=f"--agent claude; or, to be told what to add: {others}",
        )
    return agent == "claude"


def _tell_by_hand(agent: str) -> None:
    from knowrepo.sessions.capture.agent_settings import by_hand

    file, text = by_hand(agent, _program("know-hook"))
    say(f"know does not edit the settings of {agent}; add this to {file}, beside what is there:")
    show(text)


def _path(scope: str) -> Path:
    from knowrepo.errors import NotARepositoryError, UsageError
    from knowrepo.git.repo import work_tree_of
    from knowrepo.sessions.capture.settings_file import claude_settings

    if scope not in _SCOPES:
        raise UsageError(f"--scope {scope}: not one of {', '.join(_SCOPES)}")
    project = Path.cwd()
    if scope != "user":
        with contextlib.suppress(NotARepositoryError):  # an agent works outside of git as well
            project = work_tree_of(project)
    return claude_settings(scope, project)


def _commands() -> Commands:
    from knowrepo.sessions.capture.agent_settings import Commands

    return Commands.of(_program("know-hook"), _program("know"))


def _program(name: str) -> str:
    """Return the absolute path of a program of ours: an agent may have another PATH.

    A link is not followed: it outlives an upgrade of what it leads to.
    """
    import shutil

    from knowrepo.errors import KnowError

    found = shutil.which(name) or shutil.which(name, path=str(Path(sys.executable).parent))
    if found is None:
        raise KnowError(
            f"{name}: neither on PATH nor beside {sys.executable}",
            hint="install knowrepo once more: `pip install` makes its programs",
        )
    return str(Path(found).absolute())


def _show_difference(file: SettingsFile, text: str) -> None:
    import difflib

    before = file.text.splitlines() if file.content is not None else []
    name = str(file.path)
    lines = list(difflib.unified_diff(before, text.splitlines(), name, name, lineterm=""))
    show("\n".join(lines) if lines else f"{name}: nothing would change")


def _remark(text: str, scope: str, *, status_line: bool) -> None:
    """Say what the person should know of what was installed."""
    from knowrepo.sessions.capture import agent_settings

    settings = agent_settings.check(text)
    if settings.get("disableAllHooks") is True:
        say("  `disableAllHooks` is set there: no hook runs until it is gone")
    if status_line and agent_settings.recognise(settings.get("statusLine"))[0] != "status":
        say("  a status line is there already and was left alone")
    if scope == "project":
        say("  this file is usually committed, and names programs of this machine;")
        say("  `--scope local` writes to .claude/settings.local.json instead")


def _state(scope: str) -> dict[str, Any]:
    """Return what is installed in a scope, and what is wrong with it."""
    from knowrepo.errors import KnowError
    from knowrepo.sessions.capture import agent_settings, settings_file

    path = _path(scope)
    state: dict[str, Any] = {
        "scope": scope, "path": str(path), "events": [], "sweep": False, "status_line": False,
        "programs": [], "problems": [],
    }  # fmt: skip
    try:
        settings = agent_settings.check(settings_file.read(path).text)
    except KnowError as error:
        state["problems"] = [error.message]
        return state
    handlers = agent_settings.ours(settings)
    state["events"] = [h.event for h in handlers if h.kind == "hook"]
    state["sweep"] = any(handler.kind == "sweep" for handler in handlers)
    state["status_line"] = agent_settings.recognise(settings.get("statusLine"))[0] == "status"
    state["programs"] = agent_settings.programs(settings)
    state["problems"] = agent_settings.problems(settings)
    return state


def _state_line(state: dict[str, Any]) -> str:
    what = ", ".join(state["events"]) or "no hooks"
    extras = [name for name in ("sweep", "status_line") if state[name]]
    what += "".join(f", {name.replace('_', ' ')}" for name in extras)
    lines = [f"claude, {state['scope']}: {what} ({state['path']})"]
    return "\n".join([*lines, *(f"  {problem}" for problem in state["problems"])])


def _age(seconds: int) -> str:
    for size, name in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            return count(seconds // size, name)
    return "less than a minute"


def _last_line(log: Path) -> str:
    for path in (log, log.with_name(f"{log.name}.old")):
        try:
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        if lines:
            return lines[-1]
    return ""
