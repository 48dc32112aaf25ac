"""Input that was made to stop the check, or to keep it busy: it does neither."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowrepo.concepts import markdown
from knowrepo.concepts.checking.findings import Finding
from knowrepo.concepts.checking.tree import ListedTree
from knowrepo.concepts.checking.validate import check
from knowrepo.concepts.document import parse
from knowrepo.concepts.markdown import outline

HEAD = "---\ntype: X\n---\n"
MANY = 20_000
PATHS = st.sampled_from(["a.md", "index.md", "log.md", "README.md", "sub/b.md", "sub/index.md"])
SCRAPS = st.sampled_from(
    ["---", "\n", ": ", "type: X", "[", "](", ")", "a.md", "#x", "[^n]", "[[w]]", "`", "```\n", "|",
     "- ", "> ", "# ", "<a ", "&a ", "*a", "{", "}", "\t", "\r\n", "\0", "\ufeff", "%2F", "..", "/",
     "verified: ", 'status: "a\\nb"\n', "[^\x1b]", "sources:\n", "- id: n\n",
     "human:", "2026-01-01", "# Citations", "<<<<<<< a\n"]
)  # fmt: skip


def run(files: dict[str, bytes]) -> list[Finding]:
    contents = {f"concepts/{path}": data for path, data in files.items()}
    return check(contents, ListedTree(contents, contents.get))


@given(st.dictionaries(PATHS, st.binary(max_size=200), max_size=3))
def test_no_bytes_raise(files):
    run(files)
    run({path: b"---\n" + data + b"\n---\n" + data for path, data in files.items()})


@given(st.dictionaries(PATHS, st.lists(SCRAPS, max_size=40).map("".join), max_size=3))
def test_no_pieces_of_a_concept_put_together_raise(texts):
    files = {path: text.encode() for path, text in texts.items()}
    run(files)
    for finding in run({path: HEAD.encode() + data for path, data in files.items()}):
        assert finding.line >= 1 <= finding.column
        assert finding.message.isprintable()


@given(st.lists(SCRAPS, max_size=40).map("".join))
def test_every_place_is_one_of_the_file(text):
    data = (HEAD + text).encode()
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for finding in run({"a.md": data}):
        assert finding.line <= len(lines) + 3


@pytest.mark.parametrize(
    "body",
    [
        "[" * MANY, "[a](" * MANY, "![" * MANY, "](" * MANY, "[^" * MANY, "[[" * MANY, "<" * MANY,
        "](x)" + "*_" * MANY, "`" * MANY + "](x)", "> " * MANY, "- " * MANY, "1. " * MANY,
        "](" + "<a " * MANY, "](" + "&a" * MANY, "\\[" * MANY, "a\n" * MANY + "===",
        "|" + "a|" * 5000 + "\n|" + "-|" * 5000 + "\n" + "|`[\n" * 2000,
        "\n".join(" " * n + "- x" for n in range(300)),
    ],
    ids=range(18),
)  # fmt: skip
def test_a_body_that_is_made_to_take_long_does_not(body):
    """Each of these takes minutes, or hours, in quadratic time; the test run is the limit."""
    run({"a.md": (HEAD + body).encode()})


@pytest.mark.parametrize(
    "front",
    [
        "a: " + "[" * MANY, "a: " + "{b: " * MANY, "- " * MANY, "? " * MANY, "&a [*a]",
        "a: &a {b: *a}",
        "<<: &a {<<: *a}", '"' + "\\x41" * MANY,
        "a: &a [x,x,x,x,x,x,x,x,x]\n"
        + "".join(f"k{n}: &k{n} [{','.join([f'*{p}'] * 9)}]\n"
                  for n, p in enumerate(["a", *(f"k{m}" for m in range(30))])),
    ],
    ids=range(9),
)  # fmt: skip
def test_a_front_matter_that_is_made_to_grow_does_not(front):
    document = parse(f"---\ntype: X\n{front}\n---\n".encode())
    assert len(document.places) < 1000
    run({"a.md": f"---\ntype: X\n{front}\n---\n".encode()})


def test_text_in_a_block_is_parsed_only_where_it_can_hold_what_is_looked_for(monkeypatch):
    def refuse() -> None:
        raise AssertionError("parsed")

    monkeypatch.setattr(markdown, "_inline_parser", refuse)
    outline("# Heading\n\nWords, *emphasis*, `code` and [brackets].\n\n- a list\n\n| a | b |\n")
    with pytest.raises(AssertionError, match="parsed"):
        outline("`code` and a [link](a.md)")


def test_links_and_footnotes_have_their_places():
    body = (
        "one [a](a.md) two [b](<b c.md>)\n"
        "[text\nover lines](c.md) and [![image](d.png)](e.md)\n\n"
        "> quoted [f](f.md)\n\n"
        "| x | y | z |\n|---|---|---|\n| `a|b` | [g](g.md) |\n\n"
        "[ref][r] and note[^n] `[^no]` [[wiki|text]]\n\n"
        "[r]: h.md\n[^n]: https://example.org/n\n"
    )
    seen = outline(body)
    lines = body.split("\n")
    direct = {link.target: link for link in seen.links if link.target != "h.md"}
    assert set(direct) == {
        "a.md", "b c.md", "c.md", "d.png", "e.md", "f.md", "g.md", "https://example.org/n",
    }  # fmt: skip
    for link in direct.values():
        if not link.target.startswith("https:"):
            assert lines[link.line][link.column :].startswith(link.target)
    assert [link.target for link in seen.footnotes] == ["n"]
    assert seen.definitions == {"n"}
    assert [link.target for link in seen.wikilinks] == ["wiki"]
    for link, text in ((seen.footnotes[0], "[^n]"), (seen.wikilinks[0], "[[wiki")):
        assert lines[link.line][link.column :].startswith(text)


def test_many_links_to_many_headings_and_a_long_chain_take_no_square_of_time():
    headings = "".join(f"# h{n}x\n\n[x](#gone{n}x)\n\n" for n in range(4_000))
    found = run({"a.md": (HEAD + headings).encode()})
    assert len([finding for finding in found if finding.code == "OKF234"]) == 4_000
    chain = {
        f"c{n}.md": f"---\ntype: X\nsuperseded_by: c{(n + 1) % 4000}.md\n---\n".encode()
        for n in range(4_000)
    }
    assert len([finding for finding in run(chain) if finding.code == "OKF287"]) == 4_000
    examples = "```\n" + "<<<<<<< a\n" * MANY + "=======\n>>>>>>> b\n```\n"
    assert not [f for f in run({"a.md": (HEAD + examples).encode()}) if f.code == "OKF214"]


def test_processes_find_what_one_finds(monkeypatch):
    from knowrepo.concepts.checking import validate

    files = {
        f"c{n}.md": (HEAD + f"[x](c{n + 2}.md)\n\n[^{n}] human: x\n").encode() for n in range(40)
    }
    alone = run(files)
    assert len(alone) > 40
    monkeypatch.setattr(validate, "_WORTH_A_PROCESS", 0)
    monkeypatch.setattr(validate, "_processors", lambda: 2)
    assert run(files) == alone
    monkeypatch.setattr(validate, "_pages_by_processes", lambda *_: None)  # no semaphores here
    assert run(files) == alone


# ^C reaches each process of the terminal, here the one that starts and has got no further
# than its first module.
STARTED_BY = """\
import multiprocessing, os, signal, sys

if __name__ == "__mp_main__":
    os.kill(os.getpid(), signal.SIGINT)

if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    from knowrepo.concepts.checking import validate

    files = {f"c{n}.md": b"x" for n in range(40)}
    scope = validate.Scope("knowledge", validate.datetime.now(validate.UTC), False)
    pages = validate._pages_by_processes(files, scope, 2)
    print(pages and len(pages))
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver"])  # of macOS; of Python 3.14
def test_an_interrupt_while_processes_start_is_left_to_the_one_that_starts_them(tmp_path, method):
    program = tmp_path / "program.py"
    program.write_text(STARTED_BY)
    done = subprocess.run(
        [sys.executable, program, method], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.stderr, done.returncode) == ("40\n", "", 0)
