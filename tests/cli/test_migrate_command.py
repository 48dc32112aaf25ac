"""``know migrate``: what it prints, what it writes, and how it ends."""

from __future__ import annotations

import json

from helpers import git, write

OLD = "---\ntype: A\ntimestamp: 2026-05-28\n---\n\nx[1]\n\n# Citations\n\n1. [The book](b.md)\n"
NEW = (
    '---\ntype: A\nsources:\n  - id: the-book\n    resource: "b.md"\n    title: The book\n'
    'generated: { by: "process:unknown", at: "2026-05-28T00:00:00Z" }\n---\n\nx[^the-book]\n\n'
    "[^the-book]: The book\n"
)


def test_a_bundle_is_lifted_and_nothing_is_staged(repository, know, commit):
    path = write(repository, "concepts/a.md", OLD)
    write(repository, "concepts/index.md", "# A\n\n* [a](a.md)\n")
    commit()
    untracked = write(repository, "concepts/u.md", OLD, stage=False)
    dry = know("migrate", "--dry-run")
    assert dry.code == 0
    assert "-timestamp: 2026-05-28\n" in dry.out
    assert path.read_text() == OLD
    done = know("migrate")
    assert done.code == 0
    assert done.out.splitlines() == [
        "concepts/a.md: timestamp -> generated.at (a day: its midnight in UTC), by process:unknown",
        "concepts/a.md: # Citations -> sources (1, referred to 1 times)",
        "concepts/index.md: okf_version 0.2 added",
    ]
    assert "2 files lifted, not staged" in done.err
    assert path.read_text() == NEW
    assert untracked.read_text() == OLD
    assert git(repository.root, "diff", "--cached", "--name-only") == ""
    again = know("migrate")
    assert (again.code, again.out, again.err) == (0, "", "nothing to lift\n")
    assert know("migrate", str(untracked)).code == 0
    assert untracked.read_text() == NEW


def test_what_cannot_be_lifted_is_listed_and_ends_with_one(repository, know):
    write(repository, "concepts/a.md", "---\ntype: A\ntimestamp: some day\n---\n")
    done = know("migrate")
    assert done.code == 1
    assert "concepts/a.md: not lifted: `timestamp: some day` is no time" in done.err
    assert "nothing to lift; 1 thing to lift by hand" in done.err
    told = know("migrate", "--json")
    assert told.code == 1
    assert json.loads(told.out) == {
        "version": 1,
        "files": [
            {
                "path": "concepts/a.md",
                "done": [],
                "left": ["`timestamp: some day` is no time"],
            }
        ],
        "conflicts": [],
    }


def test_a_generated_index_is_left_to_its_command(repository, know):
    write(repository, "concepts/a.md", "---\ntype: A\n---\n")
    know("tags", "build")
    before = (repository.root / "concepts/index.md").read_bytes()
    git(repository.root, "add", "-A")
    assert know("migrate").code == 0
    assert (repository.root / "concepts/index.md").read_bytes() == before
    assert "know tags build" in know("migrate", "concepts/index.md").err
