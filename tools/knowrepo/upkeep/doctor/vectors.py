"""The check of the vectors: every segment of every table, read to its end."""

from __future__ import annotations

from pathlib import Path

from knowrepo.git.layout import Repository
from knowrepo.units import count, size
from knowrepo.upkeep.doctor.check import Found, fail, listed, ok, warn
from knowrepo.upkeep.doctor.trial import imported


def whole(here: Repository) -> Found:
    """Whether the segments that the manifests name are there, and can be read."""
    tables = sorted(path for path in here.vectors.glob("*") if path.is_dir())
    if not tables:
        return ok("none yet")
    if imported("duckdb").problem:
        return fail("not looked at: duckdb cannot be imported", "see the check `duckdb`")
    from knowrepo.index.vectors import VectorStore, manifest

    damaged = {
        table.name: names
        for table in tables
        if (names := [one.name for one in VectorStore(here.vectors, table.name).look()])
    }
    if damaged:
        names = [f"{table}/{name}" for table, bad in damaged.items() for name in bad]

        def mend() -> str:
            aside = [
                one.name
                for table in damaged
                for one in VectorStore(here.vectors, table).check(full=True)
            ]
            return f"set aside {listed(aside)}; `know index` embeds anew what they held"

        return fail(
            f"cannot be read to the end: {listed(names)}",
            "`know index` sets them aside, or `know doctor --fix`",
            mend,
        )
    lost = [t for t in tables if not manifest.read(t) and manifest.files(t)]
    if lost:
        return warn(
            f"no manifest names the segments in {listed([str(table) for table in lost])}",
            "`know index` takes up what is whole, and embeds anew what is not",
        )
    aside = [path for table in tables for path in manifest.damaged(table)]
    if aside:
        return _set_aside(aside)
    segments = [table / name for table in tables for name in manifest.files(table)]
    total = sum(path.stat().st_size for path in segments)
    told = f"{count(len(tables), 'table')}, {count(len(segments), 'segment')}, {size(total)}"
    return ok(f"whole: {told}")


def _set_aside(paths: list[Path]) -> Found:
    def mend() -> str:
        for path in paths:
            path.unlink(missing_ok=True)
        return f"removed {count(len(paths), 'damaged segment')} that had been set aside"

    total = sum(path.stat().st_size for path in paths)
    return warn(
        f"{count(len(paths), 'damaged segment')} set aside, {size(total)}, of no more use",
        "`know doctor --fix` removes them",
        mend,
    )
