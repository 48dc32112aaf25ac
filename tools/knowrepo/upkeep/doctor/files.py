"""The checks of files: room, permissions, links, times, locks, and what killed runs left."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from knowrepo import config
from knowrepo.errors import KnowError
from knowrepo.git import plumbing
from knowrepo.git.layout import Repository
from knowrepo.units import count, size
from knowrepo.upkeep.doctor.check import Found, Place, fail, listed, ok, warn

LITTLE = 1_000_000_000
"""Free bytes below which a larger repository may not be indexed to its end."""
NOTHING = 50_000_000
_LEFT_AFTER = 3600  # seconds; a run that is at work has its files younger
_AHEAD = 120  # seconds that clocks of two machines may differ
# What `write_atomically`, the archive and the vectors put beside a file that is to come.
_UNFINISHED = re.compile(r"\..+\.(?:[0-9a-f]{16}|duckdb\.\d+)\.tmp")


def disk(here: Repository) -> Found:
    """Whether there is room where derived files go."""
    return _room(here.common_dir)


def cache(_: Place) -> Found:
    """Whether there is room where models go, and it can be written."""
    folder = config.cache_dir()
    above = _existing(folder)
    if not _is_writable(above):
        return warn(f"{folder}: cannot be written", "make it writable, or set KNOW_CACHE")
    return _room(folder)


def _room(folder: Path) -> Found:
    free = shutil.disk_usage(_existing(folder)).free
    seen = f"{size(free)} free at {folder}"
    if free < NOTHING:
        return fail(seen, "free some space")
    return warn(seen, "free some space before a large index run") if free < LITTLE else ok(seen)


def _is_writable(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _existing(path: Path) -> Path:
    while not path.exists() and path != path.parent:
        path = path.parent
    return path


def permissions(here: Repository) -> Found:
    """Whether we may write what is ours, and nobody else may read what is private."""
    from knowrepo import hook

    wanted = {here.locks, here.vectors, here.logs, here.sessions, here.concepts}
    closed = sorted({str(_existing(p)) for p in wanted if not _is_writable(_existing(p))})
    if closed:
        return fail(
            f"cannot be written: {listed(closed)}", "make it writable, or use another clone"
        )
    state = Path(hook.state_dir())
    private = [
        *here.logs.glob("*.log*"),
        *here.logs.glob("*.jsonl*"),
        state / hook.QUEUE,
        state / hook.LOG,
    ]
    open_to_all = [path for path in private if path.exists() and path.stat().st_mode & 0o077]

    def mend() -> str:
        for path in open_to_all:
            path.chmod(path.stat().st_mode & 0o700)
        return f"took away what others could read: {listed([str(p) for p in open_to_all])}"

    if open_to_all:
        return warn(
            f"others may read {listed([str(path) for path in open_to_all])}",
            "`know doctor --fix` makes it yours alone",
            mend,
        )
    return ok("ours can be written, and what is private is private")


def links(here: Repository) -> Found:
    """Whether a symbolic link leads out of the repository, from where the archive is written."""
    leading: list[str] = []
    for top in (here.concepts, here.sessions):
        for path in (top, *_links_below(top)):
            try:
                here.inside(path)
            except KnowError:
                leading.append(path.relative_to(here.root).as_posix())
            except (OSError, RuntimeError):  # links in a circle
                leading.append(path.relative_to(here.root).as_posix())
    if leading:
        return fail(
            f"lead out of the repository: {listed(sorted(leading))}",
            "remove these symbolic links: know does not follow them",
        )
    return ok("no symbolic link leads out of concepts/ or sessions/")


def _links_below(top: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(top):
        yield from (p for name in (*folders, *names) if (p := Path(folder, name)).is_symlink())


def clock(here: Repository) -> Found:
    """Whether a file comes from the future: then nobody can tell what changed since."""
    now = time.time()
    looked = [here.git_index, here.sessions, here.root / config.REPOSITORY_FILE]
    looked += here.catalog.parent.glob("catalog*.db")
    looked += [Path(folder) for folder, _, _ in os.walk(here.sessions)]
    ahead = [str(path) for path in looked if path.exists() and path.stat().st_mtime > now + _AHEAD]
    if ahead:
        return warn(
            f"written in the future, by this machine's clock: {listed(ahead)}",
            "set the clock; then `touch` these, so that changes show again",
        )
    return ok("no file is from the future")


def leftovers(here: Repository) -> Found:
    """Whether runs that were killed left files behind."""
    found = list(_unfinished(here))

    def mend() -> str:
        for path in found:
            path.unlink(missing_ok=True)
        return f"removed {count(len(found), 'unfinished file')}"

    if found:
        names = [str(path) for path in found]
        return warn(
            f"unfinished files of runs that were killed: {listed(names)}",
            "`know doctor --fix` removes them",
            mend,
        )
    return ok("no run left anything unfinished")


def _unfinished(here: Repository) -> Iterator[Path]:
    """Yield what was begun an hour ago or more, is named as only we do, and git does not track."""
    ours = {here.locks, here.common_dir / "know", here.concepts, here.sessions}
    tracked = set(plumbing.names_in(plumbing.git(here, "ls-files", "-z", "--", ":(glob)**/.*.tmp")))
    seen: set[Path] = set()
    for top in ours:
        for folder, _, names in os.walk(top):
            for name in names:
                path = Path(folder, name)
                if path in seen or not _UNFINISHED.fullmatch(name) or path.is_symlink():
                    continue
                seen.add(path)
                inside = path.is_relative_to(here.root)
                if inside and path.relative_to(here.root).as_posix() in tracked:
                    continue
                if time.time() - path.stat().st_mtime > _LEFT_AFTER:
                    yield path


def locks(here: Repository) -> Found:
    """Which locks are held, by trying them: a file that nobody holds says nothing."""
    from knowrepo.upkeep.locks import locks as look

    found = list(look(here))
    held = [
        f"{lock.name} by {f'process {lock.holder}' if lock.holder else 'another process'}"
        for lock in found
        if lock.held
    ]
    if held:
        return ok(f"held: {listed(held)}; runs wait for it, or say so")
    return ok(f"none is held ({count(len(found), 'lock file')}, which may stay)")


def log(here: Repository) -> Found:
    """Whether the last runs ended well."""
    from knowrepo.upkeep import logs

    runs = logs.recent(here, 50)
    last = {run.name: run for run in runs}
    bad = [run for run in last.values() if run.outcome in ("failed", "bug")]
    if bad:
        told = [f"{run.name}, {run.time}: {run.error}" for run in bad]
        return warn(f"the last run failed: {listed(told, 2)}", "`know status --log`; run it again")
    return ok(f"{count(len(runs), 'run')} in the log, the last of each kind ended well")
