"""What a sentence is: a decision, a cause, a wish, or nothing that is worth keeping.

Owns the judgement of one sentence in its turn, by the cues of `english` and
what speaks `against` it. A sentence of another language has no cue and is
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from knowrepo.distill import against, english
from knowrepo.distill.english import Cue
from knowrepo.distill.model import Kind
from knowrepo.distill.sentences import Sentence

_WORD = re.compile(r"[a-z0-9']+")
_SUPPORT = 0.5  # the weight of what says something of a matter, and cannot stand alone
_CHANGE = 0.6  # the weight of a change that is said to mend something, and not how
_LABELLED = 24  # characters after a label that say something
_LONGEST_HEADING = 60
_LISTED = 12  # characters of a decision in a list, at least
_NOT_DECIDED = ("whether ", "how ", "which ", "limitation")
_SAYS_WHY = 36  # characters of a sentence that says why
_WORK = frozenset({"cause", "fix"})
_WISHES = frozenset({"decision", "preference", "correction"})
# `runner.py — Removed …`: what is changed stands before what was done.
_NAMED = re.compile(r"^(?:c0de(?: \([^()]*\))?|[a-z][\w ./()-]{0,40}?)(?::| [—–-]) +(?=\w)")
_UPKEEP = re.compile(r"\b(?:tests?|docs?|comments?|readme|changelog|lint)\b")

_EXPLAINS = re.compile(english.MECHANISM)

_BY_WORD: dict[str, list[Cue]] = {}
for _cue in english.CUES:
    for _word in _cue.words:
        _BY_WORD.setdefault(_word, []).append(_cue)


@dataclass(frozen=True, slots=True)
class Turn:
    """What is known of the turn that a sentence stands in.

    ``typed`` is what a person wrote in a few lines; ``report`` an agent's last
    words before the user's next ones; ``document`` a plan that somebody handed over.
    """

    user: bool
    typed: bool = False
    report: bool = False
    document: bool = False

    @property
    def settled(self) -> bool:
        """Whether it tells what is, and not what an agent is doing."""
        return not self.user and (self.report or self.document)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a sentence was found to be.

    ``own``: it stands in a list of decisions, each for itself; ``one``: in a list
    that says one decision in parts.
    """

    kind: Kind
    weight: float
    own: bool = False
    one: bool = False


def meaning(sentence: Sentence, turn: Turn) -> Meaning | None:
    """Return what a sentence says by a cue or a heading, if nothing speaks against it."""
    listed = _under_heading(sentence, turn)
    found = listed
    if found is None or found.kind in _WORK:
        said = _labelled(sentence, turn) or _best(sentence, turn)
        found = max(filter(None, (found, said)), key=lambda one: one.weight, default=None)
    if found is None or against.question(sentence):
        return None
    if turn.user:
        doubtful = against.doubt if found.kind in _WISHES else against.guess
        return None if doubtful(sentence) else _weighed(found, sentence)
    if against.guess(sentence):
        return None
    if found is not listed and (against.unsettled(sentence) or against.no_news(sentence)):
        return None
    return _weighed(found, sentence)


def _weighed(found: Meaning, sentence: Sentence) -> Meaning:
    """Lower the weight of what is cut off: `The fix:` and nothing after it."""
    if sentence.plain.endswith((":", "...", "…")):
        return replace(found, weight=min(found.weight, _SUPPORT))
    return found


def _under_heading(sentence: Sentence, turn: Turn) -> Meaning | None:
    """Return what a sentence is by what it stands under."""
    if not sentence.heading or not sentence.first or len(sentence.plain) < _LISTED:
        return None
    if sentence.plain.endswith(":"):  # it leads something else in
        return None
    says = _heading_says(sentence.heading)
    if says in {"decisions", "decision", "rejection"}:
        if (turn.user and not turn.document) or (sentence.nth and not sentence.item):
            return None
        return _listed(sentence, says, apart=turn.document or bool(sentence.label))
    if not says or turn.user or len(sentence.plain) <= _SAYS_WHY:
        return None
    first = sentence.nth == 0
    explains = first and not sentence.item and _EXPLAINS.search(sentence.plain)
    if says == "root cause":
        return Meaning("cause", 0.85 if explains else 0.65 if first else _SUPPORT)
    if says == "problem":
        return Meaning("cause", 0.65 if first else _SUPPORT)
    return Meaning("fix", 0.75 if first else _SUPPORT) if turn.settled else None


def _listed(sentence: Sentence, says: str, *, apart: bool) -> Meaning | None:
    """Return what a sentence is under a heading that names decisions."""
    bare = sentence.plain.rpartition(": ")[2] in {"qu0te", "c0de"}  # its words are quoted
    if bare or sentence.plain.startswith(_NOT_DECIDED):
        return None
    if says == "rejection":
        return Meaning("rejection", 0.85, own=sentence.item and apart)
    weight = 0.9 if sentence.item else 0.7
    several = says == "decisions"
    return Meaning("decision", weight, own=sentence.item and several and apart, one=not several)


@lru_cache(maxsize=1024)
def _heading_says(heading: str) -> str:
    """Return what stands under a heading, or an empty string."""
    if len(heading) <= _LONGEST_HEADING:
        if english.DECIDED.search(heading):
            several = english.SEVERAL.search(heading)
            return "decisions" if several else "decision"
        if english.REJECTED.search(heading):
            return "rejection"
    if english.ROOT_CAUSE.search(heading):
        return "root cause"
    if english.PROBLEM.search(heading):
        return "problem"
    return "fix" if english.FIX.search(heading) else ""


def _labelled(sentence: Sentence, turn: Turn) -> Meaning | None:
    if not sentence.label or not sentence.first or turn.user:
        return None
    rest = sentence.plain[len(sentence.label) :].lstrip(": —–-")
    if len(rest) < _LABELLED or rest[0] in "#0123456789":
        return None
    for label in english.LABELS:
        if label.pattern.search(sentence.label) and _counts(label.where, turn):
            return Meaning(label.kind, label.weight)
    return None


def _best(sentence: Sentence, turn: Turn) -> Meaning | None:
    """Return what the weightiest cue makes of a sentence, a thing named first left out."""
    if turn.user and not turn.typed:
        return None
    plain = sentence.plain
    candidates = list(_candidates(_WORD.findall(plain)))
    named = _NAMED.match(plain) if candidates else None
    if named and _UPKEEP.search(named.group()):
        named = None
    best: Cue | None = None
    for cue in candidates:
        if (best and cue.weight <= best.weight) or not _counts(cue.where, turn):
            continue
        if cue.pattern.search(plain) or (named and cue.pattern.search(plain[named.end() :])):
            best = cue
    return _mended(sentence, plain, best, turn)


def _mended(sentence: Sentence, plain: str, best: Cue | None, turn: Turn) -> Meaning | None:
    """Return what a sentence is, a change under a heading like `Fixed bug 2` being a fix."""
    mends = turn.settled and english.MENDING.search(sentence.heading)
    if best is None:
        return Meaning("fix", _CHANGE) if mends and english.CHANGE.match(plain) else None
    changed = mends and best.where == english.REPORT and best.kind == "decision"
    return Meaning("fix" if changed else best.kind, best.weight)


def _counts(where: str, turn: Turn) -> bool:
    if where == english.USER:
        return turn.typed
    if where == english.SETTLED:
        return turn.settled or turn.typed
    return where == english.ANY or turn.settled


def _candidates(words: list[str]) -> Iterator[Cue]:
    """Yield the cues that have one of their words in a sentence, each once."""
    seen: set[int] = set()
    for word in words:
        if word in _BY_WORD:
            for cue in _BY_WORD[word]:
                if id(cue) not in seen:
                    seen.add(id(cue))
                    yield cue
