from __future__ import annotations

import io
import json
from collections.abc import Callable
from functools import partial
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from knowrepo.sessions import growth
from knowrepo.sessions.growth import is_marker


def own_id(line: bytes) -> str:
    try:
        record = json.loads(line)
    except ValueError:
        return ""
    return str(record.get("id", "")) if isinstance(record, dict) else ""


def join(snapshots: list[list[bytes]], own_id: Callable[[bytes], str]) -> list[bytes]:
    files = [b"".join(line + b"\n" for line in snapshot) for snapshot in snapshots]
    return list(
        growth.join([partial(io.BytesIO, file) for file in files], lambda line: (own_id(line), ""))
    )


def lines(*names: str) -> list[bytes]:
    return [name.encode() for name in names]


def test_a_longer_snapshot_is_the_shorter_one_and_more():
    short, long = lines("a", "b"), lines("a", "b", "c")
    assert join([short, long], own_id) == long
    assert join([long, short], own_id) == long


def test_snapshots_that_parted_keep_both_tails_after_the_common_part():
    one, two = lines("a", "b", "c"), lines("a", "x", "y")
    joined = join([one, two], own_id)
    assert joined[0] == b"a"
    assert sorted(line for line in joined if not is_marker(line)) == lines("a", "b", "c", "x", "y")
    assert sum(map(is_marker, joined)) == 1
    assert join([two, one], own_id) == joined


def test_what_is_joined_can_be_joined_again_in_any_order():
    snapshots = [
        lines("a", "b", "c"),
        lines("a", "x", "y"),
        lines("a", "b", "d"),
        lines("a", "b", "c", "e"),
    ]
    results = set()
    for order in permutations(snapshots):
        archive: list[bytes] = []
        for snapshot in order:
            archive = join([archive, snapshot], own_id)
        results.add(b"\n".join(archive))
    assert len(results) == 1


def test_a_line_that_is_repeated_stays_repeated():
    repeated = lines("mode", "a", "mode", "mode")
    assert join([repeated], own_id) == repeated
    assert join([repeated, lines("mode", "a", "mode")], own_id) == repeated


def test_a_record_rewritten_in_place_has_its_versions_together_longest_last():
    running = [b'{"id":"1"}', b'{"id":"2","state":"running"}']
    done = [b'{"id":"1"}', b'{"id":"2","state":"done","out":"text"}', b'{"id":"3"}']
    joined = join([done, running], own_id)
    assert joined == [done[0], running[1], b'{"type":"know.version"}', done[1], done[2]]
    assert join([running, done], own_id) == joined
    assert join([joined, running], own_id) == joined


SNAPSHOTS = st.lists(
    st.lists(st.sampled_from(["a", "b", "c", '{"id":"1"}', '{"id":"1","v":2}']), max_size=6),
    min_size=1,
    max_size=4,
)


@given(SNAPSHOTS, st.randoms())
def test_any_order_of_snapshots_ends_in_the_same_lines(snapshots, random):
    encoded = [lines(*snapshot) for snapshot in snapshots]
    expected = join(encoded, own_id)
    shuffled = list(encoded)
    random.shuffle(shuffled)
    archive: list[bytes] = []
    for snapshot in shuffled:
        before = archive
        archive = join([archive, snapshot], own_id)
        kept = [line for line in archive if not is_marker(line)]
        assert all(line in kept for line in before if not is_marker(line))
    assert archive == expected
    assert join([archive], own_id) == archive


@given(SNAPSHOTS, SNAPSHOTS)
def test_two_archives_merge_to_the_same_lines_in_either_direction(ours, theirs):
    one = join([lines(*snapshot) for snapshot in ours], own_id)
    two = join([lines(*snapshot) for snapshot in theirs], own_id)
    assert join([one, two], own_id) == join([two, one], own_id)


def test_a_line_that_only_looks_like_a_marker_is_a_line():
    fake = lines('{"type":"know.branch"}', '{"type":"know.branch","at":"x"}', '{"type":"know.x"}')
    assert join([fake, fake[:1]], own_id) == fake
    odd = lines('{"type":"know.version"}', "a", '{"type":"know.branch","at":99}', "b")
    assert join([odd], own_id) == lines("a", "b")


def test_a_session_of_many_records_does_not_exhaust_the_stack():
    long = [str(n).encode() for n in range(20_000)]
    assert join([long, long[:10_000]], own_id) == long
