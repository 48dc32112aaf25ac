"""Asking the cases: each by `recall.route.recall`, as a user would, and what came of it.

Owns when a case passes, and the sums of it. The catalog is brought up as a whole
first, so that an answer depends on what the repository holds and not on how far
an index has come. Nothing is embedded: vectors are used where they are, and an
answer without them says so. Printing is the command line's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from knowrepo.errors import KnowError
from knowrepo.evaluate.cases import Case
from knowrepo.evaluate.metrics import first_right, hit_at, reciprocal_rank
from knowrepo.evaluate.names import Names, UnknownNameError, key_of
from knowrepo.git.layout import Repository
from knowrepo.index.catalog import Catalog
from knowrepo.recall import ids, route
from knowrepo.recall.hits import Hit
from knowrepo.recall.opening import current
from knowrepo.recall.route import Answer
from knowrepo.units import count

if TYPE_CHECKING:
    from knowrepo.index.embed import Embedder

DEPTH = 100
"""How far down the expected document is looked for, where it is not among the first k."""
_WAIT = 60.0  # seconds for another process that is indexing


@dataclass(frozen=True)
class Outcome:
    """What became of a case.

    ``rank`` is the place of the first expected document among the first `DEPTH`
    hits. ``route`` is the layer that answered, ``first`` the first hit. ``problem``
    says why the case fails; it is empty where the case passes.
    """

    case: Case
    rank: int | None
    route: str
    first: Hit | None
    problem: str

    @property
    def passed(self) -> bool:
        """Whether the case passes."""
        return not self.problem


@dataclass(frozen=True)
class Evaluated:
    """The outcome of each case, in order; ``notes`` are what the answers remarked, each once."""

    outcomes: list[Outcome]
    notes: list[str]


@dataclass(frozen=True)
class Figures:
    """The sums of some cases.

    ``hit_at_1``, ``hit_at_k`` (each case with its own k) and ``mrr`` (of `DEPTH`
    hits) are of those that expect a document; None where none does. They judge the
    ranking alone; ``passed`` counts what the cases ask for as a whole.
    """

    kind: str
    cases: int
    passed: int
    hit_at_1: float | None
    hit_at_k: float | None
    mrr: float | None


def evaluate(
    repository: Repository,
    cases: Sequence[Case],
    *,
    words_only: bool = False,
    embedder: Embedder | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Evaluated:
    """Ask all cases; with ``words_only`` no model and no vectors are used."""
    notes = dict.fromkeys(bring_up(repository))

    def ask(case: Case, limit: int) -> Answer:
        try:
            answer = route.recall(
                repository, case.query,
                limit=limit, only=case.only, embedder=embedder, words_only=words_only,
            )  # fmt: skip
        except ids.NoMatchError as error:  # a query for an id that is not there
            return Answer(case.query, "structured", error.message, [])
        notes.update(dict.fromkeys(answer.notes))
        return answer

    outcomes = []
    with current(repository) as opened:
        names = Names(opened.catalog.states())
        for done, case in enumerate(cases, start=1):
            outcomes.append(_outcome(opened.catalog, names, case, ask))
            progress(done, len(cases))
    return Evaluated(outcomes, list(notes))


def bring_up(repository: Repository) -> list[str]:
    """Bring the whole catalog up to the present state; returns what is to be remarked."""
    from knowrepo.index.build import refresh

    try:
        done = refresh(repository, wait=_WAIT)
    except KnowError as error:
        return [f"{error.message}; asking what there is"]
    busy = ["another process is indexing; answers may lack the newest"] if done.busy else []
    return [*busy, *done.notes]


def figures(outcomes: Iterable[Outcome]) -> list[Figures]:
    """Return the sums by kind, in the order of their names, and at the end of `all`."""
    by_kind: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_kind.setdefault(outcome.case.kind, []).append(outcome)
    everything = [outcome for some in by_kind.values() for outcome in some]
    kinds = [_figures(kind, by_kind[kind]) for kind in sorted(by_kind)]
    return [*kinds, _figures("all", everything)]


def _figures(kind: str, outcomes: Sequence[Outcome]) -> Figures:
    ranked = [outcome for outcome in outcomes if outcome.case.expect]

    def mean(figure: Callable[[Outcome], float]) -> float | None:
        return fmean(map(figure, ranked)) if ranked else None

    return Figures(
        kind,
        len(outcomes),
        sum(outcome.passed for outcome in outcomes),
        mean(lambda outcome: hit_at(outcome.rank, 1)),
        mean(lambda outcome: hit_at(outcome.rank, outcome.case.k)),
        mean(lambda outcome: reciprocal_rank(outcome.rank)),
    )


# -- one case ---------------------------------------------------------------------

_Ask = Callable[[Case, int], Answer]


def _outcome(catalog: Catalog, names: Names, case: Case, ask: _Ask) -> Outcome:
    answer = ask(case, case.k)
    first = answer.hits[0] if answer.hits else None
    if not case.expect:
        sure = first is not None and answer.confident
        problem = f"expected no confident match{_instead(first)}" if sure else ""
        return Outcome(case, None, answer.route, first, problem)
    try:
        right = {names.resolve(name) for name in case.expect}
    except UnknownNameError as error:
        return Outcome(case, None, answer.route, first, error.message)
    rank = _rank(catalog, answer.hits, right)
    if rank is not None:
        problem = _unlike(case, rank, answer)
    else:
        deep = ask(case, DEPTH)
        rank = _rank(catalog, deep.hits, right)
        if rank is not None:
            # Where more are asked for the order may be another; among k it is not.
            rank = max(rank, case.k + 1)
        problem = f"expected {' or '.join(case.expect)} in the first {case.k}; "
        problem += f"it is at {rank}" if rank else _absent(deep)
        problem += _instead(first)
    return Outcome(case, rank, answer.route, first, problem)


def _unlike(case: Case, rank: int, answer: Answer) -> str:
    """Return why an answer that holds what is expected is not as expected, or nothing."""
    if not answer.confident:
        return f"found at {rank}, but without confidence, so it is not shown unasked"
    layer = "hybrid" if answer.route == "lexical" else answer.route
    if case.route and layer != case.route:
        return f"expected the {case.route} layer to answer; found at {rank} by the {layer} one"
    return ""


def _absent(deep: Answer) -> str:
    """Return among how many hits a document is not; a layer that is sure gives few."""
    many = len(deep.hits)
    if many == DEPTH:
        return f"it is not among the first {DEPTH}"
    return (
        f"the {deep.route} layer finds {count(many, 'hit')} without it"
        if many
        else "nothing is found"
    )


def _instead(first: Hit | None) -> str:
    return f"; the first is [{first.id}] {first.shown_path}" if first else ""


def _rank(catalog: Catalog, hits: Sequence[Hit], right: set[str]) -> int | None:
    """Return the place of the first hit of a right document, or of its twin that says the same."""
    shown = (next(iter(right & _documents(catalog, hit)), "") for hit in hits)
    return first_right(shown, right)


def _documents(catalog: Catalog, hit: Hit) -> set[str]:
    """Return the documents that a hit stands for: its own, and those that say the same."""
    found = {key_of(hit.path)}
    for uid in hit.also:
        try:
            found.add(key_of(ids.resolve(catalog, uid).path))
        except KnowError:  # it went since
            continue
    return found
