"""What a person is told, and asked, before a language model is: `know distill --llm`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import typer

from knowrepo.cli.common import say
from knowrepo.errors import UsageError
from knowrepo.units import count

if TYPE_CHECKING:
    from knowrepo.distill.llm import Estimate
    from knowrepo.distill.model import Finder, Session


def language_model(
    pending: Callable[[str], Iterable[Session]], rules: Finder, *, yes: bool
) -> Finder:
    """Return a finder that asks the user's language model, once a person agreed to what it takes.

    ``pending`` gives the sessions that a finder of that name is yet to look at;
    ``rules`` find where there is no answer. Raises KnowError where no model is
    configured, or nobody can be asked.
    """
    from knowrepo.distill.llm import from_user_config

    finder = from_user_config(rules, remark=say)
    estimate = finder.estimate(pending(finder.name))
    if estimate.questions:
        say(f"{finder.name}: {in_words(estimate)}")
        if not yes:
            _confirm()
    return finder


def in_words(estimate: Estimate) -> str:
    """Return what asking takes, in a line."""
    parts = [
        f"{count(estimate.questions, 'question')} about {count(estimate.sessions, 'session')}",
        f"some {estimate.tokens_in:,} tokens to read and {estimate.tokens_out:,} to write",
    ]
    if estimate.money is not None:
        parts.append(f"about {estimate.money:.2f} at your price")
    if estimate.seconds is not None:
        minutes = estimate.seconds / 60
        parts.append(f"about {minutes:.0f} minutes" if minutes > 1.5 else "about a minute or less")
    return ", ".join(parts)


def _confirm() -> None:
    if not sys.stdin.isatty():
        raise UsageError("nobody to ask whether the language model may be", hint="pass --yes")
    if not typer.confirm("Ask it?", err=True):
        raise typer.Exit(1)
