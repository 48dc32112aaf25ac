"""Machines that push, compact and pull at the same moment, each a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import machines
import pytest
from machines import FINGERPRINT, Machine, planted, refs, rows

from helpers import git
from knowrepo.sharing import compact, pack


def begin(machine: Machine, *arguments: str) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(Path(machines.__file__).parent), *sys.path])
    return subprocess.Popen(
        [sys.executable, machines.__file__, *arguments, "--repo", str(machine.root)],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def all_at_once(some: list[Machine], *arguments: str) -> None:
    """Run a command on all machines at the same time; each must succeed."""
    running = [begin(machine, *arguments) for machine in some]
    for process in running:
        out, err = process.communicate()
        assert process.returncode == 0, (out, err)


@pytest.fixture
def four(one, another) -> list[Machine]:
    """Four machines, whose texts are all pushed and embedded where they were written."""
    some = [one, another(), another(), another()]
    for number, machine in enumerate(some):
        git(machine.root, "pull", "-q", "origin", "main")
        machine.concept(*(f"m{number}-{n}" for n in range(3)))
        git(machine.root, "push", "-q", "origin", "HEAD:main")
        machine.done("index", "--no-vectors")
        machine.done("index")
    return some


def shared(another: Callable[..., Machine]) -> set[str]:
    """What a new clone pulls."""
    newcomer = another()
    newcomer.done("sync", "pull")
    return newcomer.store.hashes()


def test_machines_that_push_at_once_all_succeed_and_nothing_is_lost(four, another, remote):
    all_at_once(four, "sync", "push")
    assert shared(another) == set[str]().union(*(machine.store.hashes() for machine in four))


def test_machines_that_push_the_same_at_once_make_one_pack(one, another, remote):
    one.concept("a", "b")
    git(one.root, "push", "-q", "origin", "main")
    some = [one, another(), another()]
    for machine in some:
        machine.done("index")
    all_at_once(some, "sync", "push")
    assert len(refs(remote)) == 1


def test_machines_that_compact_at_once_lose_no_vector(four, another, remote):
    texts = [f"text {n}" for n in range(3 * compact.MOST_PACKS)]
    planted(four[0], *(pack.encode(FINGERPRINT, rows(text)) for text in texts))
    all_at_once(four, "sync", "push")
    all_at_once(four, "sync", "push")
    expected = {machines.digest(text).hex() for text in texts}
    expected |= set[str]().union(*(machine.store.hashes() for machine in four))
    assert shared(another) == expected
    four[0].done("sync", "push")
    assert len(refs(remote)) <= compact.MOST_PACKS


def test_who_pulls_while_packs_are_compacted_gets_all_of_them(four, another, remote):
    texts = [f"text {number}" for number in range(2 * compact.MOST_PACKS)]
    planted(four[0], *(pack.encode(FINGERPRINT, rows(text)) for text in texts))
    readers = [another(), another()]
    running = [begin(four[0], "sync", "push"), begin(four[1], "sync", "push")]
    running += [begin(reader, "sync", "pull") for reader in readers]
    for process in running:
        out, err = process.communicate()
        assert process.returncode == 0, (out, err)
    for reader in readers:
        assert {machines.digest(text).hex() for text in texts} <= reader.store.hashes()


def test_a_pack_that_goes_between_the_list_and_the_fetch_is_looked_for_again(
    four, another, monkeypatch
):
    texts = [f"text {number}" for number in range(compact.MOST_PACKS + 1)]
    planted(four[0], *(pack.encode(FINGERPRINT, rows(text)) for text in texts))
    late = another()
    from knowrepo.sharing import pull

    whole = pull.look
    looks: list[str] = []

    def look(repository, remote):
        found = whole(repository, remote)
        if not looks:
            four[0].done("sync", "push")  # compacts what was just listed
        looks.append(remote)
        return found

    monkeypatch.setattr(pull, "look", look)
    late.done("sync", "pull")
    assert len(looks) == 2
    assert len(late.store.hashes()) == compact.MOST_PACKS + 1 + 3


def test_one_process_of_a_clone_shares_at_a_time(four):
    one = four[0]
    running = [begin(one, "sync", "push") for _ in range(3)]
    for process in running:
        out, err = process.communicate()
        assert process.returncode == 0, (out, err)
        assert "vectors pushed" in out


@pytest.mark.parametrize("moment", ["new", "deleted"])
def test_a_machine_that_is_killed_while_it_pushes_or_compacts_loses_nothing(
    four, another, remote, tmp_path, moment
):
    texts = [f"text {number}" for number in range(compact.MOST_PACKS + 1)]
    planted(four[0], *(pack.encode(FINGERPRINT, rows(text)) for text in texts))
    victim = tmp_path / "victim"
    condition = "case $3 in *[!0]*) false;; esac" if moment == "deleted" else "true"
    hook = remote / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(
        f"#!/bin/sh\nif {condition}; then\n"
        f'  while ! test -s "{victim}"; do :; done\n  kill -9 "$(cat "{victim}")"\nfi\n'
    )
    hook.chmod(0o755)
    process = begin(four[1], "sync", "push")
    (tmp_path / "pid").write_text(str(process.pid))
    (tmp_path / "pid").rename(victim)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    hook.unlink()
    all_at_once(four, "sync", "push")
    expected = {machines.digest(text).hex() for text in texts}
    expected |= set[str]().union(*(machine.store.hashes() for machine in four))
    assert shared(another) == expected
    assert len(refs(remote)) <= compact.MOST_PACKS
