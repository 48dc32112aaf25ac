from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowrepo.recall import present
from knowrepo.recall.budget import pack
from knowrepo.recall.hits import Hit
from knowrepo.recall.tokens import estimate

WORDS = "the archive is locked while a sweep runs and nobody waits for it at all "


def hit(number: int, *, path: str = "", place: int = 0, blocks: int = 3, **fields: object) -> Hit:
    text = "\n\n".join(
        f"Block {block} of {number}: {(WORDS * 2).strip()}" for block in range(blocks)
    )
    made = Hit(
        id=f"{number:04x}", uid=f"{number:040x}", kind="session", type="", heading="",
        path=path or f"sessions/claude/{number}.jsonl", shown_path=f"claude/{number}",
        title=f"Session {number}", date="2026-02-06", summary="", score=1 / (number + 1),
        line=place * 10 + 1, place=place, text=text,
    )  # fmt: skip
    return replace(made, **fields)


def printed(passages) -> str:
    return "\n".join(present.body(passage.hit) for passage in passages)


def test_each_body_has_its_citation():
    passages = pack([hit(1), hit(2, place=4)], 2000)
    assert [one.ids for one in passages] == [("0001",), ("0002",)]
    assert "[0002] sessions/claude/2.jsonl:41 2026-02-06 | Session 2\n\nBlock 0" in printed(
        passages
    )


def test_what_does_not_fit_is_passed_over_for_what_does():
    small = hit(3, blocks=1)
    passages = pack([hit(1), hit(2, blocks=40), small], 330)
    assert [(one.ids, one.cut) for one in passages] == [(("0001",), False), (("0003",), False)]


def test_the_first_that_fits_by_half_is_cut_at_the_end_of_a_block():
    whole, later = hit(2, blocks=6), hit(3)
    passages = pack([hit(1), whole, later], 380)
    assert [(one.ids, one.cut) for one in passages] == [(("0001",), False), (("0002",), True)]
    kept, _, rest = passages[1].hit.text.rpartition("\n\n")
    assert rest == "…"
    assert whole.text.startswith(f"{kept}\n\nBlock ")


def test_neighbours_in_one_document_stand_under_one_citation_in_its_order():
    path = "sessions/claude/x.jsonl"
    hits = [hit(number, path=path, place=place) for number, place in ((1, 5), (2, 9), (3, 4))]
    first, second = pack(hits, 2000)
    assert first.ids == ("0003", "0001")
    assert first.hit.line == 41
    assert first.hit.score == hits[0].score
    assert first.hit.text.index("of 3:") < first.hit.text.index("of 1:")
    assert second.ids == ("0002",)
    assert present.body(first.hit).startswith(f"[0003,0001] {path}:41 ")


def test_what_stands_between_two_bodies_joins_them():
    path = "sessions/claude/x.jsonl"
    hits = [hit(number, path=path, place=place) for number, place in ((1, 5), (2, 7), (3, 6))]
    (only,) = pack(hits, 2000)
    assert only.ids == ("0001", "0003", "0002")


def test_near_duplicates_are_given_once():
    twin = hit(2)
    same = hit(3, text=hit(1).text)
    passages = pack([hit(1, also=("0002",)), twin, same, hit(4)], 2000)
    assert [one.ids for one in passages] == [("0001",), ("0004",)]


def test_a_document_that_is_given_whole_gives_no_part_again():
    path = "concepts/hooks.md"
    whole = hit(1, path=path, place=-1)
    assert len(pack([whole, hit(2, path=path, place=0)], 2000)) == 1
    assert len(pack([hit(2, path=path, place=0), whole], 2000)) == 1


def test_of_one_that_is_larger_than_the_budget_the_beginning_is_given():
    (only,) = pack([hit(1, blocks=60)], 200)
    assert only.cut
    assert "Block 0" in only.hit.text


def test_sections_of_a_concept_keep_their_headings():
    path = "concepts/hooks.md"
    first = hit(1, path=path, place=0, kind="concept", text="What.")
    second = hit(2, path=path, place=1, kind="concept", text="So.", heading="Why")
    (only,) = pack([second, first], 2000)
    assert only.hit.text == "What.\n\n## Why\n\nSo."


HITS = st.lists(
    st.tuples(st.integers(0, 30), st.sampled_from("abc"), st.integers(-1, 6), st.integers(0, 12)),
    max_size=12,
)


@given(HITS, st.integers(50, 1500))
def test_no_packing_is_above_its_budget_or_gives_a_text_twice(drawn, tokens):
    hits = [hit(n, path=f"sessions/{p}.jsonl", place=at, blocks=b) for n, p, at, b in drawn]
    passages = pack(hits, tokens)
    assert sum(passage.tokens for passage in passages) <= tokens
    assert all(passage.tokens == estimate(present.body(passage.hit)) for passage in passages)
    given_ids = [one for passage in passages for one in passage.ids]
    assert len(given_ids) == len(set(given_ids))
    assert sum(passage.cut for passage in passages) <= 1


@pytest.mark.parametrize(
    ("text", "tokens"),  # as the tokenizer of all-MiniLM-L6-v2 counts them
    [
        ("The archive is locked while a sweep runs, and nobody waits for it.", 15),
        ("def parse_http_header(self, line: bytes) -> Header | None:", 18),
        ("数据库被锁定了，我们用日志模式解决这个问题。", 22),
        ("0f0e0d0c-0b0a-4908-8706-050403020100", 23),
        ("Die Datenbank war während der Übertragung gesperrt.", 15),
    ],
)
def test_the_estimate_is_not_below_a_real_count_and_not_twice_it(text, tokens):
    assert tokens <= estimate(text) <= 2 * tokens
