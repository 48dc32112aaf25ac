"""Deciding at a glance which rules can match a text at all.

Owns the speed of the archive. Nearly every line of a transcript holds no
secret, so what is asked of every line must cost little: one search for each
*rare character* on which the rules' literals turn, instead of one for each
literal. A gate may say yes too often and never no wrongly: what it lets through
is looked at by the rules themselves.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import AnyStr, Generic

from knowrepo.sessions.redact.rule import ALNUM_RUN, RUN, Probe, Rule

# Characters by how often a transcript has them, in a thousand; others are rarer.
_FREQUENT = {
    **dict.fromkeys("tensiroac", 50), **dict.fromkeys("ldupmgh:/,-", 18),
    **dict.fromkeys(".f01b2yk_v4w", 8), **dict.fromkeys("356897xCSTAI=ED", 5),
}  # fmt: skip
_RARE = 2
_TOO_FREQUENT = 18
# JSON may spell any character as an escape, and some writers spell `/` and `<` so.
_ESCAPED = re.compile(rb"\\(?:u00([2-7][0-9A-Fa-f])|/)")


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
        found = [probe for probe in self._exact if _compiled(_of_one(probe)).search(text)]
        if self._folded:
            lowered = text.lower()
            found += [
                probe
                for probe in self._folded
                if probe.literal in lowered and _compiled(_of_one(probe)).search(lowered)
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
        self._always = [probe for probe in self._of if not probe.literal]
        groups = list(_grouped([p for p in self._of if p.literal and not p.fold]))
        folded = list(_grouped([p for p in self._of if p.literal and p.fold]))
        # Each compiles its patterns when it is first asked.
        self._text = _Searches(groups, folded, lambda s: s)
        self._raw = _Searches(groups, folded, lambda s: s.encode())

    def rules_for(self, text: str) -> tuple[Rule, ...]:
        """Return the rules that may match in ``text``, in their order."""
        found = self._always + self._text.probes_in(text, text.lower())
        return self.rules_of(found) if found else ()

    def suspects(self, raw: bytes) -> Suspects | None:
        """Return what may be found in the strings of the JSON in ``raw``; None for nothing."""
        found = self._always + self._raw.probes_in(raw, raw.lower())
        if _ESCAPED.search(raw):
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


_Asked = tuple[AnyStr, Callable[[AnyStr], object], "_Search[AnyStr]"]


class _Searches(Generic[AnyStr]):
    """The searches over texts of one type, `str` or `bytes`."""

    def __init__(
        self, exact: list[_Group], folded: list[_Group], spell: Callable[[str], AnyStr]
    ) -> None:
        self._groups = (exact, folded)
        self._spell: Callable[[str], AnyStr] = spell

    @functools.cached_property
    def _asked(self) -> tuple[list[_Asked[AnyStr]], list[_Asked[AnyStr]]]:
        """What every line is asked, flat: a call more for each would be felt."""
        exact, folded = ([_Search(group, self._spell) for group in g] for g in self._groups)
        return [(s.needs, s.ways, s) for s in exact], [(s.needs, s.ways, s) for s in folded]

    def probes_in(self, text: AnyStr, lowered: AnyStr) -> list[Probe]:
        """Return the probes that ``text`` passes."""
        of_text, of_lowered = self._asked
        found: list[Probe] = []
        for needs, ways, search in of_text:
            if needs in text and ways(text):
                found += search.which(text)
        for needs, ways, search in of_lowered:
            if needs in lowered and ways(lowered):
                found += search.which(lowered)
        return found


class _Search(Generic[AnyStr]):
    """One search for a group of probes; where it hits, which of them they are."""

    def __init__(self, group: _Group, spell: Callable[[str], AnyStr]) -> None:
        self._group = group
        self._spell: Callable[[str], AnyStr] = spell
        self._literals = literals = list(dict.fromkeys(probe.literal for probe in group.probes))
        anchor, ways = _any_of(group, literals)
        # What stands behind an anchor may hold another one: so that none is passed
        # over, what is found is only looked ahead for.
        self._each: AnyStr = spell(f"{anchor}(?={ways})")
        self.ways: Callable[[AnyStr], object] = re.compile(spell(anchor + ways)).search
        # A whole literal is found faster than its characters, where all are frequent.
        alone = len(literals) == 1 and _FREQUENT.get(group.anchor, _RARE) >= _TOO_FREQUENT
        needed = {probe.needs for probe in group.probes}
        self.needs: AnyStr = spell(
            literals[0] if alone else needed.pop() if len(needed) == 1 else ""
        )

    def which(self, text: AnyStr) -> Iterator[Probe]:
        """Yield the probes that a text passes which the search found."""
        for name in {m.lastgroup or "n0" for m in _compiled(self._each).finditer(text)}:
            literal = self._literals[int(name[1:])]
            for probe in self._group.probes:
                # Where one literal ends another (`key-`, `tskey-`) either may be meant.
                alike = probe.literal.endswith(literal) or literal.endswith(probe.literal)
                if alike and _compiled(self._spell(_of_one(probe))).search(text):
                    yield probe


@functools.cache
def _of_one(probe: Probe) -> str:
    return re.escape(probe.literal) + probe.tail


@functools.cache
def _compiled(pattern: AnyStr) -> re.Pattern[AnyStr]:
    return re.compile(pattern)


def _any_of(group: _Group, literals: list[str]) -> tuple[str, str]:
    """Return a pattern, in two, for any literal of a group, led by the character they share.

    The group `nN` matches where the literal of that number stands. Where a long run must
    follow, that is looked at once for all of them, and the character before: so
    a uuid's dashes cost next to nothing.
    """
    anchor = re.escape(group.anchor)
    ways: list[str] = []
    runs: dict[str, list[tuple[str, str]]] = {}
    for number, literal in enumerate(literals):
        before, _, after = literal.rpartition(group.anchor)
        tails = [probe.tail for probe in group.probes if probe.literal == literal]
        behind = f"(?<={re.escape(literal)})" if before else ""
        rest = f"(?:{'|'.join(tails)})(?P<n{number}>)"
        if not after and before:
            run = tails[0] if tails in ([RUN], [ALNUM_RUN]) else ""
            way = f"{behind}(?P<n{number}>)" if run else behind + rest
            runs.setdefault(run, []).append((before, way))
        else:  # what follows is looked at first: a plain letter is quickly told
            ways.append(re.escape(after) + behind + rest)
    for run, leads in runs.items():
        ends = _ends([before for before, _ in leads])
        follows = f"(?={run})" if run else ""
        ways.append(f"(?<={ends}{anchor}){follows}(?:{'|'.join(way for _, way in leads)})")
    return anchor, f"(?:{'|'.join(ways)})"


def _ends(words: list[str]) -> str:
    """Return classes of the last characters of some words: two, where all have as many."""
    length = min(2, *(len(word) for word in words)) if len(words) > 1 else min(2, len(words[0]))
    places = ({word[-place] for word in words} for place in range(length, 0, -1))
    return "".join(f"[{''.join(sorted(map(re.escape, place)))}]" for place in places)
