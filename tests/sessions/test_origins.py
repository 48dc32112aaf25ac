"""Which project a session is of: the same from every clone, work tree and machine."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from helpers import git, make_repository, transcript, user
from knowrepo.config import Project
from knowrepo.git.repo import identify_project, shared_identity
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog, Filter
from knowrepo.sessions.archive import archive
from knowrepo.sessions.forget import forget
from knowrepo.sessions.listing import find
from knowrepo.sessions.origin import Origin, note, origin_of
from knowrepo.sessions.origins import Origins
from knowrepo.sessions.projects import Projects
from knowrepo.sessions.redact.settings import redactor_for
from knowrepo.sessions.store import SessionName

REMOTE = "https://git.example.com/acme/Payments.git"


def code(folder: Path, remote: str = "") -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    (folder / "main.py").write_text(f"# {folder.name}\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", f"begin {folder.name}")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder


def session(folder: Path, number: int, text: str = "walrus") -> Path:
    name = f"0f0e0d0c-0b0a-4908-8706-{number:012d}"
    record = user(f"{text} {number}", 1, cwd=str(folder), sessionId=name)
    return transcript(folder.parent / f"transcripts-{number}", [record], f"{name}.jsonl")


def projects_found(repository, name: str) -> list[str]:
    refresh(repository)
    catalog = Catalog.open(repository.catalog)
    assert catalog is not None
    with catalog:
        return sorted(d.key[-1:] for d in catalog.newest(100, Filter(project=name)))


@pytest.fixture
def memory(tmp_path):
    return make_repository(tmp_path / "memory")


def test_every_clone_and_work_tree_of_a_project_has_one_identity(tmp_path):
    first = code(tmp_path / "here" / "app", REMOTE)
    second = code(tmp_path / "there" / "of-another-name", "git@git.example.com:acme/Payments")
    git(first, "worktree", "add", "-q", str(tmp_path / "fix-42"))
    names = {shared_identity(folder).name for folder in (first, second, tmp_path / "fix-42")}
    assert names == {"Payments"}
    archived = [Origins(None).of(str(folder)) for folder in (first, second, tmp_path / "fix-42")]
    assert set(archived) == {Origin("Payments", "git.example.com/acme/Payments")}


def test_a_project_without_a_remote_is_told_by_its_first_commit(tmp_path):
    original = code(tmp_path / "tool")
    git(tmp_path, "clone", "-q", str(original), str(tmp_path / "elsewhere"))
    git(original, "worktree", "add", "-q", str(tmp_path / "tool-fix"))
    first = git(original, "rev-list", "--max-parents=0", "HEAD").strip()
    for folder in (original, tmp_path / "elsewhere", tmp_path / "tool-fix"):
        found = shared_identity(folder)
        assert (found.identity, found.name) == (f"commit:{first}", "tool")


def test_a_hook_of_another_repository_does_not_make_a_project_that_repository(
    tmp_path, monkeypatch
):
    app = code(tmp_path / "app", REMOTE)
    tool = code(tmp_path / "tool")
    git(app, "worktree", "add", "-q", str(tmp_path / "fix-42"))
    folders = (app, tool, tmp_path / "fix-42")
    before = [(shared_identity(folder), identify_project(folder)) for folder in folders]
    for other in (code(tmp_path / "hooked", "https://other.test/x.git"), tool):
        monkeypatch.setenv("GIT_DIR", str(other / ".git"))
        monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
        monkeypatch.chdir(other)
        after = [(shared_identity(folder), identify_project(folder)) for folder in folders]
        assert after == before


def test_nothing_is_said_of_what_no_other_clone_would_know(tmp_path):
    (tmp_path / "plain").mkdir()
    empty = tmp_path / "empty"
    empty.mkdir()
    git(empty, "init", "-q")
    bare = code(tmp_path / "original")
    (bare / "more").write_text("more\n")
    git(bare, "add", "-A")
    git(bare, "commit", "-qm", "more")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{bare}", str(tmp_path / "shallow"))
    for name in ("plain", "empty", "shallow", "nowhere"):
        assert shared_identity(tmp_path / name).identity == "", name


def test_sessions_of_all_clones_are_found_by_the_projects_name_in_any_clone_of_the_archive(
    tmp_path, memory
):
    first = code(tmp_path / "a" / "app", REMOTE)
    second = code(
        tmp_path / "b" / "payments-copy", "ssh://git@git.example.com:22/acme/Payments.git"
    )
    git(first, "worktree", "add", "-q", str(tmp_path / "c" / "fix"))
    below = first / "src"
    below.mkdir()
    other = code(tmp_path / "d" / "app")
    folders = [first, second, tmp_path / "c" / "fix", below, other]
    sources = [session(folder, number) for number, folder in enumerate(folders, start=1)]
    assert [one.action for one in archive(memory, sources)] == ["new"] * 5
    assert projects_found(memory, "Payments") == ["1", "2", "3", "4"]
    assert projects_found(memory, REMOTE) == ["1", "2", "3", "4"]
    assert projects_found(memory, "git.example.com/acme/Payments") == ["1", "2", "3", "4"]
    assert projects_found(memory, "app") == ["5"]

    git(memory.root, "add", "-A")
    git(memory.root, "commit", "-qm", "sessions")
    for folder in (*folders, tmp_path / "c"):
        shutil.rmtree(folder, ignore_errors=True)
    git(tmp_path, "clone", "-q", str(memory.root), str(tmp_path / "clone"))
    from knowrepo.git.layout import repository_at

    clone = repository_at(tmp_path / "clone")
    assert projects_found(clone, "Payments") == ["1", "2", "3", "4"]
    found = {one.id[-1]: origin_of(clone.sessions, one.place, "").name for one in find(clone)}
    assert found == {"1": "Payments", "2": "Payments", "3": "Payments", "4": "Payments", "5": "app"}


def test_a_folder_that_every_container_uses_does_not_mix_projects(tmp_path, memory):
    place = tmp_path / "workspace"
    for number, name in ((1, "one"), (2, "two")):
        code(place, f"https://git.example.com/acme/{name}.git")
        assert [o.action for o in archive(memory, [session(place, number)])] == ["new"]
        shutil.rmtree(place)
    assert projects_found(memory, "one") == ["1"]
    assert projects_found(memory, "two") == ["2"]
    assert projects_found(memory, "workspace") == []


def test_a_folder_that_is_gone_is_of_the_project_that_the_user_mapped(tmp_path, memory):
    app = code(tmp_path / "app", REMOTE)
    identity = identify_project(app).identity
    mapped = Project(identity, str(app), str(memory.root))
    source = session(app, 1)
    shutil.rmtree(app)
    done = list(archive(memory, [source], projects=Projects([mapped], memory.root)))
    assert [one.action for one in done] == ["new"]
    assert projects_found(memory, "Payments") == ["1"]


def test_a_project_that_was_mapped_by_its_path_is_no_identity_elsewhere(tmp_path, memory):
    plain = tmp_path / "plain"
    plain.mkdir()
    for identity in (f"path:{plain}", str(tmp_path / "remote.git"), f"file://{tmp_path}/x.git"):
        mapped = Project(identity, str(plain), str(memory.root))
        assert Origins(Projects([mapped], memory.root)).of(str(plain)) == Origin("plain")
    assert [o.action for o in archive(memory, [session(plain, 1)])] == ["new"]
    assert not list(memory.sessions.rglob("*.project"))
    assert projects_found(memory, "plain") == ["1"]


def test_what_is_noted_holds_no_path_no_credential_and_stays(tmp_path, memory):
    token = "ghp_" + "9aBcDeFgHiJkLmNoPqRsTuVwXyZ012345678"
    app = code(tmp_path / "app", f"https://me:{token}@git.example.com/acme/app.git")
    list(archive(memory, [session(app, 1)]))
    (file,) = memory.sessions.rglob("*.project")
    noted = file.read_bytes()
    assert json.loads(noted) == {"name": "app", "project": "git.example.com/acme/app"}
    git(app, "remote", "set-url", "origin", "https://elsewhere.example.com/acme/app.git")
    grown = session(app, 1)
    grown.write_bytes(grown.read_bytes() + grown.read_bytes().replace(b"u-1", b"u-2"))
    assert [one.action for one in archive(memory, [grown])] == ["grown"]
    assert file.read_bytes() == noted


def test_a_secret_in_a_remote_is_redacted_as_it_is_anywhere(memory):
    token = "ghp_" + "9aBcDeFgHiJkLmNoPqRsTuVwXyZ012345678"
    name = SessionName("claude", "x")
    (memory.sessions / "claude").mkdir()
    origin = Origin("app", f"git.example.com/{token}/app")
    note(memory, name, origin, redactor_for(memory.root))
    assert token not in (memory.sessions / "claude" / "x.project").read_text()


def test_a_dry_run_notes_nothing(tmp_path, memory):
    app = code(tmp_path / "app", REMOTE)
    list(archive(memory, [session(app, 1)], dry_run=True))
    assert not list(memory.sessions.rglob("*.project"))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{",
        b'{"name": 1, "project": 2}',
        b'{"name": "", "project": ""}',
        b"\xff" * 9000,
    ],
)
def test_what_is_none_of_ours_is_read_as_nothing(memory, content):
    (memory.sessions / "claude").mkdir()
    (memory.sessions / "claude" / "x.project").write_bytes(content)
    assert origin_of(memory.sessions, SessionName("claude", "x"), "/a/app") == Origin("app")


def test_a_link_in_its_place_is_not_followed(tmp_path, memory):
    (memory.sessions / "claude").mkdir()
    aim = tmp_path / "aim"
    aim.write_text('{"name": "n", "project": "p/q"}')
    (memory.sessions / "claude" / "x.project").symlink_to(aim)
    name = SessionName("claude", "x")
    assert origin_of(memory.sessions, name, "/a/app") == Origin("app")
    note(memory, name, Origin("n", "other/q"), redactor_for(memory.root))
    assert aim.read_text() == '{"name": "n", "project": "p/q"}'


def test_the_catalog_follows_a_note_that_comes_changes_and_goes(tmp_path, memory):
    app = code(tmp_path / "folder", REMOTE)
    list(archive(memory, [session(app, 1)]))
    (file,) = memory.sessions.rglob("*.project")
    noted = file.read_text()
    for text, name in (
        (None, "folder"),
        (noted, "Payments"),
        (noted.replace("Payments", "Invoicing"), "Invoicing"),
        (None, "folder"),
    ):
        if text is None:
            file.unlink()
        else:
            file.write_text(text)
        for other in ("folder", "Payments", "Invoicing"):
            assert projects_found(memory, other) == (["1"] if other == name else []), (text, other)


def test_a_forgotten_session_takes_its_note_along(tmp_path, memory):
    app = code(tmp_path / "app", REMOTE)
    list(archive(memory, [session(app, 1), session(app, 2)]))
    (one, two) = find(memory)
    forget(memory, one.place)
    assert [p.stem for p in memory.sessions.rglob("*.project")] == [two.id]


def test_branches_that_archive_different_sessions_have_no_note_to_merge(tmp_path, memory):
    app = code(tmp_path / "app", REMOTE)
    (memory.root / "README").write_text("x\n")
    git(memory.root, "add", "-A")
    git(memory.root, "commit", "-qm", "base")
    for branch, numbers in (("one", (1, 3)), ("two", (2, 3))):
        git(memory.root, "checkout", "-q", "-b", branch, "main")
        list(archive(memory, [session(app, number) for number in numbers]))
        git(memory.root, "add", "-A")
        git(memory.root, "commit", "-qm", branch)
    git(memory.root, "merge", "-q", "--no-edit", "one")
    assert projects_found(memory, "Payments") == ["1", "2", "3"]
