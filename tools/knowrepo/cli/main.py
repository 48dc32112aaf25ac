"""``know``: the application, and its commands by what they are for.

Imports none of them: each is imported when somebody asks for it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from knowrepo import __version__
from knowrepo.cli import commit_hook, ending
from knowrepo.cli.group import Parts, group_of

# By what they are for, in the order in which somebody comes to need them. The line of each
# is for `know --help`, which has room for so much.
PARTS: Parts = {
    "To begin": {
        "init": ("init:init", "Make a git repository a knowledge repository, and map projects."),
        "hooks": ("hooks:app", "Have agents note their sessions, and git run our checks."),
        "model": ("model:app", "Fetch, list and choose the models that embed and rerank."),
    },
    "Looking up": {
        "recall": ("recall:recall", "Look something up in concepts and sessions."),
        "eval": ("evaluate:evaluate", "Ask the questions that this repository must answer."),
        "history": ("history:history", "Say what commits did to a concept, through renames."),
        "blame": ("blame:blame", "Say who or what brought each statement of a concept."),
        "diff": ("diff:diff", "Say what became of the knowledge between two revisions."),
        "stats": ("stats:stats", "Sum up sessions, tokens, tools and projects over time."),
        "sql": ("sql:sql", "Query catalog, vectors and archived lines by SQL, read only."),
    },
    "Looking after the index": {
        "index": ("index:index", "Bring the catalog and the vectors up to date."),
        "sync": ("sync:sync", "Share vectors with other clones, through a git remote."),
        "status": ("status:status", "Say what is indexed, what is pending, with which model."),
        "doctor": ("doctor:doctor", "Check that all that know needs is there and whole."),
        "gc": ("gc:gc", "Drop vectors that no branch or work tree needs."),
        "bench": ("bench:app", "Measure what this costs on this machine."),
    },
    "Sessions": {
        "archive": ("archive:archive", "Bring sessions into the archive, redacted."),
        "sessions": ("sessions:sessions", "List the archived sessions, the newest first."),
        "export": ("export:export", "Write one session as a page to read, or as data."),
        "scan": ("scan:scan", "Find secrets in what is archived and written already."),
        "merge": ("merge:merge", "Settle what a merge left in conflict and nobody must decide."),
        "forget": ("forget:forget", "Take a session out of the archive, for good."),
    },
    "Writing concepts": {
        "remember": ("new:remember", "Write down one thing at once, staged."),
        "new": ("new:new", "Begin a concept: a form with the sections of its type."),
        "distill": ("distill:distill", "Propose concepts for what sessions found out."),
        "skill": ("skill:skill", "Print or install the skill by which an agent writes them."),
    },
    "Keeping concepts": {
        "check": ("check:check", "Check them against OKF v0.2, and mend what is safe."),
        "ci": ("ci:ci", "Check what a pull request must hold, and sum it up."),
        "accept": ("lifecycle:accept", "Make drafts stable."),
        "supersede": ("lifecycle:supersede", "Deprecate a concept and name what holds instead."),
        "deprecate": ("lifecycle:deprecate", "Mark a concept as no longer current."),
        "tags": ("tags:app", "List and rename tags; build what is generated."),
        "log": ("log:log", "Say what became of the concepts, day by day."),
        "graph": ("graph:graph", "Show which concepts link to which."),
        "migrate": ("migrate:migrate", "Lift concepts from OKF v0.1 to v0.2."),
    },
}
# Those of a merge are `merge_hooks`, which starts without typer.
_HOOKS: Parts = {
    "Before a commit": {
        "pre-commit": ("check:before_commit", "Check, scan and rebuild, in one process."),
        "check": ("check:staged", "Check what the commit changes."),
        "scan": ("scan:staged", "Fail where the commit would bring a secret in."),
        "tags": ("tags:staged", "Rebuild what is generated; fail where the commit lacks it."),
    },
    "Afterwards": {
        "sweep": ("git_calls:sweep", "Archive what agents' hooks noted, in the background."),
        "index": ("git_calls:index", "Bring the index up to date, in the background."),
        "eval": ("git_calls:evaluate", "Ask the repository's questions, where it has any."),
    },
}

app = typer.Typer(
    name="know",
    cls=group_of(PARTS),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(
    typer.Typer(cls=group_of(_HOOKS), no_args_is_help=True, help="What git and pre-commit call."),
    name="hook",
    hidden=True,
)


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
    hook_asked = commit_hook.asked(arguments)
    if hook_asked is not None:
        return hook_asked()

    def run() -> int:
        app(args=arguments, prog_name="know")
        return 0

    return ending.code_of(run, arguments, [name for part in PARTS.values() for name in part])


def entry() -> None:
    """Run as a console script."""
    ending.run(main)
