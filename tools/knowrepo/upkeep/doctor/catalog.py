"""The checks of the catalog: whether SQLite can work where it lies, and whether it is whole."""

from __future__ import annotations

from knowrepo.git.layout import Repository
from knowrepo.index.catalog import Catalog, health
from knowrepo.units import size
from knowrepo.upkeep.doctor.check import Found, fail, listed, ok, warn


def wal(here: Repository) -> Found:
    """Whether the file system can hold a database that is read while it is written."""
    folder = here.catalog.parent
    while not folder.is_dir():
        folder = folder.parent
    problem = health.wal_problem(folder)
    if problem:
        return warn(
            f"{folder}: {problem}",
            "keep the repository on a local disk that you may write to;"
            " network file systems lack what SQLite needs",
        )
    return ok(f"possible in {folder}")


def whole(here: Repository) -> Found:
    """Whether the catalog is a sound database whose tables agree."""
    path = Catalog.file(here.catalog)
    if path is None:
        return warn("not built yet", "`know index`")
    found = health.examine(path)

    def mend() -> str:
        from knowrepo.index.build import discard, refresh

        discard(here)
        done = refresh(here, wait=30.0)
        if done.busy:
            return "another process is indexing; it builds the catalog anew"
        return f"thrown away and built anew: {done.indexed} documents"

    if found.problems:
        return fail(listed(list(found.problems)), "`know doctor --fix` builds it anew", mend)
    if found.outdated:
        return warn("of another version of know", "`know index` builds it anew", mend)
    return ok(f"whole, {size(path.stat().st_size)}; {found.looked_at}")
