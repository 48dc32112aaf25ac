"""What a rule is, and how to tell a credential from what stands in its place.

Owns the vocabulary of the rules: the probe that spares most texts the search,
the span that a finding covers, and the judgement whether a value is a
credential, a reference to one, or a word. It knows no kind of secret.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

PLACEHOLDER = re.compile(r"\[redacted:[a-z0-9-]+\]")

Span = tuple[int, int]
"""Where a secret begins and ends in a text."""


RUN = "[A-Za-z0-9_-]{16}"
"""The tail of a probe for tokens: what follows their prefix is long."""
ALNUM_RUN = "[A-Za-z0-9]{16}"
"""The same where neither dash nor underscore follows soon: much rarer in text."""


class Probe(NamedTuple):
    """What must stand in a text for a rule to match: a literal, and a pattern after it.

    With ``fold`` both are compared in lower case. ``needs`` is a rare character
    that must stand in the text too. Neither may hold what JSON
    escapes (quotes, control characters) without allowing for the escape: a
    probe is also put to the bytes of a whole line.
    """

    literal: str
    tail: str = ""
    fold: bool = False
    needs: str = ""


@dataclass(frozen=True)
class Rule:
    """One kind of secret.

    ``spans`` yields where secrets of this kind stand in a text. Its work must
    be linear in the text, whatever the text is.
    """

    kind: str
    probes: tuple[Probe, ...]
    spans: Callable[[str], Iterable[Span]]


Accept = Callable[[re.Match[str]], bool]


def by_pattern(
    pattern: str, accept: Accept, *, word: bool, flags: int = re.ASCII
) -> Callable[[str], Iterator[Span]]:
    """Return a finder of the group ``secret`` of a pattern, or of the whole match.

    With ``word`` a match must begin where a word begins; ``accept`` may decline it.
    The pattern is compiled when a text is first looked at.
    """

    def spans(text: str) -> Iterator[Span]:
        compiled = _compiled(pattern, flags)
        group = "secret" if "secret" in compiled.groupindex else 0
        last = 0  # right behind a secret another one may begin
        for match in compiled.finditer(text):
            if word and match.start() != last and not begins_word(text, match.start()):
                continue
            if accept(match):
                last = match.end()
                yield match.span(group)

    return spans


@functools.cache
def _compiled(pattern: str, flags: int) -> re.Pattern[str]:
    return re.compile(pattern, flags)


# A letter that ends an escape is no part of the word after it: JSON inside of
# text, colours of a terminal, percent-encoding.
_ESCAPE = re.compile(
    r"(?:\\[nrtbfv]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|%[0-9A-Fa-f]{2}|\x1b\[[0-9;]{0,12}m"
    r"|\\033\[[0-9;]{0,12}m|\\e\[[0-9;]{0,12}m|\[[0-9;]{1,12}m)\Z"
)
_LONGEST_ESCAPE = 24


def begins_word(text: str, start: int) -> bool:
    """Say whether a word begins here: `sk-` in `task-` is none."""
    if start == 0 or not (text[start - 1].isalnum() or text[start - 1] == "_"):
        return True
    return _ESCAPE.search(text, max(0, start - _LONGEST_ESCAPE), start) is not None


# $NAME, ${NAME}, $(command), <name>, {{name}}, %NAME%, [name], `command`, call(x), a.b.c
_REFERENCE = re.compile(
    r"\$[A-Za-z_]\w*\Z|\$[{(]|[<{\[*`]|%\w+%|[A-Za-z_][\w.]*\([^()]*\)?\Z"
    r"|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\Z|\+[A-Za-z_][\w.]*(?:[),;]|\Z)"
)
_EXAMPLE = re.compile(r"(?i)example|placeholder|your[_-]|xxxx|\*\*\*|redacted")
# What stands where a value is given but no real one: only to judge values by,
# since a token with a form of its own is none the less one for a word in it.
_STAND_IN = re.compile(
    r"(?i)change_?-?me|my[_-]|process\.env|environ|dummy|fake|sample|mock"
    r"|(?<![a-z])test(?![a-z])|insert|replace|1234567"
)
ENOUGH = 128
"""Characters by which a value is judged."""

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]|\Z)")
_SEPARATORS = re.compile(r"[-_./:,\s]+")
# Between letters, digits and the rest; from a capital to small letters only
# where it begins no word.
_SWITCH = re.compile(
    r"(?<=[a-z])(?=[^a-z])|(?<=[0-9])(?=[^0-9])|(?<=[A-Z])(?=[^A-Za-z])"
    r"|(?<=[A-Z]{2})(?=[a-z])|(?<=[^A-Za-z0-9])(?=[A-Za-z0-9])"
)


def is_example(value: str) -> bool:
    """Say whether a value is what documentation puts in a secret's place."""
    return len(set(value)) < 8 or _EXAMPLE.search(value) is not None


def no_example(match: re.Match[str]) -> bool:
    """Accept what has the form of a credential, unless it is an example."""
    return not is_example(match.group(match.lastgroup or 0))


def looks_random(value: str, *, strict: bool = False) -> bool:
    """Tell a credential from a placeholder, a reference, a name or a plain word.

    What a machine or a careful person made changes between letters and digits
    often; words with a number, and names of variables, do not. ``strict`` is for
    places where code stands more often than a credential.
    """
    value = value[:ENOUGH]
    if len(value) < 8 or _REFERENCE.match(value) or _DATE.match(value):
        return False
    if is_example(value) or _STAND_IN.search(value):
        return False
    if not any(c.isalpha() for c in value) or (
        value.isalpha() and (value.islower() or value.isupper())
    ):
        return False
    parts = _SEPARATORS.split(value)
    switches = sum(len(_SWITCH.findall(part)) for part in parts)
    length = sum(map(len, parts))
    least = max(4 if strict else 3, length * (0.2 if strict else 0.16))
    if value.isalpha():  # two words in camel case switch once or twice
        least = max(5.0, length * 0.25)
    return switches >= least
