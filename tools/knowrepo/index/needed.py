"""Which texts of a repository are needed: what its branches, stashes and work trees hold.

Owns the answer to "may this vector go?", and which texts some commits hold. What a
checkout of any tip would bring is cut by the very code that indexes it, so the same
hashes come out. Where it is in doubt, a text is needed: a vector too many costs room,
one too few costs time.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from knowrepo.concepts.model import FOLDER, is_concept_path
from knowrepo.config import REPOSITORY_FILE
from knowrepo.errors import KnowError
from knowrepo.git import partial, plumbing, tips
from knowrepo.git.layout import Repository, repository_at
from knowrepo.index import Progress
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog, SQLiteError, told
from knowrepo.index.documents import put_concept, put_session
from knowrepo.index.purge import catalogs_of
from knowrepo.sessions.forget import TOMBSTONE

WAIT_SECONDS = 60.0
"""How long to wait for a process that is indexing a work tree."""
_SESSIONS = "sessions"
_PART = re.compile(r"(?P<id>.+)\.(?P<number>[1-9]\d{0,5})\.jsonl")
_BATCH_BYTES = 32_000_000


@dataclass(frozen=True)
class Document:
    """A concept or a session as a tree holds it: its first file, and the parts of a session."""

    blobs: tuple[tips.Blob, ...]

    @property
    def path(self) -> str:
        """The path of its first file, from the root of its knowledge repository."""
        return self.blobs[0].path

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return sum(blob.size for blob in self.blobs)

    @property
    def is_here(self) -> bool:
        """Whether a partial clone has all its files."""
        return all(blob.size != tips.ABSENT for blob in self.blobs)

    @property
    def in_catalog(self) -> tuple[str, str] | None:
        """Its key and blob oid, as a catalog has them; None for a session in parts.

        That has a name of its own in the catalog, so it is always cut.
        """
        if len(self.blobs) > 1:
            return None
        return self.path.rpartition(".")[0], self.blobs[0].oid


@dataclass(frozen=True)
class Trees:
    """What some trees hold, each once; ``tombstones`` are paths of forgotten sessions."""

    documents: frozenset[Document]
    tombstones: frozenset[str]


def needed(
    repository: Repository, *, progress: Progress = lambda _done, _total: None
) -> set[bytes]:
    """Return the hashes of the texts that are needed, 16 bytes each.

    The catalogs of all work trees that are there are brought up first. Raises
    KnowError where one cannot be: what it would hold is not known then.
    """
    roots = tips.roots(repository)
    for top in tips.work_trees(repository):
        for root in roots:
            _bring_up(repository, top / root)
    found: set[bytes] = set()
    known: set[tuple[str, str]] = set()
    for path in catalogs_of(repository.common_dir):
        with told(path):
            catalog = Catalog.open(path)
            if catalog is not None:
                with catalog:
                    found |= _cut(catalog.text_digests())
                    known |= {(key, oid) for key, (oid, _, _) in catalog.states().items()}
    held = in_commits(repository, tips.commits(repository), roots).documents
    rest = [document for document in held if document.in_catalog not in known]
    progress(0, len(rest))
    for done, texts in enumerate(texts_of(repository, rest), start=1):
        found |= texts
        progress(done, len(rest))
    return found


def _bring_up(repository: Repository, root: Path) -> None:
    if root != repository.root and not (root / REPOSITORY_FILE).is_file():
        return
    if refresh(repository_at(root.resolve()), wait=WAIT_SECONDS).busy:
        raise KnowError(
            f"{root}: another process is indexing this work tree",
            hint="let it finish, and run the command again",
        )


def in_commits(
    repository: Repository,
    commits: Sequence[str],
    roots: Iterable[str],
    *,
    fetching: bool = True,
) -> Trees:
    """Return what there is in the trees of some commits; see `tips.files`."""
    found: set[Document] = set()
    tombstones: set[str] = set()
    prefixes = ["" if root == "." else f"{root}/" for root in roots]
    for folder in (FOLDER, _SESSIONS):
        named = [f"{commit}:{prefix}{folder}" for commit in commits for prefix in prefixes]
        for tree in tips.folders(repository, named):
            blobs = {
                f"{folder}/{blob.path}": blob._replace(path=f"{folder}/{blob.path}")
                for blob in tips.files(repository, tree, fetching=fetching)
            }
            if folder == FOLDER:
                found |= {Document((b,)) for p, b in blobs.items() if is_concept_path(p)}
            else:
                found |= set(_sessions(blobs))
                tombstones |= {path for path in blobs if path.endswith(TOMBSTONE)}
    return Trees(frozenset(found), frozenset(tombstones))


def _sessions(blobs: dict[str, tips.Blob]) -> Iterator[Document]:
    for path, blob in blobs.items():
        part = _PART.fullmatch(path)
        if not path.endswith(".jsonl") or PurePosixPath(path).name.startswith("."):
            continue
        if part is None or f"{part['id']}.jsonl" not in blobs:
            stem = path.removesuffix(".jsonl")
            parts = [blob]
            while following := blobs.get(f"{stem}.{len(parts)}.jsonl"):
                parts.append(following)
            yield Document(tuple(parts))


def texts_of(
    repository: Repository, documents: Iterable[Document], *, fetching: bool = True
) -> Iterator[set[bytes]]:
    """Yield the hashes of the texts of each document, as a catalog would have them.

    Without ``fetching`` one that a partial clone lacks has none. They come in the
    order of their paths.
    """
    read = plumbing.blobs if fetching else partial.blobs
    with tempfile.TemporaryDirectory(prefix="know-gc-") as scratch, Catalog.in_memory() as catalog:
        for some in _batches(sorted(documents, key=lambda document: document.path)):
            oids = [blob.oid for document in some for blob in document.blobs]
            contents = read(repository, oids)
            for document in some:
                data = [next(contents) or b"" for _ in document.blobs]
                yield _texts_of(catalog, Path(scratch), document, data)


def _texts_of(catalog: Catalog, scratch: Path, document: Document, data: list[bytes]) -> set[bytes]:
    path = document.path
    try:
        with catalog.transaction():
            if path.startswith(f"{FOLDER}/"):
                put_concept(catalog, path, document.blobs[0].oid, data[0])
            else:
                for blob, content in zip(document.blobs, data, strict=True):
                    (scratch / blob.path).parent.mkdir(parents=True, exist_ok=True)
                    (scratch / blob.path).write_bytes(content)
                put_session(catalog, scratch, path, "")
        return _cut(catalog.text_digests())
    except (OSError, SQLiteError):
        raise
    except Exception:  # what cannot be read was not indexed either
        return set()
    finally:
        catalog.remove(path.rpartition(".")[0])
        for blob in document.blobs:
            with contextlib.suppress(OSError):
                (scratch / blob.path).unlink()


def _batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Yield documents in batches that fit the memory."""
    batch: list[Document] = []
    for document in documents:
        if batch and sum(one.size for one in batch) + document.size > _BATCH_BYTES:
            yield batch
            batch = []
        batch.append(document)
    if batch:
        yield batch


def _cut(digests: bytes) -> set[bytes]:
    return {digests[at : at + 16] for at in range(0, len(digests), 16)}
