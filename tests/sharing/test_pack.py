"""The bytes of a pack: the same on every machine, and nothing else is taken for one."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from machines import FINGERPRINT, rows

from knowrepo.index.vectors import Packed
from knowrepo.index.vectors.packed import joined
from knowrepo.sharing import pack
from knowrepo.sharing.pack import RefusedError

HEADER = struct.Struct("<8sHHI16s")


def header(**changes) -> bytes:
    fields = {"magic": b"know-vec", "version": 1, "dimension": 64, "count": 2}
    fields |= {"fingerprint": FINGERPRINT.encode()}
    return HEADER.pack(*(fields | changes).values())


def equal(one: Packed, other: Packed) -> bool:
    return (
        one.digests.tobytes() == other.digests.tobytes()
        and one.parts.tolist() == other.parts.tolist()
        and one.vectors.tobytes() == other.vectors.tobytes()
    )


def test_what_is_packed_comes_out_bit_by_bit():
    some = rows("a", "b", "c", parts=3)
    assert equal(pack.decode(pack.encode(FINGERPRINT, some), FINGERPRINT), some)


@given(st.permutations(range(12)))
def test_the_same_vectors_are_the_same_bytes_in_whatever_order_they_come(order):
    some = rows("a", "b", "c", "d", parts=3)
    shuffled = some.take(np.array(order))
    assert pack.encode(FINGERPRINT, shuffled) == pack.encode(FINGERPRINT, some)


def test_a_hash_that_ends_with_zeros_is_kept_whole():
    vectors = rows("a", "b").vectors
    digests = np.frombuffer(b"\x01" + bytes(15) + b"\x01" * 15 + b"\x00", "S16")
    some = Packed(digests, np.zeros(2, np.uint16), vectors)
    found = pack.decode(pack.encode(FINGERPRINT, some), FINGERPRINT)
    assert found.digests.tobytes() == digests.tobytes()
    assert [name for name, _, _ in found.rows()] == ["01" + "00" * 15, "01" * 15 + "00"]


def test_many_vectors_are_cut_into_packs_and_no_text_is_torn(monkeypatch):
    some = rows(*map(str, range(10)), parts=3)
    monkeypatch.setattr(pack, "MOST_BYTES", 32 + 7 * (18 + 2 * 64))
    cuts = list(pack.cut(some))
    assert [len(one) for one in cuts] == [6, 6, 6, 6, 6]
    assert equal(joined(cuts), some)
    for one in cuts:
        pack.decode(pack.encode(FINGERPRINT, one), FINGERPRINT)


def test_of_a_text_that_two_packs_have_one_is_taken_whole():
    mine, theirs = rows("a", parts=2), rows("a", parts=3)
    assert equal(joined([mine, theirs]), mine)
    assert equal(joined([theirs, mine]), theirs)


GOOD = pack.encode(FINGERPRINT, rows("a", "b"))
BODY = GOOD[HEADER.size :]
NUMBERS = HEADER.size + 2 * 18


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "no vector pack"),
        (GOOD[:20], "no vector pack"),
        (b"PK\x03\x04" + GOOD[4:], "no vector pack"),
        (header(version=2) + BODY, "format is 2"),
        (header(fingerprint=b"f" * 16) + BODY, "another fingerprint"),
        (header(dimension=0) + BODY, "0 numbers"),
        (header(dimension=65_535) + BODY, "65535 numbers"),
        (header(dimension=32) + BODY, "32 numbers, not 64"),
        (header(count=2**32 - 1) + BODY, "not the length of 4,294,967,295 vectors"),
        (header(count=0), "not the length"),
        (GOOD[:-1], "not the length"),
        (GOOD + b"\x00", "not the length"),
        (GOOD[: HEADER.size] + BODY[16:32] + BODY[:16] + BODY[32:], "not in order"),
        (GOOD[: HEADER.size] + BODY[:16] * 2 + BODY[32:], "all parts"),
        (GOOD[: HEADER.size + 32] + b"\x01\x00" + GOOD[HEADER.size + 34 :], "all parts"),
        (GOOD[:NUMBERS] + b"\x7e" * (len(GOOD) - NUMBERS), "unit length"),
        (GOOD[:NUMBERS] + b"\x7c\x00" * ((len(GOOD) - NUMBERS) // 2), "unit length"),
        (GOOD[:NUMBERS] + bytes(len(GOOD) - NUMBERS), "unit length"),
    ],
)
def test_what_is_no_pack_of_this_model_is_refused(data, why):
    with pytest.raises(RefusedError, match=why):
        pack.decode(data, FINGERPRINT, 64)


def test_one_number_that_is_none_is_found_among_many():
    some = rows(*map(str, range(50)))
    some.vectors[37, 5] = np.nan
    with pytest.raises(RefusedError, match="unit length"):
        pack.decode(pack.encode(FINGERPRINT, some), FINGERPRINT)


@given(st.integers(0, len(GOOD) - 1), st.integers(1, 255))
def test_a_changed_byte_is_refused_or_changes_one_hash_or_number_a_little(at, difference):
    changed = bytearray(GOOD)
    changed[at] ^= difference
    try:
        found = pack.decode(bytes(changed), FINGERPRINT, 64)
    except RefusedError:
        return
    assert found.vectors.shape == (2, 64)
    assert np.all(np.isfinite(found.vectors))
