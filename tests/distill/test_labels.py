"""How the rules do on what was labelled by hand, beside three patterns; see data/distil/README."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pytest

from distil_labels import (
    FOLDER,
    SESSIONS,
    Half,
    Said,
    Score,
    Span,
    baseline,
    labels,
    locate,
    misplaced,
    score,
    turns,
)
from knowrepo.distill.model import Proposal, Session, Statement
from knowrepo.distill.rules import RulesFinder
from knowrepo.sessions.lines import Line, read_lines
from knowrepo.sessions.readers import recognise
from knowrepo.sessions.record import Record
from knowrepo.sessions.source import Source

KINDS = ("decision", "rejection", "cause", "fix", "preference", "correction")


class Floor(NamedTuple):
    """What precision and recall may not fall below."""

    precision: float
    recall: float


FLOORS: dict[Half, Floor] = {"dev": Floor(0.92, 0.17)}
HALVES: tuple[Half, ...] = ("dev", "heldout")


@pytest.fixture(params=HALVES)
def half(request) -> Half:
    if not SESSIONS.is_dir():
        pytest.skip("the labelled sessions are not here: shared/data/sessions/corpus")
    if not (FOLDER / f"{request.param}.jsonl").is_file():
        pytest.skip(f"no labels here: tests/data/distil/{request.param}.jsonl")
    return request.param


def test_every_label_stands_where_it_stood(half: Half):
    assert list(misplaced(half)) == []


def test_rules_find_what_is_worth_keeping_and_little_else(half: Half):
    found = score(half, said(half))
    before = score(half, baseline(half))
    show(half, found, before)
    floor = FLOORS.get(half, Floor(before.precision, 2 * before.recall))
    assert found.precision >= floor.precision
    assert found.recall >= max(floor.recall, 2 * before.recall)


def said(half: Half) -> list[Said]:
    """Return what the rules propose for the sessions of a half, with its places."""
    found = []
    for file in sorted({label.file for label in labels(half)}):
        spoken = turns(file)
        for proposal in proposals(file):
            spans = tuple(place(spoken, statement) for statement in proposal.statements)
            found.append(Said(file, spans))
    return found


def proposals(file: str) -> list[Proposal]:
    path = SESSIONS / file
    found = recognise(Source(path))
    assert found is not None

    class Lines(Iterable[Line]):
        def __iter__(self) -> Iterator[Line]:
            with path.open("rb") as stream:
                yield from read_lines(stream)

    facts = found.reader.facts(Lines(), path.stem)
    return RulesFinder().propose(Session(path.stem, file, facts, found.reader.read(Lines())))


def place(spoken: list[Record], statement: Statement) -> Span:
    """Return where a statement stands; nowhere where it is in no turn that was labelled."""
    words = statement.text.split()
    for most in (len(words), 8, 5, 3):  # an address that was left out breaks the run of words
        span = locate(spoken, statement.line, " ".join(words[:most]))
        if span is not None:
            return span._replace(last=span.first + len(words))
    return Span(-1, 0, 1)


def show(half: Half, found: Score, before: Score) -> None:
    """Print the table that `pytest -s` is run for."""
    print(f"\n{half:12} {'rules':>20} {'three patterns':>20}")  # noqa: T201
    rows = [(kind, f"{found.found[kind]} of {found.labels[kind]}",
             f"{before.found[kind]} of {before.labels[kind]}") for kind in KINDS]  # fmt: skip
    rows += [
        ("recall", f"{found.recall:.3f}", f"{before.recall:.3f}"),
        ("precision", f"{found.precision:.3f}", f"{before.precision:.3f}"),
        ("proposals", str(found.proposals), str(before.proposals)),
        ("said again", str(found.repeated), str(before.repeated)),
        ("wrong", _listed(found), _listed(before)),
    ]
    for name, ours, theirs in rows:
        print(f"{name:12} {ours:>20} {theirs:>20}")  # noqa: T201


def _listed(scored: Score) -> str:
    return ", ".join(f"{n} {why}" for why, n in scored.taken.items()) or "-"
