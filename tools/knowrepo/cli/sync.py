"""``know sync``: sharing vectors through a git remote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from knowrepo.cli.common import (
    JsonOption,
    QuietOption,
    RepoOption,
    progress,
    repository,
    say,
    show,
    show_json,
)
from knowrepo.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from knowrepo.git.layout import Repository
    from knowrepo.sharing.pull import Pulled
    from knowrepo.sharing.push import Pushed
    from knowrepo.sharing.status import Status

_WORDS = ("push", "pull", "status")


def sync(
    word: Annotated[
        str,
        typer.Argument(
            metavar="WHAT", help="push, pull or status; without a word: pull, then push."
        ),
    ] = "",
    remote: Annotated[
        str,
        typer.Argument(metavar="REMOTE", help="By default that of the branch, else origin."),
    ] = "",
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Say what would go; fetch, push and change nothing."),
    ] = False,
    repo: RepoOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Share vectors with other clones, so that each text is embedded once.

    They travel as packs under refs of their own, by your git and with your
    credentials. Pushed are only vectors of texts that the remote's branches and
    tags hold. What is pulled is checked, and compared with the model where one
    is here; a pack that does not agree is refused, and the exit code is 1.
    Nothing is fetched unless you run this.

    \b
    Examples:
      know sync
      know sync pull && know index
      know sync push backup --dry-run
      know sync status --json
    """
    if word and word not in _WORDS:
        if remote:
            raise UsageError(f"{word}: not known", hint=f"known are {', '.join(_WORDS)}")
        word, remote = "", word
    from knowrepo.sharing.installed import require

    here = repository(repo)
    require()
    from knowrepo.git import remotes
    from knowrepo.sharing import tables

    remote = remote or remotes.default(here)
    found: dict[str, list[Any]] = {}
    with tables.alone(here, waiting=lambda: say("another `know sync` is at work; waiting")):
        _refresh(here, quiet=quiet)
        run = _Run(here, remote, dry_run=dry_run, quiet=quiet or as_json)
        for each in (word,) if word else ("pull", "push"):
            found[each] = run.of(each)
            if not as_json:
                for one in found[each]:
                    _SHOWN[each](one, run.names, dry_run)
    _finish(run, found, as_json=as_json, quiet=quiet)


def _mute(_line: str) -> None: ...


class _Run:
    """One run over the tables that are meant."""

    def __init__(self, here: Repository, remote: str, *, dry_run: bool, quiet: bool) -> None:
        from knowrepo.sharing import tables
        from knowrepo.sharing.sample import Sampler

        self.here, self.remote = here, remote
        self.dry_run, self.quiet = dry_run, quiet
        self.model, self.why = tables.model_here()
        self.names = tables.names(self.model)
        self.sampler = Sampler(here, tables.opener(here, self.model))

    def of(self, word: str) -> list[Any]:
        """Pull, push or look, for each fingerprint."""
        from knowrepo.sharing import pull, push, shelf, status, tables

        there: list[str] = []
        if word != "push" and self.model is None:
            there = list(shelf.look(self.here, self.remote).packs)
        own = tables.here(self.here) if word != "pull" else []
        done: list[Any] = []
        for fingerprint in tables.of(self.model, {*there, *own}):
            one = shelf.Shelf(
                self.here, self.remote, fingerprint, self.sampler, tell=_mute if self.quiet else say
            )  # fmt: skip
            with progress(word, quiet=self.quiet) as tell:
                if word == "pull":
                    done.append(pull.pull(one, dry_run=self.dry_run, progress=tell))
                elif word == "push":
                    done.append(push.push(one, dry_run=self.dry_run, progress=tell))
                else:
                    done.append(status.status(one, progress=tell))
        return done


def _refresh(here: Repository, *, quiet: bool) -> None:
    """Bring the catalog up to date: it says which texts there are."""
    from knowrepo.index.build import refresh
    from knowrepo.index.freshness import holds_all

    if not holds_all(here):
        with progress("indexing", quiet=quiet) as tell:
            refresh(here, progress=tell, wait=60.0)


def _finish(run: _Run, found: Mapping[str, list[Any]], *, as_json: bool, quiet: bool) -> None:
    """Say what is to be said of the whole run, and exit with 1 where a pack was refused."""
    from dataclasses import asdict

    from knowrepo.git.remotes import shown

    every = [one for some in found.values() for one in some]
    refused = {
        (one.fingerprint, name): why
        for one in every
        for name, why in getattr(one, "refused", {}).items()
    }
    for (fingerprint, name), why in refused.items():
        say(
            f"{shown(run.remote)}: refs/know/vectors/{fingerprint}/{name}: refused: {why}; nothing"
            " of it is used"
        )
    if run.why and not quiet:
        say(f"{run.why}: vectors of every model are meant")
    elif run.sampler.note and not quiet:
        say(run.sampler.note)
    if as_json:
        content = {word: [asdict(one) for one in some] for word, some in found.items()}
        show_json({"version": 1, "dry_run": run.dry_run, **content})
    elif not every:
        show(f"{shown(run.remote)}: no vectors here, and no packs there")
    if refused:
        raise typer.Exit(1)


def _show_pulled(one: Pulled, names: Mapping[str, str], dry_run: bool) -> None:
    from knowrepo.units import count, size

    name = names.get(one.fingerprint, one.fingerprint)
    if dry_run:
        line = f"{count(one.texts, 'text')} would have their vectors pulled"
        if one.unknown:
            line += f"; {count(one.unknown, 'pack')} never looked at may hold more"
    else:
        line = f"{count(one.vectors, 'vector')} pulled"
        if one.packs:
            line += f", {count(one.packs, 'pack')} of {size(one.size)} fetched"
    show(f"{one.remote}: {name}: {line}; {count(one.pending, 'text')} without a vector")


def _show_pushed(one: Pushed, names: Mapping[str, str], dry_run: bool) -> None:
    from knowrepo.units import count, size

    name = names.get(one.fingerprint, one.fingerprint)
    line = f"{count(one.vectors, 'vector')} {'would be ' if dry_run else ''}pushed"
    if one.packs:
        each = f"{one.size / one.texts:.0f} bytes a text"
        line += f" in {count(one.packs, 'pack')} of {size(one.size)}, {each}"
    if one.compacted:
        line += f"; {count(one.compacted, 'pack')} compacted"
    if one.unknown:
        line += f"; {count(one.unknown, 'pack')} never looked at may hold some of them"
    show(f"{one.remote}: {name}: {line}")
    for note in one.notes:
        say(note)


def _show_status(one: Status, names: Mapping[str, str], _: bool) -> None:
    from knowrepo.units import count, size

    show(f"{names.get(one.fingerprint, 'a model not known here')} ({one.fingerprint})")
    show(f"  here       {count(one.vectors, 'vector')}, {size(one.vectors_size)}")
    line = f"  {one.remote:10} {count(one.packs, 'pack')}"
    if one.packs_here:
        line += f"; {one.packs_here} of them in this clone's objects, {size(one.packs_size)}"
    show(line)
    pushed = one.push
    show(f"  to push    {count(pushed.vectors, 'vector')}, {size(pushed.size)} on the wire")
    pulled = f"  to pull    {count(one.pull.texts, 'text')}"
    if one.pull.unknown:
        pulled += f"; {count(one.pull.unknown, 'pack')} never looked at may hold more"
    show(pulled)
    for note in pushed.notes:
        say(note)


_SHOWN: dict[str, Any] = {"pull": _show_pulled, "push": _show_pushed, "status": _show_status}
