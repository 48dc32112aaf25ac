"""``know tags``, and the hook that rebuilds what is generated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from knowrepo.cli.common import JsonOption, RepoOption, repository, say, show, show_json
from knowrepo.errors import KnowError, UsageError
from knowrepo.units import count

if TYPE_CHECKING:
    from knowrepo.concepts.bundle import Generated
    from knowrepo.git.layout import Repository

app = typer.Typer(no_args_is_help=True, help="The tag index and what is generated beside it.")


@app.command("build")
def build(repo: RepoOption = None) -> None:
    """Write concepts/index.md and concepts/tag_index.jsonl from the tracked concepts."""
    from knowrepo.concepts import bundle

    here = repository(repo)
    for file in bundle.write_generated(here):
        if file.foreign:
            say(f"{file.path}: written by hand, left alone")
        else:
            show(f"{file.path}: {'written' if file.stale else 'up to date'}")
            if file.stale or file.untracked:
                say(f"add it to the next commit: git add {file.path}")
    mention_drafts(here)


@app.command("check")
def check(repo: RepoOption = None) -> None:
    """Say whether the generated files are up to date and tracked; writes nothing."""
    from knowrepo.concepts import bundle

    wrong = [file for file in bundle.generated_files(repository(repo)) if _is_wrong(file)]
    for file in wrong:
        show(f"{file.path}: {'stale' if file.stale else 'not tracked'}")
    if wrong:
        say(f"run: know tags build && git add {' '.join(file.path for file in wrong)}")
        raise typer.Exit(1)


@app.command("list")
def list_tags(repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """List the tags with how many concepts carry each."""
    from collections import Counter

    from knowrepo.concepts import bundle

    counts: Counter[str] = Counter(
        tag for concept in bundle.read_concepts(repository(repo)) for tag in concept.tags
    )
    if as_json:
        show_json(dict(sorted(counts.items())))
        return
    for tag, number in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        show(f"{number:5d}  {tag}")


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
    from knowrepo.concepts import bundle, retag
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
    from knowrepo.concepts import retag
    from knowrepo.concepts.model import read_concept

    tags = {tag for path, data in files.items() for tag in read_concept(path, data).tags}
    near = retag.near(old, tags - {new})
    hint = f"perhaps: {', '.join(near)}" if near else "see them with: know tags list"
    return KnowError(f"no tracked concept has the tag `{old}`", hint=hint)


def staged(repo: RepoOption = None) -> None:
    """Rebuild the generated files; fail where the commit lacks them (for pre-commit)."""
    from knowrepo.concepts import bundle

    wrong = [file for file in bundle.write_generated(repository(repo)) if _is_wrong(file)]
    if wrong:
        names = " ".join(file.path for file in wrong)
        say(f"rebuilt, now add it to the commit: git add {names}")
        raise typer.Exit(1)


def mention_drafts(repo: Repository) -> None:
    """Say which concepts are looked at by nobody yet: the first trap for a newcomer."""
    from knowrepo.concepts import bundle

    found = bundle.drafts(repo)
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        say(f"note: not tracked by git, so left out: {found[0]}{more}; `git add` makes it count")


def _is_wrong(file: Generated) -> bool:
    return not file.foreign and (file.stale or file.untracked)
