"""``know hook merge-…``, ``merging`` and ``merged``: what git calls when it merges.

Owns how git's arguments become one call, and that git gets its answer whatever goes
wrong: merged, or in conflict. git calls a driver for each file of each commit of a
rebase and waits, so no typer is imported here, nor anything that one call does not need.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from knowrepo.cli import ending
from knowrepo.cli.ending import say
from knowrepo.errors import KnowError, UsageError

Merge = Callable[[bytes, bytes, bytes], bytes | None]

_MARKER_SIZE = "7"
_USAGE = "git calls this with BASE OURS THEIRS PATH [SIZE] (%O %A %B %P %L)"


def asked(arguments: Sequence[str]) -> Callable[[], int] | None:
    """Return what `know hook NAME …` is to do; None for what is asked of others."""
    work = _DRIVERS.get(arguments[1]) or _HOOKS.get(arguments[1])
    if work is None:
        return None
    return lambda: ending.code_of(lambda: work(list(arguments[2:])), arguments, ("hook",))


# -- drivers: three files to one -----------------------------------------------


def _session(arguments: list[str]) -> int:
    """Join two copies of an archived session: nothing of either is lost."""
    from knowrepo.sessions.joining import merge_files

    base, ours, theirs, path, _ = _given(arguments)
    merge_files(Path.cwd(), path, base, ours, theirs)  # git runs this at the top of the work tree
    return 0


def _project(arguments: list[str]) -> int:
    """Keep one of two notes of a session's project, the same in every clone."""
    from knowrepo.sessions import origin

    return _replace(lambda _, *sides: origin.merged(*sides) or None, arguments)


def _tags(arguments: list[str]) -> int:
    from knowrepo.concepts.merging import merge_tag_index

    return _replace(merge_tag_index, arguments)


def _index(arguments: list[str]) -> int:
    """Merge the entries of a generated index.md; one that a person wrote is merged as text."""
    from knowrepo.concepts.merging import merge_index

    return _replace(merge_index, arguments)


def _ledger(arguments: list[str]) -> int:
    from knowrepo.distill.ledger import merged

    return _replace(merged, arguments)


def _replace(merge: Merge, arguments: list[str]) -> int:
    """Make our version what both come to, or what git's own merge of the lines makes of it."""
    from knowrepo.git.drivers import merge_as_text

    base, ours, theirs, path, size = _given(arguments)
    try:
        content = merge(base.read_bytes(), ours.read_bytes(), theirs.read_bytes())
    except Exception as error:
        say(f"know: {path}: merged as text: {type(error).__name__}: {error}")
        content = None
    if content is None:
        return 0 if merge_as_text(base, ours, theirs, size) else 1
    ours.write_bytes(content)
    return 0


def _given(arguments: list[str]) -> tuple[Path, Path, Path, str, int]:
    """Return the three versions, the path in the repository, how long conflict markers are."""
    if len(arguments) == 4:
        arguments = [*arguments, _MARKER_SIZE]
    if len(arguments) != 5 or not arguments[4].isdecimal():
        raise UsageError(_USAGE)
    base, ours, theirs = map(Path, arguments[:3])
    return base, ours, theirs, arguments[3], int(arguments[4])


# -- hooks: the commit that git is about to make, or has made -------------------


def _merging(arguments: list[str]) -> int:
    """Note that git is about to commit a merge (pre-merge-commit); see `_merged`."""
    from knowrepo.git import merged as commit
    from knowrepo.git.layout import open_repository

    repo, _ = _options(arguments)
    try:
        commit.note(open_repository(repo))
    except (KnowError, OSError) as error:
        say(f"know: {error}")  # never a merge's concern
    return 0


def _merged(arguments: list[str]) -> int:
    """Have a merge commit hold what is generated from it (post-merge). Never fails git.

    The commit that `_merging` noted is replaced by one with the generated files of the
    merged concepts; of a signed one, and with --tell, as after a rebase (post-rewrite),
    it is only told that they are behind.
    """
    from knowrepo.concepts import keeping
    from knowrepo.git import merged as commit
    from knowrepo.git.layout import open_repository

    repo, tell = _options(arguments, "--tell")
    try:
        here = open_repository(repo)
        made = commit.take_noted(here)
        if not (made or tell) or not keeping.is_behind(here):
            return 0
        if not made or commit.is_signed(here, made):
            say("know: what is generated from the concepts is behind: know tags build; git commit")
            return 0
        keeping.keep(here, {})
        commit.give_tree_of_index(here, made)
    except (KnowError, OSError) as error:
        say(f"know: what is generated was not made anew: {error}")
    return 0


def _options(arguments: list[str], flag: str = "") -> tuple[Path | None, bool]:
    """Return the repository that is named, and whether the flag is given."""
    repo, given = None, False
    rest = iter(arguments)
    for word in rest:
        if word == "--repo" and (named := next(rest, "")):
            repo = Path(named)
        elif flag and word == flag:
            given = True
        else:
            known = " or ".join(filter(None, ("--repo PATH", flag)))
            raise UsageError(f"{word}: not known; git's hooks call this with {known}")
    return repo, given


_DRIVERS = {
    "merge-session": _session,
    "merge-project": _project,
    "merge-tags": _tags,
    "merge-index": _index,
    "merge-ledger": _ledger,
}
_HOOKS = {"merging": _merging, "merged": _merged}
