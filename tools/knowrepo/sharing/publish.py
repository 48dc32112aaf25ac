"""Bringing packs to a remote, and taking packs away that others stand for.

Owns what a refusal means: somebody else was faster, or the server does not take such
refs. A pack is one new ref, so it is there as a whole or not at all; only what is
found on the remote afterwards counts as pushed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from knowrepo.errors import KnowError
from knowrepo.git import remotes
from knowrepo.sharing.objects import Ref
from knowrepo.sharing.shelf import LOOKS, Shelf, look

# Two that push one ref at the same moment: git refuses the one that comes later.
_PASSING = re.compile(r"lock|failed to update ref|already exists|incorrect old value|timed? ?out")
_HINTS = (
    (r"hidden", "its server hides such refs (`transfer.hideRefs`, `receive.hideRefs`): ask for"
     " `!refs/know` there, or share through another remote: `know sync REMOTE`"),
    (r"hook declined", "a hook of its server declines it: ask for `refs/know/vectors/` to be let"
     " through, or share through another remote: `know sync REMOTE`"),
    (r"unpack", "its server could not write what came; what it says of that stands above: free"
     " some space there, or ask who runs it"),
    (r"non-fast-forward|fetch first|already exists|stale", "something else stands under that"
     " name: `git push --delete` removes it, if you may"),
)  # fmt: skip
_ANY = (
    "its server may take branches and tags only, or you may not write there; share through"
    " another remote: `know sync REMOTE`"
)


def publish(shelf: Shelf, packs: Sequence[Ref]) -> None:
    """Push packs that are in this clone; raises KnowError where the remote refuses one."""
    waiting = {one.ref: one.commit for one in packs}
    reasons: Mapping[str, str] = {}
    for _ in range(LOOKS):
        if not waiting:
            return
        reasons = remotes.push(
            shelf.repository, shelf.remote, waiting, tell=shelf.tell
        ).refused  # fmt: skip
        if not reasons:
            return
        there = _there(shelf)
        waiting = {ref: oid for ref, oid in waiting.items() if there.get(ref) != oid}
        if not any(_PASSING.search(reasons.get(ref, "")) for ref in waiting):
            break
    if waiting:
        ref = next(iter(waiting))
        raise _refused(shelf.remote, ref, reasons.get(ref, "no reason is given"))


def withdraw(shelf: Shelf, packs: Sequence[Ref]) -> str:
    """Delete packs from the remote; returns why it does not let that be, empty where it did."""
    if not packs:
        return ""
    expected = {one.ref: one.commit for one in packs}
    answer = remotes.delete(shelf.repository, shelf.remote, expected, tell=shelf.tell)
    if not answer.refused:
        return ""
    there = _there(shelf)  # another machine may have deleted them just before
    left = [ref for ref, oid in expected.items() if there.get(ref) == oid]
    return answer.refused.get(left[0], "no reason is given") if left else ""


def _there(shelf: Shelf) -> dict[str, str]:
    listing = look(shelf.repository, shelf.remote)
    return {one.ref: one.commit for one in listing.packs.get(shelf.fingerprint, ())}


def _refused(remote: str, ref: str, why: str) -> KnowError:
    hint = next((said for cue, said in _HINTS if re.search(cue, why)), _ANY)
    return KnowError(f"{remotes.shown(remote)}: refuses {ref}: {why}", hint=hint)
