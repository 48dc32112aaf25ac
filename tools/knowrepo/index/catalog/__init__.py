"""The catalog: every document, name, term and chunk of a work tree, in one SQLite file.

Owns SQLite:
- `schema`, `rows`: the tables, and what comes out of them
- `files`: in which file a catalog lies; `opening`: opened, and changed as a whole
- `idle`: what is kept open between two recalls
- `queries`: what asks; `conditions`: a filter in SQL; `ids`: how things are called
- `front_matter`, `postings`: who bears a name or holds a term
- `store`, `chunks`: what changes it
- `words`: the words of chunks in FTS5; `scan`: in a table that is read through
- `health`: whether one is whole; `whole`: the tables as they are, for others

In WAL mode readers never wait for the one writer and always
see a whole state. The catalog is derived: another schema, analyser, chunk rule or
kind of words has a file of its own, and a damaged one is thrown away and built anew.
What to put in is `index.build`'s business, what to make of an answer is `recall`'s.
"""

from knowrepo.index.catalog.front_matter import Standing
from knowrepo.index.catalog.opening import DamagedError, SQLiteError, told
from knowrepo.index.catalog.postings import Holders
from knowrepo.index.catalog.rows import (
    BEHIND,
    EMBEDDED,
    SEEN,
    STAMPS,
    TEXTS,
    Document,
    Field,
    Filter,
    Occurrence,
    Often,
    Place,
    StoredChunk,
    trust,
)
from knowrepo.index.catalog.store import Catalog
from knowrepo.index.catalog.whole import SQLITE

__all__ = [
    "BEHIND",
    "EMBEDDED",
    "SEEN",
    "SQLITE",
    "STAMPS",
    "TEXTS",
    "Catalog",
    "DamagedError",
    "Document",
    "Field",
    "Filter",
    "Holders",
    "Occurrence",
    "Often",
    "Place",
    "SQLiteError",
    "Standing",
    "StoredChunk",
    "told",
    "trust",
]
