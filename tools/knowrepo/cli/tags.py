"""``know tags``, and the hook that rebuilds what is generated."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from knowrepo.cli.common import JsonOption, RepoOption, repository, say, show, show_json
from knowrepo.errors import KnowError, UsageError
from knowrepo.units import count

if TYPE_CHECKING:
    from knowrepo.concepts.model import Concept
    from knowrepo.git.layout import Repository

app = typer.Typer(no_args_is_help=True, help="The tag index and what is generated beside it.")


@app.command("build")
def build(repo: RepoOption = None) -> None:
    """Write what is generated from the tracked concepts, and stage it.

    That is concepts/tag_index.jsonl and concepts/index.md, and an index.md in a
    folder that holds folders or more than a hundred concepts. An index.md that a
    person wrote is left alone.

    \b
    Examples:
      know tags build
    """
    from knowrepo.concepts import bundle, keeping

    here = repository(repo)
    files = bundle.write_generated(here)
    for file in files:
        if file.foreign:
            say(f"{file.path}: written by hand, left alone")
            continue
        done = "removed" if file.gone else "written" if file.stale else "up to date"
        show(f"{file.path}: {done}")
    staged = keeping.keep(here, {}).staged
    if staged:
        say(f"staged: {', '.join(staged)}; now: git commit")
    mention_drafts(here)


@app.command("check")
def check(repo: RepoOption = None) -> None:
    """Say whether the generated files are up to date and tracked; writes nothing.

    Exits with 1 where they are not.

    \b
    Examples:
      know tags check
    """
    from knowrepo.concepts import bundle

    wrong = [file for file in bundle.generated_files(repository(repo)) if file.is_wrong]
    for file in wrong:
        state = "superfluous" if file.gone else "stale" if file.stale else "not tracked"
        show(f"{file.path}: {state}")
    if wrong:
        say("run: know tags build")
        raise typer.Exit(1)


@app.command("list")
def list_tags(repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """List the tags: how many concepts carry each, and of which types these are.

    Tags that seem to be one tag in two spellings are pointed out, with the
    command that makes them one.

    \b
    Examples:
      know tags list
      know tags list --json
    """
    import shlex

    from knowrepo.concepts import bundle
    from knowrepo.concepts.near_tags import near_tags

    kinds = _types_by_tag(bundle.read_concepts(repository(repo)))
    counts = {tag: len(types) for tag, types in kinds.items()}
    listed = sorted(counts, key=lambda tag: (-counts[tag], tag))
    near = near_tags(counts)
    if as_json:
        rows = [{"tag": t, "count": counts[t], "types": _by_count(kinds[t])} for t in listed]
        found = [{"old": pair.old, "new": pair.new, "why": pair.why} for pair in near]
        show_json({"version": 1, "tags": rows, "near": found})
        return
    widest = min(max(map(len, listed), default=0), 32)
    for tag in listed:
        show(f"{counts[tag]:5d}  {tag:{widest}}  {', '.join(_by_count(kinds[tag]))}")
    for pair in near:
        both = f"{pair.old} ({counts[pair.old]}) and {pair.new} ({counts[pair.new]})"
        say(f"near: {both}, {pair.why}: know tags rename {shlex.join((pair.old, pair.new))}")


def _types_by_tag(concepts: Iterable[Concept]) -> dict[str, list[str]]:
    """Return for each tag the type of every concept that carries it."""
    found: dict[str, list[str]] = {}
    for concept in concepts:
        for tag in concept.tags:
            found.setdefault(tag, []).append(concept.type)
    return found


def _by_count(types: list[str]) -> list[str]:
    """Return the types, those of most concepts first; none for a concept without one."""
    return sorted({kind for kind in types if kind}, key=lambda kind: (-types.count(kind), kind))


@app.command("rename")
def rename(
    old: Annotated[str, typer.Argument(metavar="OLD", help="The tag as it is spelled.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="What it becomes.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say which concepts would change.")
    ] = False,
    as_json: JsonOption = False,
    repo: RepoOption = None,
) -> None:
    """Rename a tag in all tracked concepts, and stage them.

    Where a concept has both, OLD goes. Files that you have begun to edit are
    changed too, and left for you to stage.

    \b
    Examples:
      know tags rename authn auth --dry-run
      know tags rename authn auth
    """
    from knowrepo.cli.lifecycle import finish
    from knowrepo.concepts import bundle
    from knowrepo.concepts.editing import retag
    from knowrepo.concepts.model import is_concept_path

    old, new = " ".join(old.split()), " ".join(new.split())
    if not old or not new or "," in old + new or old == new:
        raise UsageError("name two tags, different and without commas")
    here = repository(repo)
    bundle.refuse_conflicts(here)
    files = {p: data for p, data in bundle.read_tracked(here).items() if is_concept_path(p)}
    changed = retag.retagged(files, old, new)
    if not changed:
        raise _no_such_tag(files, old, new)
    done = dict.fromkeys(changed, f"{old} -> {new}")
    finish(here, {} if dry_run else changed, done, as_json=as_json)
    say(f"{count(len(changed), 'concept')}{', nothing is written' if dry_run else ''}")


def _no_such_tag(files: dict[str, bytes], old: str, new: str) -> KnowError:
    """Return the error where no concept has a tag, with those spelled nearly so."""
    from knowrepo.concepts.editing import retag
    from knowrepo.concepts.model import read_concept

    tags = {tag for path, data in files.items() for tag in read_concept(path, data).tags}
    near = retag.near(old, tags - {new})
    hint = f"perhaps: {', '.join(near)}" if near else "see them with: know tags list"
    return KnowError(f"no tracked concept has the tag `{old}`", hint=hint)


def staged(repo: RepoOption = None) -> None:
    """Rebuild the generated files; fail where the commit lacks them."""
    from knowrepo.cli.commit_hook import run

    if run(("tags",), repo):
        raise typer.Exit(1)


def mention_drafts(repo: Repository) -> None:
    """Say which concepts are looked at by nobody yet: the first trap for a newcomer."""
    from knowrepo.concepts import bundle

    found = bundle.drafts(repo)
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        say(f"note: not tracked by git, so left out: {found[0]}{more}; `git add` makes it count")
