"""``know``: the application, and the one place where errors become exit codes.

0 done, 1 an expected failure or a finding, 2 wrong usage, 3 a bug, 130 interrupted.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from knowrepo import __version__
from knowrepo.cli import (
    archive,
    check,
    distill,
    export,
    forget,
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
    tags,
)
from knowrepo.cli.common import Command, say
from knowrepo.errors import KnowError

INTERRUPTED = 130

app = typer.Typer(
    name="know",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("init")(init.init)
app.command("archive")(archive.archive)
app.command("sessions")(sessions.sessions)
app.command("forget")(forget.forget)
app.command("merge")(merge.merge)
app.command("export")(export.export)
app.command("scan")(scan.scan)
app.command("new")(new.new)
app.command("remember")(new.remember)
app.command("log")(log.log)
app.command("graph")(graph.graph)
app.command("check")(check.check)
app.command("migrate")(migrate.migrate)
app.command("accept")(lifecycle.accept)
app.command("supersede")(lifecycle.supersede)
app.command("deprecate")(lifecycle.deprecate)
app.add_typer(tags.app, name="tags")
app.command("distill")(distill.distill)
app.command("skill")(skill.skill)
app.command("index")(index.index)
app.command("status")(index.status)
app.command("recall")(recall.recall)
app.add_typer(model.app, name="model")
app.add_typer(hooks.app, name="hooks")
hook = typer.Typer(no_args_is_help=True, help="Entries for pre-commit.")
hook.command("check")(check.staged)
hook.command("tags")(tags.staged)
hook.command("merge-session")(git_calls.merge_session)
hook.command("sweep")(git_calls.sweep)
hook.command("scan")(scan.staged)
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
        return _bug(error)
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


def _bug(error: Exception) -> int:
    """Say that this is ours, and keep what is needed to mend it."""
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile(
        "w", prefix="know-bug-", suffix=".log", delete=False, encoding="utf-8"
    ) as log:
        log.write(f"know {__version__}, Python {sys.version}\n{sys.argv[1:]!r}\n\n")
        traceback.print_exception(error, file=log)
    say(f"know: a bug: {type(error).__name__}: {error}")
    say(f"  please report it with {log.name}")
    return 3
