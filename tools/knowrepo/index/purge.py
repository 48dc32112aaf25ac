"""Taking documents that are to be forgotten out of everything that is derived.

Owns the order: what their texts were is asked before they go. The catalogs are
then thrown away, for a database keeps what was deleted in its free pages: that
of this work tree is built anew, those of the others when they are asked. The
vectors go from every table of vectors, unless another document has the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

from filelock import FileLock, Timeout

from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog, SQLiteError
from knowrepo.index.documents import put_session

WAIT_SECONDS = 60.0
"""How long to wait for a process that is indexing."""


def texts_of(repository: Repository, firsts: Iterable[Path], scratch: Path) -> set[str]:
    """Return the text hashes of the sessions whose first files are ``firsts``.

    They are asked of the files, for the catalog need not know a session that was
    forgotten in another clone. ``scratch`` is a folder for what is made on the way.
    """
    with Catalog.create(scratch / "forget.db") as catalog:
        for first in firsts:
            path = first.relative_to(repository.root).as_posix()
            try:
                with catalog.transaction():
                    put_session(catalog, repository.root, path, "")
            except (OSError, SQLiteError):
                raise
            except Exception:  # what no reader foresaw was not indexed either
                continue
        return set(catalog.text_hashes())


def purge(repository: Repository, texts: set[str]) -> int:
    """Throw the catalogs away and remove the vectors of ``texts``; returns how many went.

    Call it when the documents are gone, or buried: it builds the catalog anew.
    Raises KnowError where another process does not let go of a catalog; nothing
    is thrown away then.
    """
    with ExitStack() as held:
        found = sorted({repository.catalog, *catalogs_of(repository.common_dir)})
        for catalog in found:
            _hold(held, catalog)
        for catalog in found:
            Catalog.discard(catalog)
    if refresh(repository, wait=WAIT_SECONDS).busy:
        raise _in_use(repository.catalog)
    current = Catalog.open(repository.catalog)
    if current is None:
        return 0
    with current:
        gone = texts - set(current.text_hashes())
    if not gone or not repository.vectors.is_dir():
        return 0
    from knowrepo.index.vectors import VectorStore  # duckdb takes its time

    tables = [folder for folder in repository.vectors.iterdir() if folder.is_dir()]
    return sum(VectorStore(repository.vectors, table.name).remove(gone) for table in tables)


def catalogs_of(common_dir: Path) -> Iterator[Path]:
    """Yield the catalogs of all work trees, also those of which only a leftover is there."""
    for folder in ("know", "know/*", "worktrees/*/know", "worktrees/*/know/*"):
        for path in common_dir.glob(f"{folder}/catalog*.db*"):
            yield path.with_name("catalog.db")


def _hold(held: ExitStack, catalog: Path) -> None:
    catalog.parent.mkdir(parents=True, exist_ok=True)
    try:
        held.enter_context(FileLock(catalog.with_name("catalog.lock"), timeout=WAIT_SECONDS))
    except Timeout as error:
        raise _in_use(catalog) from error


def _in_use(catalog: Path) -> KnowError:
    return KnowError(
        f"{catalog}: another process is indexing, and does not let go of the catalog",
        hint="let it finish, or end it, and run the command again",
    )
