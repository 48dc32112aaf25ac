from __future__ import annotations

import io
import json
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import assistant, jsonl, user
from knowrepo.sessions import lines
from knowrepo.sessions.lines import Line, read_lines

RECORDS = [user("one", 1), assistant("two", 2), user("three", 3), assistant("four", 4)]


def read(data: bytes) -> list[Line]:
    return list(read_lines(io.BytesIO(data)))


def texts(lines: list[Line]) -> str:
    return " ".join(
        word
        for line in lines
        for word in re.findall(r"\b(one|two|three|four)\b", line.raw.decode("utf-8", "replace"))
    )


def test_lines_are_records_with_their_numbers():
    lines = read(jsonl(RECORDS))
    assert [line.number for line in lines] == [1, 2, 3, 4]
    assert [line.record for line in lines] == RECORDS


def test_a_byte_order_mark_crlf_blank_lines_and_nul_bytes_are_no_part_of_a_record():
    rows = jsonl(RECORDS).splitlines()
    data = b"\xef\xbb\xbf" + rows[0] + b"\r\n\r\n" + b"\0" * 300 + b"\n"
    data += b"\0" * 200 + rows[1] + b"\r\n  \n" + rows[2] + b"\n" + rows[3] + b"\n"
    assert [line.record for line in read(data)] == RECORDS


def test_a_line_ends_at_0x0a_only():
    record = user("one\u2028two\u2029three\x85four", 1)
    data = json.dumps(record, ensure_ascii=False).encode() + b"\n"
    assert [line.record for line in read(data)] == [record]


def test_a_last_line_without_a_newline_is_a_record_when_it_is_whole():
    assert [line.record for line in read(jsonl(RECORDS)[:-1])] == RECORDS


def test_a_last_line_that_is_cut_waits_and_loses_no_other():
    lines = read(jsonl(RECORDS)[:-40])
    assert [line.record for line in lines[:3]] == RECORDS[:3]
    assert lines[3].pending
    assert lines[3].record is None


def test_two_records_on_one_line_are_two_records():
    rows = jsonl(RECORDS).splitlines()
    data = rows[0] + rows[1] + b"\n" + rows[2] + b"\n" + rows[3] + b"\n"
    lines = read(data)
    assert [line.record for line in lines] == RECORDS
    assert [line.number for line in lines] == [1, 1, 2, 3]


def test_an_invalid_byte_between_two_records_costs_neither():
    rows = jsonl(RECORDS).splitlines()
    lines = read(rows[0] + b"\x80" + rows[1] + b"\n")
    assert [line.record for line in lines] == [RECORDS[0], None, RECORDS[1]]
    assert lines[1].raw == b"\x80"


def test_a_stub_and_then_a_record_keeps_both():
    rows = jsonl(RECORDS).splitlines()
    lines = read(rows[0][:90] + rows[1] + b"\n" + rows[2] + b"\n")
    assert [line.record for line in lines] == [None, RECORDS[1], RECORDS[2]]
    assert lines[0].raw == rows[0][:90]


def test_what_is_no_object_is_kept_as_it_is():
    lines = read(b'42\n"text"\n// a comment\n[1]\n' + jsonl(RECORDS[:1]))
    assert [line.record for line in lines] == [None, None, None, None, RECORDS[0]]
    assert lines[2].raw == b"// a comment"


def test_nesting_too_deep_to_parse_loses_only_its_own_line():
    levels = 200_000  # Python 3.11 follows a thousand, 3.13 ten thousand
    deep = b'{"a":' + b"[" * levels + b"]" * levels + b"}\n"
    lines = read(jsonl(RECORDS[:1]) + deep + jsonl(RECORDS[1:2]))
    assert [line.record for line in lines if line.record] == RECORDS[:2]


def test_invalid_utf8_in_a_string_keeps_the_record_and_its_bytes():
    raw = jsonl([user("one X two", 1)]).replace(b"X", b"\xff\xfe")
    (line,) = read(raw)
    assert line.record is not None
    assert line.record["message"]["content"] == "one \ufffd\ufffd two"
    assert line.raw == raw.strip()


def test_a_broken_line_of_megabytes_is_read_in_reasonable_work():
    # Each `{"` could begin a record; trying all of them would take hours.
    broken = b'{"a":' * 200_000 + b"\n"
    lines = read(broken + jsonl(RECORDS[:1]))
    assert lines[-1].record == RECORDS[0]
    assert b"".join(line.raw for line in lines[:-1]) == broken.strip()


@given(st.binary(max_size=400))
def test_any_bytes_are_read_without_an_error(data: bytes):
    read(data)


@settings(max_examples=600)
@given(st.data())
def test_one_changed_byte_loses_at_most_its_own_line(data: st.DataObject):
    whole = bytearray(jsonl(RECORDS))
    position = data.draw(st.integers(0, len(whole) - 1))
    whole[position] = data.draw(st.integers(0, 255))
    hit = bytes(jsonl(RECORDS))[:position].count(b"\n")
    survivors = [r for r in RECORDS if r in [line.record for line in read(bytes(whole))]]
    # A newline that is gone joins two lines; both records are still found.
    lost = [RECORDS.index(r) for r in RECORDS if r not in survivors]
    assert set(lost) <= {hit}


@given(st.integers(0, len(jsonl(RECORDS))))
def test_a_cut_anywhere_keeps_all_whole_lines(length: int):
    data = jsonl(RECORDS)[:length]
    whole = [line.record for line in read(data) if line.record]
    assert whole[: data.count(b"\n")] == RECORDS[: data.count(b"\n")]


def test_a_long_broken_line_is_not_read_again_from_each_of_its_objects(monkeypatch):
    class Counting:
        attempts = 0
        inner = lines._decoder

        def raw_decode(self, text: str, position: int) -> tuple[object, int]:
            Counting.attempts += 1
            return self.inner.raw_decode(text, position)

    monkeypatch.setattr(lines, "_decoder", Counting())
    monkeypatch.setattr(lines, "_SHORT_LINE", 1)
    raw = b'{"a":' * 50_000  # each attempt ends as deep as the interpreter can follow
    (line,) = read_lines([raw + b"\n"])
    assert line.raw == raw
    assert Counting.attempts <= lines.MOST_READ + 2
