"""What is left out of a parse changes nothing of what is found."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import SHARED
from knowrepo.concepts import markdown, shortcuts
from knowrepo.concepts.document import parse
from knowrepo.concepts.markdown import Outline, outline

LINES = st.sampled_from(
    ["", "", "", "", "text", "more text", "**bold** text", "`code` text", "(text)", "| a | b |",
     "|---|---|", "| `a` | [t](a.md) |", "- item", "- item", "* item", "+ item", "1. item",
     "2. item", "12. item", "- - deep", "  text", "   text", "    [t](a.md)", "  - [t](a.md)",
     "      [t](a.md)", "   [t](a.md)", "[t](a.md) and [u](b.md)", "[t\nu](a.md)", "![i](i.png)",
     "[t](a.md \"title", "more\")", "[see [u](b.md)](a.md)", "# Heading", "  # Heading", "====",
     "---", "***", "* * *", "___", "```", "~~~", "```sh", "> quoted", "> - [t](a.md)", "<!--",
     "-->", "<script>", "</script>", "<div>", "<a id='x'>", "<pre>", "text > text", "[r]: a.md",
     "[r]", "[t][r]", "[^n]", "[^n]: note", "[^a][^b]", "[^n](a.md)", "[[wiki]]", "`[t](a.md)`",
     "``", "`", "\\[t](a.md)", "a\\", "&#91;t](a.md)", "<http://x>", "\t[t](a.md)", "   ", "_a_",
     "text\rtext", "x [t](a.md)\rtext", "-", "1.", "[]()", "[t]()", "[t](<a b.md>)", "]", "["]
)  # fmt: skip


def in_full(body: str) -> Outline:
    """Parse a body without any shortcut."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shortcuts, "shortened", lambda text: text)
        patch.setattr(shortcuts, "pieces", lambda _: None)
        patch.setattr(shortcuts, "idle_rules", lambda _: set())
        return outline(body)


@settings(max_examples=1500)
@given(st.lists(LINES, max_size=14).map("\n".join), st.sampled_from(["", "\n"]))
def test_the_outline_of_any_lines_is_that_of_the_full_parser(text, end):
    assert outline(text + end) == in_full(text + end)


INLINE = st.sampled_from(
    ["[", "]", "(", ")", "](", "[t](a.md)", "[^n]", "[^", ":", "!", "`", "\\", "&amp;", "<", ">",
     "\n", " ", "t", "a.md", "*", "_", '"', "[[", "]]", "#h", "%20", "[r]: a.md\n\n", "[r]"]
)  # fmt: skip


@settings(max_examples=1500)
@given(st.lists(INLINE, max_size=14).map("".join))
def test_the_links_of_any_paragraph_are_those_of_the_full_parser(text):
    assert outline(text) == in_full(text)


def test_the_outlines_of_real_bundles_are_those_of_the_full_parser():
    files = sorted((SHARED / "okf" / "bundles").rglob("*.md"))
    for path in files:
        body = parse(path.read_bytes()).body
        assert outline(body) == in_full(body), path


@pytest.mark.parametrize(
    "text",
    ["word\nmore words\n\nwords\n\n", "- one\n- two\n  and more\n\n", "1. one\n2. two\n\n",
     "| a | b |\n|---|---|\n| c | d |\n\n"],
)  # fmt: skip
def test_text_without_anything_to_find_is_not_parsed(text):
    short = shortcuts.shortened(text)
    assert len(short) < len(text) / 2
    assert short.count("\n") == text.count("\n")


def test_a_lone_carriage_return_ends_a_line():
    assert outline("text\rtext\nx [t](a.md)\rtext").links == (markdown.Link("a.md", 2, 6),)


def test_plain_links_and_notes_need_no_parser():
    found = shortcuts.pieces("see [a\nb](c.md#d), [^n]\nand [e](https://f.org/g?h=i)")
    assert [(p.target, p.note, p.lines) for p in found or ()] == [
        ("c.md#d", None, 1), (None, "n", 0), (None, None, 1), ("https://f.org/g?h=i", None, 0),
    ]  # fmt: skip


def test_the_full_parser_reads_what_is_certain_only_to_it():
    doubtful = ["`[a](b)`", "\\[a](b)", "<a>[b](c)", "![a](b)", "[a [b](c)](d)", "[a]", "[^n]: b"]
    assert [text for text in doubtful if shortcuts.pieces(text) is not None] == []
    assert markdown.outline("`[a](b)` \\[a](b)").links == ()
