from __future__ import annotations

import errno
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from knowrepo.sessions import store
from knowrepo.sessions.publish import LeftError, publish, recover


@pytest.fixture
def place(tmp_path) -> tuple[Path, Path]:
    """A session's first file, and the folder in which it is made ready."""
    (tmp_path / "sessions" / "claude").mkdir(parents=True)
    return tmp_path / "sessions" / "claude" / "a.jsonl", tmp_path / "publish"


def content(folder: Path, numbers: list[int]) -> Path:
    path = folder.parent / "content"
    path.write_text("".join(f"{number:0199}\n" for number in numbers))
    return path


def read(first: Path) -> list[int]:
    return [int(line) for line in store.chunks(first)]


def test_a_small_session_is_one_file(place):
    first, folder = place
    publish(content(folder, [1, 2]), first, folder, most=1000)
    assert [path.name for path in first.parent.iterdir()] == ["a.jsonl"]
    assert read(first) == [1, 2]
    assert not folder.exists()


def test_a_large_session_is_cut_at_line_ends(place):
    first, folder = place
    publish(content(folder, list(range(10))), first, folder, most=700)
    sizes = [path.stat().st_size for path in store.parts(first)]
    assert len(sizes) == 4
    assert all(size <= 700 for size in sizes)
    assert read(first) == list(range(10))
    assert not folder.exists()


def test_a_line_is_never_cut(place):
    first, folder = place
    publish(content(folder, [1, 2]), first, folder, most=20)
    assert read(first) == [1, 2]
    assert len(store.parts(first)) == 2


def test_growing_touches_only_the_last_part(place):
    first, folder = place
    publish(content(folder, list(range(5))), first, folder, most=700)
    before = [path.stat().st_ino for path in store.parts(first)]
    publish(content(folder, list(range(8))), first, folder, most=700)
    assert [path.stat().st_ino for path in store.parts(first)][:1] == before[:1]
    assert read(first) == list(range(8))


def test_fewer_parts_leave_none_behind(place):
    first, folder = place
    publish(content(folder, list(range(8))), first, folder, most=700)
    publish(content(folder, list(range(8))), first, folder, most=10_000)
    assert [path.name for path in first.parent.iterdir()] == ["a.jsonl"]
    assert read(first) == list(range(8))


def test_a_part_that_did_not_fit_is_replaced(place):
    first, folder = place
    publish(content(folder, list(range(8))), first, folder, most=700)
    first.write_bytes(b"".join(list(store.chunks(first))[:2]))  # as an older checkout
    assert read(first) == [0, 1]
    publish(content(folder, list(range(6))), first, folder, most=700)
    assert read(first) == list(range(6))
    assert store.every_part(first) == store.parts(first)


class KilledError(Exception):
    pass


class Killer:
    """Lets so many renames and removals happen, and then no more."""

    def __init__(self, patch: pytest.MonkeyPatch, steps: int, error: Exception) -> None:
        self.left = steps
        self.error = error
        for name in ("replace", "unlink"):
            patch.setattr(Path, name, self._counted(getattr(Path, name)))

    def _counted(self, whole: Callable[..., object]) -> Callable[..., object]:
        def do(path: Path, *arguments: object, **named: object) -> object:
            if self.left == 0:
                raise self.error
            self.left -= 1
            return whole(path, *arguments, **named)

        return do


OLD = list(range(0, 20, 2))
GROWN = list(range(0, 40, 2))
ENDS = [
    (GROWN, 900),  # appended
    (list(range(20)), 900),  # lines in between
    (OLD, 10_000),  # fewer parts
    (list(range(20)), 1900),  # larger parts
    (list(range(20)), 400),  # smaller parts
]


@pytest.mark.parametrize(("new", "most"), ENDS)
@pytest.mark.parametrize("error", [KilledError(), OSError(errno.ENOSPC, "No space left")])
def test_a_run_that_ends_between_any_two_steps_loses_no_line_and_is_finished(
    place, new, most, error
):
    first, folder = place
    for steps in count():
        for path in first.parent.iterdir():
            path.unlink()
        publish(content(folder, OLD), first, folder, most=900)
        made = content(folder, new)
        finished = False
        with pytest.MonkeyPatch.context() as patch, suppress(KilledError, OSError):
            Killer(patch, steps, error)
            publish(made, first, folder, most=most)
            finished = True
        seen = read(first)
        assert seen == OLD or set(OLD) <= set(seen)  # nothing is out of sight
        assert len(seen) == len(set(seen))  # nor seen twice
        if new == GROWN:
            assert seen == new[: len(seen)]  # what is seen is a beginning
        recover(folder, first.parents[1])
        assert not folder.exists()
        assert read(first) == (new if steps else OLD)  # at first nothing was planned
        assert store.every_part(first) == store.parts(first)
        if finished:
            break
    assert steps > 2


@pytest.mark.parametrize(("new", "most"), ENDS[:2])
def test_what_git_brought_meanwhile_is_not_overwritten(place, new, most):
    first, folder = place
    publish(content(folder, OLD), first, folder, most=900)
    with pytest.MonkeyPatch.context() as patch, suppress(KilledError):
        Killer(patch, 1, KilledError())  # the plan stands, nothing was moved
        publish(content(folder, new), first, folder, most=most)
    last = store.parts(first)[-1]
    last.write_bytes(last.read_bytes() + b"99\n")
    with pytest.raises(LeftError) as left:
        recover(folder, first.parents[1])
    assert read(first) == [*OLD, 99]
    assert [int(line) for line in left.value.content.read_bytes().splitlines()] == new


def test_a_plan_that_leads_elsewhere_is_not_carried_out(place, tmp_path):
    first, folder = place
    outside = tmp_path / "outside"
    folder.mkdir()
    made = folder / "part.0"
    made.write_text("evil")
    (folder / "plan.json").write_text(
        f'{{"first": "{first}", "before": {{"{outside}": ""}}, "steps": [["{made}", "{outside}"]]}}'
    )
    recover(folder, first.parents[1])
    assert not outside.exists()


@pytest.mark.parametrize("plan", ["", "{", "[]", "3", "[[1]]", '{"first": 1}'])
def test_a_broken_plan_is_none(place, plan):
    first, folder = place
    folder.mkdir()
    (folder / "plan.json").write_text(plan)
    recover(folder, first.parents[1])
    assert not folder.exists()
