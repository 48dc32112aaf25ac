"""Checking a bundle against OKF v0.2: conformance, and findings beyond it.

Owns the order of a check: each file alone, then what lies between files. It is
a pure function of the files and of what is around them; what the spec tells
consumers to tolerate is never an error here. The rules are in `rules`, the codes
in `codes`, the formats in `report`.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from knowrepo.concepts.checking.codes import CODES, is_non_conformance
from knowrepo.concepts.checking.findings import Finding
from knowrepo.concepts.checking.kept_pages import KeptPages
from knowrepo.concepts.checking.page import Page, Scope, read_beside, read_page
from knowrepo.concepts.checking.rules import links, names, whole
from knowrepo.concepts.checking.rules.links import Edge, Surroundings
from knowrepo.concepts.checking.tree import AskedTree, Tree
from knowrepo.concepts.facts import Facts
from knowrepo.concepts.model import FOLDER

__all__ = ["CODES", "Finding", "check", "is_conformant"]

_WORTH_A_PROCESS = 1_500_000  # bytes; to start processes costs as much as to check this
_MOST_PROCESSES = 8


def is_conformant(found: Iterable[Finding]) -> bool:
    """Say whether a bundle conforms to OKF: no finding breaks one of the rules of S11."""
    return not any(is_non_conformance(finding.code) for finding in found)


def check(
    files: Mapping[str, bytes],
    around: Tree | Callable[[str], bool],
    *,
    root: str = FOLDER,
    now: datetime | None = None,
    strict_spec: bool = False,
    whole_bundle: bool = True,
    titles: Mapping[str, str] | None = None,
    facts: Facts | None = None,
) -> list[Finding]:
    """Check the Markdown files of a bundle.

    ``files`` are contents by path relative to the repository, ``root`` is the
    bundle's folder there. ``around`` is what is there, or a function that says
    whether a path is, file or folder. Where ``files`` are only a part, nothing
    is said of orphans, and ``titles`` may name the concepts beside them. ``facts``
    are what was found before; with them only files that changed are parsed.
    """
    tree: Tree = AskedTree(around, files) if callable(around) else around
    scope = Scope(root, now or datetime.now(UTC), strict_spec)
    pages = {page.path: page for page in _known_and_new(files, scope, facts)}
    surroundings = Surroundings(tree, root, _opener(pages, tree, scope))
    found = [finding for page in pages.values() for finding in page.findings]
    edges: list[Edge] = []
    for page in pages.values():
        of_page, leads = links.check(page, surroundings)
        found += of_page
        edges += leads
    found += whole.check(pages, edges, surroundings, scope.now)
    found += whole.titles(pages, titles or {})
    if whole_bundle:
        found += whole.orphans(pages, edges, root)
        found += names.collisions(files)
    return sorted({_on_one_line(finding) for finding in found})


def _on_one_line(finding: Finding) -> Finding:
    """Return a finding whose message is one line, whatever values it quotes."""
    if finding.message.isprintable():
        return finding
    message = "".join(c if c.isprintable() else " " for c in finding.message)
    return replace(finding, message=message)


def _opener(pages: Mapping[str, Page], tree: Tree, scope: Scope) -> Callable[[str], Page | None]:
    """Return a function that gives a page, of the files at hand or of those around them."""
    others: dict[str, Page | None] = {}

    def page(path: str) -> Page | None:
        if path in pages:
            return pages[path]
        if path not in others:
            data = tree.read(path) if path.endswith(".md") else None
            others[path] = None if data is None else read_beside(path, data, scope)
        return others[path]

    return page


def _known_and_new(files: Mapping[str, bytes], scope: Scope, facts: Facts | None) -> Iterable[Page]:
    """Return the pages of the files in their order, those that are known without a parse."""
    if facts is None:
        return _pages(files, scope)
    kept = KeptPages(facts, scope)
    found = {path: kept.get(path, data) for path, data in files.items()}
    for page in _pages({path: files[path] for path, one in found.items() if one is None}, scope):
        found[page.path] = page
        kept.put(page, files[page.path])
    return [page for page in found.values() if page is not None]


def _pages(files: Mapping[str, bytes], scope: Scope) -> Iterable[Page]:
    """Read the files, in several processes where there is much to read."""
    processes = min(_processors(), _MOST_PROCESSES)
    if processes > 1 and sum(map(len, files.values())) > _WORTH_A_PROCESS:
        pages = _pages_by_processes(files, scope, processes)
        if pages is not None:
            return pages
    return [read_page(path, data, scope) for path, data in files.items()]


def _pages_by_processes(
    files: Mapping[str, bytes], scope: Scope, processes: int
) -> list[Page] | None:
    """Read the files in processes of our own; None where the platform gives us none."""
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    read = partial(_read_one, scope=scope)
    size = max(1, min(64, len(files) // (processes * 4)))
    try:
        pool = ProcessPoolExecutor(processes, initializer=_prepare)
        try:
            with _interrupts_held():
                pages = pool.map(read, files.items(), chunksize=size)
            return list(pages)
        finally:
            pool.shutdown(cancel_futures=True)
    except (OSError, ImportError, BrokenProcessPool):  # no semaphores, or no memory
        return None


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Let ^C wait. Processes that are started meanwhile never see one, for they inherit this.

    Python's `forkserver` and `spawn` start an interpreter, and whoever presses ^C before
    that has come to `_prepare` would get its traceback.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prepare() -> None:
    """Leave ^C to the process that started this one, and look for garbage less often."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(50_000)  # a parse makes thousands of tokens that all go at once


def _read_one(file: tuple[str, bytes], scope: Scope) -> Page:
    return read_page(file[0], file[1], scope)


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
