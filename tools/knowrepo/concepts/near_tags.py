"""Tags that are spelled in two ways and mean one thing.

Owns the judgement which tags of a vocabulary are near one another, and which of
them the others should become. It looks at spelling alone, so it is made to be
right rather than complete: a pair that is not one costs trust in all the others.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

LONG = 8
"""Letters from which on swapped or doubled letters are a slip rather than another word."""
LONG_ENOUGH_TO_LACK = 9
"""Letters from which on a letter that is missing is a slip, in a tag that is used once."""
_COMMON = 3

# Between digits a point or a hyphen says something: `1.0` is not `10`.
_SEPARATOR = re.compile(r"(?<!\d)[-_\s./:]+|[-_\s./:]+(?!\d)")
_NO_PLURAL = frozenset("always customs goods https means news rails series species windows".split())
# What is written short and long; the first is what the others fold to.
_SHORT_FORMS = (
    ("auth", "authn", "authentication"),
    ("config", "configuration"),
    ("db", "database"),
    ("deps", "dependency"),
    ("dev", "development"),
    ("docs", "doc", "documentation"),
    ("env", "environment"),
    ("infra", "infrastructure"),
    ("i18n", "internationalization", "internationalisation"),
    ("a11y", "accessibility"),
    ("js", "javascript"),
    ("k8s", "kubernetes"),
    ("perf", "performance"),
    ("repo", "repository"),
    ("spec", "specification"),
    ("ts", "typescript"),
)
_FOLDED = {long: forms[0] for forms in _SHORT_FORMS for long in forms}


@dataclass(frozen=True, order=True)
class Near:
    """A tag that ``new`` seems to be another spelling of; ``why`` says in what they differ."""

    old: str
    new: str
    why: str


def near_tags(counts: Mapping[str, int]) -> list[Near]:
    """Return the tags that should become another one, by how often each is used."""
    by_key: dict[tuple[bool, str], list[str]] = defaultdict(list)
    for tag in counts:
        by_key[False, _bare(tag)].append(tag)
        by_key[True, _folded(tag)].append(tag)
    groups = [tags for (_, key), tags in by_key.items() if key and len(tags) > 1]
    better: dict[str, str] = {}
    for tags in (*groups, *_slips(counts)):
        best = min(tags, key=lambda tag: _worse(tag, counts))
        for tag in tags:
            if tag != best:
                better.setdefault(tag, best)
    found = ((tag, _best(tag, better)) for tag in better)
    return sorted(Near(old, new, _why(old, new)) for old, new in found)


def nearest(tag: str, counts: Mapping[str, int]) -> str:
    """Return the tag in use that ``tag``, which is not, seems to be another spelling of."""
    if tag in counts:
        return ""
    near = near_tags({**counts, tag: 0})
    return next((pair.new for pair in near if pair.old == tag), "")


def _best(tag: str, better: Mapping[str, str]) -> str:
    """Follow a tag to the one that what it becomes should become itself; each step is better."""
    while tag in better:
        tag = better[tag]
    return tag


def _why(old: str, new: str) -> str:
    if _bare(old) == _bare(new):
        return "case or separators"
    return "plural or short form" if _folded(old) == _folded(new) else "a letter"


def _worse(tag: str, counts: Mapping[str, int]) -> tuple[int, bool, bool, str]:
    """Order tags by how good a name each is: used most, in lower case, with hyphens."""
    return -counts[tag], tag != tag.lower(), bool(re.search(r"[_\s]", tag)), tag


def _bare(tag: str) -> str:
    return _SEPARATOR.sub("", unicodedata.normalize("NFKC", tag).casefold())


def _folded(tag: str) -> str:
    words = _SEPARATOR.split(unicodedata.normalize("NFKC", tag).casefold())
    if _bare(tag) in _FOLDED:  # `auth-n`
        return _FOLDED[_bare(tag)]
    singular = [_singular(word) for word in words if word]
    return "".join(_FOLDED.get(word, word) for word in singular)


def _singular(word: str) -> str:
    if len(word) < 4 or word in _NO_PLURAL or not word.isalpha() or word in _FOLDED:
        return word
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if re.search(r"(?:ch|sh|x|ss|z)es$", word):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is", "as", "os")):
        return word[:-1]
    return word


def _slips(counts: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yield pairs of long tags that differ by a slip, or by a habit of spelling."""
    bare = {tag: _bare(tag) for tag in counts}
    by_start: dict[str, list[str]] = defaultdict(list)
    for tag, key in sorted(bare.items()):
        if len(key) >= LONG:
            by_start[key[:2]].append(tag)
    for tags in by_start.values():
        for one, other in combinations(tags, 2):
            shorter, longer = sorted((bare[one], bare[other]), key=len)
            rare, common = sorted((counts[one], counts[other]))
            if _is_variant(shorter, longer) or (
                rare <= 1 < _COMMON <= common
                and len(shorter) >= LONG_ENOUGH_TO_LACK
                and _lacks_one(shorter, longer)
            ):
                yield one, other


def _is_variant(shorter: str, longer: str) -> bool:
    """Say whether names differ by swapped letters, a doubled one, s for z, or or for our."""
    start = _same(shorter, longer)
    if len(shorter) == len(longer):
        here, there = shorter[start : start + 2], longer[start : start + 2]
        swapped = here.isalpha() and here == there[::-1] and here != there
        if swapped and shorter[start + 2 :] == longer[start + 2 :]:
            return True
        s_for_z = {shorter[start : start + 1], longer[start : start + 1]} == {"s", "z"}
        rest = shorter[start + 1 :]
        return s_for_z and rest != "" and rest == longer[start + 1 :]
    if not _lacks_one(shorter, longer):
        return False
    more, before = longer[start], longer[start - 1]
    return more == before or longer[start - 1 : start + 2] == "our"


def _same(one: str, other: str) -> int:
    """Return how many characters two names begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))


def _lacks_one(shorter: str, longer: str) -> bool:
    """Say whether a name is another without one letter inside; the ends carry meaning."""
    start = _same(shorter, longer)
    inside = len(longer) == len(shorter) + 1 and start < len(shorter)
    return inside and longer[start].isalpha() and shorter[start:] == longer[start + 1 :]
