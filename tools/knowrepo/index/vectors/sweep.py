"""Writing segments anew, and telling what is damaged or no longer needed.

Owns what happens to files that are there already. All of it is called under the
lock of the table. A segment goes only after what stands for it is published: a
reader that has the old one open keeps it, one that comes now reads the new
manifest. What another process left half made is known by that lock, too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from knowrepo.index.vectors import engine, manifest, segment
from knowrepo.index.vectors.manifest import Segment


@dataclass(frozen=True)
class Damaged:
    """A file that is no segment of its table, and why, in a few words."""

    name: str
    why: str


@dataclass(frozen=True)
class Kept:
    """What a table was cut down to: vectors that stay and that went, and bytes of files.

    ``damaged`` are the segments that could not be read, whose vectors went with them.
    """

    kept: int = 0
    dropped: int = 0
    freed: int = 0
    damaged: tuple[Damaged, ...] = ()


def rewrite(
    folder: Path,
    fingerprint: str,
    old: Sequence[Segment],
    *,
    join: str = "",
    texts: Collection[str] = (),
) -> int:
    """Put one segment in the place of some; returns its rows.

    Where ``join`` is `SEMI` only the vectors of ``texts`` are kept, where it is
    `ANTI` all others.
    """
    dimension = old[0].dimension
    with segment.new(folder, fingerprint, dimension) as made:
        if join:
            segment.put_texts(made.db, "texts", texts)
        aliases = [f"o{index}" for index in range(len(old))]
        for alias, found in zip(aliases, old, strict=True):
            engine.attach(made.db, folder / found.file, alias)
            if segment.dimension(made.db, alias, fingerprint) != dimension:
                raise segment.ForeignError("vectors of another dimension")
        rows = segment.merge(made, aliases, only=f"{join} JOIN texts USING (hash)" if join else "")
        for alias in aliases:
            made.db.execute(f"DETACH {alias}")
    names = {found.file for found in old}
    segments = manifest.read(folder) or []
    at = next(index for index, found in enumerate(segments) if found.file in names)
    segments = [found for found in segments if found.file not in names]
    if rows:
        segments.insert(at, manifest.described(folder, made.name, rows, dimension))
    else:
        names.add(made.name)
    manifest.write(folder, segments)
    for name in names:
        with contextlib.suppress(OSError):
            (folder / name).unlink()
    return rows


def remove(folder: Path, fingerprint: str, texts: Collection[str]) -> int:
    """Write the segments with vectors of ``texts`` anew without them; returns how many went.

    What is damaged, or was left by a killed writer, goes whole: it may hold some.
    """
    removed = 0
    for found in known(folder, fingerprint):
        with _setting_aside(folder, fingerprint, found):
            if _held(folder, fingerprint, found, texts):
                kept = rewrite(folder, fingerprint, [found], join="ANTI", texts=texts)
                removed += found.rows - kept
    for path in manifest.waste(folder):
        path.unlink(missing_ok=True)
    return removed


def retain(
    folder: Path, fingerprint: str, needed: Collection[bytes], *, dry_run: bool = False
) -> Kept:
    """Write the segments with vectors of other texts than those ``needed`` anew without them."""
    texts = [digest.hex() for digest in needed]
    segments = (manifest.read(folder) or []) if dry_run else known(folder, fingerprint)
    kept = dropped = freed = 0
    damaged: list[Damaged] = []
    for found in segments:
        rows = 0
        with _setting_aside(folder, fingerprint, found, damaged, dry_run=dry_run):
            rows = _held(folder, fingerprint, found, texts)
            if rows < found.rows and not dry_run:
                rows = rewrite(folder, fingerprint, [found], join="SEMI", texts=texts)
        kept += rows
        dropped += found.rows - rows
        freed += found.size * (found.rows - rows) // max(1, found.rows)  # about; the files tell
    if not dry_run:
        freed = _size(segments) - _size(manifest.read(folder) or [])
    return Kept(kept, dropped, freed, tuple(damaged))


@contextlib.contextmanager
def _setting_aside(
    folder: Path,
    fingerprint: str,
    found: Segment,
    damaged: list[Damaged] | None = None,
    *,
    dry_run: bool = False,
) -> Iterator[None]:
    """Set a segment aside that turns out to be damaged; any other error is passed on."""
    try:
        yield
    except (OSError, duckdb.Error, segment.ForeignError):
        bad = broken(folder, fingerprint, [found.file])
        if not bad:
            raise
        if damaged is not None:
            damaged += bad
        if not dry_run:
            set_aside(folder, bad)


def _size(segments: Sequence[Segment]) -> int:
    return sum(found.size for found in segments)


def _held(folder: Path, fingerprint: str, found: Segment, texts: Collection[str]) -> int:
    """Return how many vectors of ``texts`` a segment has."""
    with engine.connect() as db:
        engine.attach(db, folder / found.file, "old")
        engine.seal(db)
        if segment.dimension(db, "old", fingerprint) != found.dimension:
            raise segment.ForeignError("vectors of another dimension")
        segment.put_texts(db, "texts", texts)
        row = db.execute("SELECT count(*) FROM old.pieces SEMI JOIN texts USING (hash)").fetchone()
    return int(row[0]) if row else 0


def check(folder: Path, fingerprint: str, *, full: bool = False) -> list[Damaged]:
    """Set aside what is no segment of this table, and take out what a killed writer left."""
    for path in manifest.temporary(folder):  # whoever made it would hold the lock
        path.unlink(missing_ok=True)
    segments = known(folder, fingerprint)
    good: list[Segment] = []
    bad: list[Damaged] = []
    for found in segments:
        try:
            good.append(_checked(folder, fingerprint, found, full=full))
        except FileNotFoundError:
            bad.append(Damaged(found.file, "it is gone"))
        except (duckdb.Error, segment.ForeignError) as error:
            bad.append(Damaged(found.file, engine.reason(error)))
    if bad:
        set_aside(folder, bad)
    elif good != segments:
        manifest.write(folder, good)
    # It was replaced, or never published; its vectors are in others, or made anew.
    for name in set(manifest.files(folder)) - {found.file for found in good}:
        (folder / name).unlink(missing_ok=True)
    return bad


def _checked(folder: Path, fingerprint: str, found: Segment, *, full: bool) -> Segment:
    """Return a segment as it is now; raises what says why it is none."""
    now = manifest.described(folder, found.file, found.rows, found.dimension)
    with engine.connect(threads=0 if full or now != found else 1) as db:
        engine.attach(db, folder / found.file, "looked_at")
        engine.seal(db)
        dimension = segment.dimension(db, "looked_at", fingerprint)
        if dimension != found.dimension:
            raise segment.ForeignError("vectors of another dimension")
        if (full or now != found) and segment.count(db, "looked_at", dimension) != found.rows:
            raise segment.ForeignError("not the vectors that were written")
    return now


def broken(folder: Path, fingerprint: str, names: Sequence[str]) -> list[Damaged]:
    """Return which segments cannot be read to the end."""
    bad: list[Damaged] = []
    for found in manifest.read(folder) or []:
        try:
            if found.file in names:
                _checked(folder, fingerprint, found, full=True)
        except FileNotFoundError:
            bad.append(Damaged(found.file, "it is gone"))
        except (duckdb.Error, segment.ForeignError) as error:
            bad.append(Damaged(found.file, engine.reason(error)))
    return bad


def set_aside(folder: Path, damaged: Sequence[Damaged]) -> None:
    """Take segments out of the table, and keep their files for whoever wants to look."""
    names = {one.name for one in damaged}
    segments = manifest.read(folder) or []
    if names & {found.file for found in segments}:
        manifest.write(folder, [found for found in segments if found.file not in names])
    for name in names:
        with contextlib.suppress(FileNotFoundError):
            (folder / name).replace(folder / f"{name}.damaged")


def known(folder: Path, fingerprint: str) -> list[Segment]:
    """Return the segments; where there is no manifest that can be read, those that are found.

    A folder with a good manifest adopts nothing: what it does not name may be
    what somebody had removed.
    """
    segments = manifest.read(folder)
    if segments is None:
        segments = list(_found(folder, fingerprint))
        if segments:
            manifest.write(folder, segments)
    return segments


def _found(folder: Path, fingerprint: str) -> Iterator[Segment]:
    for name in manifest.files(folder):
        try:
            with engine.connect() as db:
                engine.attach(db, folder / name, "found")
                engine.seal(db)
                dimension = segment.dimension(db, "found", fingerprint)
                rows = segment.count(db, "found", dimension)
        except (duckdb.Error, segment.ForeignError) as error:
            set_aside(folder, [Damaged(name, engine.reason(error))])
        else:
            if rows:
                yield manifest.described(folder, name, rows, dimension)
