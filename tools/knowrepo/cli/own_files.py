"""What `know check` says of our own files: know.toml, merges, and the archive."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from knowrepo.concepts.checking.findings import Finding
    from knowrepo.git.layout import Repository
    from knowrepo.git.making import NextCommit


def of_configuration(repo: Repository) -> Iterator[Finding]:
    """Yield what is wrong with know.toml."""
    from knowrepo.concepts.checking.findings import Finding
    from knowrepo.config import REPOSITORY_FILE, load_repository_config

    config = load_repository_config(repo.root)
    for key in config.unknown:
        yield Finding(REPOSITORY_FILE, 1, 1, "KNOW301", f"`{key}` means nothing here")
    for entry, line in _lines_of(repo.root / REPOSITORY_FILE, config.redact.allow):
        yield Finding(REPOSITORY_FILE, line, 1, "KNOW303", f"{entry[:15]}… is left as it is")


_ONE_SIDED = {
    "changed": "one side changed and the other removed it: `git add` it to keep it, or `git rm` it",
    "moved": "git moved it along, as the other side moved its folder or renamed it:"
    " `git add` it where it is right, or move it",
    "gone": "both sides renamed it: `git rm` this name, and keep one of the others",
}


def of_merges(repo: Repository) -> Iterator[Finding]:
    """Yield what of the bundle a merge left in conflict, and who decides it."""
    from knowrepo.concepts import conflicts
    from knowrepo.concepts.checking.findings import Finding
    from knowrepo.concepts.model import FOLDER
    from knowrepo.distill.ledger import LEDGER
    from knowrepo.git import plumbing

    unmerged = plumbing.unmerged(repo, FOLDER)
    rebuilt = conflicts.rebuilt(repo, unmerged)
    one_sided = conflicts.one_sided(repo, unmerged)
    for path in unmerged:
        if path in rebuilt:
            how = "`know merge` makes it anew from the concepts; then `git add` it"
        elif path == LEDGER:
            how = "`know merge` joins both sides; then `git add` it"
        else:
            how = (
                _ONE_SIDED[one_sided[path]] if path in one_sided else "resolve it and `git add` it"
            )
        yield Finding(path, 1, 1, "KNOW302", f"in conflict; {how}")


def of_sessions(repo: Repository) -> Iterator[Finding]:
    """Yield what is wrong with the archive, and which command mends it."""
    from knowrepo.concepts.checking.findings import Finding
    from knowrepo.sessions import conflicts
    from knowrepo.sessions.forget import is_forgotten
    from knowrepo.sessions.listing import find

    undecided = conflicts.unmerged(repo)
    for name, files in undecided.items():
        how = conflicts.mended_by(repo, name.path(repo.sessions))
        for path in files:
            yield Finding(path, 1, 1, "KNOW302", f"in conflict; {how}; then `git add` it")
    for name, files in conflicts.marked(repo).items():
        how = conflicts.mended_by(repo, name.path(repo.sessions))
        for path in files if name not in undecided else ():
            line = conflicts.marker_line(repo.root / path)
            yield Finding(path, line, 1, "KNOW305", f"a conflict marker; {how}")
    for session in find(repo, forgotten=True):
        whole = is_forgotten(repo, session.place)
        for one in [session] if whole else session.below:
            if whole or is_forgotten(repo, one.place):
                path = one.path.relative_to(repo.root).as_posix()
                again = f"it was forgotten; remove it again: `know forget {one.name} --yes`"
                yield Finding(path, 1, 1, "KNOW304", again)


def of_staged_sessions(commit: NextCommit) -> Iterator[Finding]:
    """Yield what is wrong with the sessions that the commit in the making brings."""
    repo = commit.repository
    below = f"{repo.sessions.name}/"
    changes = [change for change in commit.changes if change.path.startswith(below)]
    if not changes:
        return
    from knowrepo.concepts.checking.findings import Finding
    from knowrepo.sessions import conflicts, store
    from knowrepo.sessions.forget import is_forgotten
    from knowrepo.sessions.tracked import session_of

    brought = [c.path for c in changes if c.status != "D" and c.path.endswith(store.SUFFIX)]
    patterns = [f"^{marker.decode()}" for marker in (conflicts.OURS, conflicts.THEIRS)]
    marked = set(commit.with_lines(brought, patterns))
    for path in brought:
        name = session_of(repo, repo.root / path)
        if name is None:
            continue
        if path in marked:
            how = conflicts.mended_by(repo, name.path(repo.sessions))
            yield Finding(path, 1, 1, "KNOW305", f"a conflict marker; {how}")
        if is_forgotten(repo, name):
            again = f"it was forgotten; remove it again: `know forget {name} --yes`"
            yield Finding(path, 1, 1, "KNOW304", again)


def _lines_of(path: Path, entries: tuple[str, ...]) -> list[tuple[str, int]]:
    """Return each entry with the line of the file that it stands on."""
    if not entries:
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [
        (entry, next((n for n, line in enumerate(lines, start=1) if entry in line), 1))
        for entry in entries
    ]
