"""The bytes of a vector pack: a header, then columns of numbers; nothing that is run.

Owns their form, and what is refused of bytes that somebody else has made. The same
vectors give the same bytes on every machine. After the header come the text hashes
in order, the parts, and the numbers, column by column, first the upper byte of each
and then the lower one: upper bytes of one column resemble each other, so that git's
compression takes a twelfth more off than of whole rows.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING

from knowrepo.index.vectors.packed import DIGEST, Packed

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

VERSION = 1
MOST_BYTES = 32_000_000
"""Of a pack that is made; a code host takes files of up to 100 MB."""
READ_BYTES = 64_000_000
"""Of a pack that is read."""
MOST_DIMENSION = 8192
FINGERPRINT = re.compile(r"[0-9a-f]{16}")
_MAGIC = b"know-vec"
_HEADER = struct.Struct("<8sHHI16s")  # magic, version, dimension, vectors, fingerprint
_LENGTH_ERROR = 0.01  # of a unit vector whose numbers were rounded to float16
_SLICE = 8192  # vectors that are looked at together


class RefusedError(Exception):
    """What is wrong with a pack, in a few words.

    It is ``lasting`` where it lies in the pack, and not in what is here just now.
    """

    def __init__(self, why: str, *, lasting: bool = True) -> None:
        super().__init__(why)
        self.lasting = lasting


def encode(fingerprint: str, rows: Packed) -> bytes:
    """Return the pack of some vectors of ``fingerprint``."""
    import numpy as np

    rows = rows.in_order()
    header = _HEADER.pack(_MAGIC, VERSION, rows.dimension, len(rows), fingerprint.encode())
    halves = np.ascontiguousarray(rows.vectors.T).astype("<f2").view(np.uint8)
    columns = halves.reshape(rows.dimension, len(rows), 2)
    upper, lower = columns[:, :, 1].tobytes(), columns[:, :, 0].tobytes()
    return header + rows.digests.tobytes() + rows.parts.astype("<u2").tobytes() + upper + lower


def capacity(dimension: int) -> int:
    """Return how many vectors a pack holds at most."""
    return (MOST_BYTES - _HEADER.size) // _row_bytes(dimension)


def cut(rows: Packed) -> Iterator[Packed]:
    """Yield vectors in as many packs as they need; the parts of a text stay together."""
    import numpy as np

    most = capacity(rows.dimension)
    start = 0
    while start < len(rows):
        end = min(start + most, len(rows))
        while end < len(rows) and rows.parts[end] and end > start + 1:
            end -= 1
        yield rows.take(np.arange(start, end))
        start = end


def decode(data: bytes, fingerprint: str, dimension: int = 0) -> Packed:
    """Return the vectors of a pack of ``fingerprint``; ``dimension`` is 0 where any will do.

    Raises RefusedError for anything that `encode` would not have made of whole texts
    and vectors of unit length. Nothing is allocated before the size fits the header.
    """
    import numpy as np

    count, found = _header(data, fingerprint, dimension)
    at = _HEADER.size
    digests = np.frombuffer(data, f"S{DIGEST}", count, at)
    at += count * DIGEST
    parts = np.frombuffer(data, "<u2", count, at).astype(np.uint16)
    at += count * 2
    _check_keys(digests, parts)
    upper = np.frombuffer(data, np.uint8, count * found, at).reshape(found, count)
    lower = np.frombuffer(data, np.uint8, count * found, at + count * found).reshape(found, count)
    vectors = np.empty((count, found), np.float16)
    for start in range(0, count, _SLICE):
        end = min(start + _SLICE, count)
        halves = np.stack([lower[:, start:end].T, upper[:, start:end].T], axis=2)
        vectors[start:end] = np.ascontiguousarray(halves).view("<f2")[:, :, 0]
        _check_lengths(vectors[start:end])
    return Packed(digests, parts, vectors)


def _row_bytes(dimension: int) -> int:
    return DIGEST + 2 + 2 * dimension


def _header(data: bytes, fingerprint: str, dimension: int) -> tuple[int, int]:
    """Return how many vectors of how many numbers there are; raises RefusedError."""
    if len(data) < _HEADER.size or data[: len(_MAGIC)] != _MAGIC:
        raise RefusedError("it is no vector pack")
    _, version, found, count, name = _HEADER.unpack_from(data)
    if version != VERSION:
        raise RefusedError(f"its format is {version}, and this know reads {VERSION}")
    if name != fingerprint.encode():
        raise RefusedError("it says that its vectors are of another fingerprint")
    if not 0 < found <= MOST_DIMENSION:
        raise RefusedError(f"its vectors have {found} numbers")
    if dimension and found != dimension:
        raise RefusedError(f"its vectors have {found} numbers, not {dimension}", lasting=False)
    if not count or len(data) != _HEADER.size + count * _row_bytes(found):
        raise RefusedError(f"it has not the length of {count:,} vectors, as it says")
    return count, found


def _check_keys(digests: npt.NDArray[np.bytes_], parts: npt.NDArray[np.uint16]) -> None:
    """Raise RefusedError unless texts are in order, each once, with all parts from 0 on."""
    import numpy as np

    same = digests[1:] == digests[:-1]
    if np.any(digests[1:] < digests[:-1]):
        raise RefusedError("its texts are not in order")
    following = np.where(same, parts[:-1].astype(np.int64) + 1, 0)
    if parts[0] or np.any(parts[1:] != following) or parts.max() > np.iinfo(np.int16).max:
        raise RefusedError("it has not all parts of a text, each once")


def _check_lengths(vectors: npt.NDArray[np.float16]) -> None:
    import numpy as np

    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.linalg.norm(vectors.astype(np.float32), axis=1)
    if not np.all(np.abs(lengths - 1) < _LENGTH_ERROR):  # false for NaN as well
        raise RefusedError("not all its vectors are of unit length")
