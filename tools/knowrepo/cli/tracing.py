"""How commits and what they did are printed: shared by `know history`, `blame` and `diff`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from knowrepo.cli import style
from knowrepo.cli.common import say, show, show_json
from knowrepo.terminal import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from knowrepo.git.revisions import Commit
    from knowrepo.history.trace import Event
    from knowrepo.history.versions import Version

SHOWN = 10
"""Digits of a commit's name."""
_NARROWEST = 20
_SUBJECT = 30  # columns that are kept for it, beside a long name


def commit_fields(commit: Commit | None) -> dict[str, Any] | None:
    """Return a commit as JSON shows it."""
    if commit is None:
        return None
    return {
        "commit": commit.oid, "time": commit.time, "author": commit.author,
        "subject": commit.subject,
    }  # fmt: skip


def named(commit: Commit | None, *, subject: bool = False) -> str:
    """Return a commit's name, day and author, in colours where a terminal shows them."""
    if commit is None:
        return _in("not committed yet", style.DIM)
    oid, day = commit.oid[:SHOWN], commit.time[:10]
    taken = len(f"{oid} {day} ")
    author = fitted(commit.author, taken + (_SUBJECT if subject else 0))
    more = f"  {fitted(commit.subject, taken + len(author) + 2)}" if subject else ""
    return f"{_in(oid, style.CYAN)} {_in(day, style.DIM)} {author}{more}"


def heading(text: str) -> str:
    """Return a line in bold type where a terminal shows it."""
    return _in(fitted(text), style.BOLD)


def one_line(text: str) -> str:
    """Return a text from history as one plain line."""
    return " ".join(plain(text).split())


def fitted(text: str, taken: int = 0) -> str:
    """Return one plain line: whole where a program reads it, cut to a terminal."""
    line = one_line(text)
    if not sys.stdout.isatty():
        return line
    from shutil import get_terminal_size

    from knowrepo.cli.width import cut

    return cut(line, max(_NARROWEST, get_terminal_size().columns - taken))


def answer(
    lines: Iterable[str], fields: Callable[[], dict[str, Any]], *, as_json: bool, remark: str = ""
) -> None:
    """Print an answer as JSON, or as lines with a remark after them."""
    if as_json:
        show_json(fields())
        return
    for line in lines:
        if not show(line, styled=True):
            return
    if remark:
        say(remark)


def vouched(version: Event | Version) -> str:
    """Return who wrote and who verified a version, as it says itself."""
    by = f"by {version.generated_by}" if version.generated_by else ""
    verified = f"verified {joined(version.verified)}" if version.verified else ""
    return "; ".join(filter(None, (by, verified)))


def joined(parts: Iterable[str]) -> str:
    """Return what is there of some parts, separated by commas."""
    return ", ".join(filter(None, parts))


def _in(text: str, look: str) -> str:
    return style.styled(text, look) if style.is_styled() else text
