"""``know archive``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from knowrepo.cli.common import QuietOption, RepoOption, count, progress, repository, say, show
from knowrepo.errors import UsageError

if TYPE_CHECKING:
    from knowrepo.sessions.archive import Outcome


def archive(
    paths: Annotated[
        list[str], typer.Argument(help="Transcripts, or folders of them.", show_default=False)
    ],
    repo: RepoOption = None,
    quiet: QuietOption = False,
) -> None:
    """Bring transcripts into sessions/, redacted, one file a session.

    Naming a path is consent to archive it. A longer copy of an archived session
    appends to it; nothing is ever shortened, and a second run changes nothing.

    \b
    Examples:
      know archive ~/.claude/projects/-home-me-app
      know archive session.jsonl
    """
    if not all(paths):  # an empty variable is no consent to archive this folder
        raise UsageError("an empty path; name a transcript or a folder")
    run([Path(path) for path in paths], repo, quiet=quiet)


def run(paths: list[Path], repo: Path | None, *, quiet: bool) -> None:
    """Archive and print one line a session."""
    from knowrepo.sessions.archive import archive as archive_sources
    from knowrepo.sessions.archive import find_sources

    sources = list(find_sources(paths))
    skipped = failed = 0
    outcomes = archive_sources(
        repository(repo), sources, waiting=lambda: say("another archive is running; waiting")
    )
    with progress("archiving", quiet=quiet) as tell:
        for done, outcome in enumerate(outcomes, start=1):
            tell(done, len(sources))
            if outcome.action == "not a transcript":
                skipped += 1
                if len(paths) == len(sources) or outcome.note:  # it was named, or nearly is one
                    note = f" ({outcome.note})" if outcome.note else ""
                    say(f"{outcome.source}: not a transcript that know can read{note}")
            elif outcome.action == "failed":
                failed += 1
                say(f"{outcome.source}: {outcome.note}")
            elif not (quiet and outcome.action in {"unchanged", "empty"}):
                show(_line(outcome))
    if skipped and len(paths) != len(sources) and not quiet:
        say(f"passed over {count(skipped, 'other file')}: no transcript that know can read")
    if failed or (skipped and skipped == len(sources)):
        raise typer.Exit(1)


def _line(outcome: Outcome) -> str:
    """Return what became of a source, in one line."""
    name = outcome.session or str(outcome.source)
    if outcome.action == "empty":
        return f"{name}: empty"
    parts = [count(outcome.lines, "line")]
    if outcome.action == "unchanged":
        return f"{name}: unchanged, {parts[0]}"
    if outcome.action in {"grown", "joined"}:
        parts[0] += f" (+{outcome.added})"
    kept = outcome.kept
    if kept.redacted:
        kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(kept.redacted.items()))
        parts.append(f"redacted {kinds}")
    if kept.stubbed:
        parts.append(f"{count(kept.stubbed, 'payload')} stubbed")
    if kept.dropped:
        parts.append(f"{count(kept.dropped, 'progress line')} dropped")
    if kept.bad:
        numbers = ", ".join(map(str, kept.bad[:5])) + ("…" if len(kept.bad) > 5 else "")
        parts.append(f"{count(len(kept.bad), 'bad line')} kept as text (line {numbers})")
    if kept.pending:
        parts.append("its last line is unfinished and waits")
    return f"{name}: {outcome.action}, {', '.join(parts)}"
