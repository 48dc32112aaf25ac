"""``know hook pre-commit``, and its parts ``check``, ``tags`` and ``scan``: before each commit.

Owns what git waits for. All parts look at one list of what the commit changes, in one
process; neither typer is imported here, nor anything that no part needs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from knowrepo.cli import ending
from knowrepo.cli.ending import say, show
from knowrepo.errors import KnowError

if TYPE_CHECKING:
    from knowrepo.concepts.checking.findings import Finding
    from knowrepo.git.making import NextCommit

PARTS = ("check", "scan", "tags")
_ALL = "pre-commit"
_FLAGS = ("--strict", "--strict-spec")


def entry() -> None:
    """Run as a console script, and end; return where the whole program is asked for."""
    import atexit
    import gc

    work = asked(sys.argv[1:])
    if work is not None:
        gc.set_threshold(50_000)  # what is read stays until the end, which is near
        atexit.register(gc.freeze)  # and there Python would go through all of it once more
        ending.run(work)


def asked(arguments: Sequence[str]) -> Callable[[], int] | None:
    """Return what `know hook …` is to do; None for what only the whole program understands."""
    rest = list(arguments)
    if len(rest) < 2 or rest[0] != "hook":
        return None
    if rest[1] not in (_ALL, *PARTS):
        from knowrepo.cli import merge_hooks

        return merge_hooks.asked(arguments)
    name, repo, given = rest[1], None, set[str]()
    rest = rest[2:]
    while rest:
        word = rest.pop(0)
        if word in _FLAGS and name in (_ALL, "check"):
            given.add(word)
        elif word == "--repo" and rest:
            repo = Path(rest.pop(0))
        else:
            return None
    parts = PARTS if name == _ALL else (name,)
    strict, strict_spec = (flag in given for flag in _FLAGS)
    return lambda: ending.code_of(
        lambda: run(parts, repo, strict=strict, strict_spec=strict_spec), arguments, ("hook",)
    )


def run(
    parts: Sequence[str],
    repo: Path | None,
    *,
    strict: bool = False,
    strict_spec: bool = False,
) -> int:
    """Look at the commit in the making; returns 1 where something is to be mended first.

    One part that cannot do its work does not keep the others from theirs. Nothing is
    rebuilt of concepts that are still to be mended: pre-commit sets what is not staged
    aside at the next attempt, and would undo what is written over it then.
    """
    from knowrepo.git.making import NextCommit, repository_of_commit

    codes, told = [0], set[str]()
    with NextCommit(repository_of_commit(repo)) as commit:
        for part in parts:
            try:
                if part == "check":
                    codes.append(_check(commit, strict=strict, strict_spec=strict_spec))
                elif part == "scan":
                    codes.append(_scan(commit, quiet=len(parts) > 1))
                elif not any(codes):
                    codes.append(_tags(commit))
            except KnowError as error:
                if error.message not in told:  # what stops one may stop them all
                    ending.tell(error)
                told.add(error.message)
                codes.append(error.exit_code)
    return max(codes)


def _check(commit: NextCommit, *, strict: bool, strict_spec: bool) -> int:
    """Check what the commit changes, and what links to what it removes."""
    from knowrepo.cli import own_files

    found: list[Finding] = []
    files = 0
    if any(
        change.status == "D" or change.path.startswith("concepts/") for change in commit.changes
    ):
        from knowrepo.concepts.checking.staged import check_staged  # a commit of code needs none

        found, files = check_staged(commit, strict_spec=strict_spec)
    own = [
        *own_files.of_configuration(commit.repository),
        *own_files.of_staged_sessions(commit),
    ]
    found = sorted(one for one in (*found, *own) if one.severity != "notice")
    if found:
        from knowrepo.concepts.checking import report

        lines, left = report.text(found, everything=False)
        for line in lines:
            show(line)
        for line in (*left, report.verdict(found, files)):
            say(line)
    grave = {"error", "warning"} if strict else {"error"}
    return int(any(finding.severity in grave for finding in found))


def _tags(commit: NextCommit) -> int:
    """Rebuild what is generated; 1 where the commit lacks it."""
    import shlex

    from knowrepo.concepts import for_commit

    wrong = [file for file in for_commit.write_generated(commit) if file.is_wrong]
    if wrong:
        top = commit.repository.root.relative_to(
            commit.repository.work_tree
        )  # git runs hooks there
        names = shlex.join((top / file.path).as_posix() for file in wrong)
        say(f"rebuilt, now add it to the commit: git add {names}")
        say("or, while other edits are not staged: know tags build")
    return int(bool(wrong))


def _scan(commit: NextCommit, *, quiet: bool) -> int:
    """Look for secrets in what the commit brings; 1 where there is one."""
    from knowrepo.sessions import secrets
    from knowrepo.units import count

    found = list(secrets.of_commit(commit))
    for finding in found:
        show(f"{finding.path}:{finding.line}: {finding.kind}")
    if found:
        files = {finding.path for finding in found}
        say(f"{count(len(found), 'secret')} in {count(len(files), 'file')}")
        say("run: know scan --fix, then `git add` what it changed; concepts are yours to mend")
    elif not quiet:
        say("no secrets")
    return int(bool(found))
