"""Clones and work trees that share a memory through a remote, driven by random operations.

Nobody may have to settle anything but a concept that both sides changed.
`SHARED_HISTORIES=100 python -m pytest tests/sharing/test_shared_histories.py` tries more of them.
"""

from __future__ import annotations

import os
import random
import stat
import sys
from pathlib import Path

import pytest
from machines import FINGERPRINT, use_words

from catalog_rows import rebuilt, rows_of
from helpers import (
    SESSION,
    WordEmbedder,
    assistant,
    concept,
    git,
    make_repository,
    transcript,
    user,
)
from knowrepo.cli.main import main
from knowrepo.concepts import bundle
from knowrepo.git import plumbing
from knowrepo.git.layout import Repository, repository_at
from knowrepo.index.build import refresh
from knowrepo.sessions.archive import archive

HISTORIES = int(os.environ.get("SHARED_HISTORIES", "10"))
STEPS = int(os.environ.get("STEPS", "50"))
_SECTIONS = 4
_WORDS = ["rebase", "ledger", "catalog", "naïve", "知识库", "camelCase", "quokka", "vector"]


class World:
    """A bare remote, two clones of it, and a work tree that the first one has beside its own.

    ``said`` are the records of each agent's session, as far as they have come: whoever
    archives has seen the session up to some point.
    """

    def __init__(self, folder: Path, choose: random.Random) -> None:
        self.folder = folder
        self.choose = choose
        self.step = 0
        self.told: list[str] = []
        self.last = ""
        self.said: dict[str, list[dict[str, object]]] = {}
        self.remote = folder / "remote.git"
        first = make_repository(folder / "one")
        _settle_in(first)
        git(first.root, "add", "-A")
        git(first.root, "commit", "-qm", "begin")
        git(folder, "clone", "-q", "--bare", str(first.root), str(self.remote))
        git(first.root, "remote", "add", "origin", str(self.remote))
        git(first.root, "fetch", "-q")
        git(first.root, "branch", "-q", "--set-upstream-to=origin/main", "main")
        git(folder, "clone", "-q", str(self.remote), str(folder / "two"))
        git(first.root, "worktree", "add", "-q", "-b", "beside", str(folder / "three"))
        self.trees = [first, *(repository_at((folder / n).resolve()) for n in ("two", "three"))]
        for tree in self.trees:
            _settle_in(tree)
        self.here = first

    def happen(self) -> None:
        """Do one thing somewhere, and settle what only a person can."""
        self.step += 1
        self.here = self.choose.choice(self.trees)
        self.here.concepts.mkdir(exist_ok=True)
        self.here.sessions.mkdir(exist_ok=True)
        name = self.choose.choice(OFTEN)
        self.told.append(f"{self.here.root.name}: {name}")
        getattr(self, name)()

    def git(self, *arguments: str) -> str:
        """Run git, which may refuse: that is a step too."""
        return git(self.here.root, *arguments, check=False)

    # -- what people do -------------------------------------------------------

    def add(self) -> None:
        path = self.here.concepts / self._folder() / f"c{self.choose.randrange(12)}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_text(self._concept())

    def edit(self) -> None:
        """Change one section, the title, or the tags of a concept, as a person would."""
        path = self._any_concept()
        if path is None:
            return
        text = path.read_text()
        what = self.choose.choice(["title", "tags", *["section"] * 4])
        if what == "title":
            old = next(line for line in text.splitlines() if line.startswith("title:"))
            text = text.replace(old, f'title: "{self._phrase(3)}"')
        elif what == "tags":
            old = next(line for line in text.splitlines() if line.startswith("tags:"))
            text = text.replace(old, f"tags: [{self.choose.choice(_WORDS)}]")
        else:
            name = f"# Section {self.choose.randrange(_SECTIONS)}\n"
            text = text.replace(name, f"{name}\n{self._phrase(6)}, said in step {self.step}.\n", 1)
        path.write_text(text)

    def delete(self) -> None:
        path = self._any_concept()
        if path is not None:
            self.git("rm", "-qf", str(path))

    def rename(self) -> None:
        path = self._any_concept()
        if path is not None:
            new = self.here.concepts / self._folder() / f"r{self.step}.md"
            new.parent.mkdir(parents=True, exist_ok=True)
            self.git("mv", str(path), str(new))

    def archive(self) -> None:
        """Archive a session as far as somebody saw it; it goes on, or parts from what it was."""
        number = self.choose.randrange(3)
        name = f"{number:08d}{SESSION[8:]}"
        said = self.said.setdefault(name, [])
        for _ in range(self.choose.randrange(1, 4)):
            at = len(said) * 2 + 1
            said += [user(self._phrase(5), at), assistant(self._phrase(5), at + 1)]
        seen = said[: self.choose.randrange(1, len(said) + 1)]
        if self.choose.random() < 0.2:  # resumed elsewhere: the same beginning, another end
            seen = [*seen, user(f"elsewhere {self._phrase(3)}", 1000 + self.step)]
        source = transcript(self.folder / "agent", seen, f"{name}.jsonl")
        list(archive(self.here, [source]))

    def commit(self) -> None:
        """Commit everything, the generated files among it, as the hooks ask for."""
        self.git("add", "-A")
        for file in bundle.write_generated(self.here):
            if file.is_wrong:
                self.git("add", "-A", "--", file.path)
        self.git("commit", "-qm", f"step {self.step}")

    def branch(self) -> None:
        self.commit()
        self.git("checkout", "-q", "-b", f"b{self.step}")

    def checkout(self) -> None:
        self.commit()
        self.git("checkout", "-q", self._branch())

    def merge(self) -> None:
        self.last = "merge"
        self.commit()
        self.git("merge", "-q", "--no-edit", self._branch())
        self._settle()

    def rebase(self) -> None:
        self.commit()
        self.git("rebase", "-q", self._branch())
        self._settle()

    def stash(self) -> None:
        self.git("add", "-A", "concepts", "sessions")
        self.git("stash", "-q")
        self.pull()
        self.git("stash", "pop", "-q")
        self._settle()

    def pull(self, how: str = "") -> None:
        self.commit()
        self.git("fetch", "-q")
        self.last = how = how or self.choose.choice(["merge", "rebase"])
        self.git(how, "-q", *(["--no-edit"] if how == "merge" else []), "origin/main")
        self._settle()

    def push(self, how: str = "") -> None:
        self.pull(how)
        self.git("push", "-q", "origin", "HEAD:main")

    def sync(self) -> None:
        """Push what is committed, embed what is new, and share the vectors."""
        self.push()
        for command in ("index", "sync"):
            assert main([command, "--quiet", "--repo", str(self.here.root)]) == 0, self.told

    def meet(self) -> None:
        """Have everybody push and pull until all have the same."""
        for tree in self.trees * 2:
            self.here = tree
            self.push("merge")

    # -- settling -------------------------------------------------------------

    def _settle(self) -> None:
        """Do by hand what git asks for; only text that both sides changed may be among it."""
        for _ in range(60):
            conflicts = plumbing.unmerged(self.here)
            for path in conflicts:
                assert self._both_changed(path), (path, self.told)
                self._take_one(path)
            if not self._go_on(resolved=bool(conflicts)):
                return
        raise AssertionError(f"it does not end: {self.told}")

    def _both_changed(self, path: str) -> bool:
        """Say whether both sides changed a concept: its text, or one of them where it lies."""
        listing = git(self.here.root, "ls-files", "--unmerged", "-z", "--", path)
        stages = {entry.split()[2]: entry.split()[1] for entry in listing.split("\0") if entry}
        generated = path.endswith(("index.md", ".jsonl"))
        renamed = path not in git(self.here.root, "ls-tree", "-r", "--name-only", self._base())
        changed = stages.get("2") != stages.get("1") != stages.get("3")
        return not generated and (renamed or changed)

    def _base(self) -> str:
        """Return the commit from which both sides of what is under way come."""
        theirs = self.git("rev-parse", "--verify", "--quiet", "MERGE_HEAD").strip()
        if theirs:
            return self.git("merge-base", "HEAD", theirs).strip()
        picked = self.git("rev-parse", "--verify", "--quiet", "REBASE_HEAD^").strip()
        return picked or self.git("rev-parse", "stash^").strip()

    def _take_one(self, path: str) -> None:
        self.git("checkout", "-q", self.choose.choice(["--ours", "--theirs"]), "--", path)
        if (self.here.root / path).exists():
            self.git("add", "--", path)
        else:
            self.git("rm", "-q", "--cached", "--", path)

    def _go_on(self, *, resolved: bool) -> bool:
        """Go on with what is under way; says whether anything is still to be settled."""
        folder = self.here.git_dir
        if (folder / "MERGE_HEAD").exists():
            self.commit()
        elif (folder / "rebase-merge").exists() or (folder / "rebase-apply").exists():
            staged = self.git("diff", "--cached", "--name-only")
            on = "--continue" if resolved and staged else "--skip"
            self.git("-c", "core.editor=true", "rebase", on)
            return True
        elif resolved:  # a stash that was popped
            self.git("stash", "drop", "-q")
        return False

    # -- what they are made of ------------------------------------------------

    def _phrase(self, words: int) -> str:
        return " ".join(self.choose.choices(_WORDS, k=words))

    def _folder(self) -> str:
        return self.choose.choice(["", "", "decisions", "notes/deep"])

    def _concept(self) -> str:
        sections = "\n\n".join(
            f"# Section {number}\n\n{self._phrase(5)}.\n\n{self._phrase(5)}."
            for number in range(_SECTIONS)
        )
        return concept(
            self._phrase(3), tags=set(self.choose.choices(_WORDS[:3], k=2)), body=sections
        )

    def _any_concept(self) -> Path | None:
        tracked = plumbing.tracked(self.here, "concepts")
        here = [
            self.here.root / path for path in tracked if not path.endswith(("index.md", ".jsonl"))
        ]
        return self.choose.choice([path for path in here if path.is_file()] or [None])

    def _branch(self) -> str:
        """Return a branch that no other work tree has checked out."""
        listing = self.git(
            "for-each-ref", "--format=%(refname:short) %(worktreepath)", "refs/heads"
        )
        free = [line.strip() for line in listing.splitlines() if " " not in line.strip()]
        return self.choose.choice(free or ["HEAD"])


OFTEN = [
    *["add"] * 4, *["edit"] * 5, *["archive"] * 4, *["commit"] * 3, *["push"] * 4, *["pull"] * 3,
    "delete", "rename", "rename", "sync", "branch", "checkout", "merge", "merge", "rebase", "stash",
]  # fmt: skip


def _settle_in(tree: Repository) -> None:
    """Do what each clone does once: `know init`, and the hooks of git."""
    assert main(["init", str(tree.root), "--no-archive", "--no-default"]) == 0
    for name, command in (("pre-merge-commit", "merging"), ("post-merge", "merged")):
        hook = tree.common_dir / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\n'{sys.executable}' -P -m knowrepo hook {command} || :\n")
        hook.chmod(hook.stat().st_mode | stat.S_IXUSR)


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_nothing_but_text_that_both_changed_has_to_be_settled_by_a_person(
    tmp_path, monkeypatch, capsys, seed
):
    words = WordEmbedder(FINGERPRINT)
    use_words(monkeypatch.setattr, words)
    world = World(tmp_path, random.Random(seed))
    for _ in range(STEPS):
        world.happen()
        _holds(world)
    world.meet()
    trees = {git(tree.root, "rev-parse", "HEAD^{tree}") for tree in world.trees}
    assert len(trees) == 1, world.told
    first, second, beside = world.trees
    world.here = first
    world.sync()
    before = len(words.passages)
    assert main(["index", "--quiet", "--repo", str(beside.root)]) == 0
    assert len(words.passages) == before  # a work tree has the vectors of its clone
    assert main(["sync", "pull", "--quiet", "--repo", str(second.root)]) == 0
    compared = len(words.passages)  # some texts of each pack, to see that they agree
    assert main(["index", "--quiet", "--repo", str(second.root)]) == 0
    assert len(words.passages) == compared  # and a clone those that were pushed
    capsys.readouterr()


def _holds(world: World) -> None:
    """Hold what must be so after every step, where the last one was."""
    here = world.here
    refresh(here)
    assert rows_of(here) == rebuilt(here), world.told
    assert main(["check", "--repo", str(here.root)]) == 0, world.told
    if world.told[-1].endswith((": merge", ": pull", ": push")) and "rebase" not in world.last:
        wrong = [file.path for file in bundle.generated_files(here) if file.is_wrong]
        assert not wrong, (wrong, world.told)
