"""A session as a page: what it shows, and that hostile text stays text."""

from __future__ import annotations

import json
import re
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from helpers import SESSION, assistant, jsonl, tool_call, tool_result, user
from knowrepo.errors import KnowError
from knowrepo.sessions.export import FORMATS, FULL, Limits, open_page
from knowrepo.sessions.export.markdown import contained, fenced
from knowrepo.sessions.export.prose import to_html
from knowrepo.sessions.export.text import cut, first_line, one_line, shorter, shown
from knowrepo.sessions.listing import resolve

HOSTILE = [
    "<script>alert(1)</script>",
    "</pre></details><script>alert(1)</script>",
    "</style></title></head><body onload=alert(1)>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "[click](javascript:alert(1))",
    "[click](https://example.org/?q=1)",
    "![pixel](https://example.org/pixel.png)",
    "<https://example.org/auto>",
    "[ref]: https://example.org/ref\n\n[ref]",
    "[a]: <javascript:alert(1)> 'x'\n\n![a]",
    "```<script>\n</code></pre><script>alert(1)</script>",
    "```js onload=alert(1)\nx\n",
    "~~~~ \"onclick='x'\nnever closed",
    "> <svg/onload=alert(1)>\n> `unclosed",
    "a ` b\n\n<script>alert(1)</script> ` c",
    "| a | <b>b</b> |\n|---|:-:|\n| `x | <i>` | <u> |",
    "<!-- open comment",
    "<![CDATA[ x",
    "<?php echo 1 ?>",
    "<details open><summary>faked",
    "</details>\n\n</details>",
    "    <script>indented</script>",
    "- item\n\n      <script>x</script>\n\n  ```\n  open in a list",
    "User\n====\n\n## 2. faked prompt\n\n### User",
    "\\`<b>\\`",
    "``<b>` <i>``",
    "&lt;b&gt; &#60;script&#62; &amp;lt;",
    "a\x00b\x1b[31mred\x1b[0m\x1b]8;;https://example.org\x07link\x1b]8;;\x07\x9b31m",
    "rtl \u202e override \u2066 isolate \u2069 end",
    "half \ud83d an emoji",
    "know-end-of-message",
    "[" * 400 + "*_" * 400,
    ">" * 500 + " deep",
    "# " + "x" * 300,
]
TAGS = {
    "html", "head", "meta", "title", "style", "body", "a", "header", "h1", "h2", "h3", "h4", "h5",
    "h6", "dl", "div", "dt", "dd", "nav", "ol", "ul", "li", "main", "section", "details",
    "summary", "span", "small", "b", "p", "pre", "code", "time", "em", "strong", "blockquote",
    "table", "thead", "tbody", "tr", "th", "td", "hr", "br", "s",
}  # fmt: skip
ATTRIBUTES = {
    "charset": r"utf-8",
    "lang": r"en",
    "http-equiv": r"Content-Security-Policy",
    "name": r"referrer|viewport|color-scheme",
    "content": r"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
    r"form-action 'none'|no-referrer|width=device-width, initial-scale=1|light dark",
    "class": r"[a-z ]+",
    "id": r"(?:a[0-9]+-)?(?:top|r-[0-9]+(?:\.[0-9]+)?)",
    "href": r"#(?:a[0-9]+-)?(?:top|r-[0-9]+(?:\.[0-9]+)?)",
    "datetime": r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z",
    "aria-label": r"Contents|Conversation",
    "tabindex": r"-1",
}
EMPTY = {"meta", "hr", "br"}


class Parsed(HTMLParser):
    """A page with its elements, the text that it shows, and what is wrong with it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert tag in TAGS
        for name, value in attrs:
            assert re.fullmatch(ATTRIBUTES[name], value or ""), (tag, name, value)
        given = dict(attrs)
        self.tags.append(tag)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if "href" in given else []
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in EMPTY:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def handle_comment(self, data):
        raise AssertionError(data)

    def handle_pi(self, data):
        raise AssertionError(data)

    def unknown_decl(self, data):
        raise AssertionError(data)


def put(repository, *records, name=SESSION):
    path = repository.sessions / "claude" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(jsonl(records))


def export(repository, kind, limits=None, name=SESSION, **options):
    page = open_page(repository, resolve(repository, name), **options)
    return "".join(FORMATS[kind](page, limits or Limits()))


def everywhere(text):
    """A session with ``text`` wherever a transcript can hold any."""
    return [
        user(text, 1, cwd=text, gitBranch=text, sessionId=text, version=text),
        assistant(text, 2, timestamp=text),
        tool_call(text, 3, command=text),
        tool_result(text, 4, 3),
        user(text, 5, isMeta=True),
        user(text, 6, isCompactSummary=True),
        user(text, 7, isSidechain=True),
        assistant(text, 8, isSidechain=True),
        {"type": "custom-title", "customTitle": text, "uuid": text, "sessionId": text},
    ]


# -- html -------------------------------------------------------------------------


@pytest.mark.parametrize("text", HOSTILE)
def test_no_element_attribute_or_link_of_a_page_comes_from_a_transcript(repository, text):
    put(repository, *everywhere(text))
    put(repository, *everywhere(text), name=f"{SESSION}/agent-1")
    page = Parsed(export(repository, "html"))
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links} <= set(page.ids)


def test_a_page_forbids_scripts_and_loads_nothing(repository):
    put(repository, user("hello", 1), assistant("see https://example.org/a.png", 2))
    page = export(repository, "html")
    head = page[: page.index("</head>")]
    assert "default-src 'none'" in head
    assert not re.search(r"<(?:script|link|img|iframe|object|base|form)|url\(|@import", page)
    assert "https:" not in head


def test_html_in_a_message_is_shown_as_it_was_typed(repository):
    put(repository, user("use <b> & </pre>"), assistant("then `<i>` and <u>"))
    text = "".join(Parsed(export(repository, "html")).text)
    assert "use <b> & </pre>" in text
    assert "then <i> and <u>" in text


def test_links_stay_as_they_were_typed(repository):
    put(repository, assistant("see [the page](https://example.org/x) and ![it](y.png)"))
    page = Parsed(export(repository, "html"))
    assert "see [the page](https://example.org/x) and ![it](y.png)" in "".join(page.text)


def test_what_an_agent_writes_is_set_and_what_a_person_types_is_not(repository):
    put(repository, user("**mine**\n  as typed"), assistant("**bold**\n\n- one\n- two"))
    page = export(repository, "html")
    assert "**mine**\n  as typed" in page
    assert "<strong>bold</strong>" in page
    assert page.count("<li>") == 3  # one of them leads to the prompt


def test_the_contents_lead_to_every_prompt_and_sub_agent(repository):
    put(repository, user("first?", 1), assistant("yes", 2), user("second?", 3))
    put(repository, user("the task", 1), name=f"{SESSION}/agent-1")
    page = export(repository, "html")
    nav = page[page.index("<nav") : page.index("</nav>")]
    assert re.findall(r'href="#([^"]+)">([^<]+)<', nav) == [
        ("r-1", "first?"),
        ("r-3", "second?"),
        ("a1-top", "the task"),
    ]
    assert {"r-1", "r-2", "r-3", "a1-top", "a1-r-1"} <= set(Parsed(page).ids)


def test_outputs_and_machine_text_are_folded(repository):
    put(
        repository, user("go", 1), tool_call("Bash", 2, command="ls\npwd"),
        tool_result("one\ntwo", 3, 2), user("reminder", 4, isMeta=True),
    )  # fmt: skip
    page = export(repository, "html")
    assert re.search(
        r"<details><summary><b>Output</b> <small>2 lines</small> <code>one</code></summary>\s*"
        r"<pre>\none\ntwo</pre></details>",
        page,
    )
    assert "<summary><b>Injected text</b>" in page
    assert re.search(r'<details class="call"><summary><b>Bash</b> <code>ls</code>', page)


def test_records_on_one_line_have_anchors_of_their_own(repository):
    block = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "out"}
    put(repository, user([block, {"type": "text", "text": "and this"}]))
    assert {"r-1", "r-1.2"} <= set(Parsed(export(repository, "html")).ids)


def test_an_inline_sub_agent_is_folded_away(repository):
    put(
        repository, user("go", 1), user("look for it", 2, isSidechain=True),
        assistant("found", 3, isSidechain=True), assistant("it is there", 4),
    )  # fmt: skip
    page = export(repository, "html")
    inside = page[page.index('<details class="agent">') : page.index("it is there")]
    assert "<span>Sub-agent</span> look for it" in inside
    assert inside.count("</details>") == 1
    assert "1 prompt," in page


# -- markdown ---------------------------------------------------------------------


def rendered(document):
    """The tokens of a document as a Markdown renderer with HTML sees them."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    tokens = parser.parse(document)
    return tokens, [c for token in tokens for c in token.children or ()]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_html_heading_or_image_of_a_document_comes_from_a_transcript(repository, text):
    put(repository, *everywhere(text))
    put(repository, *everywhere(text), name=f"{SESSION}/agent-1")
    document = export(repository, "md")
    blocks, inline = rendered(document)
    ours = re.compile(
        r"<details>\n<summary>(?:Output|Injected text|Summary|System), \d+ lines?</summary>\n"
        r"|</details>\n"
    )
    for token in blocks:
        if token.type == "html_block":
            assert ours.fullmatch(token.content), token.content
    assert not {"html_inline", "image"} & {token.type for token in inline}
    opened = [token for token in blocks if token.type == "html_block" and "<d" in token.content]
    assert len(opened) == 6  # three folds in the session, three in its sub-agent's
    headings = [(opening.tag, inside.content) for opening, inside in pairwise(blocks)
                if opening.type == "heading_open" and opening.level == 0]  # fmt: skip
    tags = Counter(tag for tag, _ in headings)
    assert tags["h1"] == 2  # the titles
    assert tags["h2"] == 1 + 2  # one prompt in the session; two tasks in its sub-agent's
    for tag, content in headings:
        assert tag != "h3" or re.fullmatch(r"(?:User|Task|Assistant)(?:, [\d :-]{19})?", content)


@pytest.mark.parametrize("text", HOSTILE)
def test_what_follows_a_message_is_not_drawn_into_it(text):
    tokens, _ = rendered(f"{contained(shown(text))}\n\nAFTER\n")
    assert tokens[-2].content == "AFTER"
    assert tokens[-2].level == 1


PIECES = st.sampled_from(
    ["<b>", "<!--", "-->", "</details>", "<a@b.c>", "`", "``", "```", "~~~", "\n", "\n\n", "    ",
     "\t", "> ", "- ", "1. ", "# ", "===", "---", "\n===\n", "|", "|---|", "![", "[a]", "(x)",
     "[a]: /x", "\\", "&lt;", "*", "_", "word", " ", "<?", "]]>", "<pre>", "<script>",
     "know-end-of-message"]
)  # fmt: skip


@settings(max_examples=400)
@given(st.lists(PIECES, max_size=30).map("".join))
def test_no_mixture_of_markdown_breaks_out_of_its_message(text):
    tokens, inline = rendered(f"{contained(text)}\n\nAFTER\n")
    assert (tokens[-2].content, tokens[-2].level) == ("AFTER", 1)
    for token in tokens:
        assert token.type != "html_block"
        assert token.type != "heading_open" or token.level or token.tag > "h3"
    assert not {"html_inline", "image"} & {token.type for token in inline}
    Parsed(to_html(text))


def test_a_fence_is_longer_than_any_in_the_text():
    text = "```\na\n`````\nb"
    (token,) = MarkdownIt().parse(fenced(text))
    assert token.type == "fence"
    assert token.content == f"{text}\n"


def test_markdown_that_does_no_harm_stays_as_it_is():
    text = "Use `<T>` here:\n\n```html\n<b>\n```\n\n- a *list*\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    assert contained(text) == text


def test_headings_in_a_message_stand_below_those_of_the_document():
    assert contained("# One\n\ntext\n\nTwo\n---\n\n`# no`") == (
        "#### One\n\ntext\n\n##### Two\n\n\n`# no`"
    )


def test_a_document_reads_as_a_conversation(repository):
    put(
        repository, user("why does it lock?", 1), assistant("Let me look.", 2),
        tool_call("Bash", 3, command="ls\n  -la"), tool_result("a\nb", 4, 3), assistant("Done.", 5),
    )  # fmt: skip
    document = export(repository, "md")
    assert document.startswith("# why does it lock?\n\n|  |  |\n|---|---|\n| Session | `claude/")
    assert (
        document[document.index("## 1.") :]
        == """\
## 1. why does it lock?

### User, 2026-05-01 10:00:01

why does it lock?

### Assistant, 2026-05-01 10:00:02

Let me look.

- **Bash** `ls -la`

<details>
<summary>Output, 2 lines</summary>

```text
a
b
```

</details>

Done.


"""
    )


# -- jsonl ------------------------------------------------------------------------


def test_the_form_of_json_lines_is_a_contract(repository):
    put(repository, user("why?", 1), tool_call("Bash", 2, command="ls"), {"type": "mode"})
    put(repository, user("task", 1, isSidechain=True), name=f"{SESSION}/agent-1")
    header, *records = map(json.loads, export(repository, "jsonl").splitlines())
    assert header == {
        "format": 1,
        "sessions": [
            {
                "session": f"claude/{SESSION}", "agent": "claude", "parent": "", "title": "why?",
                "project": "/home/dev/app", "branch": "main", "date": "2026-05-01T10:00:01.000Z",
                "sub_agent": False, "helper": False,
            },
            {
                "session": f"claude/{SESSION}/agent-1", "agent": "claude",
                "parent": f"claude/{SESSION}", "title": "task", "project": "/home/dev/app",
                "branch": "main", "date": "2026-05-01T10:00:01.000Z", "sub_agent": True,
                "helper": False,
            },
        ],
    }  # fmt: skip
    first = len(jsonl([user("why?", 1)]))
    assert records[0] == {
        "session": f"claude/{SESSION}", "key": "u-1", "parent": "", "role": "user",
        "time": "2026-05-01T10:00:01.000Z", "text": "why?", "calls": [], "line": 1, "start": 0,
        "end": first, "side": False,
    }  # fmt: skip
    assert records[1]["calls"] == [{"name": "Bash", "argument": "ls"}]
    assert [record["role"] for record in records] == ["user", "assistant", "system", "user"]
    assert records[3]["session"] == f"claude/{SESSION}/agent-1"
    assert records[3]["side"] is True


@pytest.mark.parametrize("text", HOSTILE)
def test_json_lines_hold_the_very_text_and_nothing_that_a_terminal_obeys(repository, text):
    put(repository, *everywhere(text))
    exported = export(repository, "jsonl")
    lines = exported.splitlines()
    assert lines == exported.split("\n")[:-1]  # no line separator but the one
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", exported)
    records = [json.loads(line) for line in lines[1:]]
    assert records[1]["text"] == text.encode("utf-8", "replace").decode()
    assert exported.encode()


def test_json_lines_are_never_cut(repository):
    put(repository, user("go", 1), tool_result("x" * 50_000, 2, 1))
    exported = export(repository, "jsonl", Limits(1, 1, 1, 1, 1))
    assert len(json.loads(exported.splitlines()[2])["text"]) == 50_000


# -- what is left out ---------------------------------------------------------------


@pytest.mark.parametrize("kind", ["md", "html"])
def test_a_long_output_is_cut_with_a_note_and_shown_in_full_on_demand(repository, kind):
    output = "\n".join(f"line {number} of it" for number in range(5000))
    put(repository, user("go", 1), tool_result(output, 2, 1))
    page = export(repository, kind)
    noted = re.search(r"([\d,]+) characters left out; .{1,6}know export --full", page)
    assert noted
    left_out = int(noted[1].replace(",", ""))
    assert len(output) - 8000 <= left_out < len(output) - 5000
    assert "line 0 of it" in page
    assert "line 4999 of it" in page
    assert "5,000 lines" in page
    full = export(repository, kind, FULL)
    assert output in full
    assert "left out" not in full


@pytest.mark.parametrize("kind", ["md", "html"])
def test_of_an_endless_session_all_prompts_and_both_ends_are_shown(repository, kind):
    records = [
        user(f"prompt{n}.", n) if n % 50 == 0 else assistant(f"said{n}.", n) for n in range(1, 501)
    ]
    put(repository, *records)
    page = export(repository, kind, Limits(records=100, last=60))
    assert set(re.findall(r"prompt(\d+)\.", page)) == {str(n) for n in range(50, 501, 50)}
    said = {int(n) for n in re.findall(r"said(\d+)\.", page)}
    assert said == {n for n in [*range(1, 101), *range(441, 501)] if n % 50}
    left_out = re.findall(r"(\d+) records left out", page)
    assert sum(map(int, left_out)) == 500 - len(said) - 10
    assert "500 records" in page or kind == "md"
    assert "left out" not in export(repository, kind, FULL)


@pytest.mark.parametrize("kind", ["md", "html"])
def test_when_all_outputs_are_too_much_the_rest_says_how_much_it_was(repository, kind):
    put(repository, user("go", 1), *[tool_result("y" * 90 + str(n), n, 1) for n in range(2, 9)])
    page = export(repository, kind, Limits(outputs=200))
    assert page.count("y" * 90) == 2
    assert page.count("91 characters left out") == 5


@pytest.mark.parametrize("kind", ["md", "html"])
def test_when_all_messages_are_too_much_both_ends_of_each_prompt_are_shown(repository, kind):
    put(repository, *[user(f"begin{n} {'y' * 2000} end{n}", n) for n in range(1, 9)])
    page = export(repository, kind, Limits(messages=5000))
    assert page.count("y" * 2000) == 2
    assert all(f"begin{n}" in page and f"end{n}" in page for n in range(1, 9))
    assert len(re.findall(r"1,5\d\d characters left out", page)) == 6
    assert "left out" not in export(repository, kind, FULL)


def test_a_session_without_words_has_a_page(repository):
    put(repository, {"type": "summary", "summary": "", "leafUuid": "x"})
    for kind in FORMATS:
        assert SESSION in export(repository, kind)


# -- sub-agents ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", sorted(FORMATS))
def test_sub_agents_follow_their_session_unless_they_are_not_wanted(repository, kind):
    put(repository, user("the question"), name=SESSION)
    put(repository, user("LATER", timestamp="2026-05-02T00:00:00Z"), name=f"{SESSION}/agent-1")
    put(repository, user("EARLIER", timestamp="2026-05-01T23:00:00Z"), name=f"{SESSION}/agent-2")
    page = export(repository, kind)
    assert page.rindex("the question") < page.rindex("EARLIER") < page.rindex("LATER")
    assert "EARLIER" not in export(repository, kind, sub_agents=False)


def test_a_sub_agent_can_be_exported_alone(repository):
    put(repository, user("the question"))
    put(repository, user("the task"), name=f"{SESSION}/agent-1")
    page = export(repository, "md", name="agent-1")
    assert "the task" in page
    assert "the question" not in page


def test_sub_agents_whose_session_is_not_archived_have_a_page(repository):
    put(repository, user("the task"), name=f"{SESSION}/agent-1")
    for kind in FORMATS:
        assert "the task" in export(repository, kind)


def test_a_session_that_no_reader_here_knows_is_named(repository):
    path = repository.sessions / "future" / "abcdef.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"{}\n")
    with pytest.raises(KnowError, match="no reader for sessions of future"):
        open_page(repository, resolve(repository, "abcdef"))


# -- text ----------------------------------------------------------------------------


def test_terminal_escapes_are_taken_out_and_text_between_them_stays():
    given = "a\x1b[1;31mred\x1b[0m \x1b]0;title\x07b\x1b]8;;https://example.org\x1b\\c\x1b(Bd\x1bMe"
    assert shown(given) == "ared bcde"


def test_controls_and_reordering_characters_are_made_visible():
    assert shown("a\x00b\x9bc\u202ed\u2066e\u200ff") == "a\ufffdb\ufffdc[U+202E]d[U+2066]e\u200ff"
    assert shown("10%\r100%\r\nend\tx") == "10%\n100%\nend\tx"


def test_half_an_emoji_can_be_written():
    assert shown("a\ud83db").encode() == b"a?b"


def test_ordinary_text_is_not_touched():
    text = "Grüße 你好 שלום 👩‍💻 1\t2\n3"
    assert shown(text) == text


def test_a_cut_keeps_both_ends_and_counts_the_rest():
    text = "".join(f"{number}\n" for number in range(1000))
    done = cut(text, 400)
    assert text.startswith(done.head)
    assert text.endswith(done.tail)
    assert len(done.head) + done.left_out + len(done.tail) == len(text)
    assert 200 < len(done.head) + len(done.tail) <= 400
    assert cut(text, len(text)) == (text, 0, "")
    assert cut("abc", 0) == ("", 3, "")
    less = shorter(done, 100)
    assert text.startswith(less.head)
    assert text.endswith(less.tail)
    assert len(less.head) + less.left_out + len(less.tail) == len(text)
    assert len(less.head) + len(less.tail) == 100
    assert shorter(cut(text, len(text)), 400) == done
    assert shorter(done, 0) == ("", len(text), "")


def test_a_line_is_cut_at_a_word():
    assert one_line("one two three four", 12) == "one two…"
    assert one_line("x" * 50, 10) == "x" * 9 + "…"
    assert first_line("\n\n  a  b\nc", 10) == "a b"


def test_markdown_that_would_take_for_ever_or_too_deep_is_shown_as_it_is():
    assert to_html("*a" * 40_000).startswith("<pre>")
    assert "<blockquote>" in to_html("> " * 15 + "deep")
