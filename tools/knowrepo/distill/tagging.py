"""The tags of a concept: what tells its matter from all others, in the bundle's own words first.

Owns which words may be a tag. How common a word is elsewhere is asked of a
`Background`, which may be the catalog or nothing at all.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Protocol

from knowrepo.index.catalog import SQLiteError
from knowrepo.index.text import STOP_WORDS, normal_name, stem

MOST = 5
_TOO_COMMON = 0.25  # the share of other texts from which on a word tells nothing
_SHORTEST, _LONGEST = 3, 30
_TAG = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_TOKEN = re.compile(r"(?<![\w'’./-])[A-Za-z]\w*(?:-\w+)*(?![\w'’]|[./]\w)")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_MOST_PARTS = 3
_FORMS = ("ed", "ly")  # what was done, and how: no matter is about that
_RAREST = 0.001

# Words of every project's talk, which tell nothing of this one.
_GENERIC = frozenset(
    """
    able accept account actual actually add added adding agent ago agree all allow also although
    always among amount another any anybody anyone anything anywhere apply approach aren aspect
    assistant assume avoid back bad base based basic because become before behavior behaviour
    believe besides better beyond big bit both bottom break broke broken bug bugs calculation
    call called calls capture case cases cause caused causing center change changed changes
    check choose clean clear code come command comment commit common compare complete completely
    compute consider contain content convert copy correct correctly couldn count cover create
    created current currently cut data day decide decided decision decline default define degree
    delete depend despite detail detect determine didn differ different directly dirty disable
    do does doesn doing don done drive drop each easy edge edit eight either else emit empty
    enable end ensure entire error errors even ever every everybody everyone everything
    everywhere exact exactly example exclude execute exist existing expect explain explicit
    expose extend external extra extract fact fail failed fails false feature fetch field fifth
    file files final find first five fix fixed fixes flow folder follow force former forward
    found four fourth fresh friendly front full function gather general get give given go goal
    going good grow guard hadn handle happen hard hasn haven help here hide high hit hold hope
    hour how however hundred idea identify ignore implement implementation important improve
    include indicate inform inherit initial inner input insert inspect instead intended internal
    introduce invent involve isn issue issues item join jump keep kept kind know large last
    later latter learn least leave left let level like likely limit line lines list little live
    load local locate lock logic long look loop lose lot lower made main make makes man manner
    many mark match matter maybe mean means measure member merge method middle might minute miss
    missing mode model modify month more move much multiple must name named need needed needs
    negative never new next nine nothing notice notify now nowhere number object observe occur
    offer often okay old omit one only open operate option options order original other
    otherwise outer output overwrite own parse part pass path people per perform perhaps persist
    person phase pick piece place plain plan please plenty point positive possible post prefer
    preserve prevent previous print private probably problem process produce project prompt
    proper properly propose prove provide public publish pull purpose push put question quick
    raise range rare rate rather ratio raw reach react read real really reason receive recent
    record recover reduce refer reflect refuse reject relate release rely remain remote remove
    removed rename render repeat replace report represent request require required reset resolve
    respect restore result results retain retry return returned returns revert review rewrite
    right robust root run running runs safe same save say scan scoped search second section
    secure see seem seldom select send sensible separate serve session set setting seven share
    shift shouldn show shown side silent similar simple simplify simply since single six size
    skip small smart smooth solution solve some somebody someone something sometimes somewhere
    soon sort spawn speak specific spend split spread stale stand standard start state status
    stay step steps still stop store strict string strip strong submit subtract suggest supply
    support suppose sure surface suspect swap switch sync system take talk target task teach
    team tell temporary ten tend test tests text thanks there therefore thin thing things think
    third though thought thousand three throw thus tight time tiny today together tomorrow too
    tool top total touch track treat tricky trigger trivial true trust try turn two type typical
    under understand undo unify unique unless update updated updates upper usage use used useful
    useless user users uses using usual usually valid valuable value values variable verify
    version very via view visible wait want wanted wants warn wasn watch way weak week weren
    whatever where whereas whether whichever whole wide will within without won wonder word work
    worked working works would wouldn wrap write wrong year yes yesterday zero
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
    """How common words are in what is indexed: concepts and sessions, chunk by chunk.

    A catalog is derived: of a damaged one nothing is known, which is no error.
    """

    def __init__(self, catalog: Counts) -> None:
        self._catalog: Counts | None = catalog
        self._total = 0
        self._known: dict[str, float] = {}

    def share(self, word: str) -> float:
        """See `Background.share`."""
        if word not in self._known:
            self._known[word] = self._asked(word)
        return self._known[word]

    def _asked(self, word: str) -> float:
        if self._catalog is None:
            return 0.0
        try:
            self._total = self._total or max(1, self._catalog.counts()["chunks"])
            return self._catalog.chunk_frequency(word) / self._total
        except SQLiteError:
            self._catalog = None
            return 0.0


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
    for token in _TOKEN.findall(text):
        word = _as_tag(token)
        if word:
            yield word


@lru_cache(maxsize=8192)
def _as_tag(token: str) -> str:
    parts = _PARTS.findall(token)
    word = "-".join(parts).casefold()
    return word if len(parts) <= _MOST_PARTS and _may_be_tag(word) else ""


def _may_be_tag(word: str) -> bool:
    if not _SHORTEST <= len(word) <= _LONGEST or not _TAG.fullmatch(word):
        return False
    parts = word.split("-")
    if len(parts) == 1 and word.endswith(_FORMS):
        return False
    return any(
        part not in STOP_WORDS and stem(part) not in _STEMS and len(part) >= _SHORTEST
        for part in parts
    )


_STEMS = frozenset(stem(word) for word in _GENERIC)
