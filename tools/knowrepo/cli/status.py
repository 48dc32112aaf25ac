"""``know status``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from knowrepo.cli.common import JsonOption, RepoOption, repository, show, show_json
from knowrepo.units import count, shorten, size

if TYPE_CHECKING:
    from knowrepo.git.layout import Repository
    from knowrepo.upkeep.logs import Run
    from knowrepo.upkeep.status import CatalogStatus, ModelStatus, Status, VectorStatus

_MOST_LINES = 20
_WIDTH = 80
_LABEL = 11  # columns
_STATES = {
    "current": "up to date",
    "behind": "behind the work tree; `know index` brings it up",
    "not built": "not built; run `know index`",
    "damaged": "damaged, or another version's; `know index` builds it anew",
}


def status(
    log: Annotated[
        bool, typer.Option("--log", help="Show the last runs, as the log has them, instead.")
    ] = False,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what is indexed, what is pending, with which model, and where.

    Nothing is changed, and no model is loaded. Whether what is there is whole,
    `know doctor` says.

    \b
    Examples:
      know status
      know status --log
      know status --json
    """
    here = repository(repo)
    if log:
        _show_log(here, as_json=as_json)
        return
    from knowrepo.upkeep.status import status as look

    found = look(here)
    if as_json:
        show_json(_as_json(found))
    else:
        show("\n".join(_lines(found)))


def _show_log(here: Repository, *, as_json: bool) -> None:
    from knowrepo.upkeep import logs

    runs = logs.recent(here, _MOST_LINES)
    if as_json:
        show_json({"version": 1, "file": str(here.logs / logs.FILE), "runs": _runs(runs)})
        return
    for run in runs:
        show(shorten(f"{_when(run)}  {run.name}: {_what(run)}", _WIDTH))
    if not runs:
        show("nothing is in the log yet")


# -- for people ---------------------------------------------------------------


def _lines(found: Status) -> list[str]:
    here = found.repository
    rows: list[tuple[str, str]] = [("repository", _place(here.root, here))]
    rows += _of_catalog(found.catalog, here)
    files = count(found.archive_files, "file")
    rows.append(("archive", f"{files}, {size(found.archive_size)}"))
    rows += _of_model(found.model, here)
    rows += _of_vectors(found.vectors, found.model, here)
    rows += [("last runs", f"{run.name} {_when(run)}, {_what(run)}") for run in found.runs]
    rows.append(("recalls", _of_recalls(here)))
    for lock in found.locks:
        who = f"process {lock.holder}" if lock.holder else "another process"
        rows.append(("lock", f"{lock.name}: held by {who} {lock.command}".rstrip()))
    for setting in found.settings:
        note = setting.problem or ("" if setting.present else "not there")
        rows.append(("settings", _place(setting.path, here) + (f": {note}" if note else "")))
    rows += [("", f"{name}={value}") for name, value in found.variables]
    lines: list[str] = []
    before = ""
    for label, text in rows:
        shown = "" if label == before else label
        lines.append(f"{shown:{_LABEL}} {shorten(text, _WIDTH - _LABEL - 1)}".rstrip())
        before = label or before
    return lines


def _of_catalog(catalog: CatalogStatus, here: Repository) -> list[tuple[str, str]]:
    rows = [("catalog", _STATES[catalog.state])]
    if catalog.state == "behind":
        behind = catalog.behind
        parts = (("new", behind.added), ("changed", behind.changed), ("gone", behind.removed))
        told = ", ".join(f"{number:,} {what}" for what, number in parts if number)
        rows.append(("catalog", f"documents: {told}"))
    if catalog.state in ("current", "behind"):
        counts = [count(catalog.concepts, "concept"), count(catalog.sessions, "session")]
        counts += [count(catalog.sub_agents, "sub-agent")] if catalog.sub_agents else []
        rows.append(("catalog", ", ".join([*counts, count(catalog.chunks, "chunk")])))
    if catalog.size:
        wal = f" and {size(catalog.wal_size)} of WAL" if catalog.wal_size else ""
        rows.append(("catalog", f"{_place(catalog.path, here)}, {size(catalog.size)}{wal}"))
    return rows


def _of_model(model: ModelStatus, here: Repository) -> list[tuple[str, str]]:
    if not model.name:
        return _wrapped("model", model.problem)
    facts = [model.name]
    facts += [f"{model.dimension} dimensions"] if model.dimension else []
    facts += [f"{model.window:,} tokens"] if model.window else []
    where = model.where if "://" in model.where else _place(Path(model.where), here)
    rows = [("model", ", ".join(facts)), ("model", where)]
    return rows + _wrapped("model", model.problem)


def _of_vectors(
    vectors: VectorStatus, model: ModelStatus, here: Repository
) -> list[tuple[str, str]]:
    texts = vectors.embedded + vectors.pending
    told = f"{vectors.embedded:,} of {count(texts, 'text')} embedded"
    if vectors.pending and model.name and not model.problem:
        told += f"; `know index` embeds {vectors.pending:,}"
    rows = [("vectors", told)]
    rows += _wrapped("vectors", vectors.problem)
    for table in vectors.tables:
        whose = "of this model" if table.current else "of another model"
        what = f"{count(table.rows, 'vector')} in {count(table.segments, 'segment')}"
        rows.append(("vectors", f"{table.fingerprint}: {what}, {size(table.size)}, {whose}"))
    if vectors.tables:
        rows.append(("vectors", _place(vectors.folder, here)))
    return rows


def _of_recalls(here: Repository) -> str:
    from knowrepo.recall import journal

    off = journal.switched_off(here)
    if off:
        return f"not noted: {off} says so"
    return f"noted in {_place(journal.files(here)[1], here)}; `know recall --log`"


def _wrapped(label: str, problem: str) -> list[tuple[str, str]]:
    """Return a problem on as many lines as it takes: what is wrong stands at its end."""
    import textwrap

    room = _WIDTH - _LABEL - 1
    return [(label, line) for line in textwrap.wrap(problem, room, break_on_hyphens=False)]


def _place(path: Path, here: Repository) -> str:
    """Return a path as short as it says where: from the repository or the home, or its end."""
    if path != here.root:
        if path.is_relative_to(here.root):
            return path.relative_to(here.root).as_posix()
        if path != here.work_tree and path.is_relative_to(here.work_tree):
            return os.path.relpath(path, here.root)
    text = str(path)
    home = str(Path.home())
    if text.startswith(f"{home}{os.sep}") and home != os.sep:
        text = f"~{text.removeprefix(home)}"
    room = _WIDTH - _LABEL - 20
    if len(text) <= room:
        return text
    cut = text[-room:]
    return f"…{cut[max(cut.find(os.sep), 0) :]}"


def _when(run: Run) -> str:
    return run.time.replace("T", " ")[:16]


def _what(run: Run) -> str:
    parts = [f"{number} {name.replace('_', ' ')}" for name, number in run.what.items() if number]
    if run.outcome != "done":
        parts.insert(0, f"{run.outcome}{f': {run.error}' if run.error else ''}")
    if not parts:
        parts = ["nothing new"]
    return f"{', '.join(parts)}, {run.seconds:.1f} s"


# -- for programs -------------------------------------------------------------


def _as_json(found: Status) -> dict[str, Any]:
    from knowrepo.recall import journal

    here, catalog, vectors = found.repository, found.catalog, found.vectors
    return {
        "version": 1,
        "repository": str(here.root),
        "state": catalog.state,
        "concepts": catalog.concepts,
        "sessions": catalog.sessions,
        "sub_agents": catalog.sub_agents,
        "chunks": catalog.chunks,
        "texts": catalog.texts,
        "embedded": vectors.embedded,
        "pending": vectors.pending,
        "behind": vars(catalog.behind),
        "catalog": {
            "path": str(catalog.path), "bytes": catalog.size, "wal_bytes": catalog.wal_size,
        },
        "archive": {
            "path": str(here.sessions), "files": found.archive_files,
            "bytes": found.archive_size,
        },
        "model": vars(found.model),
        "vectors": {
            "path": str(vectors.folder),
            "problem": vectors.problem,
            "tables": [
                {"fingerprint": table.fingerprint, "current": table.current,
                 "segments": table.segments, "rows": table.rows, "bytes": table.size}
                for table in vectors.tables
            ],
        },
        "runs": _runs(found.runs),
        "locks": [
            {"name": lock.name, "path": str(lock.path), "process": lock.holder,
             "command": lock.command}
            for lock in found.locks
        ],
        "settings": [
            {"path": str(one.path), "present": one.present, "problem": one.problem}
            for one in found.settings
        ],
        "variables": dict(found.variables),
        "recall_log": {
            "path": str(journal.files(here)[1]), "off": journal.switched_off(here),
        },
    }  # fmt: skip


def _runs(runs: tuple[Run, ...] | list[Run]) -> list[dict[str, Any]]:
    return [{**vars(run), "what": dict(run.what)} for run in runs]
