"""Derived data: the catalog, the vectors, and what fills them.

From documents to chunks:
- `sources`: what there is; `documents`: concepts and sessions as chunks
- `archived`: from a session to its chunks; `undecided`: our side of one in conflict
- `chunk`: the rule; `blocks`: where a long text may be cut
- `text`: the analyser; `spelling`, `folding`, `languages`: its words, characters, stems

The catalog:
- `catalog`: SQLite, all of it; `tag_catalog`: what a fresh clone answers from
- `build`: what to index; `freshness`: whether anything is new
- `ahead`: processes that read sessions ahead; `helper`: their side
- `sql`: one query over all of it, for people

Models:
- `models`: which there are, getting and choosing one; `model_build`: converting the default one
- `llama`: llama.cpp: loading, tokens, pooled vectors, silence
- `embed`: passages and queries; `endpoint`: a model behind a URL
- `reranker`: pairs of both

Vectors:
- `vectors`: DuckDB, all of it
- `fill`: embedding what is missing; `embedded`: whether anything is
- `needed`, `garbage`: which may go; `purge`: what is to be forgotten
"""

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Told (done, total) now and then."""
