"""Packing bodies into a budget of tokens.

Owns which bodies are given where not all fit: the best first, each with the line
that says where it comes from, nothing twice. What a text costs, `tokens` says; how
it is printed, `present`. It asks nothing of the catalog.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

from knowrepo.index.blocks import cut
from knowrepo.recall.hits import Hit
from knowrepo.recall.present import body, text_of
from knowrepo.recall.tokens import estimate
from knowrepo.terminal import plain

CANDIDATES = 5
"""How many times as many hits are asked for as without a budget."""
_REST = "\n\n…"
_SMALLER = 0.9  # of a cut that does not fit, what is tried next


@dataclass(frozen=True)
class Passage:
    """A body as it is given: of one hit, or of neighbours in one document under one citation.

    ``hit`` has the text of all of them, the line of the first and the score of the
    best; its id is their ``ids`` as `--get` takes them. ``cut`` says that its end is
    left out.
    """

    hit: Hit
    ids: tuple[str, ...]
    tokens: int
    cut: bool = False


@dataclass(frozen=True, eq=False)
class _Group:
    hits: list[Hit]
    passage: Passage


def pack(hits: Iterable[Hit], tokens: int) -> list[Passage]:
    """Return the bodies of as many of ``hits``, best first, as fit into ``tokens``.

    What does not fit is passed over, but the first of which at least half fits is
    cut at the end of a block. The sum of their tokens is at most ``tokens``.
    """
    groups: list[_Group] = []
    said: set[str] = set()
    first: Hit | None = None
    for hit in hits:
        first = first or hit
        text = " ".join(text_of(hit).split())
        if hit.id in said or text in said or _is_held(hit, groups):
            continue
        room = tokens - sum(group.passage.tokens for group in groups)
        near = [group for group in groups if _is_near(hit, group)]
        group = _group([*(other for group in near for other in group.hits), hit])
        more = group.passage.tokens - sum(other.passage.tokens for other in near)
        if more > room:
            if any(other.passage.cut for other in groups):
                continue
            part = _shortened(hit, room, least=0.5)
            if part is None:
                continue
            group, near = _Group([hit], part), []
        at = groups.index(near[0]) if near else len(groups)
        groups = [other for other in groups if other not in near]
        groups.insert(at, group)
        said |= {hit.id, *hit.also, text}
    if not groups and first and (part := _shortened(first, tokens, least=0.0)):
        return [part]  # the beginning of the best says more than nothing
    return [group.passage for group in groups]


def _is_held(hit: Hit, groups: list[_Group]) -> bool:
    """Say whether this, or the whole document, is given already, or parts of it are."""
    return any(
        other.path == hit.path and (other.uid == hit.uid or other.place < 0 or hit.place < 0)
        for group in groups
        for other in group.hits
    )


def _is_near(hit: Hit, group: _Group) -> bool:
    """Say whether a hit stands next to what a group ends or begins with."""
    if hit.place < 0 or group.passage.cut or group.hits[0].path != hit.path:
        return False
    return any(abs(other.place - hit.place) == 1 for other in group.hits)


def _group(hits: list[Hit]) -> _Group:
    in_order = sorted(hits, key=lambda hit: hit.place)
    texts = [in_order[0].text.strip()]
    for before, hit in pairwise(in_order):
        begins = hit.kind == "concept" and hit.heading and hit.heading != before.heading
        texts.append(f"## {hit.heading}\n\n{hit.text.strip()}" if begins else hit.text.strip())
    ids = tuple(hit.id for hit in in_order)
    joined = replace(
        in_order[0],
        id=",".join(ids),
        text="\n\n".join(texts),
        score=max(hit.score for hit in hits),
        also=tuple(dict.fromkeys(other for hit in in_order for other in hit.also)),
    )
    return _Group(hits, Passage(joined, ids, _cost(joined)))


def _shortened(hit: Hit, room: int, *, least: float) -> Passage | None:
    """Return the beginning of a hit that fits, if that is such a share of it at least."""
    text = text_of(hit)
    whole = estimate(text)
    limit = min(len(text), int(len(text) * room / max(whole, 1)) + 1)
    while limit >= max(1.0, len(text) * least / 2):
        blocks = cut(text, limit)
        if not blocks or estimate(blocks[0]) < whole * least:
            return None
        part = replace(hit, text=blocks[0] + _REST)
        cost = _cost(part)
        if cost <= room:
            return Passage(part, (hit.id,), cost, cut=True)
        limit = int(limit * _SMALLER)
    return None


def _cost(hit: Hit) -> int:
    """Return the tokens of a body as it is printed."""
    return estimate(plain(body(hit)))
