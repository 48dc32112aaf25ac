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
_MOST_TOLD = 5  # packs that were refused, each on a line


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
    recheck: Annotated[
        bool, typer.Option("--recheck", help="Look again at packs that were refused before.")
    ] = False,
    repo: RepoOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Share vectors with other clones, so that each text is embedded once.

    They travel as packs under refs of their own, by your git and with your
    credentials. Pushed are only vectors of texts that the remote's branches and
    tags hold. What is pulled is checked, and compared with the model where one
    is here. A pack that does not agree is refused: the pull that finds it exits
    with 1, later ones pass it over. Nothing is fetched unless you run this.

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
    writes = not dry_run and word != "status"

    def waiting() -> None:
        say("another `know sync` is at work; waiting")

    with tables.alone(here, waiting, writes=writes):
        _refresh(here, quiet=quiet)
        run = _Run(
            here, remote, dry_run=dry_run, recheck=recheck and writes, quiet=quiet or as_json
        )
        for each in (word,) if word else ("pull", "push"):
            found[each] = run.of(each)
            if not as_json:
                for one in found[each]:
                    _SHOWN[each](one, run.name_of(one.fingerprint), dry_run)
    _finish(run, found, as_json=as_json, quiet=quiet)


def _mute(_line: str) -> None: ...


class _Run:
    """One run over the tables that are meant."""

    def __init__(
        self, here: Repository, remote: str, *, dry_run: bool, recheck: bool, quiet: bool
    ) -> None:
        from knowrepo.sharing import tables
        from knowrepo.sharing.sample import Sampler

        self.here, self.remote = here, remote
        self.dry_run, self.recheck, self.quiet = dry_run, recheck, quiet
        self.model, self.why = tables.model_here()
        self.tables = tables.described(self.model)
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
                self.here, self.remote, fingerprint, self.sampler,
                self.dimension_of(fingerprint), tell=_mute if self.quiet else say,
            )  # fmt: skip
            if self.recheck:
                one.known.reconsider()
            with progress(word, quiet=self.quiet) as tell:
                if word == "pull":
                    done.append(pull.pull(one, dry_run=self.dry_run, progress=tell))
                elif word == "push":
                    done.append(push.push(one, dry_run=self.dry_run, progress=tell))
                else:
                    done.append(status.status(one, progress=tell))
        self.recheck = False  # what the pull refuses, the push need not look at again
        return done

    def name_of(self, fingerprint: str) -> str:
        """Return what a model is called, as far as its fingerprint tells."""
        table = self.tables.get(fingerprint)
        return table.name if table else fingerprint

    def dimension_of(self, fingerprint: str) -> int:
        """Return how many numbers a model's vectors have; 0 where its fingerprint tells nothing."""
        table = self.tables.get(fingerprint)
        return table.dimension if table else 0


def _refresh(here: Repository, *, quiet: bool) -> None:
    """Bring the catalog up to date: it says which texts there are."""
    from knowrepo.index.build import refresh
    from knowrepo.index.freshness import holds_all

    if not holds_all(here):
        with progress("indexing", quiet=quiet) as tell:
            refresh(here, progress=tell, wait=60.0)


def _finish(run: _Run, found: Mapping[str, list[Any]], *, as_json: bool, quiet: bool) -> None:
    """Say what is to be said of the whole run, and exit with 1 where a pull refused a pack."""
    from dataclasses import asdict

    from knowrepo.git.remotes import shown

    every = [one for some in found.values() for one in some]
    _tell_refused(shown(run.remote), every, quiet=quiet)
    if run.why and not quiet:
        say(f"{run.why}: vectors of every model are meant")
    elif run.sampler.note and not quiet:
        say(run.sampler.note)
    if as_json:
        content = {word: [asdict(one) for one in some] for word, some in found.items()}
        show_json({"version": 1, "dry_run": run.dry_run, **content})
    elif not every:
        show(f"{shown(run.remote)}: no vectors here, and no packs there")
    if any(one.refused for one in found.get("pull", ())):
        raise typer.Exit(1)


def _tell_refused(remote: str, every: list[Any], *, quiet: bool) -> None:
    """Name the packs that were refused just now, and count those that are passed over."""
    from knowrepo.units import count

    refused: dict[str, str] = {}
    before: set[str] = set()
    for one in every:
        each = getattr(one, "pull", one)  # a status has one
        refused |= _refs(each.fingerprint, each.refused)
        before |= _refs(each.fingerprint, each.passed_over).keys()
    for ref, why in list(refused.items())[:_MOST_TOLD]:
        say(f"{remote}: {ref}: refused: {why}; nothing of it is used")
    if len(refused) > _MOST_TOLD:
        say(f"{remote}: {len(refused) - _MOST_TOLD} more are refused; `--json` names all")
    if refused:
        ref = next(iter(refused)) if len(refused) == 1 else "REF"
        say(f"  `git push {remote} --delete {ref}` removes it there, if you may")
    before -= refused.keys()
    if before and not quiet:
        say(
            f"{remote}: {count(len(before), 'pack')} refused before and passed over;"
            " `know sync status` says why, `--recheck` looks again"
        )


def _refs(fingerprint: str, packs: Mapping[str, str]) -> dict[str, str]:
    return {f"refs/know/vectors/{fingerprint}/{name}": why for name, why in packs.items()}


def _show_pulled(one: Pulled, name: str, dry_run: bool) -> None:
    from knowrepo.units import count, size

    if dry_run:
        line = f"{count(one.texts, 'text')} would have their vectors pulled"
        if one.unknown:
            line += f"; {count(one.unknown, 'pack')} never looked at may hold more"
    else:
        line = f"{count(one.vectors, 'vector')} pulled"
        if one.packs:
            line += f", {count(one.packs, 'pack')} of {size(one.size)} fetched"
    show(f"{one.remote}: {name}: {line}; {count(one.pending, 'text')} without a vector")


def _show_pushed(one: Pushed, name: str, dry_run: bool) -> None:
    from knowrepo.units import count, size

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


def _show_status(one: Status, name: str, _: bool) -> None:
    from knowrepo.units import count, size

    named = "a model not known here" if name == one.fingerprint else name
    show(f"{named} ({one.fingerprint})")
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
    for ref, why in list(_refs(one.fingerprint, one.pull.passed_over).items())[:_MOST_TOLD]:
        show(f"  refused    {ref}: {why}")
    for note in pushed.notes:
        say(note)


_SHOWN: dict[str, Any] = {"pull": _show_pulled, "push": _show_pushed, "status": _show_status}
