"""Remotes and disks that do not do what is asked of them: each is told in one clear line."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest
from machines import FINGERPRINT, REFS, commit, declining, refs

from helpers import concept, git, unprivileged, write
from knowrepo.git import remotes
from knowrepo.sharing import pack
from knowrepo.sharing.objects import name_of


@pytest.mark.parametrize("lost", ["vectors", ""])
def test_a_pack_of_which_a_fetch_left_only_a_part_is_fetched_again(one, other, remote, lost):
    (ref,) = refs(remote)
    git(other.root, "fetch", "-q", "origin", ref)
    commit = git(other.root, "rev-parse", "FETCH_HEAD").strip()
    oid = git(other.root, "rev-parse", f"{commit}:{lost}").strip()
    (other.root / ".git" / "FETCH_HEAD").unlink()
    loose = other.root / ".git" / "objects" / oid[:2] / oid[2:]
    loose.unlink()
    assert "1 vector pulled, 1 pack" in other.done("sync", "pull").out
    assert loose.is_file()


def test_where_the_user_allows_only_small_files_the_fetch_is_still_tried(one, other):
    script = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (50_000_000,) * 2);"
        "from pathlib import Path; from knowrepo.git import remotes;"
        "from knowrepo.git.layout import repository_at;"
        "remotes.fetch(repository_at(Path(sys.argv[1])), 'origin', ['HEAD'], largest=64_000_000)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, other.root], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "why",
    [
        "fatal: unable to write loose object file: No space left on device",
        "error: unable to create temporary file: Read-only file system",
        "error: insufficient permission for adding an object to repository database",
    ],
)
def test_a_disk_that_takes_nothing_is_no_fault_of_a_pack(one, why):
    error = remotes._failed(one.repository, "origin", [why, "fatal: unpack-objects failed"])
    assert not isinstance(error, remotes.BrokenError)
    assert error.message == f"{one.repository.common_dir}: cannot be written: {why}"


def test_the_disk_of_the_server_is_not_taken_for_ours(one):
    said = ["remote: fatal: unable to write loose object file: No space left on device"]
    assert "cannot be reached" in remotes._failed(one.repository, "origin", said).message


def test_a_branch_whose_name_is_no_utf8_is_brought_as_well(one, other, remote):
    tree = git(one.root, "rev-parse", "HEAD^{tree}").strip()
    oid = commit(one, tree, "HEAD")
    git(one.root, "push", "-q", "origin", f"{oid}:refs/heads/new")
    packed = remote / "packed-refs"
    head = packed.read_bytes() if packed.exists() else b"# pack-refs with: peeled fully-peeled \n"
    packed.write_bytes(head + oid.encode() + b" refs/heads/\xff\xfe\n")
    git(remote, "update-ref", "-d", "refs/heads/new")
    other.done("sync", "push")
    assert git(other.root, "cat-file", "-t", oid) == "commit\n"


def test_a_branch_that_goes_before_it_is_fetched_is_no_failure(one, other, remote, monkeypatch):
    from knowrepo.sharing import push

    oid = commit(one, git(one.root, "rev-parse", "HEAD^{tree}").strip(), "HEAD")
    git(one.root, "push", "-q", "origin", f"{oid}:refs/heads/short-lived")
    whole = push.look
    looks: list[str] = []

    def look(repository, name):
        found = whole(repository, name)
        if not looks:
            git(remote, "update-ref", "-d", "refs/heads/short-lived")
        looks.append(name)
        return found

    monkeypatch.setattr(push, "look", look)
    other.done("sync", "push")
    assert len(looks) == 2


def test_a_repository_that_cannot_be_written_still_tells_how_things_stand(one, other, monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    other.done("index", "--no-vectors")
    monkeypatch.setattr("knowrepo.sharing.tables.FileLock.acquire", refuse)
    assert "1 pack" in other.done("sync", "status").out
    assert "1 pack" in other.done("sync", "pull", "--dry-run").out
    result = other.know("sync", "pull")
    assert result.code == 1
    assert "cannot be written: Read-only file system" in result.err


def test_a_hook_that_declines_is_told_and_what_to_do(one, remote):
    declining(remote)
    one.concept("a")
    git(one.root, "push", "-q", "origin", "main")
    one.done("index")
    result = one.know("sync", "push")
    assert result.code == 1
    words, said, hint = result.err.splitlines()  # the server's own come first
    assert words.startswith("remote: ")
    assert said.startswith(f"know: origin: refuses {REFS}/")
    assert said.endswith(": hook declined")
    assert "a hook of its server declines it" in hint
    assert refs(remote) == []


def test_a_server_that_hides_such_refs_is_told(one, remote):
    git(remote, "config", "receive.hideRefs", "refs/know")
    one.concept("a")
    git(one.root, "push", "-q", "origin", "main")
    one.done("index")
    result = one.know("sync", "push")
    assert result.code == 1
    assert "deny updating a hidden ref" in result.err
    assert "its server hides such refs" in result.err


def test_a_name_that_is_taken_is_never_overwritten(one, remote):
    one.concept("a")
    git(one.root, "push", "-q", "origin", "main")
    one.done("index")
    rest = one.store.packed(sorted(one.store.hashes()))
    name = name_of(pack.encode(FINGERPRINT, rest))
    git(one.root, "push", "-q", "origin", f"HEAD:{REFS}/{name}")
    taken = git(remote, "rev-parse", f"{REFS}/{name}")
    result = one.know("sync", "push")
    assert result.code == 1
    assert "something else stands under that name" in result.err
    assert git(remote, "rev-parse", f"{REFS}/{name}") == taken


def test_a_server_that_denies_what_is_not_fast_forward_takes_packs(one, remote):
    git(remote, "config", "receive.denyNonFastForwards", "true")
    git(remote, "config", "receive.fsckObjects", "true")
    git(one.root, "config", "push.followTags", "true")
    git(one.root, "config", "commit.gpgSign", "true")
    git(one.root, "-c", "commit.gpgSign=false", "commit", "-q", "--allow-empty", "-m", "x")
    git(one.root, "config", "commit.gpgSign", "false")
    one.concept("a")
    one.share()
    assert len(refs(remote)) == 1


@pytest.mark.parametrize("word", ["push", "pull", "status", ""])
def test_without_a_remote_there_is_one_clear_line(one, word):
    git(one.root, "remote", "remove", "origin")
    result = one.know("sync", *([word] if word else []))
    assert result.code == 1
    assert result.err.splitlines() == [
        f"know: {one.root}: has no remote to share vectors with",
        "  `git remote add origin URL` names one",
    ]


@pytest.mark.parametrize("word", ["push", "pull", "status"])
def test_a_remote_that_is_not_there_is_told(one, remote, word):
    remote.rename(remote.with_name("away"))
    result = one.know("sync", word)
    assert result.code == 1
    said, hint = result.err.splitlines()
    assert said.startswith("know: origin: cannot be reached: ")
    assert "git remote -v" in hint


def test_a_remote_of_another_name_is_told_and_which_there_are(one):
    result = one.know("sync", "push", "nowhere")
    assert result.code == 1
    assert "nowhere: cannot be reached" in result.err
    assert "remotes of this repository: origin" in result.err


@pytest.mark.parametrize("remote_name", ["--upload-pack=touch x", "-q"])
def test_a_name_that_looks_like_an_option_is_none(one, remote_name):
    with pytest.raises(remotes.KnowError, match="no name of a remote"):
        remotes.listing(one.repository, remote_name)


def test_credentials_of_a_url_are_not_printed(one):
    password = "hun" + "ter2"
    result = one.know("sync", "push", f"http://user:{password}@127.0.0.1:9/memory.git")
    assert result.code == 1
    assert "127.0.0.1:9" in result.err
    assert password not in result.err


def test_the_remote_is_that_of_the_branch_then_origin_then_the_only_one(one, remote):
    assert remotes.default(one.repository) == "origin"
    git(one.root, "remote", "add", "backup", str(remote))
    git(one.root, "config", "branch.main.remote", "backup")
    assert remotes.default(one.repository) == "backup"
    git(one.root, "config", "branch.main.remote", ".")
    assert remotes.default(one.repository) == "origin"
    git(one.root, "remote", "rename", "origin", "elsewhere")
    with pytest.raises(remotes.KnowError, match="which of its remotes"):
        remotes.default(one.repository)
    git(one.root, "remote", "remove", "backup")
    assert remotes.default(one.repository) == "elsewhere"


def test_a_word_that_is_none_is_wrong_usage(one):
    result = one.know("sync", "fetch", "origin")
    assert result.code == 2
    assert "known are push, pull, status" in result.err


def test_without_duckdb_it_says_what_to_install(one, monkeypatch):
    import importlib.util

    found = importlib.util.find_spec
    monkeypatch.setattr(
        "knowrepo.sharing.installed.find_spec",
        lambda name: None if name == "duckdb" else found(name),
    )
    result = one.know("sync", "pull")
    assert result.code == 1
    assert "duckdb is not installed" in result.err
    assert "pip install duckdb" in result.err


def test_the_check_for_duckdb_comes_before_anything_that_imports_it():
    script = (
        "import sys; import knowrepo.cli.sync; import knowrepo.sharing.installed;"
        "sys.exit('duckdb' in sys.modules or 'numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_a_git_directory_that_cannot_be_written_is_told(one, tmp_path: Path):
    write(one.repository, "concepts/a.md", concept("a"))
    know = one.repository.common_dir / "know"
    one.done("index")
    before = know.stat().st_mode
    know.chmod(0o555)
    tmp_path.chmod(0o755)
    try:
        with unprivileged():
            from knowrepo.sharing import tables

            with (
                pytest.raises(remotes.KnowError, match="cannot be written"),
                tables.alone(one.repository, waiting=lambda: None),
            ):
                pass
    finally:
        know.chmod(before)
