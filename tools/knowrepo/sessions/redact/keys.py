"""Private keys: blocks between BEGIN and END, whole or cut, however they are laid out.

Owns the one secret that spans lines. The lines of a key may stand in a diff,
indented, numbered by a file reader, joined by spaces, or escaped in JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowrepo.sessions.redact.rule import Probe, Rule, Span

_MARK = re.compile(r"-----(?P<side>BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_LONGEST = 20_000  # characters between the marks; a key of 8,192 bits has 6,400
_BREAK = r"(?:\s|\\[nrt]|\\\\[nrt])"
_PREFIX = r"(?:[ \t]{0,80}(?:\d{1,7}[ \t]{0,4}[\u2192\t|:-])?[ \t>|+*-]{0,80})"
_HEADER = r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|Subject|IssuerName)"
# One line of a key, with what leads it in. A header's line counts as one.
_LINE = re.compile(
    rf"{_BREAK}{{1,8}}{_PREFIX}(?:=?[A-Za-z0-9+/]{{16,}}={{0,2}}|{_HEADER}: [^\n\\]{{0,100}})"
)
_LAST_LINE = re.compile(
    rf"{_BREAK}{{1,8}}{_PREFIX}=?[A-Za-z0-9+/]{{1,76}}={{0,2}}(?![A-Za-z0-9+/])"
)
_BODY = re.compile(r"[A-Za-z0-9+/=]{6,}")
_PROSE = re.compile(r"(?i)your|here|paste|example|placeholder|redacted|[<>]|\.\.\.|\u2026")
# The same backwards, from the END of a key whose BEGIN was cut off: the text is
# turned round, so that a match begins where it is looked for.
_BREAK_BACK = r"(?:\s|[nrt]\\\\|[nrt]\\)"
_PREFIX_BACK = r"(?:[ \t>|+*-]{0,80}(?:[\u2192\t|:-][ \t]{0,4}\d{1,7})?[ \t]{0,80})"
_ENDS = rf"(?:(?={_PREFIX_BACK}{_BREAK_BACK})|(?=[^A-Za-z0-9+/=\\])|\Z)"
_SHORT_BACK = re.compile(
    rf"{_PREFIX_BACK}{_BREAK_BACK}{{1,8}}={{0,2}}[A-Za-z0-9+/]{{1,200}}=?{_ENDS}"
)
_LINE_BACK = re.compile(
    rf"{_PREFIX_BACK}{_BREAK_BACK}{{1,8}}={{0,2}}[A-Za-z0-9+/]{{16,200}}{_ENDS}"
)
_LONGEST_LINE = 400


def _blocks(text: str) -> Iterator[Span]:
    done = 0
    marks = list(_MARK.finditer(text))
    for index, mark in enumerate(marks):
        if mark.start() < done:
            continue
        if mark["side"] == "END":
            start = _cut_at_the_start(text, mark.start(), done)
            if start < mark.start():
                done = mark.end()
                yield start, done
            continue
        end = marks[index + 1] if index + 1 < len(marks) else None
        if end is not None and end["side"] == "END" and _is_key(text, mark.end(), end.start()):
            done = end.end()
            yield mark.start(), done
            continue
        stop = _cut_at_the_end(text, mark.end())
        if stop > mark.end():
            done = stop
            yield mark.start(), stop


def _is_key(text: str, start: int, end: int) -> bool:
    """Say whether a key's lines stand between the marks, and no words about one."""
    if end - start > _LONGEST:
        return False
    between = text[start:end]
    return _BODY.search(between) is not None and not (len(between) < 100 and _PROSE.search(between))


def _cut_at_the_end(text: str, position: int) -> int:
    """Return where the lines of a key end that begin at ``position``."""
    start = position
    while (line := _LINE.match(text, position)) is not None:
        position = line.end()
    if position > start and (line := _LAST_LINE.match(text, position)) is not None:
        position = line.end()
    return position


def _cut_at_the_start(text: str, position: int, least: int) -> int:
    """Return where the lines of a key begin that end before ``position``."""
    end = position
    pattern, lines = _SHORT_BACK, 0  # the last line of a key is mostly a short one
    while True:
        before = text[max(least, position - _LONGEST_LINE) : position][::-1]
        line = pattern.match(before)
        if line is None:
            return position if lines > 1 else end
        position -= line.end()
        pattern, lines = _LINE_BACK, lines + 1


RULES: tuple[Rule, ...] = (Rule("private-key", (Probe("PRIVATE KEY"),), _blocks),)
