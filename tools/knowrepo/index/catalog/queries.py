"""Everything that is asked of the catalog."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence

from knowrepo.index.catalog.conditions import batches, passing
from knowrepo.index.catalog.front_matter import FrontMatter
from knowrepo.index.catalog.ids import Ids
from knowrepo.index.catalog.rows import Document, Filter, Occurrence, Often, Place, StoredChunk
from knowrepo.index.catalog.schema import words_of
from knowrepo.index.catalog.words import Among

# The columns in the order of the fields.
_DOCUMENT = ", ".join(f"d.{name}" for name in Document.__dataclass_fields__)
_CHUNK = ", ".join(f"c.{name}" for name in StoredChunk._fields)


class Queries(Ids, FrontMatter):
    """The reading half of an open catalog."""

    _hides = False
    """Whether some documents are hidden, whose words can still be found."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._use(connection)

    def _use(self, connection: sqlite3.Connection, *, settled: bool = False) -> None:
        self._db = connection
        self._words = words_of(connection, settled=settled)

    def meta(self, key: str) -> str:
        """Return a value that was kept, or an empty string."""
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else ""

    def states(self) -> dict[str, tuple[str, str, str]]:
        """Return ``{key: (blob oid, stamp, date)}`` of all documents."""
        rows = self._db.execute("SELECT key, oid, stamp, date FROM documents")
        return {key: (oid, stamp, date) for key, oid, stamp, date in rows}

    def oid_of(self, key: str) -> str:
        """Return the blob oid of a document as it was indexed, or an empty string."""
        row = self._db.execute("SELECT oid FROM documents WHERE key = ?", (key,)).fetchone()
        return row[0] if row else ""

    def identity_of(self, key: str) -> str:
        """Return the identity of a document's project as it was indexed, or an empty string."""
        row = self._db.execute("SELECT identity FROM documents WHERE key = ?", (key,)).fetchone()
        return row[0] if row else ""

    def counts(self) -> dict[str, int]:
        """Return how many concepts, sessions and chunks there are."""
        rows = dict(self._db.execute("SELECT kind, count(*) FROM documents GROUP BY kind"))
        chunks = self._db.execute("SELECT count(*) FROM chunks").fetchone()[0]
        return {
            "concepts": rows.get("concept", 0),
            "sessions": rows.get("session", 0),
            "chunks": chunks,
        }

    def text_hashes_in_order(self) -> Iterator[str]:
        """Yield the text hash of each chunk: concepts first, then the newest."""
        rows = self._db.execute(
            "SELECT c.text_hash FROM chunks c JOIN documents d ON d.id = c.document"
            " ORDER BY d.kind, d.date DESC, c.document, c.seq"
        )
        return (row[0] for row in rows)

    def texts_with(self, hashes: Sequence[str]) -> dict[str, str]:
        """Return ``{text hash: embedded text}`` of those hashes that there are."""
        found: dict[str, str] = {}
        for some in batches(hashes):
            rows = self._db.execute(
                f"SELECT {_CHUNK} FROM chunks c WHERE c.text_hash IN ({','.join('?' * len(some))})",
                list(some),
            )
            for row in rows:
                chunk = StoredChunk(*row)
                found[chunk.text_hash] = chunk.embedded_text
        return found

    def hashes_among(self, hashes: Sequence[str]) -> set[str]:
        """Return those of some text hashes that there are."""
        found: set[str] = set()
        for some in batches(hashes):
            rows = self._db.execute(
                f"SELECT text_hash FROM chunks WHERE text_hash IN ({','.join('?' * len(some))})",
                list(some),
            )
            found.update(row[0] for row in rows)
        return found

    def text_hashes(self, only: Filter | None = None, *, most: int = -1) -> list[str]:
        """Return the distinct text hashes of the chunks that pass a filter, at most so many."""
        if not only:
            rows = self._db.execute("SELECT DISTINCT text_hash FROM chunks LIMIT ?", (most,))
        else:
            where, values = passing(only, date=_CHUNK_DATE)
            rows = self._db.execute(
                "SELECT DISTINCT c.text_hash FROM chunks c JOIN documents d"
                f" ON d.id = c.document WHERE {where} LIMIT ?",
                [*values, most],
            )
        return [row[0] for row in rows]

    def text_digests(self) -> bytes:
        """Return the distinct text hashes of all chunks, 16 bytes each: a fifth of the time."""
        row = self._db.execute(
            "SELECT group_concat(text_hash, '') FROM (SELECT DISTINCT text_hash FROM chunks)"
        ).fetchone()
        try:
            return bytes.fromhex(row[0] or "")
        except ValueError as error:
            raise sqlite3.DatabaseError("the hash of a text is none") from error

    def digests_of(self, keys: Sequence[str]) -> bytes:
        """Return the text hashes of some documents' chunks, 16 bytes each, some twice."""
        found = bytearray()
        for some in batches(keys):
            rows = self._db.execute(
                "SELECT c.text_hash FROM documents d JOIN chunks c ON c.document = d.id"
                f" WHERE d.key IN ({','.join('?' * len(some))})",
                some,
            )
            try:
                found += bytes.fromhex("".join(row[0] for row in rows))
            except ValueError as error:
                raise sqlite3.DatabaseError("the hash of a text is none") from error
        return bytes(found)

    def documents(self, numbers: Sequence[int], only: Filter | None = None) -> dict[int, Document]:
        """Return documents by number, without those that do not pass the filter."""
        where, values = passing(only or Filter())
        found: dict[int, Document] = {}
        for some in batches(numbers):
            rows = self._db.execute(
                f"SELECT {_DOCUMENT} FROM documents d"
                f" WHERE d.id IN ({','.join('?' * len(some))}) AND {where}",
                [*some, *values],
            )
            found.update((row[-1], Document(*row)) for row in rows)
        return found

    def document_at(self, path: str) -> Document | None:
        """Return the document at a path, with or without its extension."""
        keys = dict.fromkeys((path, path.removesuffix(".md"), path.removesuffix(".jsonl")))
        rows = self._db.execute(
            f"SELECT {_DOCUMENT} FROM documents d WHERE d.key IN ({','.join('?' * len(keys))})",
            [*keys],
        )
        found = (Document(*row) for row in rows)
        return next((one for one in found if path in {one.path, one.key}), None)

    def newest(self, limit: int, only: Filter) -> list[Document]:
        """Return the newest documents that pass a filter."""
        where, values = passing(only)
        rows = self._db.execute(
            f"SELECT {_DOCUMENT} FROM documents d WHERE {where}"
            " ORDER BY d.date DESC, d.key LIMIT ?",
            [*values, limit],
        )
        return [Document(*row) for row in rows]

    def lexical(self, words: Sequence[str], limit: int, only: Filter) -> list[tuple[int, float]]:
        """Return (chunk number, BM25 score) of the best chunks, best first; higher is better.

        ``words`` are words of the analyser. A chunk matches that holds any.
        """
        if not words:
            return []
        where, values = passing(only, date=_CHUNK_DATE)
        join = (
            " JOIN chunks c ON c.id = words.rowid JOIN documents d ON d.id = c.document"
            if only or self._hides
            else ""
        )
        return self._words.best(words, limit, Among(f"words{join}", where, values))

    def matches(self, word: str, chunks: Sequence[int]) -> set[int]:
        """Return which of some chunks hold a word of the analyser."""
        return self._words.holding(word, chunks)

    def chunk_frequency(self, word: str) -> int:
        """Return how many chunks hold a word of the analyser."""
        return self._words.frequency(word)

    def often(self, words: Sequence[str]) -> dict[str, Often]:
        """Return how often words of the analyser stand somewhere, hidden documents among it."""
        return self._words.often(words)

    def occurrences(
        self, words: Sequence[str], among: Collection[int] | None = None
    ) -> dict[str, list[Occurrence]]:
        """Return where words of the analyser stand, in some chunks or in all.

        Places in documents that are hidden are among them; see `places`.
        """
        return self._words.occurrences(words, among)

    def vocabulary(self, prefix: str, shortest: int, longest: int) -> dict[str, int]:
        """Return ``{term: chunks}`` of the terms that begin like this; see `Words.vocabulary`."""
        return self._words.vocabulary(prefix, shortest, longest)

    def terms_among(self, terms: Sequence[str]) -> dict[str, int]:
        """Return ``{term: chunks that hold it}`` of those terms that there are."""
        return self._words.terms_among(terms)

    def places(self, chunks: Sequence[int], only: Filter) -> dict[int, Place]:
        """Return where chunks stand, without those that do not pass the filter or are hidden."""
        where, values = passing(only, date=_CHUNK_DATE)
        found: dict[int, Place] = {}
        for some in batches(chunks):
            rows = self._db.execute(
                f"SELECT c.id, c.document, c.seq, {_CHUNK_DATE}, c.text_hash"
                " FROM chunks c JOIN documents d"
                f" ON d.id = c.document WHERE c.id IN ({','.join('?' * len(some))}) AND {where}",
                [*some, *values],
            )
            found.update({row[0]: Place._make(row[1:]) for row in rows})
        return found

    def sequences(self, documents: Sequence[int]) -> dict[int, list[int]]:
        """Return ``{document: its chunks in order}``, by numbers."""
        found: dict[int, list[int]] = {}
        for some in batches(documents):
            rows = self._db.execute(
                "SELECT document, id FROM chunks"
                f" WHERE document IN ({','.join('?' * len(some))}) ORDER BY document, seq",
                list(some),
            )
            for document, number in rows:
                found.setdefault(document, []).append(number)
        return found

    def extent(self) -> tuple[int, int]:
        """Return about how many chunks and documents there are, at once: the largest numbers."""
        row = self._db.execute(
            "SELECT (SELECT max(id) FROM chunks), (SELECT max(id) FROM documents)"
        ).fetchone()
        return row[0] or 0, row[1] or 0

    def chunks(self, numbers: Sequence[int]) -> dict[int, StoredChunk]:
        """Return chunks by number."""
        found: dict[int, StoredChunk] = {}
        for some in batches(numbers):
            rows = self._db.execute(
                f"SELECT {_CHUNK} FROM chunks c WHERE c.id IN ({','.join('?' * len(some))})",
                list(some),
            )
            found.update((row[-2], StoredChunk(*row)) for row in rows)
        return found

    def chunks_with(self, hashes: Sequence[str], only: Filter) -> dict[str, list[tuple[int, int]]]:
        """Return ``{text hash: [(chunk, its document)]}`` of the chunks that pass a filter."""
        where, values = passing(only, date=_CHUNK_DATE)
        found: dict[str, list[tuple[int, int]]] = {}
        for some in batches(hashes):
            rows = self._db.execute(
                "SELECT c.text_hash, c.id, c.document FROM chunks c"
                " JOIN documents d ON d.id = c.document"
                f" WHERE c.text_hash IN ({','.join('?' * len(some))}) AND {where} ORDER BY c.id",
                [*some, *values],
            )
            for text_hash, number, document in rows:
                found.setdefault(text_hash, []).append((number, document))
        return found

    def chunks_of(self, document: int) -> list[StoredChunk]:
        """Return the chunks of a document in order."""
        rows = self._db.execute(
            f"SELECT {_CHUNK} FROM chunks c WHERE c.document = ? ORDER BY c.seq", (document,)
        )
        return [StoredChunk(*row) for row in rows]

    def first_chunk(self, document: int) -> StoredChunk | None:
        """Return the first chunk of a document; None where it has none."""
        row = self._db.execute(
            f"SELECT {_CHUNK} FROM chunks c WHERE c.document = ? ORDER BY c.seq LIMIT 1",
            (document,),
        ).fetchone()
        return StoredChunk(*row) if row else None


_CHUNK_DATE = "coalesce(nullif(c.time, ''), d.date)"
