"""Merging bundles with real git: whatever two branches did, the tree is that of one branch."""

from __future__ import annotations

import random
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from helpers import SESSION, assistant, git, make_repository, transcript, user
from knowrepo.cli.main import main
from knowrepo.concepts import bundle, tags
from knowrepo.git import drivers
from knowrepo.git.layout import Repository, repository_at
from knowrepo.sessions.archive import archive

ATTRIBUTES = "".join(f"{driver.attributes}\n" for driver in drivers.DRIVERS)
FOLDERS = ("decisions", "failures", "notes/deep")
TYPES = ("Decision", "Failure", "Reference")
SENTENCES = "\n\n".join(f"Sentence {n} stands for itself." for n in range(12))
FORKED = "1f0e0d0c-0b0a-4908-8706-050403020100"

Step = Callable[[Repository], object]


def page(name: str, **given: str) -> str:
    """A concept whose values stand so far apart that git can merge edits of two of them."""
    gap = "\n".join(f"# {name} {{0}} {n}" for n in range(4))
    values = {
        "type": "Decision",
        "title": f"About {name}",
        "description": f"What {name} is.",
        "aliases": f"[{name} alias]",
        "tags": f"[{name}, shared]",
        "status": "stable",
        **given,
    }
    lines = [f"{key}: {value}\n{gap.format(key)}" for key, value in values.items()]
    return "---\n" + "\n".join(lines) + f"\n---\n\n{SENTENCES.replace('Sentence', name)}\n"


# -- what a branch does ----------------------------------------------------------


def put(path: str, text: str) -> Step:
    def step(here: Repository) -> None:
        full = here.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_text(text, encoding="utf-8")
        git(here.root, "add", path)

    return step


def change(path: str, old: str, new: str) -> Step:
    def step(here: Repository) -> None:
        text = (here.root / path).read_text(encoding="utf-8")
        assert old in text or new in text  # both branches may say the same
        put(path, text.replace(old, new))(here)

    return step


def move(path: str, to: str) -> Step:
    def step(here: Repository) -> None:
        (here.root / to).parent.mkdir(parents=True, exist_ok=True)
        git(here.root, "mv", path, to)

    return step


def remove(path: str) -> Step:
    return lambda here: git(here.root, "rm", "-q", path)


def capture(*records: dict, session: str = SESSION) -> Step:
    def step(here: Repository) -> None:
        folder = here.git_dir / "transcripts" / str(random.random())  # out of git's sight
        given = [{**record, "sessionId": session} for record in records]
        for outcome in archive(here, [transcript(folder, given, f"{session}.jsonl")]):
            assert outcome.action in {"new", "grown", "joined", "unchanged"}
        git(here.root, "add", "sessions")

    return step


def commit(here: Repository, steps: list[Step], commits: int = 1) -> None:
    """Carry out the steps, with what is generated, in so many commits."""
    size = -(-len(steps) // commits) or 1
    for start in range(0, len(steps), size):
        for step in steps[start : start + size]:
            step(here)
        finish(here)


def finish(here: Repository) -> None:
    assert main(["tags", "build", "--repo", str(here.root)]) == 0
    git(here.root, "commit", "-q", "--allow-empty", "-m", "step")


# -- repositories ----------------------------------------------------------------


def hooked(here: Repository) -> None:
    """Install the hooks as `know hooks install --git` has them call us; none may stop git."""
    know = f"{shlex.quote(sys.executable)} -P -m knowrepo hook"
    inside = shlex.quote(here.root.relative_to(here.work_tree).as_posix())
    hooks = {"pre-merge-commit": "merging", "post-merge": "merged", "post-rewrite": "merged --tell"}
    folder = Path(git(here.root, "rev-parse", "--git-path", "hooks").strip())
    folder = here.root / folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, entry in hooks.items():
        (folder / name).write_text(f"#!/bin/sh\n{know} {entry} --repo {inside} || :\n")
        (folder / name).chmod(0o755)


def begin(here: Repository, base: Iterable[Step], *, driven: bool = True) -> Repository:
    (here.root / ".gitattributes").write_text(ATTRIBUTES)
    if driven:
        assert drivers.install(here)
    git(here.root, "add", ".gitattributes", "know.toml")
    commit(here, list(base))
    return here


def branches(here: Repository, one: list[Step], two: list[Step], commits: int = 1) -> str:
    """Make branches `one` and `two`, and `both`, on which all is done; returns the tree of that.

    On `both` files are moved last, for edits know them by their old names.
    """
    both = sorted([*one, *two], key=lambda step: step.__qualname__.startswith("move."))
    for name, steps, number in (("one", one, commits), ("two", two, commits), ("both", both, 1)):
        git(here.root, "checkout", "-q", "-b", name, "main")
        commit(here, steps, number)
    return tree(here, "both")


def tree(here: Repository, revision: str = "HEAD") -> str:
    return git(here.root, "ls-tree", "-r", "--full-tree", revision)


def is_clean(here: Repository) -> bool:
    return git(here.root, "status", "--porcelain") == ""


def merge(here: Repository, mine: str, other: str, *options: str) -> str:
    """Merge on a detached HEAD; returns the tree that comes of it."""
    git(here.root, "checkout", "-q", "--detach", mine)
    git(here.root, "merge", "--no-edit", *options, other)
    assert is_clean(here)
    return tree(here)


def settle(here: Repository, capsys) -> None:
    """Do what `know merge` says, until git is content."""
    for _ in range(30):
        capsys.readouterr()
        assert main(["merge", "--repo", str(here.root)]) == 0
        said = capsys.readouterr().err.splitlines()
        if said == ["nothing is in conflict"]:
            return
        added = next(line for line in said if "git add" in line).partition("git add -A -- ")[2]
        git(here.root, "add", "-A", "--", *shlex.split(added))
        then = [line.removeprefix("then: git ") for line in said if line.startswith("then: ")]
        done = then[0].split() if then else ["commit", "--amend"]
        git(here.root, "-c", "core.editor=true", *done, check=False)
    raise AssertionError(git(here.root, "status"))


# -- any two branches ------------------------------------------------------------


class Dice:
    """Draws what two branches do, such that no text is changed by both."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.pages = [f"concepts/{folder}/{name}.md" for folder in FOLDERS for name in "abc"]
        self.turns = [user("begin", 1), assistant("answer", 2)]

    def base(self) -> list[Step]:
        # Each folder keeps a concept of each type: what an index says of a folder stays.
        anchors = [
            put(f"concepts/{folder}/{kind}-anchor.md", page(f"{folder[:4]}-{kind}", type=kind))
            for folder in FOLDERS
            for kind in TYPES
        ]
        pages = [put(path, page(path.replace("/", "-"))) for path in self.pages]
        return [*anchors, *pages, capture(*self.turns)]

    def two(self) -> tuple[list[Step], list[Step]]:
        steps: tuple[list[Step], list[Step]] = ([], [])
        shuffled = self.draw.sample(self.pages, len(self.pages))
        for number, path in enumerate(shuffled):
            for side, step in self._of_page(path, number):
                steps[side].append(step)
        for side in (0, 1):
            name = self.draw.choice(("n", "z ü", "a#b"))
            new = f"concepts/{self.draw.choice(FOLDERS)}/{name}{side}.md"
            kind = self.draw.choice(TYPES)
            steps[side].append(put(new, page(f"new {side}", type=kind, tags="[shared, fresh]")))
            grown = [user(f"turn {side} {n}", 10 * side + n) for n in range(3, 3 + 2 * side + 1)]
            steps[side].append(capture(*self.turns, *grown))
            self.draw.shuffle(steps[side])
        return steps

    def _of_page(self, path: str, number: int) -> Iterator[tuple[int, Step]]:
        name = path.replace("/", "-")
        edits = [
            change(path, f"title: About {name}", f'title: "T_{number} [x]"'),
            change(path, f"description: What {name}", f"description: Now *{number}* {name}"),
            change(path, f"tags: [{name}, shared]", f"tags: [shared, t{number}]"),
            change(path, "status: stable", "status: deprecated"),
            change(path, "type: Decision", f"type: {self.draw.choice(TYPES[1:])}"),
            change(path, f"aliases: [{name} alias]", "aliases: []"),
        ]
        one, two = self.draw.sample(edits, 2)
        first = self.draw.randrange(2)
        match self.draw.randrange(6):
            case 0:
                yield first, remove(path)
            case 1:
                yield 0, one
                yield 1, two
            case 2:
                # Renamed by one, edited by the other: git takes the edit along.
                yield first, move(path, path.replace(".md", f"-{number} é.md"))
                if not self._is_type(one, edits):
                    yield 1 - first, one
            case 3:
                yield first, one
            case 4:
                yield 0, one
                yield 1, one

    def _is_type(self, step: Step, edits: list[Step]) -> bool:
        return step is edits[4]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("driven", [True, False], ids=["drivers", "by hand"])
def test_merged_in_either_order_the_tree_is_that_of_one_branch(repository, capsys, seed, driven):
    dice = Dice(seed)
    begin(repository, dice.base(), driven=driven)
    if driven:
        hooked(repository)
    wanted = branches(repository, *dice.two())
    for mine, other in (("one", "two"), ("two", "one")):
        if driven:
            assert merge(repository, mine, other) == wanted
            continue
        git(repository.root, "checkout", "-q", "--detach", mine)
        git(repository.root, "merge", "--no-edit", other, check=False)
        settle(repository, capsys)
        assert tree(repository) == wanted
        assert is_clean(repository)


@pytest.mark.parametrize("seed", [2])
@pytest.mark.parametrize("driven", [True, False], ids=["drivers", "by hand"])
def test_rebased_the_tree_is_that_of_one_branch(repository, capsys, seed, driven):
    dice = Dice(seed)
    begin(repository, dice.base(), driven=driven)
    wanted = branches(repository, *dice.two(), commits=2)
    for mine, other in (("one", "two"), ("two", "one")):
        git(repository.root, "checkout", "-q", "--detach", mine)
        git(repository.root, "rebase", other, check=driven)
        if not driven:
            settle(repository, capsys)
        assert tree(repository) == wanted
        assert is_clean(repository)


# -- what no driver sees ----------------------------------------------------------

A, B, C = (f"concepts/notes/deep/{name}.md" for name in "abc")


def kinds(here: Repository, *, driven: bool = True) -> tuple[list[Step], list[Step]]:
    """Branches of which one's index of a folder is wrong with the other's concepts.

    The last Failure goes from the folder on one, and comes to it on the other, which
    does not change the line that tells of the folder.
    """
    base = [put(A, page("a")), put(B, page("b", type="Failure"))]
    begin(here, base, driven=driven)
    return [remove(B)], [put(C, page("c", type="Failure"))]


def test_what_no_driver_sees_is_right_in_the_merge_commit_by_our_hooks(repository):
    wanted = branches(repository, *kinds(repository))
    git(repository.root, "checkout", "-q", "--detach", "one")
    git(repository.root, "merge", "--no-edit", "two")
    assert tree(repository) != wanted  # git wrote what it could not know better
    git(repository.root, "reset", "-q", "--hard", "one")
    hooked(repository)
    git(repository.root, "merge", "--no-edit", "-m", "Ours\n\nas it was written", "two")
    assert tree(repository) == wanted
    assert is_clean(repository)
    parents = git(repository.root, "rev-parse", "one", "two")
    assert git(repository.root, "rev-parse", "HEAD^@") == parents
    assert git(repository.root, "log", "-1", "--format=%B").strip() == "Ours\n\nas it was written"
    assert not (repository.git_dir / "MERGE_HEAD").exists()


def test_our_hooks_replace_no_merge_that_came_from_elsewhere(repository):
    branches(repository, *kinds(repository))
    git(repository.root, "checkout", "-q", "-b", "upstream", "one")
    git(repository.root, "merge", "--no-edit", "two")
    theirs = git(repository.root, "rev-parse", "upstream")
    hooked(repository)
    git(repository.root, "checkout", "-q", "-B", "mine", "one")
    # A merge that git was about to commit, and that was given up.
    git(repository.root, "merge", "--no-commit", "two")
    assert main(["hook", "merging", "--repo", str(repository.root)]) == 0
    git(repository.root, "merge", "--abort")
    git(repository.root, "merge", "--ff-only", "upstream")
    assert git(repository.root, "rev-parse", "HEAD") == theirs
    assert is_clean(repository)


def test_a_signed_merge_commit_stays_and_is_told_of(repository, capsys):
    from knowrepo.git import merged

    branches(repository, *kinds(repository))
    git(repository.root, "checkout", "-q", "--detach", "one")
    git(repository.root, "merge", "--no-commit", "two")
    assert main(["hook", "merging", "--repo", str(repository.root)]) == 0
    git(repository.root, "commit", "--no-edit")
    plain = git(repository.root, "cat-file", "commit", "HEAD")
    signature = "gpgsig -----BEGIN SSH SIGNATURE-----\n x\n -----END SSH SIGNATURE-----\n\n"
    file = repository.root.parent / "signed"
    file.write_text(plain.replace("\n\n", f"\n{signature}", 1))
    signed = git(repository.root, "hash-object", "-t", "commit", "-w", str(file)).strip()
    git(repository.root, "reset", "-q", "--soft", signed)
    assert merged.is_signed(repository, signed)
    capsys.readouterr()
    assert main(["hook", "merged", "--repo", str(repository.root)]) == 0
    assert "know tags build" in capsys.readouterr().err
    assert git(repository.root, "rev-parse", "HEAD").strip() == signed


@pytest.mark.parametrize("how", ["merge", "rebase"])
@pytest.mark.parametrize("mine", ["one", "two"])
def test_an_index_that_one_side_removed_and_the_other_changed_follows_the_concepts(
    repository, capsys, mine, how
):
    begin(repository, [put(A, page("a"))])
    other = "two" if mine == "one" else "one"
    wanted = branches(repository, [remove(A)], [put("concepts/notes/x/b.md", page("b"))])
    git(repository.root, "checkout", "-q", "--detach", mine)
    git(repository.root, how, other, check=False)
    if not is_clean(repository):
        assert main(["check", "--repo", str(repository.root)]) == 1
        assert "`know merge` makes it anew" in capsys.readouterr().out
    settle(repository, capsys)
    assert tree(repository) == wanted


def test_a_conflict_in_a_concept_is_the_only_one(repository, capsys):
    begin(repository, [put(A, page("a")), put(B, page("b"))])
    old = "title: About a"
    branches(
        repository,
        [change(A, old, "title: One"), put("concepts/notes/deep/d.md", page("d"))],
        [remove(B)],
    )
    git(repository.root, "checkout", "-q", "two")
    commit(repository, [change(A, old, "title: Two"), put(C, page("c"))])
    git(repository.root, "merge", "one", check=False)
    assert git(repository.root, "diff", "--name-only", "--diff-filter=U").split() == [A]
    assert main(["merge", "--repo", str(repository.root)]) == 1
    assert f"{A}: in conflict" in capsys.readouterr().err
    put(A, page("a").replace(old, "title: Both"))(repository)
    settle(repository, capsys)
    assert all(not file.is_wrong for file in bundle.generated_files(repository))
    assert is_clean(repository)


def test_an_index_that_a_person_wrote_is_merged_as_text(repository, capsys):
    index = "concepts/decisions/index.md"
    begin(repository, [put(index, "# Mine\n\none\n\ntwo\n\nthree\n"), put(A, page("a"))])
    wanted = branches(repository, [change(index, "one", "1")], [change(index, "three", "3")])
    assert merge(repository, "one", "two") == wanted
    commit(repository, [change(index, "1", "first")])
    git(repository.root, "checkout", "-q", "two")
    commit(repository, [change(index, "one", "erstens")])
    git(repository.root, "merge", "HEAD@{1}", check=False)
    git(repository.root, "merge", "-", check=False)
    text = (repository.root / index).read_text()
    before = git(repository.root, "status", "--porcelain")
    main(["merge", "--repo", str(repository.root)])
    assert (repository.root / index).read_text() == text
    assert git(repository.root, "status", "--porcelain") == before


# -- other ways to merge -----------------------------------------------------------


def two_edits(here: Repository) -> str:
    begin(here, [put(A, page("a")), put(B, page("b")), capture(user("1", 1))])
    one = [change(A, "title: About a", "title: New"), capture(user("1", 1), user("one", 2))]
    two = [change(B, "title: About b", "title: Newer"), put(C, page("c"))]
    return branches(here, one, [*two, capture(user("1", 1), user("two", 3))])


@pytest.mark.parametrize(
    "how",
    [["merge", "--no-commit"], ["merge", "--squash"], ["cherry-pick"], ["cherry-pick", "-n"]],
    ids=" ".join,
)
def test_other_ways_to_bring_a_branch_over_end_in_the_same_tree(repository, how):
    wanted = two_edits(repository)
    git(repository.root, "checkout", "-q", "one")
    git(repository.root, *how, "two")
    git(repository.root, "commit", "-q", "--allow-empty", "-m", "over")
    assert tree(repository) == wanted
    assert is_clean(repository)


def test_what_was_stashed_comes_back_beside_what_was_committed(repository):
    wanted = two_edits(repository)
    git(repository.root, "checkout", "-q", "main")
    git(repository.root, "merge", "--squash", "two")
    git(repository.root, "stash", "-q")
    git(repository.root, "merge", "--ff-only", "one")
    git(repository.root, "stash", "pop")
    git(repository.root, "commit", "-qam", "popped")
    assert tree(repository) == wanted


def test_a_revert_takes_out_one_commit_and_no_line_of_a_session(repository):
    two_edits(repository)
    merge(repository, "one", "two")
    before = (repository.sessions / "claude" / f"{SESSION}.jsonl").read_bytes()
    git(repository.root, "revert", "--no-edit", "two")
    assert all(not file.is_wrong for file in bundle.generated_files(repository))
    assert not (repository.root / C).exists()
    assert b"Newer" not in (repository.root / tags.TAG_INDEX).read_bytes()
    assert (repository.sessions / "claude" / f"{SESSION}.jsonl").read_bytes() == before


def test_an_octopus_is_merged_or_refused_and_never_wrong(repository):
    begin(repository, [put(A, page("a"))])
    hooked(repository)
    for name in ("b", "m", "x"):
        git(repository.root, "checkout", "-q", "-b", name, "main")
        commit(repository, [put(f"concepts/{name}/{name}.md", page(name))])
    git(repository.root, "checkout", "-q", "--detach", "b")
    before = git(repository.root, "rev-parse", "HEAD")
    git(repository.root, "merge", "--no-edit", "m", "x", check=False)
    if git(repository.root, "rev-parse", "HEAD") == before:
        git(repository.root, "reset", "-q", "--merge")
        for name in ("m", "x"):
            git(repository.root, "merge", "--no-edit", name)
    assert all(not file.is_wrong for file in bundle.generated_files(repository))
    assert is_clean(repository)


# -- places ------------------------------------------------------------------------


def beside(folder: Path) -> Repository:
    """A knowledge repository in a folder of a code repository."""
    code = folder / "the code \u00fc"
    code.mkdir()
    git(code, "init", "-q")
    (code / "json.py").write_text("raise SystemExit('a clone is not to be run')\n")
    git(code, "add", "json.py")
    inner = code / "know ledge's"
    for name in ("concepts", "sessions"):
        (inner / name).mkdir(parents=True)
    (inner / "know.toml").write_text("format = 1\n")
    return repository_at(inner.resolve())


def linked(folder: Path) -> Repository:
    """A linked work tree."""
    first = make_repository(folder / "first")
    git(first.root, "commit", "-q", "--allow-empty", "-m", "begin")
    git(first.root, "checkout", "-q", "--detach")
    git(first.root, "worktree", "add", "-q", str(folder / "linked ü"), "main")
    for name in ("concepts", "sessions"):
        (folder / "linked ü" / name).mkdir()
    (folder / "linked ü" / "know.toml").write_text("format = 1\n")
    return repository_at(folder / "linked ü")


def submodule(folder: Path) -> Repository:
    """A submodule of another repository."""
    make_repository(folder / "source")
    git(folder / "source", "commit", "-q", "--allow-empty", "-m", "begin")
    outer = make_repository(folder / "outer").root
    allowed = ("-c", "protocol.file.allow=always")
    git(outer, *allowed, "submodule", "add", "-q", str(folder / "source"), "sub module")
    for name in ("concepts", "sessions"):
        (outer / "sub module" / name).mkdir()
    (outer / "sub module" / "know.toml").write_text("format = 1\n")
    return repository_at(outer / "sub module")


@pytest.mark.parametrize("place", [beside, linked, submodule])
def test_wherever_the_repository_lies(tmp_path, place):
    here = place(tmp_path)
    one, two = kinds(here)
    hooked(here)
    one.append(capture(user("1", 1), user("one", 2)))
    two.append(capture(user("1", 1), user("two", 3)))
    wanted = branches(here, one, two)
    for mine, other in (("one", "two"), ("two", "one")):
        assert merge(here, mine, other) == wanted


# -- sessions -----------------------------------------------------------------------


def test_a_fork_of_a_forgotten_session_gets_nothing_of_it(repository, capsys):
    turns = [user(f"turn {n} " + "x" * 80, n) for n in range(1, 9)]
    begin(repository, [put(A, page("a")), capture(*turns)])

    def forget(here: Repository) -> None:
        assert main(["forget", SESSION, "--yes", "--repo", str(here.root)]) == 0
        git(here.root, "add", "-A", "sessions")

    fork = [{**turn, "uuid": f"f-{n}"} for n, turn in enumerate(turns)]
    git(repository.root, "checkout", "-q", "-b", "one")
    commit(repository, [forget, capture(*fork, session=FORKED)])
    git(repository.root, "checkout", "-q", "-b", "two", "main")
    commit(repository, [capture(*turns, assistant("the secret plan", 20))])
    for mine, other in (("one", "two"), ("two", "one")):
        git(repository.root, "checkout", "-q", "--detach", mine)
        git(repository.root, "merge", "--no-edit", other, check=False)
        settle(repository, capsys)
        assert tree(repository) == tree(repository, "one")
        assert b"secret plan" not in b"".join(
            path.read_bytes() for path in repository.sessions.rglob("*.jsonl")
        )
