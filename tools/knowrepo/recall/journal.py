"""The log of recalls: what was asked, what was shown, what was opened afterwards.

Owns `recall.jsonl` in the folder of the logs: a line of JSON for each recall, and
one for each time that ids were opened, appended in one write. It never leaves the
git directory. It holds queries (redacted), ids and scores; of what was found no
text. A recall pays for it, so that nothing is imported here which a recall has
not, and none fails for it. What the lines tell is `review`'s business.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knowrepo import config
from knowrepo.callers import agent_in
from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.recall.glance import may_hold_secret

if TYPE_CHECKING:
    from knowrepo.index.catalog import Filter
    from knowrepo.recall.hits import Hit
    from knowrepo.recall.route import Answer

FILE = "recall.jsonl"
VARIABLE = "KNOW_RECALL_LOG"
LARGEST = 1 << 19
"""Bytes of the log before it is turned over. The one before is kept beside it, so that
at most twice as much is there, and the newest half of it always."""
DIGITS = 12
"""Digits of an id that are noted: more than are ever shown, for those change as others come."""
LONGEST_QUERY = 400
"""Characters of a query that are noted."""
_READ = 4096  # characters of a query that are looked at
_MOST_SHOWN = 50
_ATTEMPTS = 3
_YES = ("", "1", "on", "true", "yes")


def record(
    repository: Repository,
    answer: Answer,
    *,
    printed: int,
    only: Filter | None = None,
    bodies: bool = False,
) -> None:
    """Note a recall: its answer, of which ``printed`` characters were shown.

    With ``bodies`` these were whole texts, so that nothing is left to be opened.
    Never fails; does nothing where the log is switched off.
    """
    try:
        off, own = _settings(repository)
        if off:
            return
        entry: dict[str, Any] = {
            "query": _query(repository, answer.query, own=own),
            "only": {k: v for k, v in vars(only).items() if v and k != "keys"} if only else {},
            "route": answer.route,
            "confidence": round(answer.confidence, 3),
            "confident": answer.confident,
            "hits": len(answer.hits),
            "shown": [_shown(hit) for hit in answer.hits[:_MOST_SHOWN]],
            "ms": round(answer.seconds * 1000, 2),
            "printed": printed,
            "whole": _whole(repository, answer.hits),
            "bodies": bodies,
            "by": agent_in(os.environ),
        }
        _write(repository, "recall", entry)
    except Exception:  # the answer is out; nobody asked for this
        return


def opened(repository: Repository, ids: Iterable[str], *, printed: int = 0) -> None:
    """Note that these ids (whole ones) were opened, and how many characters that showed.

    Never fails; does nothing where the log is switched off.
    """
    try:
        found = [uid[:DIGITS] for uid in ids]
        if found and not switched_off(repository):
            _write(repository, "opened", {"ids": found[:_MOST_SHOWN], "printed": printed})
    except Exception:  # as above
        return


def switched_off(repository: Repository) -> str:
    """Return what says that nothing is to be noted: a variable or a file; '' where nothing does.

    A file that cannot be understood may say so.
    """
    return _settings(repository)[0]


def files(repository: Repository) -> tuple[Path, Path]:
    """Return the older file of the log and the one that is written to; either may be missing."""
    current = repository.logs / FILE
    return current.with_name(f"{FILE}.1"), current


def clear(repository: Repository) -> bool:
    """Remove the log; says whether there was one."""
    gone = [path for path in files(repository) if path.is_file()]
    for path in gone:
        path.unlink(missing_ok=True)
    return bool(gone)


def inside(repository: Repository) -> str:
    """Return where in its git work tree a knowledge repository lies: they share the log."""
    top, root = str(repository.work_tree), str(repository.root)
    return root[len(top) :].strip("/")


def _settings(repository: Repository) -> tuple[str, bool]:
    """Return what switches the log off, and whether somebody has kinds of secrets of their own.

    TOML is slow to import, and most files say nothing of either: they are looked at
    as they are. A key may be spelled with escapes.
    """
    own = False
    if os.environ.get(VARIABLE, "").strip().lower() not in _YES:
        return VARIABLE, own
    cloned = f"{repository.root}/{config.REPOSITORY_FILE}"
    for path in (cloned, str(config.config_path())):
        try:
            with open(path, "rb", buffering=0) as stream:  # noqa: PTH123 - it is quicker
                data = stream.read()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            return path, own
        escapes = b"\\u" in data.lower()
        own = own or escapes or b"extra" in data
        if escapes or (b"recall" in data and b"log" in data):
            try:
                may = (
                    config.load_repository_config(repository.root).recall_log
                    if path == cloned
                    else config.load_user_config().recall_log
                )
            except KnowError:
                may = False
            if not may:
                return path, own
    return "", own


# -- a line ---------------------------------------------------------------------


def _query(repository: Repository, query: str, *, own: bool) -> str:
    """Return a query as one line of bounded length, without secrets."""
    text = query[:_READ].encode("utf-8", "replace").decode()
    if own or may_hold_secret(text):
        from knowrepo.sessions.redact.settings import redactor_for

        clean = redactor_for(repository.root).redact(text)
        if clean != text and len(query) > _READ:
            # What stands at the cut may be half a secret, and has moved to the front.
            clean = clean[: clean.find("[redacted:")] + "…"
        text = clean
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_QUERY else line[: LONGEST_QUERY - 1] + "…"


def _shown(hit: Hit) -> list[str | float]:
    return [hit.uid[:DIGITS], hit.score, *hit.also]


def _whole(repository: Repository, hits: list[Hit]) -> int:
    """Return about how many characters the bodies of the hits have, as `--full` prints them.

    That of a concept is taken from its file's size; a whole session is not counted.
    """
    total = 0
    for hit in hits:
        if hit.text:
            total += len(hit.text)
        elif hit.kind == "concept":
            try:
                total += os.stat(f"{repository.root}/{hit.path}").st_size  # noqa: PTH116 - quicker
            except OSError:  # removed since
                continue
    return total


# -- the file -------------------------------------------------------------------


def _write(repository: Repository, what: str, entry: dict[str, Any]) -> None:
    line = {"did": what, "time": _now(), **entry}
    place = inside(repository)
    if place:
        line["in"] = place
    _append(repository, json.dumps(line).encode() + b"\n")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _append(repository: Repository, data: bytes) -> None:
    log = f"{repository.logs}/{FILE}"
    for _ in range(_ATTEMPTS):
        try:
            number = _open(log)
        except FileNotFoundError:
            repository.logs.mkdir(parents=True, exist_ok=True)
            number = _open(log)
        try:
            os.write(number, data)
            now = os.fstat(number)
            if now.st_size > LARGEST:
                _turn_over(repository, number)
        finally:
            os.close(number)
        if now.st_nlink:  # others may have turned it over twice before we wrote
            return


def _open(log: str) -> int:
    return os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)


def _turn_over(repository: Repository, number: int) -> None:
    """Put the log that is open as ``number`` aside; one process does, and only while it is the log.

    A process that holds it open still writes its line there, and none is lost.
    """
    import fcntl

    older, current = files(repository)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(number), current.stat()):
            current.replace(older)
    except OSError:  # another process is at it, or the folder is read-only
        return
