"""Deciding at a glance which rules can match a text at all.

Owns the speed of the archive. Nearly every line of a transcript holds no
secret, so what is asked of every line must cost little: one search for each
*rare character* on which the rules' literals turn, instead of one for each
literal. A gate may say yes too often and never no wrongly: what it lets through
is looked at by the rules themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import AnyStr, Generic

from knowrepo.sessions.redact.rule import RUN, Probe, Rule

# Characters by how often a transcript has them, in a thousand; others are rarer.
_FREQUENT = {
    **dict.fromkeys("tensiroac", 50), **dict.fromkeys("ldupmgh:/,-", 18),
    **dict.fromkeys(".f01b2yk_v4w", 8), **dict.fromkeys("356897xCSTAI=ED", 5),
}  # fmt: skip
_RARE = 2
# JSON may spell any character as an escape, and some writers spell `/` and `<` so.
_ESCAPED = re.compile(rb"\\u00([2-7][0-9A-Fa-f])|\\/")


@dataclass(frozen=True)
class _Group:
    """Literals that have a character in common, found by one search for it."""

    anchor: str
    probes: tuple[Probe, ...]


class Suspects:
    """The probes that a line passed: what its strings are then asked for."""

    def __init__(self, gate: Gate, probes: Iterable[Probe]) -> None:
        self._gate = gate
        self._exact = [p for p in probes if not p.fold]
        self._folded = [p for p in probes if p.fold]

    def rules_for(self, text: str) -> tuple[Rule, ...]:
        """Return the rules that may match in one string of the line, in their order."""
        patterns = self._gate.patterns
        found = [probe for probe in self._exact if patterns[probe].search(text)]
        if self._folded:
            lowered = text.lower()
            found += [
                probe
                for probe in self._folded
                if probe.literal in lowered and patterns[probe].search(lowered)
            ]
        return self._gate.rules_of(found) if found else ()


class Gate:
    """The probes of a set of rules, arranged for few searches."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(rules)
        self._of: dict[Probe, list[int]] = {}
        for number, rule in enumerate(self.rules):
            for probe in rule.probes:
                self._of.setdefault(probe, []).append(number)
        self.patterns = {
            probe: re.compile(re.escape(probe.literal) + probe.tail) for probe in self._of
        }
        self._always = [probe for probe in self._of if not probe.literal]
        groups = list(_grouped([p for p in self._of if p.literal and not p.fold]))
        folded = [probe for probe in self._of if probe.fold]
        self._text = _Searches(groups, folded, lambda s: s)
        self._raw = _Searches(groups, folded, lambda s: s.encode())

    def rules_for(self, text: str) -> tuple[Rule, ...]:
        """Return the rules that may match in ``text``, in their order."""
        found = self._always + self._text.probes_in(text, text.lower())
        return self.rules_of(found) if found else ()

    def suspects(self, raw: bytes) -> Suspects | None:
        """Return what may be found in the strings of the JSON in ``raw``; None for nothing."""
        found = self._always + self._raw.probes_in(raw, raw.lower())
        if b"\\u00" in raw or b"\\/" in raw:
            plain = _ESCAPED.sub(_unescaped, raw)
            found += self._raw.probes_in(plain, plain.lower())
        return Suspects(self, dict.fromkeys(found)) if found else None

    def rules_of(self, probes: Iterable[Probe]) -> tuple[Rule, ...]:
        """Return the rules that have one of these probes, in their order."""
        numbers = {number for probe in probes for number in self._of[probe]}
        return tuple(self.rules[number] for number in sorted(numbers))


def _unescaped(match: re.Match[bytes]) -> bytes:
    return bytes.fromhex(match[1].decode()) if match[1] else b"/"


def _grouped(probes: list[Probe]) -> Iterator[_Group]:
    """Cover the literals by few characters, the rare and the shared ones first."""
    left = list(probes)
    while left:
        characters = {c for probe in left for c in probe.literal}

        def worth(c: str) -> tuple[float, str]:
            covered = sum(c in probe.literal for probe in left)  # noqa: B023
            return covered / (8 + _FREQUENT.get(c, _RARE)), c

        anchor = max(characters, key=worth)
        yield _Group(anchor, tuple(probe for probe in left if anchor in probe.literal))
        left = [probe for probe in left if anchor not in probe.literal]


_Asked = tuple[Probe, re.Pattern[AnyStr]]


class _Searches(Generic[AnyStr]):
    """The searches over texts of one type, `str` or `bytes`."""

    def __init__(
        self, groups: list[_Group], folded: list[Probe], spell: Callable[[str], AnyStr]
    ) -> None:
        self._groups: list[tuple[re.Pattern[AnyStr], list[_Asked[AnyStr]]]] = [
            (
                re.compile(spell(_any_of(group))),
                [(p, re.compile(spell(re.escape(p.literal) + p.tail))) for p in group.probes],
            )
            for group in groups
        ]
        words: dict[str, list[Probe]] = {}
        for probe in folded:
            words.setdefault(probe.literal, []).append(probe)
        self._words: list[tuple[AnyStr, re.Pattern[AnyStr], list[_Asked[AnyStr]]]] = [
            (
                spell(w),
                re.compile(spell(f"{re.escape(w)}(?:{'|'.join(p.tail for p in probes)})")),
                [(p, re.compile(spell(re.escape(w) + p.tail))) for p in probes],
            )
            for w, probes in words.items()
        ]

    def probes_in(self, text: AnyStr, lowered: AnyStr) -> list[Probe]:
        """Return the probes that ``text`` passes."""
        found: list[Probe] = []
        for together, probes in self._groups:
            if together.search(text):
                found += [probe for probe, pattern in probes if pattern.search(text)]
        for word, together, probes in self._words:
            if word in lowered and together.search(lowered):
                found += [probe for probe, pattern in probes if pattern.search(lowered)]
        return found


def _any_of(group: _Group) -> str:
    """Return a pattern for any literal of a group, led by the character they share.

    Where a long run must follow, that is looked at once for all of them, and the
    character before: so a uuid's dashes cost next to nothing.
    """
    ways: list[str] = []
    tokens: list[str] = []
    anchor = re.escape(group.anchor)
    for probe in group.probes:
        before, _, after = probe.literal.rpartition(group.anchor)
        if before and not after and probe.tail == RUN:
            tokens.append(before)
            continue
        # What follows is looked at first: a plain letter is quickly told.
        behind = f"(?<={re.escape(probe.literal)})" if before else ""
        ways.append(re.escape(after) + behind + probe.tail)
    if tokens:
        last = "".join(sorted({re.escape(before[-1]) for before in tokens}))
        lead = "|".join(f"(?<={re.escape(before)}{anchor})" for before in sorted(tokens))
        ways.append(f"(?<=[{last}]{anchor})(?={RUN})(?:{lead})")
    return f"{anchor}(?:{'|'.join(ways)})"
