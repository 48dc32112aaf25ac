"""Cutting a transcript into lines and records, whatever state the file is in.

Owns tolerance: lines end at byte 0x0A only (U+2028 and its like are text), a
byte order mark, CR and NUL bytes are stripped, two records on one line are two
records, and a line that holds no record is kept as it is. What a record means
is the readers' business; what of it is archived is `keep`'s.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

BOM = b"\xef\xbb\xbf"
# A broken line is searched for records this often; beyond it the rest is kept as
# it is. Each attempt may read to the end of the line, which can have megabytes,
# so what they read together is bounded too, as a multiple of the line.
MOST_ATTEMPTS = 200
MOST_READ = 4
_SHORT_LINE = 1 << 16
_REVERSIBLE = "surrogateescape"  # an invalid byte comes out of the text as it went in
_decoder = json.JSONDecoder()


class Line(NamedTuple):
    """One record of a transcript, or a piece of it that holds none.

    ``number`` is the 1-based line of the source. ``raw`` is its cleaned bytes
    without the line end. ``record`` is None for what is no JSON object.
    ``pending`` marks a last line that its writer has not finished. ``start`` and
    ``end`` are the bytes of the source that the whole line takes up. With
    ``odd_numbers`` a number is spelled as Python would not spell it (`1.50`).
    """

    number: int
    raw: bytes
    record: dict[str, Any] | None
    pending: bool = False
    start: int = 0
    end: int = 0
    odd_numbers: bool = False


def read_lines(chunks: Iterable[bytes], *, first: int = 1, start: int = 0) -> Iterator[Line]:
    """Yield the lines of a source given as lines split at 0x0A (an open binary file).

    ``first`` and ``start`` are the number and the byte of the first of them, where
    they are not the beginning of the source.
    """
    parser = _Parser()
    for number, chunk in enumerate(chunks, start=first):
        end = start + len(chunk)
        raw = clean(chunk, first=number == 1)
        if raw:
            record = parser.parse(raw)
            if record is not None:
                yield Line(number, raw, record, False, start, end, parser.odd)
            else:
                place = Line(number, raw, None, False, start, end)
                yield from _broken(place, parser, ended=chunk.endswith(b"\n"))
        start = end


def clean(chunk: bytes, *, first: bool) -> bytes:
    """Strip what is no part of a record: line end, byte order mark, NULs, spaces."""
    if first and chunk.startswith(BOM):
        chunk = chunk[len(BOM) :]
    if b"\0" in chunk:
        chunk = chunk.replace(b"\0", b"")
    return chunk.strip(b" \t\r\n")


def parse_object(raw: bytes) -> dict[str, Any] | None:
    """Return the JSON object that ``raw`` holds, or None; never raises."""
    return _Parser().parse(raw.strip(b" \t\r\n"))


class _Parser:
    """Parses records, and sees how their numbers are spelled."""

    def __init__(self) -> None:
        self.odd = False
        self._decoder = json.JSONDecoder(parse_float=self._number)

    def parse(self, raw: bytes) -> dict[str, Any] | None:
        """Return the object that ``raw``, without spaces around it, holds."""
        self.odd = False
        text = decode(raw)
        try:
            value, end = self._decoder.raw_decode(text)
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) and end == len(text) else None

    def _number(self, spelling: str) -> float:
        number = float(spelling)
        self.odd = self.odd or repr(number) != spelling
        return number


def decode(raw: bytes) -> str:
    """Decode UTF-8; an invalid byte becomes U+FFFD (the archive keeps the bytes)."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace")


def _broken(line: Line, parser: _Parser, *, ended: bool) -> Iterator[Line]:
    """Yield what a line holds that is no record as a whole."""
    pieces = list(_joined(line.raw))
    if len(pieces) == 1 and not ended:
        yield line._replace(pending=True)
        return
    for index, piece in enumerate(pieces):
        found = parser.parse(piece)
        waits = found is None and index == len(pieces) - 1 and not ended
        yield line._replace(raw=piece, record=found, pending=waits, odd_numbers=parser.odd)


def _joined(raw: bytes) -> Iterator[bytes]:
    """Cut a line that holds several records, or a stub and then records.

    A copy made while its agent was writing ends in the middle of a record or
    without a newline; what is appended later lands on the same line. What is
    no record is given out as it is, so no byte is lost.
    """
    text = raw.decode("utf-8", _REVERSIBLE)
    given = 0  # all before this has been given out
    position = text.find("{")
    left = max(_SHORT_LINE * MOST_ATTEMPTS, MOST_READ * len(text))  # characters to be read
    for _ in range(MOST_ATTEMPTS):
        if position == -1 or left < 0:
            break
        try:
            value, end = _decoder.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            left -= _read_until(error, text) - position
            position = text.find('{"', position + 1)
            continue
        left -= end - position
        if _is_record(value, alone=not text[given:position].strip()):
            yield from _non_blank(text[given:position])
            yield text[position:end].encode("utf-8", _REVERSIBLE)
            given = end
        position = text.find("{", end)
    yield from _non_blank(text[given:])


def _read_until(error: Exception, text: str) -> int:
    """Return how far a failed attempt has read: an open string is read to the end."""
    if isinstance(error, json.JSONDecodeError) and not error.msg.startswith("Unterminated"):
        return error.pos
    return len(text)


def _non_blank(text: str) -> Iterator[bytes]:
    stripped = text.strip()
    if stripped:
        yield stripped.encode("utf-8", _REVERSIBLE)


def _is_record(value: object, *, alone: bool) -> bool:
    """Tell a whole record from an object inside a broken one.

    A record begins where the last one ended, or has what every record has.
    """
    if not isinstance(value, dict):
        return False
    marks = {"uuid", "sessionId", "timestamp", "payload", "leafUuid", "messageId"}
    return alone or ("type" in value and not marks.isdisjoint(value))
