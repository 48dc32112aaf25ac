"""Secrets in a file: what a finding is, and what the commit in the making would bring in.

Owns how a line of a session and a text are looked at, for the scan of what is there
and for the hook. It imports no more than that takes: every commit waits for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from knowrepo.git.making import NextCommit
from knowrepo.sessions import growth
from knowrepo.sessions.keep import Kept, archived_line
from knowrepo.sessions.lines import Line, read_lines
from knowrepo.sessions.redact import Redactor
from knowrepo.sessions.redact.settings import redactor_for

FOLDERS = ("sessions", "concepts")


@dataclass(frozen=True, order=True)
class Found:
    """A secret in a file: where, and of which kind; ``line`` is 1-based."""

    path: str
    line: int
    kind: str


def of_commit(commit: NextCommit) -> Iterator[Found]:
    """Yield the findings in what the commit in the making changes, not in what HEAD has."""
    redactor = redactor_for(commit.repository.root)
    for change in commit.changes:
        inside = change.path.partition("/")[0] in FOLDERS
        after = commit.read(change.new) if inside and change.new else None
        if after is None:
            continue
        if change.path.endswith(".jsonl"):
            known = commit.read(change.old) if change.old else None
            new = _new_lines(known or b"", after)
            if change.path.startswith("sessions/"):
                yield from in_lines(change.path, read_lines(new), redactor)
            else:  # the tag index, which is no session's
                yield from in_text(change.path, b"".join(new), redactor)
        else:
            yield from in_text(change.path, after, redactor)


def _new_lines(before: bytes, after: bytes) -> Iterator[bytes]:
    """Yield the lines of ``after``, empty where ``before`` has them: so they keep their numbers."""
    known = set(before.split(b"\n"))
    return (b"\n" if line in known else line + b"\n" for line in after.split(b"\n"))


def in_lines(name: str, lines: Iterable[Line], redactor: Redactor) -> Iterator[Found]:
    """Yield the findings in lines of an archived session."""
    for line in lines:
        kept = Kept()
        if not growth.is_marker(line.raw):
            archived_line(line, kept, redactor)
        yield from (Found(name, line.number, kind) for kind in kept.redacted.elements())


def in_text(name: str, data: bytes, redactor: Redactor) -> Iterator[Found]:
    """Yield the findings in a text."""
    text = data.decode("utf-8", "replace")
    for start, kind in redactor.findings(text):
        yield Found(name, text.count("\n", 0, start) + 1, kind)
