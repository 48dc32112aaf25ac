"""Over random histories of real git the catalog is, row by row, what a rebuild gives.

`HISTORIES=200 python -m pytest tests/index/test_histories.py` tries more of them.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from catalog_rows import rebuilt, rows_of
from helpers import assistant, concept, git, jsonl, make_repository, tool_call, user
from knowrepo.git.layout import Repository, repository_at
from knowrepo.index.build import refresh
from knowrepo.sessions.forget import forget
from knowrepo.sessions.store import SessionName

HISTORIES = int(os.environ.get("HISTORIES", "6"))
STEPS = int(os.environ.get("STEPS", "30"))

_WORDS = ["git", "rebase", "camelCase", "知识库", "naïve", "v1.2.3", "index", "ledger"]


class History:
    """A repository that things happen to, as ``choose`` decides."""

    def __init__(self, folder: Path, choose: random.Random, setenv) -> None:
        self.folder = folder
        self.choose = choose
        self.setenv = setenv
        self.trees: list[Repository] = [make_repository(folder / "memory")]
        self.repository = self.trees[0]
        self.step = 0
        self.told: list[str] = []
        self.git("add", "know.toml")
        self.commit()

    def git(self, *arguments: str) -> str:
        """Run git, which may refuse: that is a step too."""
        return git(self.repository.root, *arguments, check=False)

    def happen(self) -> None:
        """Do one thing; what makes something happens more often than what takes it away."""
        self.step += 1
        name = self.choose.choice(ACTIONS + OFTEN)
        stuck = self.git("ls-files", "--unmerged") and self.choose.random() < 0.4
        name = self.choose.choice(["resolve", "abort"]) if stuck else name
        self.told.append(name)
        getattr(self, name)()

    def _concepts(self) -> list[Path]:
        return sorted(self.repository.concepts.rglob("*.md")) or [self._written()]

    def _sessions(self) -> list[Path]:
        return sorted(self.repository.sessions.rglob("*.jsonl")) or [self._session()]

    def _text(self) -> str:
        chosen = self.choose.choices(_WORDS, k=3)
        keys = {"aliases": f"[{chosen[0]} alias]"} if self.choose.random() < 0.3 else {}
        if self.choose.random() < 0.3:
            keys["generated"] = "{by: x, at: 2026-01-02T00:00:00Z}"
        if self.choose.random() < 0.1:
            return "---\ntitle: [x\n---\nbroken front matter\n"
        title = " ".join(chosen) if self.choose.random() < 0.8 else ""
        body = f"lead {self.step}\n\n# {chosen[1]}\n\n{chosen[2]} text\n\n# {chosen[1]}\n\nmore"
        return concept(title, tags=set(chosen[:2]), body=body, **keys)

    def _written(self) -> Path:
        folder = self.repository.concepts / self.choose.choice(["", "deep", "deep/er"])
        path = folder / f"c{self.choose.randrange(6)}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self._text())
        return path

    def _session(self) -> Path:
        number = self.choose.randrange(4)
        name = f"{number:08d}-0000-4000-8000-000000000000"
        if self.choose.random() < 0.3:
            path = self.repository.sessions / "claude" / name / f"agent-{number}.jsonl"
        else:
            path = self.repository.sessions / "claude" / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        self._grown(path)
        return path

    def _grown(self, path: Path) -> None:
        number = self.step * 10
        said = " ".join(self.choose.choices(_WORDS, k=4))
        new = [user(said, number), assistant(f"{said} done", number + 1)]
        if self.choose.random() < 0.4:
            new.append(tool_call("Bash", number + 2, command=said))
        if path.is_file() and path.read_bytes()[-1:] not in {b"", b"\n"}:
            path.write_bytes(path.read_bytes() + b"\n")
        with path.open("ab") as stream:
            stream.write(jsonl(new))

    def add(self) -> None:
        self.git("add", str(self._written()))

    def draft(self) -> None:
        self._written()

    def announce(self) -> None:
        self.git("add", "--intent-to-add", str(self._written()))

    def stage_all(self) -> None:
        self.git("add", "-A")

    def unstage(self) -> None:
        self.git("reset", "-q", "--", str(self.choose.choice(self._concepts())))

    def rename(self) -> None:
        old = self.choose.choice(self._concepts())
        self.git("mv", "-f", str(old), str(old.with_name(f"r{self.choose.randrange(4)}.md")))

    def rename_folder(self) -> None:
        self.git("mv", "concepts/deep", f"concepts/moved{self.step}")

    def delete(self) -> None:
        self.git("rm", "-qf", str(self.choose.choice(self._concepts())))

    def unlink(self) -> None:
        self.choose.choice(self._concepts()).unlink()

    def session(self) -> None:
        self._session()

    def grow(self) -> None:
        self._grown(self.choose.choice(self._sessions()))

    def track_session(self) -> None:
        self.git("add", "-f", str(self.choose.choice(self._sessions())))

    def delete_session(self) -> None:
        self.choose.choice(self._sessions()).unlink()

    def rename_session(self) -> None:
        old = self.choose.choice(self._sessions())
        old.rename(old.with_name(f"agent-{self.step}.jsonl"))

    def forget(self) -> None:
        path = self.choose.choice(self._sessions()).relative_to(self.repository.sessions)
        parent = path.parts[1] if len(path.parts) == 3 else ""
        forget(self.repository, SessionName(path.parts[0], path.stem, parent))
        if self.choose.random() < 0.5:
            self.git("add", "-A", "sessions")

    def remember_again(self) -> None:
        for tombstone in self.repository.sessions.rglob("*.forgotten"):
            tombstone.unlink()

    def commit(self) -> None:
        self.setenv("GIT_COMMITTER_DATE", f"2026-02-01T00:{self.step % 60:02d}:00+00:00")
        self.git("commit", "-qm", f"step {self.step}", "--allow-empty")

    def commit_all(self) -> None:
        self.git("add", "-A")
        self.commit()

    def amend(self) -> None:
        self.setenv("GIT_COMMITTER_DATE", f"2026-03-01T00:{self.step % 60:02d}:00+00:00")
        self.git("commit", "-q", "--amend", "--no-edit", "--allow-empty")

    def branch(self) -> None:
        self.git("checkout", "-q", "-b", f"b{self.step}")

    def _other(self) -> str:
        listing = self.git("for-each-ref", "--format=%(refname:short)", "refs/heads")
        return self.choose.choice(listing.split() or ["HEAD"])

    def checkout(self) -> None:
        self.git("checkout", "-q", self._other())

    def checkout_by_force(self) -> None:
        self.git("checkout", "-qf", self._other())

    def merge(self) -> None:
        self.commit_all()
        self.git("merge", "-q", "--no-edit", self._other())

    def merge_both_ways(self) -> None:
        """Make a conflict: both sides change the same files."""
        self.commit_all()
        concept_path, session_path = self._concepts()[0], self._sessions()[0]
        for side in ("left", "right"):
            self.git("checkout", "-q", "-B", f"{side}{self.step}", "HEAD" if side == "left" else
                     f"left{self.step}^")  # fmt: skip
            concept_path.parent.mkdir(parents=True, exist_ok=True)
            session_path.parent.mkdir(parents=True, exist_ok=True)
            concept_path.write_text(self._text() + side)
            self._grown(session_path)
            self.commit_all()
        self.git("merge", "-q", "--no-edit", f"left{self.step}")

    def resolve(self) -> None:
        self.git("checkout", "-q", self.choose.choice(["--ours", "--theirs"]), "--", ".")
        self.commit_all()

    def abort(self) -> None:
        for command in ("merge", "rebase", "cherry-pick"):
            self.git(command, "--abort")

    def rebase(self) -> None:
        self.commit_all()
        self.git("rebase", "-q", self._other())

    def pick(self) -> None:
        self.commit_all()
        self.git("cherry-pick", self._other())

    def stash(self) -> None:
        self.git("stash", "-q", *self.choose.choice([[], ["-u"]]))

    def pop(self) -> None:
        self.git("stash", "pop", "-q")

    def reset_hard(self) -> None:
        self.git("reset", "-q", "--hard", self.choose.choice(["HEAD", "HEAD^"]))

    def reset_soft(self) -> None:
        self.git("reset", "-q", self.choose.choice(["--soft", "--mixed"]), "HEAD^")

    def restore(self) -> None:
        self.git("checkout", "-q", "--", self.choose.choice(["concepts", "sessions"]))

    def clean(self) -> None:
        self.git("clean", "-qfd")

    def other_work_tree(self) -> None:
        if len(self.trees) < 2:
            path = self.folder / f"linked{self.step}"
            self.git("worktree", "add", "-q", "-b", f"w{self.step}", str(path))
            self.trees.append(repository_at(path.resolve()))
        self.repository = self.choose.choice(self.trees)
        self.repository.concepts.mkdir(exist_ok=True)
        self.repository.sessions.mkdir(exist_ok=True)


ACTIONS = [
    name for name in vars(History) if not name.startswith("_") and name not in {"git", "happen"}
]
OFTEN = [
    "add", "add", "session", "grow", "commit_all", "commit_all", "reset_soft", "amend", "rename",
    "merge_both_ways",
] * 3  # fmt: skip


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_after_every_step_the_catalog_is_what_a_rebuild_gives(tmp_path, monkeypatch, seed):
    choose = random.Random(seed)
    history = History(tmp_path, choose, monkeypatch.setenv)
    for _ in range(STEPS):
        history.happen()
        if choose.random() < 0.2:
            continue  # more than one thing happens between two looks
        if choose.random() < 0.3:  # a recall has no time for all of it
            refresh(history.repository, budget=choose.choice([0.0, 0.004, 0.2]))
        refresh(history.repository)
        now, new = rows_of(history.repository), rebuilt(history.repository)
        for table in new:
            assert now[table] == new[table], (table, history.told)
        done = refresh(history.repository)
        assert (done.removed, done.behind) == (0, 0), history.told
        assert done.indexed == 0 or done.notes, history.told
