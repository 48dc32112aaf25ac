"""The checks in their order, each on its own: one that fails itself stops no other.

Owns finding the place to look at, running, mending, and what an unexpected error
becomes. What is checked is the other modules' business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository, open_repository
from knowrepo.upkeep.doctor import (
    agents,
    catalog,
    configuration,
    files,
    hooks,
    machine,
    model,
    repository,
    vectors,
)
from knowrepo.upkeep.doctor.check import Found, Place, Verdict, fail

Anywhere = Callable[[Place], Found]
Inside = Callable[[Repository], Found]

ANYWHERE: dict[str, Anywhere] = {
    "python": machine.python,
    "know": machine.know,
    "git": machine.git,
    "sqlite": machine.sqlite,
    "duckdb": machine.duckdb,
    "llama-cpp": machine.llama_cpp,
    "repository": repository.place,
    "user-config": configuration.of_user,
    "model": model.present,
    "model-hash": model.whole,
    "embedding": model.embeds,
    "agent-hooks": agents.hooks,
    "retention": agents.retention,
    "queue": agents.queue,
    "cache": files.cache,
}
INSIDE: dict[str, Inside] = {
    "clone": repository.clone,
    "folders": repository.folders,
    "git-state": repository.state,
    "know-toml": configuration.of_repository,
    "pre-commit": hooks.configured,
    "git-hooks": hooks.installed,
    "merge-driver": hooks.merge_driver,
    "disk": files.disk,
    "permissions": files.permissions,
    "links": files.links,
    "clock": files.clock,
    "leftovers": files.leftovers,
    "locks": files.locks,
    "wal": catalog.wal,
    "catalog": catalog.whole,
    "vectors": vectors.whole,
    "log": files.log,
}
"""Those that need a repository. Names are stable: programs read them."""


@dataclass(frozen=True)
class Result:
    """What came of a check; ``fixed`` is what was done about it."""

    name: str
    verdict: Verdict
    seen: str
    fix: str = ""
    fixed: str = ""


def examine(explicit: Path | None, *, mend: bool = False) -> Iterator[Result]:
    """Yield what each check found; with ``mend`` what is safe to mend is mended first.

    Where there is no repository, the checks that need one are left out: the check
    `repository` says why.
    """
    here = find(explicit)
    for name, check in ANYWHERE.items():
        yield _result(name, partial(check, here), mend=mend)
    inside = here.repository
    if inside is not None:
        for name, look in INSIDE.items():
            yield _result(name, partial(look, inside), mend=mend)


def find(explicit: Path | None) -> Place:
    """Return the place to look at, whatever state it is in."""
    folder = (explicit or Path()).absolute()
    try:
        return Place(folder, open_repository(explicit))
    except KnowError as error:
        return Place(folder, None, error.message, error.hint)
    except (OSError, ValueError) as error:
        return Place(folder, None, _words(error), "make the folder readable, or pass --repo")


def _result(name: str, look: Callable[[], Found], *, mend: bool) -> Result:
    found = _safely(look)
    fixed = ""
    if mend and found.mend is not None and found.verdict != "ok":
        try:
            fixed = found.mend()
        except Exception as error:
            seen = f"{found.seen}; it could not be mended: {_words(error)}"
            return Result(name, found.verdict, seen, found.fix)
        found = _safely(look)
    return Result(name, found.verdict, found.seen, found.fix, fixed)


def _safely(look: Callable[[], Found]) -> Found:
    try:
        return look()
    except KnowError as error:
        return fail(error.message, error.hint)
    except Exception as error:
        return fail(f"the check itself failed: {_words(error)}", "report it as a bug of know")


def _words(error: Exception) -> str:
    if isinstance(error, KnowError):
        return error.message
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'reading'}: {error.strerror}"
    return f"{type(error).__name__}: {error}"
