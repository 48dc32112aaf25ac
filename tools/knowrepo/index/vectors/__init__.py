"""The vector table: immutable DuckDB segments, addressed by the hash of the text.

The only package that imports DuckDB for vectors. `engine` opens it, `segment`
knows the form of one file, `manifest` which files there are, `reader` what is
asked of them, `packed` how they travel, `store` how they change, `sweep` what is to go and what is
damaged. Which texts are asked for is others' business.
"""

from knowrepo.index.vectors.packed import Packed
from knowrepo.index.vectors.reader import Ranking, Score
from knowrepo.index.vectors.segment import Row
from knowrepo.index.vectors.store import MOST_SEGMENTS, VectorStore
from knowrepo.index.vectors.sweep import Damaged, Kept

__all__ = ["MOST_SEGMENTS", "Damaged", "Kept", "Packed", "Ranking", "Row", "Score", "VectorStore"]
