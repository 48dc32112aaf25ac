"""What a host is told line by line: any text stays the text of its message or property."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from knowrepo.ci.summary import MOST_ROWS, as_text, of_generated
from knowrepo.concepts.checking.report import workflow_command
from knowrepo.terminal import plain

ANY = st.text(
    alphabet=st.characters(exclude_categories=["Cs"]) | st.sampled_from(":%,=|]#[\r\n`<!")
)


def as_the_host_reads(line: str) -> tuple[str, dict[str, str], str]:
    """Read a command as hosts document it: `::name a=b,c=d::data`, escapes undone at the end."""
    head, _, data = line.removeprefix("::").partition("::")
    name, _, said = head.partition(" ")
    pairs = dict(one.split("=", 1) for one in said.split(",") if one)
    for escape, sign in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        pairs = {key: value.replace(escape, sign) for key, value in pairs.items()}
        if escape not in {"%3A", "%2C"}:
            data = data.replace(escape, sign)
    return name, pairs, data


@given(ANY, ANY)
def test_any_text_comes_back_as_it_was_and_is_one_line(message, path):
    line = workflow_command("error", message, file=path, line="3")
    assert "\n" not in line
    assert "\r" not in line
    assert as_the_host_reads(line) == ("error", {"file": path, "line": "3"}, message)


def test_a_message_needs_no_place():
    assert workflow_command("notice", "100%") == "::notice::100%25"


@given(ANY)
def test_any_text_in_a_cell_is_shown_as_it_is(text):
    html = MarkdownIt("commonmark").enable("table").render(f"| a |\n|---|\n| {as_text(text)} |")
    said = plain(text).split()
    assert html.count("<td>") == html.count("<tr>") - 1 == 1
    for tag in ("<a", "<img", "<code", "<em", "<strong"):
        assert tag not in html
    if len(" ".join(said)) < 100:
        shown = html.partition("<td>")[2].partition("</td>")[0]
        for escape, sign in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
            shown = shown.replace(escape, sign)
        assert shown.split() == said


def test_a_table_says_how_many_rows_it_leaves_out():
    lines = list(of_generated([(f"concepts/{n}/index.md", "stale") for n in range(MOST_ROWS + 7)]))
    assert lines[-1] == "And 7 more."
    assert sum(line.startswith("| concepts/") for line in lines) == MOST_ROWS
