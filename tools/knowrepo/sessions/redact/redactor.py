"""Finding secrets in text and putting a placeholder in their place.

Owns the order of things: which rules are asked, how findings that overlap
become one, and why redacting twice changes nothing. It is given decoded strings
and gives strings back; what a record is, it does not know.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections import Counter
from collections.abc import Iterable

from knowrepo.sessions.redact import keys, library, names, rules
from knowrepo.sessions.redact.gate import Gate, Suspects
from knowrepo.sessions.redact.rule import PLACEHOLDER, Rule, looks_random

SHORTEST = 8
"""Characters below which no text holds a secret that a rule would find."""

# Findings laid end to end may uncover one another; what still does after this
# many rounds was made to, and goes as a whole.
_MOST_ROUNDS = 6

DEFAULT_RULES: tuple[Rule, ...] = (*keys.RULES, *rules.RULES, *library.RULES, *names.RULES)
"""In the order in which they name a secret that several of them find."""


class Redactor:
    """A set of rules that text is brought to.

    A pure function of its rules and the text: the same on every machine. A text
    without a finding is returned as the same object.
    """

    def __init__(
        self,
        rules: Iterable[Rule] = DEFAULT_RULES,
        *,
        allowed: tuple[re.Pattern[str], ...] = (),
        allowed_hashes: frozenset[str] = frozenset(),
        pseudonyms: bool = False,
    ) -> None:
        self._rules = tuple(rules)
        self.pseudonyms = pseudonyms
        self._allowed = allowed
        self._allowed_hashes = allowed_hashes

    @functools.cached_property
    def gate(self) -> Gate:
        """The gate of the rules, made when a text is first looked at: that takes a while."""
        return Gate(self._rules)

    def _is_allowed(self, secret: str) -> bool:
        """Say whether the user, or the repository by its hash, wants a finding left."""
        if any(pattern.search(secret) for pattern in self._allowed):
            return True
        return bool(self._allowed_hashes) and (
            hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
            in self._allowed_hashes
        )

    def suspects(self, line: bytes) -> Suspects | None:
        """Return what may be found in the strings of a line of JSON; None for nothing."""
        return self.gate.suspects(line)

    def redact(
        self, text: str, found: Counter[str] | None = None, suspects: Suspects | None = None
    ) -> str:
        """Return ``text`` with each secret replaced by `[redacted:KIND]`.

        ``found`` is counted up by kind. ``suspects`` are those of the line that the
        text is from. Redacting twice changes nothing more: placeholders cut a text
        into pieces, and each piece is looked at until no rule finds a thing in it.
        """
        if len(text) < SHORTEST:
            return text
        asked = suspects or self.gate
        if "[redacted:" not in text:
            return self._piece(text, asked.rules_for(text), found, 0)
        pieces: list[str] = []
        position = 0
        # A placeholder's kind may be a word that tells: only what is between them is asked.
        for placeholder in (*PLACEHOLDER.finditer(text), None):
            piece = text[position : placeholder.start() if placeholder else None]
            pieces.append(self._piece(piece, asked.rules_for(piece), found, 0))
            if placeholder:
                pieces.append(placeholder.group())
                position = placeholder.end()
        clean = "".join(pieces)
        return text if clean == text else clean

    def findings(self, text: str) -> list[tuple[int, str]]:
        """Return where secrets begin in a text, and their kinds; placeholders are none."""
        found: list[tuple[int, str]] = []
        position = 0
        for placeholder in (*PLACEHOLDER.finditer(text), None):
            end = placeholder.start() if placeholder else len(text)
            piece = text[position:end]
            spans = self._spans(piece, self.gate.rules_for(piece))
            found += [(position + start, kind) for start, _, kind in spans]
            position = placeholder.end() if placeholder else end
        return found

    def redact_value(
        self,
        name: str,
        value: str,
        found: Counter[str] | None = None,
        suspects: Suspects | None = None,
    ) -> str:
        """Redact a string that stands under ``name`` in an object: the name may say what it is."""
        if len(value) < SHORTEST:
            return value
        for _ in range(2):  # what is left beside a placeholder may be a secret on its own
            if self._is_named_secret(name, value):
                kind = self._kind_of(value)
                if found is not None:
                    found[kind] += 1
                return f"[redacted:{kind}]"
            clean = self.redact(value, found, suspects)
            if clean is value:
                break
            value = clean
        return value

    def _is_named_secret(self, name: str, value: str) -> bool:
        if not names.tells(name) or len(value) > 8192 or any(c.isspace() for c in value):
            return False
        if not names.WHOLE.match(value):  # as a line's bytes are asked for it
            return False
        return looks_random(PLACEHOLDER.sub("", value)) and not self._is_allowed(value)

    def _kind_of(self, value: str) -> str:
        """Return the kind of a value that is a secret by its name."""
        counts: Counter[str] = Counter()
        self.redact(value, counts)
        return next(iter(counts), names.KIND)

    def _spans(self, text: str, rules: Iterable[Rule]) -> list[tuple[int, int, str]]:
        return _joined(
            (start, end, rule.kind)
            for rule in rules
            for start, end in rule.spans(text)
            if not self._is_allowed(text[start:end])
        )

    def _piece(
        self, text: str, rules: tuple[Rule, ...], found: Counter[str] | None, rounds: int
    ) -> str:
        """Redact a text that holds no placeholder."""
        spans = self._spans(text, rules) if rules else []
        if not spans:
            return text
        if found is not None:
            found.update(kind for _, _, kind in spans)
        if rounds == _MOST_ROUNDS:
            return f"[redacted:{spans[0][2]}]"
        pieces: list[str] = []
        position = 0
        for start, end, kind in [*spans, (len(text), len(text), "")]:
            rest = text[position:start]
            pieces.append(self._piece(rest, self.gate.rules_for(rest), found, rounds + 1))
            if kind:
                pieces.append(f"[redacted:{kind}]")
            position = end
        return "".join(pieces)


def _joined(spans: Iterable[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Make one of spans that overlap; the rule that comes first names it."""
    ranked = [(start, end, rank, kind) for rank, (start, end, kind) in enumerate(spans)]
    out: list[tuple[int, int, int, str]] = []
    for start, end, rank, kind in sorted(ranked):
        if out and start < out[-1][1]:
            first = min(out[-1], (start, end, rank, kind), key=lambda span: span[2])
            out[-1] = (out[-1][0], max(out[-1][1], end), first[2], first[3])
        else:
            out.append((start, end, rank, kind))
    return [(start, end, kind) for start, end, _, kind in out]


DEFAULT = Redactor()
