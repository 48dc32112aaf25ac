"""``know eval`` as it is typed, and as a build runs it."""

from __future__ import annotations

import io
import json
import stat

import pytest

from helpers import concept, jsonl, user, write
from knowrepo.evaluate.cases import parse

SESSION = "768de5d6-0000-4000-8000-000000000001"
OTHER = "768de5ff-0000-4000-8000-000000000002"
CASES = """\
# ours
[[case]]
query = "sqlite words"
expect = "decisions/two-stores"
kind = "words"

[[case]]
query = "tag:capture"
expect = "decisions/hooks"
route = "structured"
"""
FAILING = """
[[case]]
query = "walrus build"
expect = "decisions/hooks"
kind = "words"
"""


@pytest.fixture
def filled(repository):
    write(
        repository, "concepts/decisions/two-stores.md",
        concept("Two stores", tags=["storage"], body="SQLite holds words, DuckDB holds vectors."),
    )  # fmt: skip
    write(
        repository, "concepts/decisions/hooks.md",
        concept("Hooks only enqueue", tags=["capture"], body="A hook writes a file into a queue."),
    )  # fmt: skip
    (repository.sessions / "claude").mkdir()
    for name, text in ((SESSION, "the walrus build fails"), (OTHER, "the otter is upside down")):
        path = repository.sessions / "claude" / f"{name}.jsonl"
        path.write_bytes(jsonl([user(text, sessionId=name)]))
    return repository


@pytest.fixture
def cases(filled):
    path = filled.root / "eval.toml"
    path.write_text(CASES)
    return path


# -- asking -----------------------------------------------------------------------


def test_all_that_passes_is_a_table_and_nothing_else(know, cases):
    result = know("eval")
    assert result.code == 0
    assert result.out.splitlines() == [
        "kind   cases  passed  hit@1  hit@k  MRR",
        "-----  -----  ------  -----  -----  -----",
        "-          1       1  1.000  1.000  1.000",
        "words      1       1  1.000  1.000  1.000",
        "all        2       2  1.000  1.000  1.000",
    ]
    assert result.err == (
        "note: no vectors yet, so words only; `know index` makes them\n2 of 2 cases pass\n"
    )
    assert know("eval", "-q").err == ""


def test_by_words_only_is_said_where_it_is_wanted(know, cases):
    assert know("eval", "--lexical").err.startswith("note: by words only, as --lexical says\n")


def test_a_case_that_fails_is_a_line_with_its_place_and_the_exit_code(know, cases):
    cases.write_text(CASES + FAILING)
    result = know("eval")
    assert result.code == 1
    lines = result.out.splitlines()
    assert lines[0].startswith(
        "eval.toml:12: `walrus build`: expected decisions/hooks in the first 5;"
        " the lexical layer finds 1 hit without it; the first is ["
    )
    assert lines[0].endswith("] claude/768de5d6")
    assert lines[1] == ""
    assert lines[-1].split() == ["all", "3", "2", "0.667", "0.667", "0.667"]
    assert result.err.endswith("2 of 3 cases pass\n")


def test_knowledge_that_goes_fails_the_build(know, cases, filled, commit):
    commit()
    assert know("eval").code == 0
    (filled.concepts / "decisions" / "hooks.md").unlink()
    commit()
    result = know("eval")
    assert result.code == 1
    assert "eval.toml:7: `tag:capture`: decisions/hooks names no document\n" in result.out


def test_another_file_is_named_as_the_shell_names_it(know, cases, filled, tmp_path, monkeypatch):
    folder = filled.root / "tests here"
    folder.mkdir()
    (folder / "more.toml").write_text(FAILING)
    assert know("eval", "tests here/more.toml").out.startswith("tests here/more.toml:2: ")
    monkeypatch.chdir(folder)
    assert know("eval", "more.toml").out.startswith("more.toml:2: ")
    assert know("eval").code == 0  # that of the root, from wherever
    monkeypatch.chdir(tmp_path)
    result = know("eval", "--repo", str(filled.root), str(folder / "more.toml"))
    assert result.code == 1


def test_json_has_a_version_and_all_cases(know, cases):
    cases.write_text(CASES + FAILING + '\n[[case]]\nquery = "zeppelin"\nnone = true\n')
    result = know("eval", "--json", "--lexical")
    assert result.code == 1
    told = json.loads(result.out)
    assert list(told) == ["version", "file", "lexical", "notes", "cases", "kinds", "all"]
    assert (told["version"], told["file"], told["lexical"]) == (1, "eval.toml", True)
    assert told["cases"][0] == {
        "line": 2, "query": "sqlite words", "kind": "words", "expect": ["decisions/two-stores"],
        "k": 5, "passed": True, "rank": 1, "route": "lexical",
        "first": "concepts/decisions/two-stores.md", "problem": "",
    }  # fmt: skip
    failed, nothing = told["cases"][2:]
    assert (failed["line"], failed["passed"], failed["rank"]) == (12, False, None)
    assert (nothing["expect"], nothing["first"], nothing["passed"]) == ([], None, True)
    assert told["kinds"][-1] == {
        "kind": "words", "cases": 2, "passed": 1, "hit_at_1": 0.5, "hit_at_k": 0.5, "mrr": 0.5,
    }  # fmt: skip
    assert told["all"]["cases"] == 4
    assert told["all"]["hit_at_1"] == 0.6667


def test_a_file_that_cannot_be_understood_is_wrong_usage(know, cases):
    cases.write_text(CASES + "limit = 3\n")
    result = know("eval")
    assert (result.code, result.out) == (2, "")
    assert result.err == "know: eval.toml:11: `limit` means nothing in a case\n"


@pytest.mark.parametrize("text", [None, "# nothing\n"])
def test_where_there_is_no_case_it_says_how_to_make_one(know, filled, text):
    if text:
        (filled.root / "eval.toml").write_text(text)
    result = know("eval")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("know: eval.toml: ")
    assert "know eval --add" in result.err


def test_a_file_that_a_clone_leads_elsewhere_is_not_read(know, filled, tmp_path):
    outside = tmp_path / "outside.toml"
    outside.write_text(CASES)
    (filled.root / "eval.toml").symlink_to(outside)
    for options in ([], ["--add", "queue", "--expect", "decisions/hooks"]):
        result = know("eval", *options)
        assert result.code == 1
        assert "leads out of the repository" in result.err
    assert outside.read_text() == CASES


def test_escapes_of_a_cloned_file_do_not_reach_the_terminal(know, cases):
    cases.write_text('[[case]]\nquery = "\\u001b]0;x\\u0007zeppelin"\nexpect = "decisions/hooks"\n')
    assert "\x1b" not in know("eval").out
    cases.write_text('[[case]]\n"\\u001b[31m" = 1\n')
    assert "\x1b" not in know("eval").err


@pytest.mark.parametrize(
    "options",
    [["--expect", "a"], ["--none"], ["--kind", "a"], ["-k", "3"]],
)
def test_what_describes_a_case_needs_one_to_add(know, cases, options):
    result = know("eval", *options)
    assert result.code == 2
    assert "--add" in result.err


# -- recording --------------------------------------------------------------------


def add(know, *options):
    return know("eval", "--add", "how is the queue written", *options)


def test_a_recorded_case_is_appended_by_its_whole_name_and_says_whether_it_passes(know, cases):
    before = cases.read_bytes()
    result = add(know, "--expect", "decisions/hooks", "--kind", "words", "-k", "3")
    assert (result.code, result.out, result.err) == (0, "eval.toml:12\n", "it passes now, at 1\n")
    assert cases.read_bytes() == before + (
        b'\n[[case]]\nquery = "how is the queue written"\n'
        b'expect = "concepts/decisions/hooks.md"\nkind = "words"\nk = 3\n'
    )
    assert know("eval").code == 0


def test_a_session_is_recorded_by_its_whole_id(know, filled):
    assert know("eval", "--add", "walrus", "--expect", "claude/768de5d6").code == 0
    (case,) = parse((filled.root / "eval.toml").read_bytes(), "eval.toml")
    assert case.expect == (f"sessions/claude/{SESSION}",)


def test_several_that_will_do_are_one_case(know, filled):
    result = add(know, "--expect", "decisions/hooks", "--expect", "decisions/two-stores.md")
    assert result.code == 0
    (case,) = parse((filled.root / "eval.toml").read_bytes(), "eval.toml")
    assert case.expect == ("concepts/decisions/hooks.md", "concepts/decisions/two-stores.md")


def test_a_query_that_nothing_answers_is_recorded_too(know, cases):
    result = know("eval", "--add", "zeppelin", "--none")
    assert (result.code, result.err) == (0, "it passes now\n")
    assert cases.read_text().endswith('[[case]]\nquery = "zeppelin"\nnone = true\n')


def test_a_case_that_fails_now_is_recorded_and_says_so(know, cases):
    result = know("eval", "--add", "walrus", "--expect", "decisions/hooks", "--json")
    assert result.code == 0
    told = json.loads(result.out)
    assert (told["version"], told["line"], told["passed"]) == (1, 12, False)
    assert know("eval").code == 1


@pytest.mark.parametrize("expect", ["decisions/two-stores", "concepts/decisions/two-stores.md"])
def test_a_case_that_is_there_is_not_recorded_again(know, cases, expect):
    result = know("eval", "--add", " SQLite  words", "--expect", expect)
    assert result.code == 1
    assert "eval.toml:2: has this case already" in result.err
    assert cases.read_text() == CASES


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--expect", "decisions/gone"], 1, "names no document"),
        (["--expect", "claude/768d"], 1, "could be claude/"),
        (["--none", "--expect", "decisions/hooks"], 2, "--none excludes"),
        (["--none", "-k", "2"], 2, "--none excludes"),
        (["--expect", "decisions/hooks", "-k", "101"], 2, "from 1 to 100"),
        ([], 2, "--expect"),
    ],
)
def test_what_cannot_be_recorded_leaves_the_file_alone(know, cases, options, code, said):
    result = add(know, *options)
    assert result.code == code
    assert said in result.err
    assert cases.read_text() == CASES


def test_nothing_is_added_to_a_file_that_is_malformed(know, cases):
    cases.write_text("[[case]\n")
    assert add(know, "--expect", "decisions/hooks").code == 2
    assert cases.read_text() == "[[case]\n"


def test_a_secret_is_not_written_into_a_file_that_is_shared(know, cases):
    token = "gh" + "p_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A"
    result = know("eval", "--add", f"where is {token}", "--none")
    assert result.code == 1
    assert token not in result.err
    assert cases.read_text() == CASES


def test_a_file_keeps_its_permissions_and_a_link_stays_one(know, filled):
    real = filled.root / "real.toml"
    real.write_text(CASES)
    real.chmod(0o640)
    link = filled.root / "eval.toml"
    link.symlink_to("real.toml")
    assert add(know, "--expect", "decisions/hooks").code == 0
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert len(parse(real.read_bytes(), "e")) == 3


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def typed(monkeypatch):
    """A person at a terminal who types these answers."""

    def give(*answers: str) -> None:
        monkeypatch.setattr("sys.stdin", Terminal("".join(f"{answer}\n" for answer in answers)))

    return give


def test_at_a_terminal_a_person_says_which_hit_is_right(know, cases, typed):
    typed("two", "1")
    result = know("eval", "--add", "queue")
    assert result.code == 0
    assert " 1 [" in result.err
    assert "decisions/hooks" in result.err
    assert parse(cases.read_bytes(), "e")[-1].expect == ("concepts/decisions/hooks.md",)


@pytest.mark.parametrize(("query", "answer"), [("queue", "0"), ("queue", "7"), ("zeppelin", "1")])
def test_where_no_hit_is_right_nothing_is_recorded(know, cases, typed, query, answer):
    typed(answer)
    result = know("eval", "--add", query)
    assert result.code == 1
    assert "--expect" in result.err
    assert cases.read_text() == CASES
