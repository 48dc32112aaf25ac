"""What holds of any session and of any damage, over many made-up ones."""

from __future__ import annotations

import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import SESSION, jsonl, make_repository, user
from knowrepo.sessions.archive import archive
from knowrepo.sessions.intake import take_file
from knowrepo.sessions.readers.claude import ClaudeReader

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=30)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


def record(number: int, extra: Any, *, named: bool) -> dict[str, Any]:
    made = user(f"text {number}", number, extra=extra)
    return made if named else {key: value for key, value in made.items() if key != "uuid"}


@st.composite
def sessions(draw: st.DrawFn, most: int = 6) -> list[bytes]:
    """The lines of a session; some of its records have no id of their own."""
    extras = draw(st.lists(VALUES, min_size=1, max_size=most))
    named = draw(st.booleans())
    return [jsonl([record(n, extra, named=named)]) for n, extra in enumerate(extras, start=1)]


def taken(data: bytes) -> list[bytes]:
    """The lines that a source becomes."""
    out = io.BytesIO()
    with TemporaryDirectory() as folder:
        source = Path(folder) / f"{SESSION}.jsonl"
        source.write_bytes(data)
        take_file(source, out, ClaudeReader())
    return out.getvalue().split(b"\n")[:-1]


def archived(*snapshots: bytes, part_bytes: int = 40_000_000) -> bytes:
    """What an archive holds after it was given these snapshots of one session, in this order."""
    with TemporaryDirectory() as folder:
        repository = make_repository(Path(folder) / "memory")
        source = Path(folder) / "in" / f"{SESSION}.jsonl"
        source.parent.mkdir()
        for snapshot in snapshots:
            source.write_bytes(snapshot)
            list(archive(repository, [source], part_bytes=part_bytes))
        first = repository.sessions / "claude" / f"{SESSION}.jsonl"
        return first.read_bytes() if first.exists() else b""


@given(sessions(), st.data())
@settings(max_examples=60, deadline=None)
def test_a_beginning_and_then_the_whole_is_the_whole(lines, data):
    whole = b"".join(lines)
    cut = data.draw(st.integers(0, len(whole)))
    assert archived(whole[:cut], whole) == archived(whole)
    assert archived(whole, whole[:cut]) == archived(whole)


@given(sessions(), sessions(most=3), st.data())
@settings(max_examples=40, deadline=None)
def test_any_order_of_snapshots_gives_the_same_bytes(lines, others, data):
    parted = data.draw(st.integers(0, len(lines)))
    snapshots = [
        b"".join(lines[: data.draw(st.integers(1, len(lines)))]),
        b"".join(lines),
        b"".join([*lines[:parted], *others]),
    ]
    one, two = (archived(*data.draw(st.permutations(snapshots))) for _ in range(2))
    assert one == two


@given(sessions(), st.data())
@settings(max_examples=300, deadline=None)
def test_a_corrupted_byte_loses_at_most_its_own_line(lines, data):
    whole = bytearray(b"".join(lines))
    at = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != whole[at]))
    ends = [sum(map(len, lines[: n + 1])) for n in range(len(lines))]
    hit = next(number for number, end in enumerate(ends) if at < end)
    own = {hit, hit + 1} if whole[at] == 10 else {hit}  # a line end joins two lines
    whole[at] = byte
    kept = taken(bytes(whole))
    for number, line in enumerate(lines):
        if number not in own:
            assert line.rstrip(b"\n") in kept
    # Nor is what stands on the line itself thrown away, where it can be told at all.
    if whole[at] not in b"\n\0\r \t" and byte not in b"\n\0":
        assert len(kept) >= len(lines) - len(own)


@given(sessions())
@settings(max_examples=100, deadline=None)
def test_what_has_no_secret_and_no_payload_is_archived_byte_for_byte(lines):
    kept = taken(b"".join(lines))
    assert len(kept) == len(lines)
    for line, archived_line in zip(lines, kept, strict=True):
        assert json.loads(line) == json.loads(archived_line)
        if b"[redacted" not in archived_line:
            assert line.rstrip(b"\n") == archived_line
    assert taken(b"".join(line + b"\n" for line in kept)) == kept
