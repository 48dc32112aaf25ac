"""What a GGUF file says of itself, read without loading it.

Owns the form of a file's head: its settings, and the names and shapes of its
tensors. llama.cpp tells neither whether a tensor is there nor what it does without
it, and with a head that is missing it gives numbers all the same. Weights are not
looked at.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

from knowrepo.errors import ModelError
from knowrepo.index.models.files import check_magic

_SCALARS = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q",
    12: "<d",
}  # fmt: skip
_STRING, _ARRAY = 8, 9
_VERSIONS = (2, 3)  # the first counted in fewer bytes, and is of no model in use
_MOST_DIMENSIONS = 8


@dataclass(frozen=True)
class Header:
    """The head of a file: ``settings`` hold an array by its length, ``shapes`` each tensor's."""

    settings: dict[str, object]
    shapes: dict[str, tuple[int, ...]]

    @property
    def architecture(self) -> str:
        """The name by which llama.cpp knows how the tensors are used."""
        return str(self.settings.get("general.architecture", ""))


def read_header(path: Path) -> Header:
    """Return the head of a GGUF file. Raises ModelError where it is none, or damaged."""
    check_magic(path)
    try:
        # A model may be larger than the memory: only its head is ever touched.
        with (
            path.open("rb") as stream,
            mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            return _Reader(data).header()
    except (struct.error, UnicodeDecodeError, ValueError) as error:
        raise ModelError(
            f"{path}: damaged, or not a GGUF file that is known here: {error}",
            hint="fetch it anew",
        ) from error
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from error


class _Reader:
    """A place in a file, which moves on with all that is read."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._at = 4  # after the magic

    def header(self) -> Header:
        version = self._scalar("<I")
        if version not in _VERSIONS:
            raise ValueError(f"version {version}")
        tensors, settings = self._scalar("<Q"), self._scalar("<Q")
        found = dict(self._setting() for _ in range(int(settings)))
        shapes = dict(self._tensor() for _ in range(int(tensors)))
        return Header(found, shapes)

    def _setting(self) -> tuple[str, object]:
        key = self._text()
        kind = int(self._scalar("<I"))
        return key, self._array() if kind == _ARRAY else self._value(kind)

    def _value(self, kind: int) -> object:
        if kind == _STRING:
            return self._text()
        if kind not in _SCALARS:
            raise ValueError(f"a value of kind {kind}")
        return self._scalar(_SCALARS[kind])

    def _array(self) -> int:
        kind, length = int(self._scalar("<I")), int(self._scalar("<Q"))
        if kind == _STRING:
            for _ in range(length):
                self._skip(int(self._scalar("<Q")))
        elif kind in _SCALARS:
            self._skip(length * struct.calcsize(_SCALARS[kind]))
        else:
            raise ValueError(f"a list of kind {kind}")
        return length

    def _tensor(self) -> tuple[str, tuple[int, ...]]:
        name, dimensions = self._text(), int(self._scalar("<I"))
        if dimensions > _MOST_DIMENSIONS:
            raise ValueError(f"a tensor of {dimensions} dimensions")
        shape = tuple(int(self._scalar("<Q")) for _ in range(dimensions))
        self._scalar("<I")  # how its numbers are kept
        self._scalar("<Q")  # where it begins
        return name, shape

    def _scalar(self, form: str) -> float:
        (value,) = struct.unpack_from(form, self._data, self._at)
        self._at += struct.calcsize(form)
        return value  # type: ignore[no-any-return]

    def _text(self) -> str:
        length = int(self._scalar("<Q"))
        start = self._at
        self._skip(length)
        return self._data[start : self._at].decode("utf-8")

    def _skip(self, length: int) -> None:
        if self._at + length > len(self._data):
            raise ValueError("it ends too early")
        self._at += length
