"""Publishing a session: what was there, or all that is new, at any moment.

Owns the renames. One file is one rename. Several cannot be renamed at once: the
new ones stand ready in a folder of the git directory with a plan of the steps,
and the plan stays until it is carried out, whatever happens in between. What a
session becomes is decided before (see `unite`).
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from knowrepo.errors import KnowError
from knowrepo.sessions.store import (
    PART_BYTES,
    digest_of,
    every_part,
    file_stamp,
    header,
    is_file,
    part,
    parts,
)

PUBLISHING = "publish"
"""The folder below `Repository.locks` in which what is published stands ready."""
_PLAN = "plan.json"
_CONTENT = "content.jsonl"
_BLOCK = 1 << 20

_Step = tuple[str, str]
"""(what was made ready, where it goes); '' for what is removed."""


class LeftError(KnowError):
    """A publication that was not finished, of a session that somebody changed meanwhile.

    ``content`` is all that the session was to become, ``first`` its first file.
    """

    def __init__(self, first: Path, content: Path) -> None:
        super().__init__(f"{first}: an earlier run left it half published")
        self.first = first
        self.content = content


def publish(content: Path, first: Path, folder: Path, *, most: int = PART_BYTES) -> None:
    """Make ``content`` the session at ``first``; it is moved, or cut into parts.

    ``folder`` holds what is made ready; a plan that is left in it by a failure is
    for `recover`.
    """
    first.parent.mkdir(parents=True, exist_ok=True)
    cuts = list(_cut(content, most))
    present = every_part(first)
    if len(cuts) == 1 and len(present) <= 1:
        put_in_place(content, first)
        return
    if (folder / _PLAN).exists():
        raise KnowError(f"{folder}: holds an unfinished publication", hint="run the command again")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    whole = content.replace(folder / _CONTENT)
    steps = _steps(whole, first, cuts, folder)
    before = {target: file_stamp(Path(target)) for _, target in steps}
    plan = {"first": str(first), "before": before, "steps": steps}
    with (folder / _PLAN).open("wb") as stream:
        stream.write(json.dumps(plan).encode())
        _sync(stream)
    _carry_out(steps)
    shutil.rmtree(folder)


def recover(folder: Path, root: Path) -> None:
    """Carry out what a run that was killed, or failed, had planned.

    Raises OSError where it fails again, and LeftError where somebody changed the
    session meanwhile: then its content is to be joined with what is there.
    """
    try:
        plan = json.loads((folder / _PLAN).read_bytes())
        first, before, steps = _checked(plan, root)
    except FileNotFoundError:
        shutil.rmtree(folder, ignore_errors=True)
        return
    except (ValueError, KeyError, TypeError):  # it was not finished: nothing was moved yet
        shutil.rmtree(folder, ignore_errors=True)
        return
    done = {target for made, target in steps if not _is_waiting(made, target)}
    waiting = [(made, target) for made, target in steps if _is_waiting(made, target)]
    for _, target in waiting:
        if target not in done and file_stamp(Path(target)) != before[target]:
            raise LeftError(first, folder / _CONTENT)
    _carry_out(waiting)
    shutil.rmtree(folder)


def forget_left(folder: Path) -> None:
    """Drop what an unfinished publication left: it was joined, or is to be forgotten."""
    shutil.rmtree(folder, ignore_errors=True)


def _checked(plan: Any, root: Path) -> tuple[Path, dict[str, str], list[_Step]]:
    steps = [(str(made), str(target)) for made, target in plan["steps"]]
    targets = [plan["first"], *(target for _, target in steps)]
    if not all(Path(target).resolve().is_relative_to(root.resolve()) for target in targets):
        raise ValueError("leads out of the repository")
    return Path(plan["first"]), {str(k): str(v) for k, v in plan["before"].items()}, steps


def _is_waiting(made: str, target: str) -> bool:
    return Path(made).exists() if made else Path(target).exists()


def _steps(content: Path, first: Path, cuts: list[_Cut], folder: Path) -> list[_Step]:
    """Make the new parts ready; returns what is moved where.

    Where a session only grew, its parts go first to last, so that what can be
    seen is at any moment a beginning of it. Else all of it goes into the first
    file until the others are right, so that no line is out of sight on the way.
    """
    steps: list[_Step] = []
    for number, cut in enumerate(cuts):
        target = part(first, number)
        if number == 0 or not _holds(target, content, cut):
            made = folder / f"part.{number}"
            _copy(content, made, cut)
            steps.append((str(made), str(target)))
    surplus = [("", str(path)) for path in every_part(first)[len(cuts) :]]
    if _appends(first, content, cuts):
        keeps_first = _holds(first, content, cuts[0])
        return [*(steps[1:] if keeps_first else steps), *surplus]
    whole = folder / "whole"
    shutil.copyfile(content, whole)
    return [(str(whole), str(first)), *steps[1:], *surplus, steps[0]]


def _carry_out(steps: list[_Step]) -> None:
    for made, target in steps:
        if made:
            put_in_place(Path(made), Path(target))
        else:
            Path(target).unlink(missing_ok=True)


_Cut = tuple[int, int, bytes]
"""First byte, the byte after the last, and the line that a part begins with."""


def _cut(content: Path, most: int) -> Iterator[_Cut]:
    """Yield the parts, cut at line ends; a line is never cut."""
    size = content.stat().st_size
    start = position = number = 0
    lead, last = b"", b""
    with content.open("rb") as stream:
        for line in stream if size > most else ():
            if position > start and len(lead) + position + len(line) - start > most:
                yield start, position, lead
                start, number = position, number + 1
                lead = header(number, start, digest_of(last))
            position += len(line)
            last = line
    yield start, size, lead


def _appends(first: Path, content: Path, cuts: list[_Cut]) -> bool:
    """Say whether the parts that are there are the beginning of ``content``."""
    there = parts(first)
    if len(there) > len(cuts):
        return False
    for number, path in enumerate(there):
        start, end, lead = cuts[number]
        if number < len(there) - 1:
            if not _holds(path, content, cuts[number]):
                return False
            continue
        end = min(end, start + path.stat().st_size - len(lead))
        if not _holds(path, content, (start, end, lead)):
            return False
    return True


def _holds(path: Path, content: Path, cut: _Cut) -> bool:
    """Say whether ``path`` holds just these bytes of ``content``, after its lead."""
    start, end, lead = cut
    if not is_file(path) or path.stat().st_size != len(lead) + end - start:
        return False
    with path.open("rb") as a, content.open("rb") as b:
        if a.read(len(lead)) != lead:
            return False
        b.seek(start)
        while block := a.read(_BLOCK):
            if b.read(len(block)) != block:
                return False
    return True


def _copy(content: Path, to: Path, cut: _Cut) -> None:
    start, end, lead = cut
    with content.open("rb") as source, to.open("wb") as target:
        target.write(lead)
        source.seek(start)
        left = end - start
        while left and (block := source.read(min(left, _BLOCK))):
            target.write(block)
            left -= len(block)
        _sync(target)


def _sync(stream: IO[bytes]) -> None:
    stream.flush()
    os.fsync(stream.fileno())


def put_in_place(temporary: Path, target: Path) -> None:
    """Publish ``temporary`` as ``target``, on the disk before it can be seen."""
    with temporary.open("rb+") as stream:
        os.fsync(stream.fileno())
    try:
        temporary.replace(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _replace_across_disks(temporary, target)


def _replace_across_disks(temporary: Path, target: Path) -> None:
    """Do the same where the git directory lies on another disk than the work tree."""
    beside = target.with_name(f".{target.name}.{os.urandom(8).hex()}.tmp")
    try:
        # Exclusive: a link that lies in wait under this name is not followed.
        with temporary.open("rb") as source, beside.open("xb") as copy:
            shutil.copyfileobj(source, copy, _BLOCK)
            _sync(copy)
        beside.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
    temporary.unlink(missing_ok=True)
