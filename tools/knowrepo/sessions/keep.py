"""What of a transcript's line is archived, and in which bytes.

Owns the one function from a line of a source to a line of the archive. It looks
at nothing but that line: so a longer snapshot of a session begins with the very
bytes of a shorter one, which is what growing without loss rests on (see
`growth`). Every record is kept but pure progress chatter; payloads that no
reader can use become stubs; secrets become placeholders; all else stays byte for
byte.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from knowrepo.sessions.copies import without_copies
from knowrepo.sessions.lines import Line, decode
from knowrepo.sessions.payload import may_hold_payload, stub_of
from knowrepo.sessions.redact import DEFAULT, Redactor, Suspects
from knowrepo.sessions.redact.pseudonyms import may_hold_home, with_pseudonyms
from knowrepo.sessions.written import exact, needs_spelling, written

BAD = "know.bad"

# Progress records that repeat what a later record holds in full. Progress that
# carries output, or a whole sub-agent's record, may be its only copy: it stays.
_CHATTER = frozenset({"hook_progress", "mcp_progress", "waiting_for_task"})
# Opaque values that no rule may touch: a changed signature is a broken one.
_OPAQUE = frozenset({"signature", "encrypted_content", "data"})
_THINKING = frozenset({"thinking", "redacted_thinking", "reasoning"})
# The same under names of their own, told by their names and form alone.
_OPAQUE_NAMES = frozenset(
    {
        "thoughtSignature",
        "thinkingSignature",
        "textSignature",
        "encryptedContent",
        "reasoningOpaque",
    }
)
_SHORTEST_OPAQUE = 64
_SHORTEST_KEY = 12  # a shorter one can neither be a secret nor hold one


@dataclass
class Kept:
    """Counts of what happened to the lines of one source.

    They add up: what came in (``pieces``) was kept, dropped, bad or is pending.
    """

    lines: int = 0  # of the source, blank ones left out
    pieces: int = 0  # records and broken pieces that these lines held
    records: int = 0
    dropped_kinds: Counter[str] = field(default_factory=Counter)
    bad: list[int] = field(default_factory=list)
    pending: bool = False
    redacted: Counter[str] = field(default_factory=Counter)
    stubbed: int = 0
    _line: int = 0

    @property
    def dropped(self) -> int:
        """Records that were left out by rule."""
        return self.dropped_kinds.total()

    @property
    def recovered(self) -> int:
        """Pieces beyond one a line: records joined on one line, or a stub and a record."""
        return self.pieces - self.lines

    def count_in(self, line: Line) -> None:
        """Count a piece that came in."""
        self.pieces += 1
        if line.number != self._line:
            self._line = line.number
            self.lines += 1


def archived_line(line: Line, kept: Kept, redactor: Redactor = DEFAULT) -> bytes | None:
    """Return the bytes to archive for ``line``, without a line end; None to drop it."""
    kept.count_in(line)
    if line.pending:
        kept.pending = True
        return None
    record = line.record
    if record is None:
        kept.bad.append(line.number)
        text = line.raw.decode("utf-8", "backslashreplace")  # no byte is lost
        return written({"type": BAD, "text": _clean(text, kept, redactor)})
    chatter = _chatter(record)
    if chatter:
        kept.dropped_kinds[chatter] += 1
        return None
    kept.records += 1
    try:
        return _archived_record(line, record, kept, redactor)
    except RecursionError:  # nested deeper than this interpreter can follow
        text = decode(line.raw)
        clean = _clean(text, kept, redactor)
        return line.raw if clean is text else written({"type": BAD, "text": clean})


def _clean(text: str, kept: Kept, redactor: Redactor) -> str:
    clean = redactor.redact(text, kept.redacted)
    return with_pseudonyms(clean) if redactor.pseudonyms else clean


def _archived_record(line: Line, record: dict[str, Any], kept: Kept, redactor: Redactor) -> bytes:
    raw, spelled = line.raw, False
    slim = without_copies(record)
    if slim is not record:  # what was said twice need not be looked through twice
        spelled = needs_spelling(line)
        if spelled:
            slim = without_copies(exact(raw))
        raw = written(slim, spelled=spelled)
    look = _Look.at(raw, slim, redactor, kept)
    if look is None:
        return raw  # as nearly every line
    clean = look.value(slim)
    if clean is not slim:
        if spelled or not needs_spelling(line):
            return written(clean, spelled=spelled)
        again = _Look.at(raw, slim, redactor, Kept()) or look
        return written(again.value(exact(line.raw)), spelled=True)
    if slim is record and look.suspects and _repeats_a_key(raw):
        text = decode(raw)
        if redactor.redact(text) != text:  # what the parser did not see must not stay
            return written(exact(raw), spelled=True)
    return raw


class _Look:
    """One look through a record, by the rules that can match in its line."""

    def __init__(
        self,
        redactor: Redactor,
        suspects: Suspects | None,
        *,
        payloads: bool,
        homes: bool,
        kept: Kept,
    ) -> None:
        self.suspects = suspects
        self._redactor = redactor
        self._payloads = payloads
        self._homes = homes
        self._kept = kept

    @classmethod
    def at(cls, raw: bytes, record: dict[str, Any], redactor: Redactor, kept: Kept) -> _Look | None:
        """Return a look for a record and its line, None where nothing can be found in it."""
        suspects = redactor.suspects(raw)
        payloads = may_hold_payload(raw, record)
        homes = redactor.pseudonyms and may_hold_home(raw)
        if suspects is None and not payloads and not homes:
            return None
        return cls(redactor, suspects, payloads=payloads, homes=homes, kept=kept)

    def value(self, value: Any) -> Any:
        """Return a value stubbed and redacted; the same object where nothing changed."""
        if isinstance(value, str):
            return self._clean(value)
        if isinstance(value, dict):
            return self._object(value)
        if isinstance(value, list):
            items = [self.value(item) for item in value]
            return value if all(a is b for a, b in zip(items, value, strict=True)) else items
        return value

    def _object(self, value: dict[str, Any]) -> dict[str, Any]:
        out: dict[str, Any] = {}
        same = True
        for key, item in value.items():
            new = self._text(value, key, item) if isinstance(item, str) else self.value(item)
            name = self._clean(key) if len(key) >= _SHORTEST_KEY else key
            while name in out:  # two secrets as keys: both values stay
                name += "+"
            same = same and new is item and name is key
            out[name] = new
        return value if same else out

    def _clean(self, text: str) -> str:
        if self.suspects is not None:
            text = self._redactor.redact(text, self._kept.redacted, self.suspects)
        return with_pseudonyms(text) if self._homes else text

    def _text(self, parent: dict[str, Any], key: str, text: str) -> str:
        """Return what is archived of a string that stands under ``key``."""
        if _is_opaque(parent, key, text):
            return text
        if self._payloads and (stub := stub_of(parent, key, text)) is not None:
            self._kept.stubbed += 1
            return stub
        if self.suspects is not None:
            text = self._redactor.redact_value(key, text, self._kept.redacted, self.suspects)
        return with_pseudonyms(text) if self._homes else text


def _is_opaque(parent: dict[str, Any], key: str, text: str) -> bool:
    if key in _OPAQUE:
        return _is_one_of(parent.get("type"), _THINKING)
    return key in _OPAQUE_NAMES and len(text) >= _SHORTEST_OPAQUE and " " not in text


def _is_one_of(kind: object, kinds: frozenset[str]) -> bool:
    return isinstance(kind, str) and kind in kinds


def _repeats_a_key(raw: bytes) -> bool:
    """Say whether an object of the record has a key twice; the parser gives the last only."""
    repeated = False

    def look(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeated
        found = dict(pairs)
        repeated = repeated or len(found) < len(pairs)
        return found

    json.loads(decode(raw), object_pairs_hook=look)
    return repeated


def _chatter(record: dict[str, Any]) -> str:
    """Return the kind of a record that is pure progress chatter, or an empty string."""
    if record.get("type") != "progress":
        return ""
    data = record.get("data")
    kind = data.get("type") if isinstance(data, dict) else None
    return kind if isinstance(kind, str) and kind in _CHATTER else ""
