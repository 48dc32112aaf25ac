from __future__ import annotations

import io
import re
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import SHARED, assistant, concept, jsonl, tool_call, tool_result, user
from knowrepo.concepts.model import read_concept
from knowrepo.index.chunk import LIMIT, Chunk, concept_chunks, session_chunks
from knowrepo.sessions.lines import read_lines
from knowrepo.sessions.readers.claude import ClaudeReader
from knowrepo.sessions.record import SessionFacts


def chunks(records: list[dict], name: str = "x") -> list[Chunk]:
    reader = ClaudeReader()
    lines = list(read_lines(io.BytesIO(jsonl(records))))
    read = list(reader.read(lines))
    return list(session_chunks(read, reader.facts(lines, name)))


def long_session(exchanges: int) -> list[dict]:
    records: list[dict] = []
    for n in range(exchanges):
        records += [
            user(f"question {n}", len(records) + 1),
            assistant(f"answer {n}. " * 150, len(records) + 2),
            tool_call("Bash", len(records) + 3, command=f"make {n}"),
            tool_result(f"output {n} " * 100, len(records) + 4, len(records) + 3),
        ]
    return records


def test_an_exchange_is_a_users_turn_and_what_follows():
    records = [
        user("why?", 1),
        assistant("because", 2),
        tool_call("Bash", 3, command="ls"),
        tool_result("file", 4, 3),
        user("ok", 5),
    ]
    first, second = chunks(records)
    assert first.text == "User: why?\nAssistant: because\nBash: ls\nOutput: file"
    assert (first.anchor, first.heading, first.line) == ("u-1", "why?", 1)
    assert first.time == "2026-05-01T10:00:01.000Z"
    assert (second.text, second.anchor, second.line) == ("User: ok", "u-5", 5)


def test_the_embedded_text_begins_with_frozen_context():
    first, _ = chunks([user("why?", 1), user("ok", 2)])
    assert first.embedded_text == "2026-05-01 | app | why?\nUser: why?"


def test_machine_written_text_is_left_out():
    records = [user("Summary of all", 1, isCompactSummary=True), user("note", 2, isMeta=True)]
    assert chunks(records) == []


def test_tool_output_is_its_head_and_its_tail():
    (chunk,) = chunks([user("x", 1), tool_result("a" * 500 + "b" * 500, 2, 1)])
    assert f"Output: {'a' * 300} … {'b' * 150}" in chunk.text


def test_no_chunk_is_longer_than_the_limit_and_no_prose_is_lost():
    records = [user("word " * 1000, 1), assistant("sentence here. " * 400, 2)]
    found = chunks(records)
    assert all(len(chunk.text) <= LIMIT for chunk in found)
    assert sum(chunk.text.count("word") for chunk in found) == 1000
    assert sum(chunk.text.count("sentence here.") for chunk in found) == 400


@given(st.integers(1, 16))
def test_appending_to_a_session_changes_no_chunk_but_the_last(length):
    whole = long_session(4)
    before, after = chunks(whole[:length]), chunks(whole)
    assert [c.anchor for c in after][: len(before)] == [c.anchor for c in before]
    assert after[: len(before) - 1] == before[:-1]


def test_anchors_are_unique():
    anchors = [chunk.anchor for chunk in chunks(long_session(5))]
    assert len(anchors) == len(set(anchors))


def test_a_sub_agents_task_is_a_turn_and_an_inline_one_is_not():
    records = [user("task", 1, isSidechain=True), assistant("done", 2, isSidechain=True)]
    main = [user("please", 1), *[{**r, "uuid": r["uuid"] + "s"} for r in records]]
    assert len(chunks(records, name="agent-1")) == 1
    assert chunks(records, name="agent-1")[0].heading == "task"
    assert [c.heading for c in chunks(main)] == ["please"]


def of_concept(body: str, title: str = "T") -> list[Chunk]:
    return concept_chunks(read_concept("concepts/a.md", concept(title, body=body).encode()))


def test_a_concept_is_cut_at_its_headings():
    found = of_concept("intro\n\n# Why\n\nreason\n\n## Detail\n\nmore\n\n# Why\n\nagain\n")
    assert [(c.anchor, c.heading) for c in found] == [
        ("", ""), ("Why", "Why"), ("Why > Detail", "Why > Detail"), ("Why\0002", "Why"),
    ]  # fmt: skip
    assert found[2].embedded_text == "T > Why > Detail\nmore"


def test_headings_that_look_like_anchors_stay_apart():
    body = "# S\n\na\n\n# S\n\nb\n\n# S#2\n\nc\n\n# N\n\n" + "long " * 500 + "\n\n# N/1\n\nd\n"
    found = of_concept(body)
    assert len({c.anchor for c in found}) == len(found) >= 6


def test_a_heading_in_a_code_block_is_no_heading():
    (chunk,) = of_concept("text\n\n```sh\n# not a heading\n```\n")
    assert "# not a heading" in chunk.text


def test_a_long_section_is_cut_between_its_blocks():
    code = "```\n" + "line\n" * 100 + "```"
    found = of_concept(f"# H\n\n{'before ' * 100}\n\n{code}\n\n{'after ' * 100}\n")
    assert all(len(c.text) <= LIMIT for c in found)
    assert sum(c.text.count(code) for c in found) == 1


def test_a_concept_without_a_body_is_found_by_its_description():
    text = concept("T", description='"one sentence"')
    (chunk,) = concept_chunks(read_concept("concepts/a.md", text.encode()))
    assert chunk.text == "one sentence"


def test_a_turn_is_cut_between_its_blocks_and_its_first_line_may_be_a_fence():
    code = "```py\n" + "call()\n" * 90 + "```"
    found = chunks([user(f"{code}\n\n{'why ' * 150}\n\n{code}", 1), assistant(code, 2)])
    assert all(len(chunk.text) <= LIMIT for chunk in found)
    assert sum(chunk.text.count(code) for chunk in found) == 3
    assert found[0].text == f"User: {code}"


def test_a_long_output_ends_and_begins_at_its_own_lines():
    lines = [f"{n:03} line of the output" for n in range(100)]
    (chunk,) = chunks([user("x", 1), tool_result("\n".join(lines), 2, 1)])
    shown = chunk.text.split("Output: ")[1].split("\n")
    assert "…" in shown
    assert {line for line in shown if line != "…"} <= set(lines)
    assert (shown[0], shown[-1]) == (lines[0], lines[-1])


def test_a_heading_that_nothing_follows_is_found():
    found = of_concept("# Above\n\n## Only a heading\n\n# Next\n\ntext\n")
    assert [(c.anchor, c.text) for c in found] == [
        ("Above > Only a heading", "Only a heading"), ("Next", "text"),
    ]  # fmt: skip


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_kind_of_line_end_gives_the_same_sections(end):
    body = f"intro\n\n# A\n\none\n\n## B\n\n{'two ' * 290}\n\n{'more ' * 100}\n".replace("\n", end)
    found = concept_chunks(replace(read_concept("concepts/a.md", b""), title="T", body=body))
    assert [(c.anchor, c.text[:4], c.line) for c in found] == [
        ("", "intr", 1), ("A", "one", 5), ("A > B", "two ", 9), ("A > B\0/1", "more", 11),
    ]  # fmt: skip


LINES = [
    "", "", "# One", "## Two", "# One", "```", "```sh", "- item", "  - inner", "| a | b |",
    "|--|--|", "    code", "Prose. " * 40, "word " * 60, "x" * 700, "y" * 1500, "text:",
    "> quoted", "你好。" * 90,
]  # fmt: skip
BODIES = st.lists(st.sampled_from(LINES), max_size=25)


def squeezed(text: str) -> str:
    return "".join(text.split())


def assert_whole(concept_body: str, found: list[Chunk]) -> None:
    """No chunk is too long, and every line is in the text or in a heading."""
    assert all(0 < len(chunk.text) <= LIMIT for chunk in found)
    assert len({chunk.anchor for chunk in found}) == len(found)
    text = squeezed("".join(chunk.text for chunk in found))
    headings = squeezed(" ".join(chunk.heading for chunk in found))
    for line in re.split(r"\r\n?|\n", concept_body):
        held = squeezed(line) in text or squeezed(line).strip("#=-") in headings
        assert held, line


@given(BODIES, st.sampled_from(["\n", "\r\n", "\r"]))
def test_a_concept_loses_no_line(lines, end):
    body = end.join(lines)
    read = replace(read_concept("concepts/a.md", concept("T").encode()), body=body)
    assert_whole(body, concept_chunks(read))


TURNS = st.lists(
    st.tuples(
        st.sampled_from(["user", "assistant", "call", "output"]),
        st.lists(st.sampled_from(LINES), min_size=1, max_size=9).map("\n".join),
        st.booleans(),
    ),
    min_size=1,
    max_size=14,
)


def session_of(turns: list[tuple[str, str, bool]]) -> list[dict]:
    """Records of these turns, dated or not."""
    records = []
    for number, (kind, text, dated) in enumerate(turns, 1):
        fields = {} if dated else {"timestamp": None}
        record = {
            "user": lambda n=number, t=text: user(t, n),
            "assistant": lambda n=number, t=text: assistant(t, n),
            "call": lambda n=number, t=text: tool_call("Bash", n, command=t),
            "output": lambda n=number, t=text: tool_result(t, n, n - 1),
        }[kind]()
        records.append({**record, **fields})
    return records


def named(found: list[Chunk]) -> list[tuple[str, str]]:
    return [(chunk.anchor, chunk.text_hash) for chunk in found]


@given(TURNS, st.data())
def test_appending_changes_no_id_and_no_hash_but_the_last_chunks(turns, data):
    records = session_of(turns)
    before = named(chunks(records[: data.draw(st.integers(1, len(records)))]))
    after = named(chunks(records))
    assert after[: len(before) - 1] == before[:-1]
    assert [anchor for anchor, _ in after[: len(before)]] == [anchor for anchor, _ in before]


@given(TURNS, st.text(max_size=20))
def test_a_title_and_a_branch_change_no_chunk(turns, title):
    reader = ClaudeReader()
    lines = list(read_lines(io.BytesIO(jsonl(session_of(turns)))))
    facts = reader.facts(lines, "x")
    other = replace(facts, title=title, branch=title)
    assert list(session_chunks(reader.read(lines), other)) == list(
        session_chunks(reader.read(lines), facts)
    )


@given(TURNS)
def test_a_session_loses_nothing_that_was_said(turns):
    found = chunks(session_of(turns))
    assert all(0 < len(chunk.text) <= LIMIT for chunk in found)
    assert len({chunk.anchor for chunk in found}) == len(found)
    text = squeezed("".join(chunk.text for chunk in found))
    said = [squeezed(told) for kind, told, _ in turns if kind in {"user", "assistant"}]
    assert all(one in text for one in said)


def test_a_session_is_cut_as_it_is_read():
    def endless():
        for n in count(1):
            assert n < 100, "the whole session was read before the first chunk came"
            yield from ClaudeReader().read(list(read_lines(io.BytesIO(jsonl([user("x", n)])))))

    assert next(session_chunks(endless(), SessionFacts())).text == "User: x"


needs_data = pytest.mark.skipif(not SHARED.is_dir(), reason="no shared data on this machine")


@needs_data
def test_real_concepts_lose_no_line():
    pages = sorted((SHARED / "okf" / "bundles").rglob("*.md"))
    assert len(pages) > 400
    for page in pages:
        read = read_concept("concepts/a.md", page.read_bytes())
        assert_whole(read.body, concept_chunks(read))


@needs_data
def test_real_sessions_keep_their_chunks_as_they_grow():
    reader = ClaudeReader()
    grown, reread = 0, []
    for path in sorted((SHARED / "transcripts").rglob("*.jsonl")):
        lines = list(read_lines(io.BytesIO(path.read_bytes())))
        half = lines[: len(lines) // 2]
        if not 4 < len(lines) < 400:
            continue
        told = list(reader.read(half))
        if told != list(reader.read(lines))[: len(told)]:
            reread.append(path)  # what waited in a queue is told where it was taken up
            continue
        before, after = (
            named(list(session_chunks(reader.read(some), reader.facts(some, path.stem))))
            for some in (half, lines)
        )
        assert after[: len(before) - 1] == before[:-1], path
        grown += len(before) > 1
    assert grown > 10
    assert len(reread) < grown
