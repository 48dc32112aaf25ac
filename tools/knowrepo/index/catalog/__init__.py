"""The catalog: every document, name, term and chunk of a work tree, in one SQLite file.

Owns SQLite: the schema and how the file is opened (`schema`), the statements
that ask (`queries`) and those that change (`store`). In WAL mode readers never
wait for the one writer and always see a whole state. The catalog is derived: a
file of another schema, analyser or chunk rule, or a damaged one, is thrown away
and built anew. What to put in is `index.build`'s business, what to make of an
answer is `recall`'s.
"""

from knowrepo.index.catalog.rows import (
    BEHIND,
    EMBEDDED,
    SEEN,
    STAMPS,
    TEXTS,
    Document,
    Field,
    Filter,
    StoredChunk,
)
from knowrepo.index.catalog.store import Catalog, DamagedError, SQLiteError, told

__all__ = [
    "BEHIND",
    "EMBEDDED",
    "SEEN",
    "STAMPS",
    "TEXTS",
    "Catalog",
    "DamagedError",
    "Document",
    "Field",
    "Filter",
    "SQLiteError",
    "StoredChunk",
    "told",
]
