from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from knowrepo.sessions import store
from knowrepo.sessions.store import SessionName


@pytest.fixture
def place(tmp_path) -> tuple[Path, Path]:
    (tmp_path / "sessions" / "claude").mkdir(parents=True)
    (tmp_path / "scratch").mkdir()
    return tmp_path / "sessions" / "claude" / "a.jsonl", tmp_path / "scratch"


def content(scratch: Path, *lines: str) -> Path:
    path = scratch / "content"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def read(first: Path) -> list[str]:
    return [line.decode().rstrip("\n") for line in store.chunks(first)]


def numbered(*numbers: int) -> list[str]:
    return [f'{{"n":{number:03}}}' for number in numbers]  # 10 bytes a line


def test_a_small_session_is_one_file(place):
    first, scratch = place
    store.publish(content(scratch, *numbered(1, 2)), first, scratch, most=100)
    assert store.parts(first) == [first]
    assert read(first) == numbered(1, 2)


def test_a_large_session_is_cut_at_line_ends_and_read_as_one(place):
    first, scratch = place
    store.publish(content(scratch, *numbered(*range(10))), first, scratch, most=35)
    names = ["a.jsonl", "a.1.jsonl", "a.2.jsonl", "a.3.jsonl"]
    assert [path.name for path in store.parts(first)] == names
    assert [path.stat().st_size for path in store.parts(first)] == [30, 30, 30, 10]
    assert read(first) == numbered(*range(10))
    assert [store.is_part(path) for path in store.parts(first)] == [False, True, True, True]


def test_a_line_is_never_cut(place):
    first, scratch = place
    store.publish(content(scratch, "x" * 99, "y"), first, scratch, most=20)
    assert [path.stat().st_size for path in store.parts(first)] == [100, 2]


def test_growing_touches_only_the_last_part(place):
    first, scratch = place
    store.publish(content(scratch, *numbered(*range(5))), first, scratch, most=30)
    before = first.stat().st_ino
    store.publish(content(scratch, *numbered(*range(8))), first, scratch, most=30)
    assert first.stat().st_ino == before
    assert read(first) == numbered(*range(8))


def test_fewer_parts_leave_none_behind(place):
    first, scratch = place
    store.publish(content(scratch, *numbered(*range(8))), first, scratch, most=30)
    store.publish(content(scratch, *numbered(*range(8))), first, scratch, most=1000)
    assert [path.name for path in first.parent.iterdir()] == ["a.jsonl"]
    assert read(first) == numbered(*range(8))


class KilledError(Exception):
    pass


class Killer:
    """Lets so many renames and removals happen, and then no more."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
        self.left = steps
        for name in ("replace", "unlink"):
            monkeypatch.setattr(Path, name, self._counted(getattr(Path, name)))

    def _counted(self, whole: Callable[..., object]) -> Callable[..., object]:
        def do(path: Path, *arguments: object, **named: object) -> object:
            if self.left == 0:
                raise KilledError
            self.left -= 1
            return whole(path, *arguments, **named)

        return do


OLD = numbered(*range(0, 20, 2))
GROWN = numbered(*range(0, 40, 2))


@pytest.mark.parametrize(
    ("new", "most"),
    [
        (GROWN, 45),  # appended
        (numbered(*range(20)), 45),  # lines in between
        (OLD, 1000),  # fewer parts
        (numbered(*range(20)), 95),  # larger parts
        (numbered(*range(20)), 20),  # smaller parts
    ],
)
def test_a_run_killed_between_any_two_steps_loses_no_line_and_is_finished(place, new, most):
    first, scratch = place
    for steps in count():
        for path in first.parent.iterdir():
            path.unlink()
        store.publish(content(scratch, *OLD), first, scratch, most=45)
        made = content(scratch, *new)
        finished = False
        with pytest.MonkeyPatch.context() as patch, suppress(KilledError):
            Killer(patch, steps)
            store.publish(made, first, scratch, most=most)
            finished = True
        seen = read(first)
        assert set(OLD) <= set(seen)  # nothing is out of sight
        if new == GROWN:
            assert seen == new[: len(seen)]  # what is seen is a beginning
        store.recover(scratch, first.parents[2])
        scratch.mkdir()
        assert read(first) == new
        if finished:
            break
    assert steps > 1


def test_a_plan_that_leads_elsewhere_is_not_carried_out(place, tmp_path):
    first, scratch = place
    outside = tmp_path / "outside"
    made = scratch / "part.0"
    made.write_text("evil")
    (scratch / "publish.json").write_text(f'[["{made}", "{outside}"]]')
    store.recover(scratch, first.parents[1])
    assert not outside.exists()


@pytest.mark.parametrize("plan", ["", "{", "[]", "3", "[[1]]", '{"a": 1}'])
def test_a_broken_plan_is_none(place, plan):
    first, scratch = place
    (scratch / "publish.json").write_text(plan)
    store.recover(scratch, first.parents[1])
    assert not scratch.exists()


@pytest.mark.parametrize(
    "name",
    ["..", ".git", "a/b", "", "a" * 200, "x.1", "con", "NUL.x", "a\0b", "-a", "a.", "é"],
)
def test_what_is_no_file_name_everywhere_is_no_id(name):
    assert not SessionName("claude", name).is_safe
    assert not (name and SessionName("claude", "good", name).is_safe)


def test_a_name_is_told_from_its_place(tmp_path):
    for name in (SessionName("codex", "a-1"), SessionName("claude", "agent-1", "parent")):
        assert store.name_of(tmp_path, name.path(tmp_path)) == name
    assert store.name_of(tmp_path, tmp_path / "stray.jsonl") is None


def test_a_stamp_changes_with_every_part(place):
    first, scratch = place
    assert store.stamp(first) == ""
    store.publish(content(scratch, *numbered(*range(8))), first, scratch, most=30)
    before = store.stamp(first)
    last = store.parts(first)[-1]
    os.utime(last, ns=(1, 1))
    assert store.stamp(first) != before
