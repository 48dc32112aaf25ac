"""The side of ``know hooks`` that is git's: installing, taking out, and how things stand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from knowrepo.cli.common import say, show
from knowrepo.units import duration

if TYPE_CHECKING:
    from knowrepo.git.hooks.changing import Step
    from knowrepo.git.hooks.looking import Stage
    from knowrepo.git.layout import Repository
    from knowrepo.upkeep.logs import Run

_DID = {
    "make": "made {path}",
    "chain": "made {path}; what was there runs first, as {before}",
    "renew": "brought up to date: {path}",
    "keep": "there already: {path}",
    "leave to pre-commit": "left to pre-commit",
    "remove": "removed {path}",
    "restore": "gave back what was there: {path}",
    "nothing": "no hook of ours",
}
_ENTRIES = {
    "pre-commit": ("pre-commit",),
    "pre-merge-commit": ("merging",),
    "post-merge": ("merged", "index"),
    "post-rewrite": ("merged --tell", "index"),
}


def install(here: Repository, *, dry_run: bool) -> None:
    """Have git run our hooks in this clone, its merge drivers among them."""
    import shlex

    from knowrepo.git import drivers, program
    from knowrepo.git.hooks import changing

    if dry_run:
        _tell(here, changing.to_install(here), dry_run=True)
        return
    with changing.alone(here):
        steps = changing.to_install(here)
        for step in steps:
            changing.do(step)
    _tell(here, steps, dry_run=False)
    if drivers.install(here):
        show("git configuration of this clone: the merge drivers are named")
    if (command := program.record(here)) is not None:
        show(f"git configuration of this clone: hooks run {shlex.join(command)}")
    if not program.is_full():
        say("  this know cannot embed: hooks index words only, until one with")
        say("  knowrepo[semantic] is recorded (`know hooks install --git` of that one)")


def uninstall(here: Repository, *, dry_run: bool) -> None:
    """Take our hooks out of this clone, and give back what was there before."""
    from knowrepo.git import program
    from knowrepo.git.hooks import changing

    if dry_run:
        _tell(here, changing.to_uninstall(here), dry_run=True)
        return
    with changing.alone(here):
        steps = changing.to_uninstall(here)
        for step in steps:
            changing.do(step)
    _tell(here, steps, dry_run=False)
    if program.forget(here):
        show(f"git configuration of this clone: {program.KEY} is removed")


def status(start: Path | None) -> dict[str, Any] | None:
    """Return how the hooks of git stand, None where there is no knowledge repository."""
    from knowrepo.errors import KnowError
    from knowrepo.git import program
    from knowrepo.git.hooks import looking, place
    from knowrepo.git.layout import open_repository
    from knowrepo.upkeep import background

    try:
        here = open_repository(start)
    except KnowError:
        if start is not None:
            raise
        return None
    where = place.find(here)
    command = program.recorded(here)
    runs = background.state(here)
    last, bad = background.last(here)
    return {
        "repository": str(here.root),
        "folder": str(where.folder),
        "shared": where.shared,
        "stages": [_fields(stage) for stage in looking.stages(here)],
        "program": list(command or ()),
        "background": {
            **vars(runs), "last": _run(last), "last_error": _run(bad),
            "said": background.said(here), "log": str(here.logs),
        },
    }  # fmt: skip


def is_broken(found: dict[str, Any] | None) -> bool:
    """Say whether a hook of ours is installed that cannot work."""
    return any(stage["state"] == "broken" for stage in (found or {}).get("stages", ()))


def lines(found: dict[str, Any] | None) -> list[str]:
    """Return what `status` found, for people."""
    import shlex

    if found is None:
        return ["git: no knowledge repository here"]
    told = [f"git, in {found['folder']}" + (f": {found['shared']}" if found["shared"] else "")]
    for stage in found["stages"]:
        detail = f" ({stage['detail']})" if stage["detail"] else ""
        told.append(f"  {stage['stage']}: {stage['state']}{detail}")
    command = shlex.join(found["program"]) or "none recorded that can be run"
    told.append(f"  know for hooks: {command}")
    return [*told, *_of_background(found["background"])]


def _of_background(runs: dict[str, Any]) -> list[str]:
    told = []
    if runs["running"]:
        told.append("  a background run is going on")
    elif runs["begun"]:
        told.append("  a background run was killed before its end; the next one goes on there")
    elif runs["asked"]:
        told.append("  a background run is asked for, and about to begin")
    last, bad = runs["last"], runs["last_error"]
    if last is None and not told:
        told.append("  no background run yet")
    elif last is not None:
        counts = ", ".join(f"{number} {name}" for name, number in last["what"].items())
        told.append(
            f"  last background run: {last['time']}, {last['outcome']}"
            f"{f', {counts}' if counts else ''}, {duration(last['seconds'])}"
        )
    if bad is not None:
        told.append(f"  last error of one: {bad['time']} {bad['error'] or bad['outcome']}")
    if runs["said"]:
        told.append(f"  it said at last: {runs['said']}")
    return told


def _fields(stage: Stage) -> dict[str, str]:
    return {
        "stage": stage.name, "state": stage.state, "path": str(stage.path),
        "detail": stage.detail,
    }  # fmt: skip


def _run(run: Run | None) -> dict[str, Any] | None:
    if run is None:
        return None
    return {
        "time": run.time, "outcome": run.outcome, "seconds": run.seconds, "tree": run.tree,
        "error": run.error, "what": dict(run.what),
    }  # fmt: skip


def _tell(here: Repository, steps: list[Step], *, dry_run: bool) -> None:
    if all(step.action == "nothing" for step in steps):
        show("no hooks of ours in this clone")
        return
    for step in steps:
        if step.action not in ("tell", "nothing"):
            before = step.hook.before if step.hook else ""
            did = _DID[step.action].format(path=step.path, before=before)
            why = f" ({step.why})" if step.why else ""
            show(f"{step.stage}: {'would do: ' if dry_run else ''}{did}{why}")
    left = [step for step in steps if step.action == "tell"]
    if left:
        _tell_by_hand(here, left)


def _tell_by_hand(here: Repository, left: list[Step]) -> None:
    """Say which files were left alone and why, and what to add to each by hand."""
    from knowrepo.git.hooks.looking import inside

    for why in dict.fromkeys(step.why for step in left):
        places = [step for step in left if step.why == why]
        say(f"left alone, for {why}; in each of these a person may add or take out the line:")
        for step in places:
            say(f"  {step.path}")
            show(f"    {_line(step.stage, inside(here))}")


def _line(stage: str, root: str) -> str:
    """Return the line by which a hook of somebody else's runs ours; without know it passes."""
    import shlex

    option = "" if root == "." else f" --repo {shlex.quote(root)}"
    calls = [f"know hook {entry}{option}" for entry in _ENTRIES.get(stage, ("index",))]
    return f"if command -v know >/dev/null; then {'; '.join(calls)}; fi"
