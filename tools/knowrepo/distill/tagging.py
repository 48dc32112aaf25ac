"""The tags of a concept: what tells its matter from all others, in the bundle's own words first.

Owns which words may be a tag. How common a word is elsewhere is asked of a
`Background`, which may be the catalog or nothing at all.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from knowrepo.index.text import STOP_WORDS, normal_name, stem

MOST = 5
_TOO_COMMON = 0.25  # the share of other texts from which on a word tells nothing
_SHORTEST, _LONGEST = 3, 30
_TAG = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_TOKEN = re.compile(r"(?<![\w'’./-])[A-Za-z]\w*(?:-\w+)*(?![\w'’]|[./]\w)")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_MOST_PARTS = 3
_RAREST = 0.001

# Words of every project's talk, which tell nothing of this one.
_GENERIC = frozenset(
    """
    able actual actually add added adding agent all allow also always another any anything apply
    approach assistant avoid back bad base based basic become before behavior behaviour better
    big bit both break broke broken bug bugs call called calls case cases cause caused causing
    change changed changes check clean clear code come command comment commit common complete
    completely consider contain content correct correctly create created current currently data
    decide decided decision default define delete detail different directly do does doing done
    each easy edit either else empty end ensure entire error errors even ever every everything
    exact exactly example exist existing expect explicit extra fail failed fails false feature
    field file files final find first fix fixed fixes flow folder follow found full function
    general get give given go goal good handle happen hard help here high hold how however idea
    implement implementation important include input instead intended issue issues item keep
    kept kind know large last later least leave left let level like likely line lines list
    little live local logic long look lot made main make makes many match matter mean means
    method might miss missing mode model more move much multiple must name named need needed
    needs never new next nothing now number object old one only open option options order
    original other otherwise output own part pass path phase place plain plan point possible
    prefer prevent previous problem process project proper properly provide purpose put question
    quick rather read real really reason remain remove removed rename replace report request
    require required result results return returned returns right root run running runs same
    save say second section see seem select separate session set setting show shown side similar
    simple simply single size small solution some something sometimes specific standard start
    state status stay step steps still stop store string support sure system take target task
    tell test tests text thing things think third time together too tool top total treat true
    try turn two type under unique update updated updates upper usage use used user users uses
    using valid value values variable version very via view want wanted wants way whole will
    without word work worked working works would write wrong yes zero
    """.split()
)


class Background(Protocol):
    """What is known of words elsewhere."""

    def share(self, word: str) -> float:
        """Return in what share of the texts elsewhere a word of the analyser occurs, 0 to 1."""


class Unknown:
    """The background where there is none: all words are equally rare."""

    def share(self, word: str) -> float:  # noqa: ARG002
        """See `Background.share`."""
        return 0.0


class Counts(Protocol):
    """What `CatalogBackground` asks of an open catalog."""

    def counts(self) -> dict[str, int]:
        """Return how many concepts, sessions and chunks there are."""

    def chunk_frequency(self, word: str) -> int:
        """Return how many chunks hold a word."""


class CatalogBackground:
    """How common words are in what is indexed: concepts and sessions, chunk by chunk."""

    def __init__(self, catalog: Counts) -> None:
        self._catalog = catalog
        self._total = max(1, catalog.counts()["chunks"])
        self._known: dict[str, float] = {}

    def share(self, word: str) -> float:
        """See `Background.share`."""
        if word not in self._known:
            self._known[word] = self._catalog.chunk_frequency(word) / self._total
        return self._known[word]


class Tagger:
    """Chooses tags. ``vocabulary`` is `{tag: number of concepts}` of the bundle."""

    def __init__(self, vocabulary: Mapping[str, int], background: Background) -> None:
        self._background = background
        self._known: dict[str, tuple[str, int]] = {}
        self._first: dict[str, list[tuple[str, ...]]] = {}
        for tag, count in sorted(vocabulary.items(), key=lambda item: (-item[1], item[0])):
            name = tuple(normal_name(tag).split())
            if name and " ".join(name) not in self._known:
                self._known[" ".join(name)] = (tag, count)
                self._first.setdefault(name[0], []).append(name)

    def tags(self, texts: Sequence[str], heard: Mapping[str, int]) -> tuple[str, ...]:
        """Return at most five tags for a matter; the first of ``texts`` says it best.

        ``heard`` says in how many statements of the session a word occurs: one that
        was said once is not what the session is about.
        """
        named = self._named(texts)
        taken = {part for tag in named for part in normal_name(tag).split()}
        for word in self._telling(texts, heard):
            if len(named) >= MOST:
                break
            parts = set(normal_name(word).split())
            if not parts & taken:
                named.append(word)
                taken |= parts
        return tuple(named[:MOST])

    def _named(self, texts: Iterable[str]) -> list[str]:
        """Return the bundle's own tags that the texts name, those of most concepts first."""
        found: dict[str, int] = {}
        for text in texts:
            stems = [stem(word) for word in normal_name(text).split()]
            for at, one in enumerate(stems):
                for name in self._first.get(one, ()):
                    if tuple(stems[at : at + len(name)]) == name:
                        tag, count = self._known[" ".join(name)]
                        found[tag] = count
        return sorted(found, key=lambda tag: (-found[tag], tag))[:MOST]

    def _telling(self, texts: Sequence[str], heard: Mapping[str, int]) -> list[str]:
        """Return words of a matter that may be tags, the most telling first."""
        counts: Counter[str] = Counter()
        for place, text in enumerate(texts):
            for word in set(tag_words(text)):
                counts[word] += 3 if place == 0 else 1
        weights: dict[str, float] = {}
        for word, count in counts.items():
            share = self._background.share(word.replace("-", ""))
            if share < _TOO_COMMON and (heard.get(word, 0) > 1 or "-" in word):
                weights[word] = count * math.log(1.0 / max(share, _RAREST))
        return sorted(weights, key=lambda word: (-weights[word], word))[: 3 * MOST]


def tag_words(text: str) -> Iterator[str]:
    """Yield the words of a text that may be tags: `sessionId` as `session-id`."""
    for match in _TOKEN.finditer(text):
        parts = [part for part in _PARTS.findall(match.group()) if part]
        word = "-".join(parts).casefold()
        if len(parts) <= _MOST_PARTS and _may_be_tag(word):
            yield word


def _may_be_tag(word: str) -> bool:
    if not _SHORTEST <= len(word) <= _LONGEST or not _TAG.fullmatch(word):
        return False
    return any(
        part not in STOP_WORDS and stem(part) not in _STEMS and len(part) >= _SHORTEST
        for part in word.split("-")
    )


_STEMS = frozenset(stem(word) for word in _GENERIC)
