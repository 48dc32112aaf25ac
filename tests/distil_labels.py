"""What is worth keeping in real sessions, as labelled by hand, and how proposals do on it.

`python tests/distil_labels.py show FILE` prints the turns of a session with their
lines; `… place DRAFT OUT` turns a labeller's quotes into places. See
`data/distil/README.md` for what a label says.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from helpers import SHARED
from knowrepo.sessions.lines import read_lines
from knowrepo.sessions.readers import recognise
from knowrepo.sessions.record import Record
from knowrepo.sessions.source import Source

FOLDER = Path(__file__).resolve().parent / "data" / "distil"
SESSIONS = SHARED / "sessions" / "corpus"
KINDS = ("decision", "rejection", "cause", "fix", "preference", "correction", "none")
Half = Literal["dev", "heldout"]

_WORD = re.compile(r"\w+")
# The three patterns of an earlier distiller, on assistant sentences only.
BASELINE = (
    re.compile(r"(?i)\bwe(?:'ve|'re)? (?:have )?(?:decided|chose|opted)\b"),
    re.compile(r"(?i)\bwe(?:'re| are) (?:going with|keeping|setting|adding|dropping|rejecting)\b"),
    re.compile(r"(?i)\bthe (?:root cause|fix|reason) (?:was|is)\b"),
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


class Span(NamedTuple):
    """Words ``first`` up to ``last`` (exclusive) of the text of the record at ``line``."""

    line: int
    first: int
    last: int

    def overlaps(self, other: Span) -> bool:
        return self.line == other.line and self.first < other.last and other.first < self.last


@dataclass(frozen=True)
class Label:
    """One matter that is worth keeping, or a sentence that only looks like one."""

    file: str
    kind: str
    gist: str
    mentions: tuple[Span, ...]


@dataclass(frozen=True)
class Said:
    """A proposal as it is scored: where each of its statements stands, the first one leading."""

    file: str
    spans: tuple[Span, ...]


@dataclass
class Score:
    """How proposals did; ``taken`` counts the look-alikes that led one, by their reason."""

    proposals: int
    right: int
    repeated: int
    found: Counter[str]
    labels: Counter[str]
    taken: Counter[str]

    @property
    def precision(self) -> float:
        return self.right / self.proposals if self.proposals else 1.0

    @property
    def recall(self) -> float:
        return self.found.total() / self.labels.total()


def labels(half: Half) -> list[Label]:
    """Read the labels of one half."""
    lines = (FOLDER / f"{half}.jsonl").read_text(encoding="utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    return [
        Label(e["file"], e["kind"], e["gist"], tuple(Span(*m[:3]) for m in e["mentions"]))
        for e in entries
    ]


def turns(file: str) -> list[Record]:
    """Return what user and assistant said in a session, in order."""
    path = SESSIONS / file
    found = recognise(Source(path))
    assert found is not None
    with path.open("rb") as stream:
        lines = list(read_lines(stream))
    return [
        record
        for record in found.reader.read(lines)
        if record.role in {"user", "assistant"} and record.text.strip() and not record.side
    ]


def locate(records: Iterable[Record], line: int, quote: str) -> Span | None:
    """Return where ``quote`` stands in the record at ``line``; only its words count."""
    wanted = _words(quote)
    for record in records:
        if record.line != line or not wanted:
            continue
        words = _words(record.text)
        for first in range(len(words) - len(wanted) + 1):
            if words[first : first + len(wanted)] == wanted:
                return Span(line, first, first + len(wanted))
    return None


def score(half: Half, proposals: Sequence[Said]) -> Score:
    """Score proposals for all sessions of a half."""
    known = labels(half)
    worth = [label for label in known if label.kind != "none"]
    taken: Counter[str] = Counter()
    led: set[int] = set()
    right = repeated = 0
    for one in proposals:
        mine = [n for n, label in enumerate(worth) if _says(one.file, one.spans[:1], label)]
        if set(mine) - led:
            right += 1
            led.add(next(n for n in mine if n not in led))
        elif mine:
            repeated += 1
        else:
            near = [x for x in known if x.kind == "none" and _says(one.file, one.spans[:1], x)]
            taken[near[0].gist if near else "no label"] += 1
    found = Counter(
        label.kind for label in worth if any(_says(one.file, one.spans, label) for one in proposals)
    )
    return Score(len(proposals), right, repeated, found, Counter(x.kind for x in worth), taken)


def baseline(half: Half) -> list[Said]:
    """Return what the three patterns propose: every sentence that one of them is found in."""
    found = []
    for file in sorted({label.file for label in labels(half)}):
        records = turns(file)
        for record in records:
            if record.role != "assistant":
                continue
            for sentence in _SENTENCE.split(record.text):
                if any(pattern.search(sentence) for pattern in BASELINE):
                    span = locate([record], record.line, sentence)
                    if span is not None:
                        found.append(Said(file, (span,)))
    return found


def _says(file: str, spans: Iterable[Span], label: Label) -> bool:
    return file == label.file and any(
        span.overlaps(mention) for span in spans for mention in label.mentions
    )


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _check(words: Sequence[str]) -> str:
    return hashlib.sha256(" ".join(words).encode()).hexdigest()[:8]


def misplaced(half: Half) -> Iterator[str]:
    """Yield the labels whose words are no longer where they were."""
    held: dict[str, dict[int, list[str]]] = {}
    for raw in (FOLDER / f"{half}.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(raw)
        texts = held.setdefault(entry["file"], {})
        if not texts:
            for record in turns(entry["file"]):
                texts[record.line] = _words(record.text)
        for line, first, last, check in entry["mentions"]:
            if _check(texts.get(line, [])[first:last]) != check:
                yield f"{entry['file']}:{line}: {entry['gist']}"


def place(draft: Path) -> Iterator[str]:
    """Yield the lines of a label file for a draft with ``quotes: [[line, quote], …]``."""
    held: dict[str, list[Record]] = {}
    for number, raw in enumerate(draft.read_text(encoding="utf-8").splitlines(), start=1):
        entry = json.loads(raw)
        assert entry["kind"] in KINDS, f"line {number}: kind {entry['kind']}"
        records = held.setdefault(entry["file"], turns(entry["file"]))
        mentions = []
        for line, quote in entry["quotes"]:
            span = locate(records, line, quote)
            if span is None:
                raise SystemExit(f"line {number}: not found at {entry['file']}:{line}: {quote}")
            mentions.append([*span, _check(_words(quote))])
        kept = {"file": entry["file"], "kind": entry["kind"], "gist": entry["gist"]}
        yield json.dumps({**kept, "mentions": mentions}, ensure_ascii=False)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["show", name]:
            for shown in turns(name):
                print(f"--- {shown.line} {shown.role}\n{shown.text}\n")  # noqa: T201
        case ["place", given, out]:
            Path(out).write_text("".join(f"{x}\n" for x in place(Path(given))), encoding="utf-8")
        case _:
            sys.exit("usage: distil_labels.py show FILE | place DRAFT OUT")
