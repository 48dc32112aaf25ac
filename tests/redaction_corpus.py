"""The redaction corpus and how a redactor does on it.

`pytest -s tests/sessions/test_redaction_corpus.py` prints the table. A secret is
stored in pieces, so that no code host takes this repository for a leak. The
corpus has two halves by the hash of the line: rules are tuned on `dev` alone.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

FOLDER = Path(__file__).resolve().parent / "data" / "redaction"
Half = Literal["dev", "heldout"]
Redact = Callable[[str, str, Counter[str]], str]
"""Given the name that a text stands under, or an empty one, the text, and the counts by kind."""

_PLACEHOLDER = re.compile(r"\[redacted:[a-z-]+\]")
_RUN = re.compile(r"[A-Za-z0-9+/_-]{8,}")
_FRAME = re.compile(r"-----(?:BEGIN|END) [A-Z ]+-----")


@dataclass(frozen=True)
class Secret:
    """A secret in its text: ``before + secret + after``, under ``key`` where it has one."""

    kind: str
    before: str
    secret: str
    after: str
    key: str
    half: Half

    @property
    def text(self) -> str:
        return self.before + self.secret + self.after

    def stays_in(self, redacted: str) -> bool:
        """Say whether a part of the secret that is of use is still there."""
        parts = _RUN.findall(_FRAME.sub("", self.secret)) or [self.secret]
        return any(part in redacted for part in parts)


@dataclass(frozen=True)
class LookAlike:
    """A text without a secret; ``like`` says what it might be taken for."""

    like: str
    text: str
    key: str
    half: Half


def _half(line: str) -> Half:
    return "dev" if hashlib.sha256(line.encode()).digest()[0] % 2 else "heldout"


def _lines(name: str) -> Iterable[str]:
    return (FOLDER / name).read_text(encoding="utf-8").splitlines()


def secrets() -> list[Secret]:
    found = []
    for line in _lines("secrets.jsonl"):
        e = json.loads(line)
        whole = "".join(e["secret"])
        found.append(
            Secret(e["kind"], e["before"], whole, e["after"], e.get("key", ""), _half(line))
        )
    return found


def look_alikes() -> list[LookAlike]:
    found = []
    for line in _lines("look-alikes.jsonl"):
        e = json.loads(line)
        found.append(LookAlike(e["like"], "".join(e["text"]), e.get("key", ""), _half(line)))
    return found


@dataclass
class Score:
    """What a redactor did on one half of the corpus."""

    planted: Counter[str] = field(default_factory=Counter)  # by the secret's kind
    found: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)  # by the kind that was said
    wrong: Counter[str] = field(default_factory=Counter)
    missed: list[Secret] = field(default_factory=list)
    taken: list[LookAlike] = field(default_factory=list)
    wide: list[Secret] = field(default_factory=list)  # found, with more than the secret
    look_alikes: int = 0

    @property
    def recall(self) -> float:
        return self.found.total() / self.planted.total()

    @property
    def precision(self) -> float:
        total = self.right.total() + self.wrong.total()
        return self.right.total() / total if total else 1.0


def measure(redact: Redact, half: Half) -> Score:
    score = Score()
    for secret in (s for s in secrets() if s.half == half):
        counts: Counter[str] = Counter()
        out = redact(secret.key, secret.text, counts)
        score.planted[secret.kind] += 1
        if secret.stays_in(out):
            score.missed.append(secret)
            score.wrong += counts
            continue
        score.found[secret.kind] += 1
        score.right += counts
        if not _is_tight(secret, out):
            score.wide.append(secret)
    for look_alike in (x for x in look_alikes() if x.half == half):
        score.look_alikes += 1
        counts = Counter()
        if redact(look_alike.key, look_alike.text, counts) != look_alike.text:
            score.taken.append(look_alike)
            score.wrong += counts
    return score


def _is_tight(secret: Secret, redacted: str) -> bool:
    """Say whether all around the secret is still there, but for what belongs to its form."""
    rest = _PLACEHOLDER.split(redacted)
    return rest[0].rstrip() == secret.before.rstrip()[: len(rest[0].rstrip())] and (
        len(rest[0]) >= len(secret.before) - 24 and secret.after.endswith(rest[-1][-12:])
    )


def table(scores: dict[Half, Score]) -> str:
    kinds = sorted({k for s in scores.values() for k in (*s.planted, *s.right, *s.wrong)})
    lines = [
        f"{'kind':22} " + " ".join(f"{half + ': found':>16} {'precision':>9}" for half in scores)
    ]
    for kind in kinds:
        cells = []
        for s in scores.values():
            said = s.right[kind] + s.wrong[kind]
            recall = f"{s.found[kind]}/{s.planted[kind]}" if s.planted[kind] else "-"
            precision = f"{s.right[kind] / said:.2f}" if said else "-"
            cells.append(f"{recall:>16} {precision:>9}")
        lines.append(f"{kind:22} " + " ".join(cells))
    for half, s in scores.items():
        lines.append(
            f"{half}: recall {s.recall:.3f}, precision {s.precision:.3f},"
            f" {len(s.taken)} of {s.look_alikes} look-alikes taken, {len(s.wide)} found too widely"
        )
    return "\n".join(lines)
