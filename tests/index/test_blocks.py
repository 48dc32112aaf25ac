from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowrepo.index.blocks import cut

CODE = "```py\nx = 1\n\n# no heading\n- no item\n```"
TABLE = "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |"
ITEM = "- one\n  more of it\n\n  ```\n  code\n\n  code\n  ```\n  end"
TILDES = "~~~\n```\nstill code\n\n```\n~~~"
INDENTED = "    first\n\n    second\n\n    third"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("block", [CODE, TABLE, ITEM, TILDES, INDENTED])
@pytest.mark.parametrize("before", range(40, 160, 7))
def test_a_block_that_fits_is_never_cut(block, before, end):
    text = f"{'word ' * (before // 5)}\n\n{block}\n\nSome words after it. {'word ' * 20}"
    block, text = block.replace("\n", end), text.replace("\n", end)
    pieces = cut(text, 160)
    assert all(len(piece) <= 160 for piece in pieces)
    assert sum(block in piece for piece in pieces) == 1


def test_a_list_is_cut_between_its_items():
    items = [f"{n}. {'word ' * 8}\n   and more" for n in range(1, 9)]
    pieces = cut("\n".join(items), 120)
    assert len(pieces) > 2
    assert all(re.match(r"\d\. ", piece) and piece.endswith("and more") for piece in pieces)


def test_a_block_longer_than_a_piece_is_cut_at_its_own_line_ends():
    lines = ["```", *(f"line {n} of the code" for n in range(30)), "```"]
    pieces = cut("\n".join(lines), 100)
    assert [line for piece in pieces for line in piece.split("\n")] == lines
    assert all(len(piece) > 50 for piece in pieces[:-1])


def test_a_long_item_is_cut_between_its_own_blocks():
    text = f"- {'word ' * 15}\n\n  ```\n  {'code ' * 8}\n  ```\n\n  {'word ' * 15}"
    pieces = cut(text, 100)
    assert sum(bool(re.search(r"```\n.*\n  ```", piece)) for piece in pieces) == 1


def test_a_heading_and_a_line_with_a_colon_stay_with_what_they_lead_to():
    pieces = cut(f"{'word ' * 14}\n\n## Steps\n\nDo this:\n\n- {'go ' * 10}", 100)
    assert pieces[1].startswith("## Steps\n\nDo this:\n\n- go")


def test_a_lead_gives_way_where_the_block_would_be_cut():
    code = f"```\n{'x' * 80}\n```"
    assert cut(f"It is this:\n\n{code}", 92) == ["It is this:", code]


def test_prose_without_line_ends_is_cut_after_sentences_and_words():
    assert cut("One two. Three four five six. Seven.", 32) == [
        "One two. Three four five six.", "Seven.",
    ]  # fmt: skip
    assert cut("你好。" * 20, 25) == ["你好。" * 8, "你好。" * 8, "你好。" * 4]
    assert cut("x" * 25, 10) == ["x" * 10, "x" * 10, "x" * 5]


MARKDOWN = st.lists(
    st.one_of(
        st.sampled_from([
            "", "  ", "# H", "## H #", "```", "```sh", "~~~", "- a", "  - b", "1. c", "10) d",
            "| a | b |", "|---|---|", "> q", "    code", "\tcode", "text:", "  more", "---",
            "word " * 30, "x" * 90, "a. b. " * 15,
        ]),
        st.text(max_size=40),
    ),
    max_size=40,
)  # fmt: skip
END = st.sampled_from(["\n", "\r\n", "\r"])


def squeezed(text: str) -> str:
    return "".join(text.split())


@given(MARKDOWN, END, st.integers(20, 120))
def test_no_piece_is_too_long_and_nothing_is_lost(lines, end, limit):
    text = end.join(lines)
    pieces = cut(text, limit)
    assert all(0 < len(piece) <= limit for piece in pieces)
    assert squeezed("".join(pieces)) == squeezed(text)
    place = 0
    for piece in pieces:  # each is the text as it stands, in its order
        place = text.index(piece, place) + len(piece)


@given(MARKDOWN, st.integers(20, 120))
def test_the_kind_of_line_end_changes_no_boundary(lines, limit):
    lines = [line for text in lines for line in re.split(r"[\r\n]", text)]
    fits = "\n".join(line[: limit // 2] for line in lines)
    crs = [piece.replace("\r", "\n") for piece in cut(fits.replace("\n", "\r"), limit)]
    assert crs == cut(fits, limit)
