"""How a finder does on the hand-made labels, whatever it finds by.

`python tests/distil_finders.py HALF` asks the language model that your own
configuration names, without the rules standing in, and prints its score, what of
its answers did not hold, and its time. `… HALF MODULE:CLASS` scores any finder.
"""

from __future__ import annotations

import sys
import time
from importlib import import_module

from distil_labels import SESSIONS, Half, Said, labels, locate, score
from knowrepo.distill.llm import LlmFinder, from_user_config
from knowrepo.distill.model import Finder, Proposal, Session
from knowrepo.sessions.lines import read_lines
from knowrepo.sessions.readers import recognise
from knowrepo.sessions.source import Source


class Nothing:
    """A finder that finds nothing: what another finds is then its own."""

    name = "nothing"

    def propose(self, session: Session) -> list[Proposal]:
        return []


def session_of(file: str) -> Session:
    """Return a session of the labels as distilling sees it."""
    path = SESSIONS / file
    found = recognise(Source(path))
    assert found is not None
    with path.open("rb") as stream:
        lines = list(read_lines(stream))
    facts = found.reader.facts(lines, path.stem)
    return Session(file, str(path), facts, list(found.reader.read(lines)))


def said(finder: Finder, half: Half) -> list[Said]:
    """Return what a finder proposes for the sessions of a half, as it is scored."""
    proposed: list[Said] = []
    for file in sorted({label.file for label in labels(half)}):
        session = session_of(file)
        for proposal in finder.propose(session):
            places = [locate(session.records, s.line, s.text) for s in proposal.statements]
            proposed.append(Said(file, tuple(place for place in places if place is not None)))
    return proposed


def report(half: Half, named: str = "") -> str:
    """Return how a finder does on a half, in a few lines."""
    if named:
        module, _, attribute = named.partition(":")
        finder: Finder = getattr(import_module(module), attribute)()
    else:
        finder = from_user_config(Nothing(), remark=lambda line: print(line, file=sys.stderr))  # noqa: T201
    start = time.monotonic()
    result = score(half, said(finder, half))
    lines = [
        f"{finder.name} on {half}: {result.proposals} proposals,"
        f" {result.repeated} repeated, {time.monotonic() - start:.0f} s",
        f"precision {result.precision:.2f}, recall {result.recall:.2f}, found {dict(result.found)}",
        f"led by no label or a look-alike: {dict(result.taken)}",
    ]
    if isinstance(finder, LlmFinder):
        lines.append(f"no answer: {finder.unanswered}; entries dropped: {dict(finder.dropped)}")
    return "\n".join(lines)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: distil_finders.py dev|heldout [MODULE:CLASS]")
    print(report(*sys.argv[1:]))  # type: ignore[arg-type]  # noqa: T201
