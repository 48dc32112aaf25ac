"""Rules on times: ISO 8601 with an offset, and not in the future (S5)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from knowrepo.concepts.checking.findings import Finding, at_value
from knowrepo.concepts.document import Document

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2})(:\d{2})?([.,]\d+)? ?(Z|z|[+-]\d{2}(?::?\d{2})?)?"
)
_AHEAD = timedelta(days=1)  # clocks differ, and so do time zones


def moment(text: str) -> datetime | None:
    """Return the instant that a text says, a day from its start in UTC; None for no time."""
    if _DAY.fullmatch(text):
        text += "T00:00Z"
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    day, time, seconds, _, offset = match.groups()
    shift = "+00:00" if not offset or offset in "Zz" else offset
    shift = shift if len(shift) > 3 else f"{shift}:00"
    shift = shift if ":" in shift else f"{shift[:3]}:{shift[3:]}"
    try:
        return datetime.fromisoformat(f"{day}T{time}{seconds or ':00'}{shift}").astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def check(
    path: str, document: Document, text: str, key: tuple[str | int, ...], now: datetime | None
) -> Iterator[Finding]:
    """Yield what is wrong with one time; with ``now`` it must not be later than that."""

    def found(code: str, message: str) -> Finding:
        return at_value(path, document, code, message, *key)

    name = key[-1]
    when = moment(text)
    match = _TIME.fullmatch(text)
    if when is None:
        yield found("OKF267", f"`{name}: {text[:40]}` is no time; write 2026-05-28T22:53:05Z")
    elif match is None:
        yield found("OKF266", f"`{name}` is a day, the earlier form; write {text}T00:00:00Z")
    elif match.group(5) is None:
        yield found("OKF265", f"`{name}` has no offset from UTC; write {text}Z if it is in UTC")
    if when is not None and now is not None and when > now + _AHEAD:
        yield found("OKF268", f"`{name}: {text}` is in the future; correct the date")
