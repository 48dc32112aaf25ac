"""``know forget``, and what must not bring a forgotten session back."""

from __future__ import annotations

import pytest
from filelock import FileLock

from helpers import SESSION, assistant, git, jsonl, transcript, user, write
from knowrepo.index import purge
from knowrepo.sessions import publish

WORD = "zebrafinch"


@pytest.fixture
def know(know, repository):
    git(repository.root, "add", "-A")
    git(repository.root, "commit", "-qm", "start", "--allow-empty")
    return know


@pytest.fixture
def source(tmp_path):
    return transcript(tmp_path / "in", [user(f"tell me of the {WORD}", 1), assistant("ok", 2)])


# -- committing -------------------------------------------------------------------


def test_a_commit_after_forgetting_holds_the_deletion_and_the_tombstone(know, repository, source):
    know("archive", str(source), "--commit")
    know("forget", SESSION, "--yes")
    result = know("archive", str(source), "--commit")
    assert (result.code, "committed 2 files" in result.err) == (0, True)
    assert git(repository.root, "status", "--porcelain") == ""
    shown = git(repository.root, "show", "--name-status", "--format=%s", "HEAD").split("\n\n")
    assert shown[0] == "Forget 1 session"
    assert sorted(shown[1].split()) == [
        "A", "D", f"sessions/claude/{SESSION}.forgotten", f"sessions/claude/{SESSION}.jsonl"
    ]  # fmt: skip


def test_a_commit_takes_no_file_that_the_archive_did_not_make(know, repository, source):
    folder = repository.sessions / "claude"
    folder.mkdir(exist_ok=True)
    for name in ("notes.txt", ".x.jsonl.ab.tmp", ".hidden.jsonl"):
        (folder / name).write_text("mine\n")
    assert know("archive", str(source), "--commit").code == 0
    shown = git(repository.root, "show", "--name-only", "--format=", "HEAD")
    assert shown == f"sessions/claude/{SESSION}.jsonl\n"


def test_a_commit_of_sessions_that_git_ignores_fails_and_says_so(know, repository, source):
    (repository.git_dir / "info" / "exclude").write_text("*.jsonl\n")
    result = know("archive", str(source), "--commit")
    assert result.code == 1
    assert f"git ignores sessions/claude/{SESSION}.jsonl" in result.err
    assert "git has all sessions" not in result.err


# -- what is left of a forgotten session ------------------------------------------


def texts(folder) -> list[str]:
    """The files below a folder that hold the word, but git's own objects."""
    files = (path for path in folder.rglob("*") if path.is_file() and "objects" not in path.parts)
    return [str(path) for path in files if WORD.encode() in path.read_bytes()]


def put(repository, name, *records):
    path = repository.sessions / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(jsonl(records or [user(f"tell me of the {WORD}", 1)]))
    return path


def test_a_forgotten_session_that_a_merge_brings_is_found_nowhere(know, repository, source):
    know("archive", str(source))
    know("forget", SESSION, "--yes")
    back = put(repository, f"claude/{SESSION}")  # as a clone has it that archived late
    assert WORD not in know("recall", WORD).out
    assert SESSION not in know("sessions").out
    assert "was forgotten" in know("export", SESSION).err
    assert know("archive", str(source)).out.startswith(f"claude/{SESSION}: forgotten")
    result = know("check")
    assert result.code == 1
    assert f"sessions/claude/{SESSION}.jsonl:1:1: error KNOW304" in result.out
    assert f"know forget claude/{SESSION} --yes" in result.out
    know("archive", str(source), "--commit")
    assert back.is_file()  # only a person's word removes it
    assert git(repository.root, "ls-files", "--", str(back)) == ""
    assert know("forget", SESSION, "--yes").code == 0
    assert know("check").code == 0
    assert texts(repository.root) == []


def test_a_sub_agent_that_was_forgotten_alone_is_reported_alone(know, repository):
    put(repository, f"claude/{SESSION}", user("hello", 1))
    below = put(repository, f"claude/{SESSION}/agent-1")
    know("forget", f"claude/{SESSION}/agent-1", "--yes")
    put(repository, f"claude/{SESSION}/agent-1")
    found = [line for line in know("check").out.splitlines() if "KNOW304" in line]
    assert len(found) == 1
    assert f"know forget claude/{SESSION}/agent-1 --yes" in found[0]
    assert below.is_file()


@pytest.mark.parametrize(
    "left",
    [f"{SESSION}.2", f"{SESSION}/agent-1", f"{SESSION}/agent-1.3", f".{SESSION}.jsonl.0a1b.tmp"],
)
def test_forgetting_takes_every_file_that_has_the_sessions_name(know, repository, left):
    put(repository, f"claude/{SESSION}", user("hello", 1))
    other = put(repository, f"claude/{SESSION[:-1]}f", user("other", 1))
    path = put(repository, f"claude/{left}")
    if left.endswith(".tmp"):
        path.rename(path.with_suffix(""))
    result = know("forget", f"claude/{SESSION}", "--yes")
    assert "forgotten; 2 files" in result.out
    assert texts(repository.root) == []
    assert other.is_file()


@pytest.mark.parametrize("left", [f"{SESSION}.1", f"{SESSION}/agent-1"])
def test_forgetting_works_where_the_first_file_is_missing(know, repository, left):
    put(repository, f"claude/{left}")
    assert know("forget", SESSION, "--yes").code == 0
    assert texts(repository.root) == []
    assert (repository.sessions / "claude" / f"{SESSION}.forgotten").is_file()


def test_forgetting_follows_sub_agents_of_sub_agents(know, repository):
    parent, child, grandchild, last = (f"0000000{n}-0b0a-4908-8706-050403020100" for n in range(4))
    put(repository, f"codex/{parent}")
    put(repository, f"codex/{parent}/{child}")
    put(repository, f"codex/{child}/{grandchild}")
    put(repository, f"codex/{grandchild}/{last}")
    put(repository, f"codex/{last}/{parent}")  # whatever somebody's file says
    other = put(repository, f"claude/{child}/{grandchild}", user("of another agent", 1))
    assert "forgotten; 5 files" in know("forget", f"codex/{parent}", "--yes").out
    assert texts(repository.root) == []
    assert other.is_file()
    put(repository, f"codex/{child}/{grandchild}")
    assert "codex" not in know("sessions").out


def test_a_session_that_has_a_sub_agents_id_keeps_what_is_its_own(know, repository):
    put(repository, f"codex/{SESSION}")
    put(repository, f"codex/{SESSION}/abcd-1")
    own = put(repository, "codex/abcd-1", user("a session of its own", 1))
    below = put(repository, "codex/abcd-1/agent-9", user("its task", 1))
    know("forget", f"codex/{SESSION}", "--yes")
    assert own.is_file()
    assert below.is_file()
    assert not (repository.sessions / "codex" / "abcd-1.forgotten").exists()


def test_no_link_is_followed_to_what_is_not_the_sessions(know, repository):
    put(repository, f"claude/{SESSION}")
    (repository.root / "concepts" / "a.md").write_text("mine\n")
    (repository.sessions / "claude" / SESSION).symlink_to(repository.root / "concepts")
    assert know("forget", SESSION, "--yes").code == 0
    assert (repository.root / "concepts" / "a.md").is_file()


def test_what_a_killed_run_left_does_not_bring_a_session_back(
    know, repository, source, tmp_path, monkeypatch
):
    class KilledError(BaseException):
        pass

    rows = [user(f"{WORD} {n} " + "x" * 200, n) for n in range(30)]
    first = repository.sessions / "claude" / f"{SESSION}.jsonl"
    whole = transcript(tmp_path / "whole", rows)
    done = 0

    def replace(temporary, target):
        nonlocal done
        done += 1
        if done > 1:
            raise KilledError
        temporary.replace(target)

    with monkeypatch.context() as patch:
        patch.setattr(publish, "put_in_place", replace)
        with pytest.raises(KilledError):
            publish.publish(whole, first, repository.locks / publish.PUBLISHING, most=3000)
    assert (repository.locks / publish.PUBLISHING).is_dir()
    (repository.locks / "archive").mkdir()
    (repository.locks / "archive" / "session.jsonl").write_text(WORD)
    know("forget", SESSION, "--yes")
    other = transcript(tmp_path / "other", [user("x", 1)], SESSION.replace("0f0e", "1f0e"))
    know("archive", str(other))
    assert texts(repository.root) == []


def test_a_catalog_in_use_is_said_and_nothing_is_called_forgotten(
    know, repository, source, monkeypatch
):
    monkeypatch.setattr(purge, "WAIT_SECONDS", 0.01)
    know("archive", str(source))
    know("recall", WORD)
    with FileLock(repository.locks / "catalog.lock"):
        result = know("forget", SESSION, "--yes")
    assert (result.code, result.out) == (1, "")
    assert "marked as forgotten, and not removed yet" in result.err
    result = know("forget", SESSION, "--yes")
    assert (result.code, "forgotten; 1 file," in result.out) == (0, True)
    assert texts(repository.root) == []


def test_the_catalogs_of_other_work_trees_forget_too(know, repository, source, tmp_path):
    know("archive", str(source), "--commit")
    other = tmp_path / "other"
    git(repository.root, "worktree", "add", "-q", str(other))
    know("recall", WORD, "--repo", str(other))
    know("forget", SESSION, "--yes")
    know("archive", str(source), "--commit")
    git(other, "reset", "-q", "--hard", "main")
    assert WORD not in know("recall", WORD, "--no-log", "--repo", str(other)).out
    assert texts(repository.root) + texts(other) == []


def test_forgetting_names_the_concepts_that_quote_the_session(know, repository):
    put(repository, f"claude/{SESSION}")
    cited = f'sources: [{{id: r1, resource: "../sessions/claude/{SESSION}.jsonl#1"}}]\n'
    text = "---\ntype: Failure\n{}---\n\nIt failed.\n"
    write(repository, "concepts/kept.md", text.format(cited))
    write(repository, "concepts/draft.md", text.format(cited), stage=False)
    write(repository, "concepts/other.md", text.format(cited.replace(SESSION, f"{SESSION}-2")))
    result = know("forget", SESSION, "--yes")
    named = result.err.partition("still quote it")[2].partition("commit it")[0]
    assert "delete them" in named
    assert [line.strip() for line in named.splitlines()[1:] if line.strip()] == [
        "concepts/draft.md", "concepts/kept.md"
    ]  # fmt: skip


def test_forgetting_says_nothing_of_concepts_where_none_quotes_the_session(know, repository):
    put(repository, f"claude/{SESSION}")
    assert "quote" not in know("forget", SESSION, "--yes").err
