"""``know``: the application, and the one place where errors become exit codes.

0 done, 1 an expected failure or a finding, 2 wrong usage, 3 a bug, 130 interrupted.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from knowrepo import __version__
from knowrepo.cli import (
    archive,
    bench,
    check,
    distill,
    doctor,
    evaluate,
    export,
    forget,
    gc,
    git_calls,
    graph,
    hooks,
    index,
    init,
    lifecycle,
    log,
    merge,
    migrate,
    model,
    new,
    recall,
    scan,
    sessions,
    skill,
    sql,
    stats,
    status,
    tags,
)
from knowrepo.cli.common import Command, Group, say
from knowrepo.errors import KnowError

INTERRUPTED = 130

app = typer.Typer(
    name="know",
    cls=Group,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
# By what they are for, in the order in which somebody comes to need them. The line of each
# is for `know --help`, which has room for so much.
_PARTS: dict[str, dict[str, tuple[Any, str]]] = {
    "To begin": {
        "init": (init.init, "Make a git repository a knowledge repository, and map projects."),
        "hooks": (hooks.app, "Have agents note their sessions, and git run our checks."),
        "model": (model.app, "Fetch the local embedding model, or say where it is."),
    },
    "Looking up": {
        "recall": (recall.recall, "Look something up in concepts and sessions."),
        "eval": (evaluate.evaluate, "Ask the questions that this repository must answer."),
        "stats": (stats.stats, "Sum up sessions, tokens, tools and projects over time."),
        "sql": (sql.sql, "Query catalog, vectors and archived lines by SQL, read only."),
    },
    "Looking after the index": {
        "index": (index.index, "Bring the catalog and the vectors up to date."),
        "status": (status.status, "Say what is indexed, what is pending, with which model."),
        "doctor": (doctor.doctor, "Check that all that know needs is there and whole."),
        "gc": (gc.gc, "Drop vectors that no branch or work tree needs."),
        "bench": (bench.app, "Measure what this costs on this machine."),
    },
    "Sessions": {
        "archive": (archive.archive, "Bring sessions into the archive, redacted."),
        "sessions": (sessions.sessions, "List the archived sessions, the newest first."),
        "export": (export.export, "Write one session as a page to read, or as data."),
        "scan": (scan.scan, "Find secrets in what is archived and written already."),
        "merge": (merge.merge, "Join both sides of sessions that git has in conflict."),
        "forget": (forget.forget, "Take a session out of the archive, for good."),
    },
    "Writing concepts": {
        "remember": (new.remember, "Write down one thing at once, staged."),
        "new": (new.new, "Begin a concept: a form with the sections of its type."),
        "distill": (distill.distill, "Propose concepts for what sessions found out."),
        "skill": (skill.skill, "Print or install the skill by which an agent writes them."),
    },
    "Keeping concepts": {
        "check": (check.check, "Check them against OKF v0.2, and mend what is safe."),
        "accept": (lifecycle.accept, "Make drafts stable."),
        "supersede": (lifecycle.supersede, "Deprecate a concept and name what holds instead."),
        "deprecate": (lifecycle.deprecate, "Mark a concept as no longer current."),
        "tags": (tags.app, "List and rename tags; build what is generated."),
        "log": (log.log, "Say what became of the concepts, day by day."),
        "graph": (graph.graph, "Show which concepts link to which."),
        "migrate": (migrate.migrate, "Lift concepts from OKF v0.1 to v0.2."),
    },
}
for _part, _commands in _PARTS.items():
    for _name, (_what, _line) in _commands.items():
        if isinstance(_what, typer.Typer):
            app.add_typer(_what, name=_name, short_help=_line, rich_help_panel=_part)
        else:
            app.command(_name, short_help=_line, rich_help_panel=_part)(_what)
hook = typer.Typer(no_args_is_help=True, help="Entries for pre-commit.")
hook.command("check")(check.staged)
hook.command("tags")(tags.staged)
hook.command("merge-session")(git_calls.merge_session)
hook.command("sweep")(git_calls.sweep)
hook.command("scan")(scan.staged)
hook.command("pre-commit")(git_calls.gate)
hook.command("index")(git_calls.index)
hook.command("eval")(git_calls.evaluate)
app.add_typer(hook, name="hook", hidden=True)
for group in (app, *(found.typer_instance for found in app.registered_groups)):
    for command in group.registered_commands if group else ():
        command.cls = Command


@app.callback()
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """A git repository as the memory of coding agents and of people."""
    if version:
        typer.echo(f"know {__version__}")
        raise typer.Exit


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments == ["--version"]:  # an option alone is no missing command
        typer.echo(f"know {__version__}")
        return 0
    try:
        app(args=arguments, prog_name="know")
    except SystemExit as done:
        code = done.code if isinstance(done.code, int) else int(done.code is not None)
        if code == INTERRUPTED:
            say("know: interrupted")
        return code
    except KnowError as error:
        say(f"know: {error.message}")
        if error.hint:
            say(f"  {error.hint}")
        return error.exit_code
    except KeyboardInterrupt:
        say("know: interrupted")
        return INTERRUPTED
    except OSError as error:  # a full or read-only disk, a file without permission
        say(f"know: {error.filename or 'writing'}: {error.strerror or error}")
        return 1
    except Exception as error:
        return _bug(error, arguments)
    return 0


def entry() -> None:
    """Run as a console script."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started us
            setattr(sys, name, io.TextIOWrapper(io.BytesIO()))
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that knows no `…`
    code = main()
    # What is still to be written to a closed pipe is nobody's concern.
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        say(f"know: standard output: {error.strerror}")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = code or 1
    sys.exit(code)


def _bug(error: Exception, arguments: Sequence[str]) -> int:
    """Say that this is ours, and keep what is needed to mend it."""
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile(
        "w", prefix="know-bug-", suffix=".log", delete=False, encoding="utf-8"
    ) as log:
        log.write(f"know {__version__}, Python {sys.version}\n{sys.argv[1:]!r}\n\n")
        traceback.print_exception(error, file=log)
    say(f"know: a bug: {type(error).__name__}: {error}")
    noted = _note(error, arguments)
    if noted:
        say(f"  {noted} says where in the code, and nothing of yours")
    say(f"  please report it with {log.name}")
    return 3


def _note(error: Exception, arguments: Sequence[str]) -> str:
    """Write the bug into the log of the repository; returns the log, '' where there is none."""
    try:
        from itertools import pairwise
        from pathlib import Path

        from knowrepo.git.layout import open_repository
        from knowrepo.upkeep import logs

        named = [word for word in arguments if any(word in part for part in _PARTS.values())]
        where = [Path(after) for word, after in pairwise(arguments) if word == "--repo"]
        here = open_repository(where[0] if where else None)
        log = logs.note_bug(here, named[0] if named else "know", error)
    except Exception:  # the bug may be anywhere, and this is a comfort
        return ""
    return str(log or "")
