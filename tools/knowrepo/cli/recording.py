"""Recording a case for `know eval`: which document is the right one, and writing it down."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from knowrepo.cli.common import say
from knowrepo.errors import KnowError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from knowrepo.evaluate.cases import Case
    from knowrepo.evaluate.run import Outcome
    from knowrepo.git.layout import Repository

_OFFERED = 10  # hits to choose from


def record(
    here: Repository,
    path: Path,
    shown: str,
    query: str,
    expect: Sequence[str],
    *,
    none: bool,
    kind: str,
    k: int,
    words_only: bool,
) -> Outcome:
    """Append a case to the file, and return what becomes of it now.

    Documents are written by their whole names, which hold in every clone. Raises
    KnowError where the file has the case already, and where a name means nothing.
    """
    from knowrepo.evaluate import cases, run
    from knowrepo.git.lock import held

    _check(query, expect, none=none, k=k)
    for text in (query, kind):
        _refuse_secrets(here, text)
    run.bring_up(here)
    if not (expect or none):
        expect = [_chosen(here, query, words_only=words_only)]
    paths = _paths(here, expect)
    case = cases.Case(query.strip(), paths, kind=kind.strip(), k=k or cases.K)
    with held(here, "eval"):
        data = cases.read_bytes(path, shown) if path.exists() else b""
        _refuse_known(here, cases.parse(data, shown), case, shown)
        after, case = cases.appended(data, case, shown)
        _write(path, after)
    return run.evaluate(here, [case], words_only=words_only).outcomes[0]


def _check(query: str, expect: Sequence[str], *, none: bool, k: int) -> None:
    from knowrepo.evaluate.cases import MOST_K

    try:
        query.encode()
    except UnicodeEncodeError as error:
        raise UsageError("the query is not UTF-8", hint="write it in UTF-8") from error
    if not query.strip():
        raise UsageError("no query", hint='try: know eval --add "how do we …"')
    if none and (expect or k):
        raise UsageError("--none excludes --expect and -k")
    if k < 0 or k > MOST_K:
        raise UsageError(f"-k {k}: must be from 1 to {MOST_K}")


def _refuse_secrets(here: Repository, text: str) -> None:
    """Raise KnowError where the gate of the archive would redact something: the file is shared."""
    from knowrepo.sessions.redact.settings import redactor_for

    found = redactor_for(here.root).findings(text)
    if found:
        kinds = ", ".join(sorted({kind for _, kind in found}))
        raise KnowError(f"the case holds a secret ({kinds}); nothing is written")


def _chosen(here: Repository, query: str, *, words_only: bool) -> str:
    """Return the path of the hit that a person says is right."""
    from knowrepo.recall import present, route

    if not sys.stdin.isatty():
        raise UsageError(
            "nobody to ask which document is the right one",
            hint="name it: --expect decisions/its-answer; or --none where nothing answers",
        )
    hits = route.recall(here, query, limit=_OFFERED, words_only=words_only).hits
    if not hits:
        raise KnowError("nothing is found", hint="name the right document: --expect NAME")
    for place, hit in enumerate(hits, start=1):
        say(f"{place:2} {present.line(hit, scored=False)}")
    number: int = typer.prompt("Which one is right? 0 for none of these", type=int, err=True)
    if not 1 <= number <= len(hits):
        raise KnowError(
            "nothing is recorded", hint="name the right document: --expect NAME; or --none"
        )
    return hits[number - 1].path


def _paths(here: Repository, expect: Sequence[str]) -> tuple[str, ...]:
    """Return the whole names of documents: a concept's path, a session's without an ending."""
    from knowrepo.evaluate.names import Names
    from knowrepo.recall.opening import current

    with current(here) as opened:
        names = Names(opened.catalog.states())
        keys = dict.fromkeys(map(names.resolve, expect))
    return tuple(f"{key}.md" if key.startswith("concepts/") else key for key in keys)


def _refuse_known(here: Repository, known: Sequence[Case], case: Case, shown: str) -> None:
    """Raise KnowError where a case asks the same and expects it, by whatever names."""
    from knowrepo.evaluate.cases import plain_name
    from knowrepo.evaluate.names import Names, UnknownNameError
    from knowrepo.recall.opening import current

    wanted = set(map(plain_name, case.expect))
    with current(here) as opened:
        names = Names(opened.catalog.states())
    for other in known:
        if other.question != case.question:
            continue
        expected = set()
        for name in other.expect:
            try:
                expected.add(plain_name(names.resolve(name)))
            except UnknownNameError:  # `know eval` tells
                continue
        if expected & wanted or not (other.expect or case.expect):
            raise KnowError(f"{shown}:{other.line}: has this case already; nothing is written")


def _write(path: Path, data: bytes) -> None:
    from knowrepo.config import write_atomically

    target = path.resolve()  # a link stays one
    mode = target.stat().st_mode & 0o777 if target.exists() else None
    try:
        write_atomically(target, data, mode=mode)
    except OSError as error:
        raise KnowError(f"{path}: cannot be written: {error.strerror}") from error
