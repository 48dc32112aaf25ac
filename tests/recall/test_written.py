from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from knowrepo.recall.hits import Hit
from knowrepo.recall.written import item, paths


def hit(**fields: object) -> Hit:
    known = {
        "id": "a3f2", "uid": "a3f2" + "0" * 36, "kind": "session", "type": "", "heading": "",
        "path": "sessions/claude/x.jsonl", "shown_path": "claude/x", "title": "Fix the hooks",
        "date": "2026-02-06", "summary": "it fails", "score": 0.5, "line": 7,
    }  # fmt: skip
    return Hit(**{**known, **fields})


def test_an_item_links_to_its_place():
    assert item(hit(), full=False) == (
        "- [Fix the hooks](sessions/claude/x.jsonl#L7) (`a3f2`, 2026-02-06): it fails"
    )


def test_nothing_that_was_recalled_means_something_in_the_list():
    odd = hit(title="[a](b) <b>*x* `y`\n# z", summary="![i](http://x) | <!-- &amp;")
    (paragraph,) = [t for t in MarkdownIt().parse(item(odd, full=False)) if t.type == "inline"]
    kinds = [child.type for child in paragraph.children or ()]
    assert kinds.count("link_open") == 1
    assert not set(kinds) & {"image", "html_inline", "em_open", "strong_open", "softbreak"}
    assert paragraph.children[1].content == "[a](b) <b>*x* `y` # z"
    assert "![i](http://x) | <!-- &amp;" in "".join(c.content for c in paragraph.children)


def test_what_matched_is_strong_in_markdown():
    shown = item(hit(), full=False, snippet=[("a *", False), ("lock", True)])
    assert shown.endswith("): a \\***lock**")


@pytest.mark.parametrize(
    "text",
    [
        "```\ncode",
        "````\n```\n",
        "</blockquote>\n<script>",
        "~~~\n\n# Heading",
        "> \n\n- item",
        "a\rb",
    ],
)
def test_no_body_breaks_out_of_its_quotation(text):
    page = f"{item(hit(text=text), full=True)}\n# After\n"
    tokens = MarkdownIt().parse(page)
    (fence,) = [token for token in tokens if token.type == "fence"]
    assert fence.content.strip() == text.replace("\r", "\ufffd").strip()
    assert [token.type for token in tokens if token.level == 0][-3:] == [
        "heading_open", "inline", "heading_close",
    ] or tokens[-2].content == "After"  # fmt: skip
    opened = [token.type for token in tokens]
    assert opened.index("fence") > opened.index("blockquote_open")
    assert not {"html_block", "image"} & set(opened)


def test_each_place_is_one_line_and_once():
    odd = hit(path='concepts/a\n"b"é.md', line=1)
    assert list(paths([hit(), hit(id="b8c1"), odd])) == [
        "sessions/claude/x.jsonl:7",
        '"concepts/a\\n\\"b\\"é.md":1',
    ]
