"""``know hook commit``, and its parts ``check``, ``tags`` and ``scan``: before each commit.

Owns what git waits for. All parts look at one list of what the commit changes, in one
process; neither typer is imported here, nor anything that no part needs.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from knowrepo.cli import ending
from knowrepo.cli.ending import say, show
from knowrepo.errors import KnowError

if TYPE_CHECKING:
    from knowrepo.git.making import NextCommit

PARTS = ("check", "tags", "scan")
_FLAGS = ("--strict", "--strict-spec")


def entry() -> None:
    """Run as a console script, and end; return where the whole program is asked for."""
    work = asked(sys.argv[1:])
    if work is not None:
        gc.set_threshold(50_000)  # what is read stays until the end, which is near
        ending.run(work)


def asked(arguments: Sequence[str]) -> Callable[[], int] | None:
    """Return what `know hook …` is to do; None for what only the whole program understands."""
    rest = list(arguments)
    if len(rest) < 2 or rest[0] != "hook" or rest[1] not in ("commit", *PARTS):
        return None
    name, repo, given = rest[1], None, set[str]()
    rest = rest[2:]
    while rest:
        word = rest.pop(0)
        if word in _FLAGS and name in ("commit", "check"):
            given.add(word)
        elif word == "--repo" and rest:
            repo = Path(rest.pop(0))
        else:
            return None
    parts = PARTS if name == "commit" else (name,)
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

    One part that cannot do its work does not keep the others from theirs.
    """
    from knowrepo.git.making import NextCommit, repository_of_commit

    codes = [0]
    with NextCommit(repository_of_commit(repo)) as commit:
        for part in parts:
            try:
                if part == "check":
                    codes.append(_check(commit, strict=strict, strict_spec=strict_spec))
                elif part == "tags":
                    codes.append(_tags(commit))
                else:
                    codes.append(_scan(commit, quiet=len(parts) > 1))
            except KnowError as error:
                codes.append(ending.tell(error))
    return max(codes)


def _check(commit: NextCommit, *, strict: bool, strict_spec: bool) -> int:
    """Check what the commit changes, and what links to what it removes."""
    from knowrepo.cli import own_files
    from knowrepo.concepts.checking.staged import check_staged

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
        names = shlex.join(file.path for file in wrong)
        say(f"rebuilt, now add it to the commit: git add {names}")
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
