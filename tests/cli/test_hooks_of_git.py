"""``know hooks install --git``: real hooks, run by real git, beside those of others."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers import concept, git, make_repository, unprivileged, write
from knowrepo.cli.main import main
from knowrepo.git import program
from knowrepo.git.hooks import AFTER, STAGES, changing, looking
from knowrepo.git.layout import Repository, repository_at
from knowrepo.upkeep import background

FOREIGN = b'#!/bin/sh\n# one of mine, h\xc3\xb6h\xc3\xb6\necho "mine $*" >>../told\ncat >>../told\n'
SECONDS = 60  # until a test gives up on another process


@pytest.fixture
def repository(tmp_path, monkeypatch) -> Repository:
    """In a path with a space."""
    monkeypatch.setenv("KNOW_CACHE", str(tmp_path / "no models"))
    return make_repository(tmp_path / "a memory é")


@pytest.fixture(params=["links", "no links"])
def links(request, monkeypatch) -> None:
    """Disks that know hard links, and disks that do not."""

    def fails(*_: object, **__: object) -> None:
        raise OSError("not here")

    if request.param == "no links":
        monkeypatch.setattr(os, "link", fails)


@pytest.fixture
def hooks(repository) -> Path:
    return repository.common_dir / "hooks"


def put(path: Path, content: bytes = FOREIGN, mode: int = 0o750) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    return path


def everything(folder: Path) -> dict[str, tuple[bytes | str, int, int]]:
    """Return name, content, mode and time of all files and links in a folder."""
    found = {}
    for path in folder.iterdir():
        state = path.lstat()
        content = str(path.readlink()) if path.is_symlink() else path.read_bytes()
        found[path.name] = (content, stat.S_IMODE(state.st_mode), state.st_mtime_ns)
    return found


def committed(folder: Path, *arguments: str, **env: str) -> tuple[int, str]:
    done = subprocess.run(
        ["git", "-C", str(folder), "commit", "-m", "x", *arguments],
        capture_output=True, text=True, check=False, env={**os.environ, **env},
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def generated(repository: Repository) -> None:
    assert main(["tags", "build", "--repo", str(repository.root)]) == 0
    git(repository.root, "add", "-A")


def states(repository: Repository) -> dict[str, str]:
    return {stage.name: stage.state for stage in looking.stages(repository)}


def until(met: Callable[[], bool]) -> None:
    """Wait for another process; no time is measured."""
    end = time.monotonic() + SECONDS
    while not met():
        assert time.monotonic() < end
        time.sleep(0.02)


def background_runs(repository: Repository) -> int:
    until(lambda: background.state(repository) == background.State(False, 0, 0))
    last, _ = background.last(repository)
    return 0 if last is None else 1


# -- what the hooks do --------------------------------------------------------


def test_a_bad_concept_and_a_secret_stop_a_commit_without_pre_commit(know, repository):
    assert know("hooks", "install", "--git").code == 0
    write(repository, "concepts/bad.md", "---\ntitle: One: two\n---\n")
    code, said = committed(repository.root)
    assert code == 1
    assert "concepts/bad.md:2:11: error OKF103" in said
    token = "gh" + "p_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A"
    write(repository, "concepts/bad.md", concept("Good", body=token))
    code, said = committed(repository.root)
    assert code == 1
    assert "github-token" in said
    write(repository, "concepts/bad.md", concept("Good"))
    code, said = committed(repository.root)
    assert code == 1
    assert "git add concepts/index.md concepts/tag_index.jsonl" in said
    generated(repository)
    assert committed(repository.root) == (0, committed_says(repository))


def committed_says(repository: Repository) -> str:
    """What git says of the last commit, and nobody else."""
    hash_ = git(repository.root, "rev-parse", "--short", "HEAD").strip()
    stat_ = git(repository.root, "show", "--shortstat", "--summary", "--format=").rstrip("\n")
    lines = stat_.split("\n")
    return f"[main (root-commit) {hash_}] x\n" + "\n".join(lines) + "\n"


def test_a_commit_is_checked_as_it_will_be_not_as_the_work_tree_is(know, repository):
    secret = "gh" + "p_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A"
    write(repository, "concepts/a.md", concept("A"))
    generated(repository)
    know("hooks", "install", "--git")
    write(repository, "concepts/a.md", concept("A", body=secret), stage=False)
    assert committed(repository.root)[0] == 0
    assert "github-token" in committed(repository.root, "-a")[1]
    git(repository.root, "add", "concepts/a.md")
    (repository.root / "note.txt").write_text("x")
    git(repository.root, "add", "note.txt")
    assert committed(repository.root, "note.txt")[0] == 0  # what is staged beside it is not in it
    assert committed(repository.root, "concepts/a.md")[0] == 1
    assert secret not in git(repository.root, "log", "-p")


def test_a_submodule_has_hooks_of_its_own(know, repository, tmp_path):
    write(repository, "concepts/a.md", concept("A"))
    generated(repository)
    git(repository.root, "commit", "-qm", "x")
    outer = make_repository(tmp_path / "outer")
    git(outer.root, "-c", "protocol.file.allow=always", "submodule", "add", "-q",
        str(repository.root), "inner é")  # fmt: skip
    inner = repository_at(outer.root / "inner é")
    assert main(["hooks", "install", "--git", "--repo", str(inner.root)]) == 0
    assert (inner.git_dir / "hooks/pre-commit").exists()
    assert states(outer) == dict.fromkeys(STAGES, "missing")
    write(inner, "concepts/bad.md", "---\ntitle: One: two\n---\n")
    assert "OKF103" in committed(inner.root)[1]


def test_a_commit_a_merge_a_checkout_and_a_rebase_are_indexed_in_the_background(know, repository):
    write(repository, "concepts/a.md", concept("A heron"))
    generated(repository)
    know("hooks", "install", "--git")
    assert committed(repository.root)[0] == 0
    until(lambda: repository.locks.exists() and known(repository) == {"concepts/a"})
    git(repository.root, "checkout", "-q", "-b", "side")
    write(repository, "concepts/b.md", concept("An otter"))
    generated(repository)
    committed(repository.root)
    until(lambda: known(repository) == {"concepts/a", "concepts/b"})
    git(repository.root, "checkout", "-q", "main")
    until(lambda: known(repository) == {"concepts/a"})
    git(repository.root, "merge", "-q", "--no-ff", "side")
    until(lambda: known(repository) == {"concepts/a", "concepts/b"})
    git(repository.root, "reset", "-q", "--hard", "HEAD~1")
    git(repository.root, "commit", "-q", "--no-verify", "--allow-empty", "-m", "other")
    until(lambda: known(repository) == {"concepts/a"})
    git(repository.root, "checkout", "-q", "side")
    git(repository.root, "rebase", "-q", "main")
    until(lambda: known(repository) == {"concepts/a", "concepts/b"})
    background_runs(repository)
    assert background.last(repository)[1] is None


def known(repository: Repository) -> set[str]:
    from knowrepo.index.catalog import Catalog

    catalog = Catalog.open(repository.catalog)
    if catalog is None:
        return set()
    with catalog:
        return set(catalog.states()) - {"concepts/index"}


def test_in_the_middle_of_a_rebase_nothing_is_started(know, repository, monkeypatch, hooks):
    write(repository, "concepts/a.md", concept("A"))
    git(repository.root, "commit", "-qm", "x")
    know("hooks", "install", "--git")
    counted = counting(hooks, repository)
    for number in range(4):
        (repository.root / f"f{number}").write_text("x")
        git(repository.root, "add", "-A")
        git(repository.root, "commit", "-q", "--no-verify", "-m", f"f{number}")
    assert counted() == ["index"] * 4
    git(repository.root, "rebase", "-q", "--force-rebase", "HEAD~4")
    assert sorted(counted()[4:]) == ["index", "merged"]  # once, at its end


def counting(hooks: Path, repository: Repository) -> Callable[[], list[str]]:
    """Have the hooks run a program that notes in a file what it was called with."""
    stub, told = hooks / "stub é", repository.common_dir / "told"
    stub.write_text(f'#!/bin/sh\necho "$5" >>{shlex.quote(str(told))}\n')
    stub.chmod(0o755)
    for path in hooks.iterdir():
        text = path.read_text(errors="replace")
        if "know-hook 1" in text:
            wrapped = f"{shlex.quote(str(stub))} -P -m knowrepo"
            path.write_text(
                text.replace(f"{shlex.quote(sys.executable)} -P -m knowrepo", wrapped).replace(
                    "2>&1 &",
                    "2>&1",  # to be counted
                )
            )
    return lambda: told.read_text().split() if told.exists() else []


def test_a_commit_from_a_program_with_a_bare_environment_is_checked(know, repository):
    know("hooks", "install", "--git")
    bare = {k: os.environ[k] for k in ("PYTHONPATH", "GIT_CONFIG_GLOBAL") if k in os.environ}
    write(repository, "concepts/bad.md", "---\ntitle: One: two\n---\n")

    def commit_bare() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(shutil.which("git")), "-C", str(repository.root), "commit", "-m", "x"],
            capture_output=True, text=True, check=False, env=bare,
        )  # fmt: skip

    done = commit_bare()
    assert done.returncode == 1, done.stderr
    assert "OKF103" in done.stderr + done.stdout
    write(repository, "concepts/bad.md", concept("Good"))
    generated(repository)
    assert commit_bare().returncode == 0
    until(lambda: known(repository) == {"concepts/bad"})


def test_what_a_clone_brings_beside_know_toml_is_not_imported(know, repository, tmp_path):
    know("hooks", "install", "--git")
    for name in ("typer", "json", "sitecustomize", "filelock"):
        (repository.root / f"{name}.py").write_text("open('../imported', 'w').close()\n")
    (repository.root / "knowrepo").mkdir()
    (repository.root / "knowrepo/__main__.py").write_text("open('../imported', 'w').close()\n")
    write(repository, "concepts/a.md", concept("A"))
    generated(repository)
    assert committed(repository.root)[0] == 0
    until(lambda: known(repository) == {"concepts/a"})
    assert not (tmp_path / "imported").exists()


@pytest.mark.parametrize("gone", ["program", "package"])
def test_where_know_is_gone_commits_go_on_in_silence(know, repository, hooks, gone, tmp_path):
    know("hooks", "install", "--git")
    for path in hooks.iterdir():
        text = path.read_text(errors="replace")
        there = sys.executable if gone == "program" else str(program.package())
        path.write_text(text.replace(there, str(tmp_path / "gone")))
    (repository.root / "f").write_text("x")
    write(repository, "concepts/bad.md", "no front matter\n")
    code, said = committed(repository.root)
    assert (code, said) == (0, committed_says(repository))


def test_a_branch_without_knowledge_is_left_alone(know, repository):
    know("hooks", "install", "--git")
    git(repository.root, "rm", "-q", "--cached", "know.toml", check=False)
    (repository.root / "know.toml").unlink()
    (repository.root / "f").write_text("x")
    git(repository.root, "add", "f")
    assert committed(repository.root)[0] == 0


@pytest.mark.parametrize("stage", ["pre-merge-commit", "post-merge", "post-rewrite"])
def test_a_command_that_know_does_not_have_yet_stops_nothing_and_says_nothing(
    know, repository, hooks, tmp_path, stage
):
    know("hooks", "install", "--git")
    stub = tmp_path / "know"
    (hooks / stage).write_text((hooks / stage).read_text().replace(sys.executable, str(stub)))
    for code, said in ((0, "told\n"), (2, ""), (1, "told\n"), (3, "told\n")):
        stub.write_text(f"#!/bin/sh\n[ $5 = index ] && exit\necho told >&2\nexit {code}\n")
        stub.chmod(0o755)
        done = subprocess.run(
            [str(hooks / stage), "rebase"],
            cwd=repository.root, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, said)


def test_the_knowledge_in_a_subdirectory_and_a_second_one_are_both_checked(
    tmp_path, monkeypatch, repository, capsys
):
    for name in ("one é", "b/two's"):
        write(repository, f"{name}/know.toml", "format = 1\n")
        write(repository, f"{name}/concepts/bad.md", "---\ntitle: One: two\n---\n")
        assert main(["hooks", "install", "--git", "--repo", str(repository.root / name)]) == 0
    code, said = committed(repository.root)
    assert code == 1
    assert said.count("concepts/bad.md:2:11: error OKF103") == 2
    one, two = (repository_at(repository.root / name) for name in ("one é", "b/two's"))
    assert main(["hooks", "uninstall", "--git", "--repo", str(two.root)]) == 0
    assert states(one)["pre-commit"] == "installed"
    assert states(two)["pre-commit"] == "missing"
    assert committed(repository.root)[1].count("OKF103") == 1
    assert main(["hooks", "uninstall", "--git", "--repo", str(one.root)]) == 0
    assert not (repository.common_dir / "hooks/pre-commit").exists()


def test_linked_work_trees_share_the_hooks_and_each_is_checked(know, repository, tmp_path):
    know("hooks", "install", "--git")
    write(repository, "concepts/a.md", concept("A"))
    generated(repository)
    committed(repository.root)
    git(repository.root, "worktree", "add", "-q", "-b", "b", str(tmp_path / "tree"))
    tree = repository_at((tmp_path / "tree").resolve())
    assert states(tree) == states(repository) == dict.fromkeys(STAGES, "installed")
    write(tree, "concepts/bad.md", "---\ntitle: One: two\n---\n")
    assert "OKF103" in committed(tree.root)[1]
    write(tree, "concepts/bad.md", concept("Good"))
    generated(tree)
    assert committed(tree.root)[0] == 0
    until(lambda: known(tree) == {"concepts/a", "concepts/bad"})


# -- beside the hooks of others -----------------------------------------------


def test_what_was_there_runs_first_with_its_arguments_and_its_input(know, repository, hooks):
    put(hooks / "post-rewrite")
    know("hooks", "install", "--git")
    assert states(repository)["post-rewrite"] == "chained"
    (repository.root / "f").write_text("x")
    git(repository.root, "add", "-A")
    git(repository.root, "commit", "-q", "--no-verify", "-m", "x")
    old = git(repository.root, "rev-parse", "HEAD").strip()
    git(repository.root, "commit", "-q", "--no-verify", "--amend", "-m", "y")
    new = git(repository.root, "rev-parse", "HEAD").strip()
    assert (repository.root.parent / "told").read_text() == f"mine amend\n{old} {new}\n"


def test_its_failure_stays_a_failure(know, repository, hooks):
    for name in ("pre-commit", "post-checkout"):
        put(hooks / name, b"#!/bin/sh\nexit 7\n")
    know("hooks", "install", "--git")
    (repository.root / "f").write_text("x")
    git(repository.root, "add", "f")
    assert committed(repository.root)[0] == 1
    assert committed(repository.root, "--no-verify")[0] == 0
    done = subprocess.run(
        ["git", "checkout", "-q", "-b", "other"], cwd=repository.root, check=False
    )
    assert done.returncode == 1  # git's own words for it
    git(repository.root, "config", "core.hooksPath", os.devnull)
    git(repository.root, "checkout", "-q", "-b", "third")


def test_a_hook_that_was_switched_off_stays_off(know, repository, hooks):
    put(hooks / "pre-commit", b"#!/bin/sh\nexit 7\n", mode=0o644)
    know("hooks", "install", "--git")
    generated(repository)
    assert committed(repository.root)[0] == 0


@pytest.mark.parametrize("runs", [1, 3])
def test_uninstalling_gives_back_all_bytes_modes_times_and_links(
    know, repository, hooks, runs, links
):
    put(hooks / "pre-commit")
    put(hooks / "post-commit", b"\x00\xff no text at all\r\n", mode=0o751)
    put(hooks / "post-merge", b"", mode=0o644)
    put(repository.root / "tool", b"#!/bin/sh\n")
    (hooks / "post-checkout").symlink_to("../../tool")
    before = everything(hooks)
    configuration = (repository.common_dir / "config").read_bytes()
    for _ in range(runs):
        assert know("hooks", "install", "--git").code == 0
    assert [states(repository)[name] for name in ("pre-commit", "post-checkout")] == ["chained"] * 2
    done = know("hooks", "uninstall", "--git")
    assert done.code == 0
    assert everything(hooks) == before
    left = (repository.common_dir / "config").read_bytes()
    assert b"[know]" not in left
    assert configuration in left  # the merge drivers stay: .gitattributes names them
    assert know("hooks", "uninstall", "--git").out == "no hooks of ours in this clone\n"


def test_a_second_install_writes_nothing_and_a_dry_run_never_does(know, repository, hooks):
    put(hooks / "pre-commit")
    before = everything(hooks)
    said = know("hooks", "install", "--git", "--dry-run").out
    assert "pre-commit.before-know" in said
    assert everything(hooks) == before
    know("hooks", "install", "--git")
    before = everything(hooks)
    said = know("hooks", "install", "--git").out
    assert said.count("there already") == len(STAGES)
    know("hooks", "uninstall", "--git", "--dry-run")
    assert everything(hooks) == before


def test_a_hook_of_ours_that_somebody_changed_is_left_alone_and_told(know, repository, hooks):
    put(hooks / "post-commit")
    know("hooks", "install", "--git")
    changed = hooks / "post-commit"
    changed.write_text(changed.read_text().replace("exit $code", "echo more; exit $code"))
    before = everything(hooks)
    for command in ("install", "uninstall"):
        done = know("hooks", command, "--git")
        assert f"{changed}\n" in done.err
        assert "it was changed since know wrote it" in done.err
        assert everything(hooks)["post-commit"] == before["post-commit"]
    assert states(repository)["post-commit"] == "changed"
    assert (hooks / "post-commit.before-know").read_bytes() == FOREIGN


def test_a_hook_that_goes_by_its_own_name_is_not_renamed(know, repository, hooks):
    text = b'#!/bin/sh\n. "$(dirname "$0")/$(basename "$0").d/run"\n'
    put(hooks / "pre-commit", text)
    done = know("hooks", "install", "--git")
    assert (hooks / "pre-commit").read_bytes() == text
    assert "it goes by its own name" in done.err
    assert "know hook pre-commit; fi" in done.out


def test_hooks_of_lefthook_are_chained_and_its_habit_is_told(know, repository, hooks):
    put(hooks / "pre-commit", b'#!/bin/sh\n\ncall_lefthook()\n{\n  :\n}\ncall_lefthook run "x"\n')
    done = know("hooks", "install", "--git")
    assert "lefthook writes it anew" in done.out
    assert states(repository)["pre-commit"] == "chained"
    # What lefthook does then: it moves what it finds, and takes its place.
    (hooks / "pre-commit").rename(hooks / "pre-commit.old")
    put(hooks / "pre-commit", b"#!/bin/sh\n# LEFTHOOK\n")
    assert states(repository)["pre-commit"] == "broken"
    done = know("hooks", "status")
    assert done.code == 1
    assert "something else took the place of pre-commit" in done.out
    ours = (hooks / "pre-commit.old").read_bytes()
    know("hooks", "install", "--git")  # takes it back, and keeps the newer of its files
    assert states(repository)["pre-commit"] == "chained"
    assert not (hooks / "pre-commit.old").exists()
    assert (hooks / "pre-commit.before-know").read_bytes() == b"#!/bin/sh\n# LEFTHOOK\n"
    (hooks / "pre-commit").rename(hooks / "pre-commit.old")
    put(hooks / "pre-commit", b"#!/bin/sh\n# LEFTHOOK 2\n")
    assert (hooks / "pre-commit.old").read_bytes() == ours
    know("hooks", "uninstall", "--git")
    assert (hooks / "pre-commit").read_bytes() == b"#!/bin/sh\n# LEFTHOOK 2\n"
    assert not (hooks / "pre-commit.old").exists()


def test_nothing_is_written_where_husky_looks_after_the_hooks(know, repository):
    made = repository.root / ".husky/_"
    put(made / "pre-commit", b'#!/usr/bin/env sh\n. "$(dirname "$0")/h"\n')
    put(made / ".gitignore", b"*")
    put(made / "h", b"")
    git(repository.root, "config", "core.hooksPath", ".husky/_")
    before = everything(made)
    done = know("hooks", "install", "--git")
    assert done.code == 0
    assert everything(made) == before
    assert "husky looks after it" in done.err
    assert str(repository.root / ".husky/pre-commit") in done.err
    lines = done.out.split("\n")
    line = next(line.strip() for line in lines if "know hook pre-commit" in line)
    # What it tells to add works, and is seen.
    bin_folder = repository.root / "bin"
    put(bin_folder / "know", f'#!/bin/sh\nexec "{sys.executable}" -m knowrepo "$@"\n'.encode())
    put(repository.root / ".husky/pre-commit", line.encode() + b"\n")
    put(made / "h", b'sh -e "$(dirname "$(dirname "$0")")/$(basename "$0")" "$@"\n')
    write(repository, "concepts/bad.md", "---\ntitle: One: two\n---\n")
    path = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"
    assert "OKF103" in committed(repository.root, PATH=path)[1]
    assert states(repository)["pre-commit"] == "by hand"
    path = str(Path(str(shutil.which("git"))).parent)
    assert shutil.which("know", path=path) is None
    assert committed(repository.root, PATH=path)[0] == 0  # who has no know is not stopped


@pytest.mark.parametrize("kind", ["tracked", "untracked", "of all repositories"])
def test_nothing_is_written_into_a_folder_that_is_shared(know, repository, tmp_path, kind):
    folder = repository.root / ".githooks" if kind != "of all repositories" else tmp_path / "all"
    put(folder / "pre-commit")
    if kind == "tracked":
        git(repository.root, "add", "-A")
    scope = ["--global"] if kind == "of all repositories" else []
    git(repository.root, "config", *scope, "core.hooksPath", str(folder))
    before = everything(folder)
    done = know("hooks", "install", "--git")
    assert everything(folder) == before
    assert str(folder / "pre-commit") in done.err
    assert set(states(repository).values()) == {"foreign", "missing"}
    assert know("hooks", "uninstall", "--git").code == 0
    assert everything(folder) == before


def test_beside_pre_commit_ours_is_its_legacy_hook(know, repository, hooks):
    text = b"#!/usr/bin/env bash\n# File generated by pre-commit: https://pre-commit.com\n"
    put(hooks / "pre-commit", text)
    know("hooks", "install", "--git")
    assert (hooks / "pre-commit").read_bytes() == text
    assert states(repository)["pre-commit"] == "chained"
    assert (hooks / "pre-commit.legacy").exists()
    # `pre-commit uninstall` puts the legacy hook back: ours is found there too.
    (hooks / "pre-commit.legacy").replace(hooks / "pre-commit")
    assert states(repository)["pre-commit"] == "installed"
    know("hooks", "uninstall", "--git")
    assert not list(hooks.glob("pre-commit*")) or {p.name for p in hooks.glob("pre-commit*")} == {
        "pre-commit.sample"
    }


CONFIGURATION = "repos:\n- repo: local\n  hooks:\n  - id: know-check\n  - id: know-tags\n"


def install_pre_commit(hooks: Path) -> None:
    """Do to a hook what `pre-commit install` does, which runs what was there first."""
    (hooks / "pre-commit").rename(hooks / "pre-commit.legacy")
    generated = b"#!/bin/sh\n# File generated by pre-commit: https://pre-commit.com\n"
    put(hooks / "pre-commit", generated + b'exec "$0.legacy"\n')


@pytest.mark.parametrize("checks", [True, False], ids=["configured", "not configured"])
def test_there_is_a_gate_whether_pre_commit_comes_later_or_never(know, repository, hooks, checks):
    text = CONFIGURATION if checks else CONFIGURATION.replace("know-", "other-")
    (repository.root / ".pre-commit-config.yaml").write_text(text)
    know("hooks", "install", "--git")
    write(repository, "concepts/a.md", "no front matter\n")
    assert committed(repository.root)[0] == 1
    install_pre_commit(hooks)
    assert committed(repository.root)[0] == (0 if checks else 1)  # this pre-commit checks nothing


def test_where_pre_commit_checks_there_is_no_second_gate_and_ours_run_after(
    know, repository, hooks
):
    (repository.root / ".pre-commit-config.yaml").write_text(CONFIGURATION)
    know("hooks", "install", "--git")
    assert states(repository)["pre-commit"] == "installed"
    install_pre_commit(hooks)
    said = know("hooks", "install", "--git").out
    assert "pre-commit runs know-check, know-tags" in said
    assert not (hooks / "pre-commit.legacy").exists()
    assert states(repository) == {
        "pre-commit": "pre-commit", "pre-merge-commit": "installed",
        **dict.fromkeys(AFTER, "installed"),
    }  # fmt: skip


# -- when something goes wrong ------------------------------------------------


def test_an_install_that_is_killed_between_two_steps_goes_on_and_loses_no_hook(
    know, repository, hooks, monkeypatch
):
    put(hooks / "pre-commit")
    before = everything(hooks)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(changing, "write_atomically", killed)
        assert know("hooks", "install", "--git").code == 130
    assert (hooks / "pre-commit").read_bytes() == FOREIGN
    assert know("hooks", "install", "--git").code == 0
    assert states(repository)["pre-commit"] == "chained"
    know("hooks", "uninstall", "--git")
    assert everything(hooks) == before


def test_a_second_hook_in_the_place_of_the_kept_one_is_not_lost(know, repository, hooks):
    put(hooks / "pre-commit")
    know("hooks", "install", "--git")
    put(hooks / "pre-commit", b"#!/bin/sh\n# a newer one\n")
    before = everything(hooks)
    done = know("hooks", "install", "--git")
    assert "pre-commit.before-know is there already" in done.err
    assert everything(hooks) == before


def test_a_folder_that_cannot_be_written_is_one_clear_line(know, repository, hooks):
    steps = changing.to_install(repository)
    for folder in (repository.root, *repository.root.parents[:3]):
        folder.chmod(folder.stat().st_mode | 0o055)
    with unprivileged(), pytest.raises(PermissionError):
        changing.do(steps[0])
    shutil.rmtree(hooks)
    hooks.write_text("no folder")
    done = know("hooks", "install", "--git")
    assert done.code == 1
    assert done.err == f"know: {hooks}: File exists\n"


def test_two_installs_at_once_end_in_one_chain(repository, hooks):
    put(hooks / "pre-commit")
    command = [sys.executable, "-m", "knowrepo", "hooks", "install", "--git"]
    both = [
        subprocess.Popen(command, cwd=repository.root, stdout=subprocess.PIPE) for _ in range(2)
    ]
    for process in both:
        process.communicate(timeout=SECONDS)
        assert process.returncode == 0
    assert (hooks / "pre-commit.before-know").read_bytes() == FOREIGN
    assert states(repository)["pre-commit"] == "chained"


def test_no_know_to_run_is_no_failure_of_git_where_the_git_directory_is_full(know, repository):
    """A read-only git directory: nothing is indexed, and nobody is stopped."""
    (repository.common_dir / "know").mkdir(exist_ok=True)
    (repository.common_dir / "know/background").write_text("in the way")
    done = know("hook", "index")
    assert done.code == 0
    assert "not indexed" in done.err
    done = know("hook", "index", "--wait")
    assert done.code == 1


def test_outside_of_a_knowledge_repository_the_hook_is_silent_about_failing(tmp_path, monkeypatch):
    git(tmp_path, "init", "-q", "plain")
    monkeypatch.chdir(tmp_path / "plain")
    assert main(["hook", "index"]) == 0


# -- what is told -------------------------------------------------------------


def status(know) -> tuple[int, dict]:
    done = know("hooks", "status", "--json")
    answer = json.loads(done.out)
    assert answer["version"] == 1
    return done.code, answer["git"]


def test_status_tells_what_runs_where_and_how_the_last_run_went(know, repository, hooks):
    put(hooks / "post-merge")
    assert "no background run yet" in know("hooks", "status").out
    know("hooks", "install", "--git")
    write(repository, "concepts/a.md", concept("A"))
    assert know("hook", "index", "--wait", "--here").code == 0
    code, found = status(know)
    assert code == 0
    assert {one["stage"]: one["state"] for one in found["stages"]} == {
        **dict.fromkeys(STAGES, "installed"), "post-merge": "chained",
    }  # fmt: skip
    runs = found["background"]
    assert (runs["running"], runs["begun"], runs["last_error"]) == (False, 0, None)
    assert runs["last"]["outcome"] == "done"
    assert runs["last"]["what"]["indexed"] == 1
    said = know("hooks", "status").out
    assert "post-merge: chained (post-merge.before-know runs before it)" in said
    assert "done, 1 indexed, 0 removed" in said


def test_status_and_doctor_find_hooks_whose_program_is_gone(know, repository, hooks):
    know("hooks", "install", "--git")
    hook = looking.ours(hooks, "post-commit")[1].hook
    gone = changing.scripts.Hook(**{**vars(hook), "package": "/gone/knowrepo/__main__.py"})
    changing.do(changing.Step("post-commit", "renew", hooks / "post-commit", hook=gone))
    code, found = status(know)
    assert code == 1
    assert {one["state"] for one in found["stages"]} == {"installed", "broken"}
    checks = {c["name"]: c for c in json.loads(know("doctor", "--json").out)["checks"]}
    assert "a hook of know does not work" in checks["git-hooks"]["seen"]
    know("hooks", "install", "--git")  # which brings it up to date
    checks = {c["name"]: c for c in json.loads(know("doctor", "--json").out)["checks"]}
    assert checks["git-hooks"]["verdict"] == checks["pre-commit"]["verdict"] == "ok"
    assert "without pre-commit" in checks["pre-commit"]["seen"]


def test_whose_hooks_must_be_said(know, repository):
    done = know("hooks", "install")
    assert done.code == 2
    assert "--git, --agent claude, or both" in done.err
