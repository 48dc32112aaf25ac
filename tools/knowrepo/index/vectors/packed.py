"""Vectors as they travel: three columns, in an order that is the same everywhere.

Owns the value that stores and packs exchange. It knows neither DuckDB nor git.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from knowrepo.index.vectors.segment import Row

DIGEST = 16
"""Bytes of a text hash."""


@dataclass(frozen=True)
class Packed:
    """Vectors of whole texts: for each its text hash (`S16`), part, and float16 numbers.

    numpy cuts trailing zero bytes off what it gives of an `S16` one by one, so hashes
    are compared as arrays, or read from their bytes.
    """

    digests: npt.NDArray[np.bytes_]
    parts: npt.NDArray[np.uint16]
    vectors: npt.NDArray[np.float16]

    def __len__(self) -> int:
        """Return how many vectors there are."""
        return len(self.parts)

    @property
    def dimension(self) -> int:
        """Numbers of a vector."""
        return int(self.vectors.shape[1])

    def in_order(self) -> Packed:
        """Return them by text hash and part, each once."""
        import numpy as np

        order = np.lexsort((self.parts, self.digests))
        digests, parts = self.digests[order], self.parts[order]
        new = np.ones(len(order), bool)
        new[1:] = (digests[1:] != digests[:-1]) | (parts[1:] != parts[:-1])
        return self.take(order[new])

    def take(self, which: npt.NDArray[np.generic]) -> Packed:
        """Return some of them, by number or by a mask."""
        return Packed(self.digests[which], self.parts[which], self.vectors[which])

    def of(self, texts: npt.NDArray[np.bytes_], *, but: bool = False) -> Packed:
        """Return those of some texts; with ``but`` those of all others."""
        import numpy as np

        return self.take(np.isin(self.digests, texts, invert=but))

    def texts(self) -> npt.NDArray[np.bytes_]:
        """Return the text hashes in order, each once."""
        import numpy as np

        return np.unique(self.digests)

    def rows(self) -> Iterator[Row]:
        """Yield them as a store takes them."""
        import numpy as np

        names = hexes(self.digests)
        parts = self.parts.tolist()
        yield from zip(names, parts, self.vectors.astype(np.float32), strict=True)


def digests(packed: bytes) -> npt.NDArray[np.bytes_]:
    """Return hashes that lie one after the other as an array, in order and each once."""
    import numpy as np

    return np.unique(np.frombuffer(packed, f"S{DIGEST}"))


def cut(hashes: npt.NDArray[np.bytes_]) -> Iterator[bytes]:
    """Yield hashes, each with all its bytes."""
    data = hashes.tobytes()
    return (data[at : at + DIGEST] for at in range(0, len(data), DIGEST))


def hexes(hashes: npt.NDArray[np.bytes_]) -> list[str]:
    """Return hashes as a catalog spells them."""
    return [one.hex() for one in cut(hashes)]


def joined(some: Sequence[Packed]) -> Packed:
    """Return the vectors of all; of a text that several have, those of the first."""
    import numpy as np

    taken = some[0]
    kept = [taken]
    texts = taken.texts()
    for following in some[1:]:
        fresh = following.of(texts, but=True)
        kept.append(fresh)
        texts = np.union1d(texts, fresh.digests)
    return Packed(
        np.concatenate([one.digests for one in kept]),
        np.concatenate([one.parts for one in kept]),
        np.concatenate([one.vectors for one in kept]),
    ).in_order()
