"""``know bench tokens``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from knowrepo.cli.bench_recall import CacheOption, ModelOption
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
from knowrepo.errors import KnowError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from knowrepo.bench.counting import Counted, Tokens
    from knowrepo.git.layout import Repository
    from knowrepo.index.embed import Embedder
    from knowrepo.index.models import Model

JSON_VERSION = 1


def tokens(
    query: Annotated[
        list[str] | None,
        typer.Option("--query", metavar="TEXT", help="Ask this; may be repeated."),
    ] = None,
    labelled: Annotated[
        Path | None,
        typer.Option("--set", metavar="SET", help="A labelled set in place of the repository."),
    ] = None,
    limit: Annotated[
        int, typer.Option("-k", "--limit", metavar="N", min=1, help="Hits of an answer.")
    ] = 10,
    to: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where the figures of the day are kept.")
    ] = None,
    cache: CacheOption = None,
    model: ModelOption = "",
    repo: RepoOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Count the tokens that recalls cost: compact lines against bodies.

    Asks ten questions, the titles of what the repository holds, once for compact
    lines and once for bodies. Counted are characters, characters over four, and
    the tokens of the model's own vocabulary. Each answer leaves a line in
    tokens-DATE.jsonl beside the logs in the git directory, or in the folder that
    --to names: query, mode, chars, tokens, model_tokens, hits.

    With --set the questions are a labelled set's, and it is counted as well what
    leads to the right answer: lines and one --get, all bodies, or grep.

    \b
    Examples:
      know bench tokens
      know bench tokens --query "why sqlite" -k 5
      know bench tokens --set ~/sets/locomo --to ~/sets/figures --json
    """
    from knowrepo.bench import counting

    facts: dict[str, Any] = {"version": JSON_VERSION, "limit": limit}
    here = None if labelled and to else repository(repo)
    if labelled is None:
        assert here is not None
        counted = _own(here, query, limit, model, quiet=quiet)
    else:
        counted, facts["to_the_answer"] = _of_set(labelled, query, limit, model, cache, quiet=quiet)
    facts |= counting.saving(counted)
    folder = to.expanduser() if to else here.logs if here else Path()
    path = counting.keep(folder, counted)
    if not quiet:
        say(f"kept in {path}")
    if as_json:
        show_json(facts, indent=2)
        return
    for line in _lines(facts):
        show(line)


def _own(
    here: Repository, queries: list[str] | None, limit: int, model: str, *, quiet: bool
) -> list[Counted]:
    """Count in the repository at hand, with the user's model if it has made vectors there."""
    from knowrepo.bench import counting
    from knowrepo.bench.place import model_path
    from knowrepo.index import models
    from knowrepo.recall.opening import current
    from knowrepo.tables import ModelConfig

    named = models.of(ModelConfig(model=model_path(model))) if model else models.current()
    embedder, counts = _loaded(named if here.vectors.is_dir() else None, named)
    with current(here) as opened:
        asked = queries or counting.own_queries(opened.catalog)
    if not asked:
        raise KnowError(
            f"{here.root}: holds nothing to ask for", hint="`--query` names what is asked"
        )
    with progress("asking", quiet=quiet) as told:
        counted: list[Counted] = []
        for done, one in enumerate(asked, start=1):
            counted += counting.count(here, [one], tokens=counts, embedder=embedder, limit=limit)
            told(done, len(asked))
    return counted


def _of_set(
    place: Path,
    queries: list[str] | None,
    limit: int,
    model: str,
    cache: Path | None,
    *,
    quiet: bool,
) -> tuple[list[Counted], dict[str, Any]]:
    from knowrepo.bench import counting
    from knowrepo.bench.place import prepared
    from knowrepo.bench.recalling import Wanted, opened
    from knowrepo.bench.sets import read_set

    labelled = read_set(place)
    with prepared(model) as made, progress(labelled.name, quiet=quiet) as told:
        embedder, counts = _loaded(made.model, made.model)
        wanted = Wanted(
            embedder=embedder, cache=cache.expanduser().resolve() if cache else None,
            say=(lambda _: None) if quiet else say, progress=told,
        )  # fmt: skip
        with opened(labelled, made.folder, wanted) as (here, asked):
            texts = [one.question.text for one in asked if one.right]
            some = queries or counting.evenly(texts, counting.QUERIES)
            counted = list(
                counting.count(
                    here.repository, some, tokens=counts, embedder=here.embedder, limit=limit
                )
            )
            return counted, counting.to_the_answer(here, asked, tokens=counts, limit=limit)


def _loaded(
    model: Model | None, counting_by: Model | None
) -> tuple[Embedder | None, Tokens | None]:
    """Return an embedder of one model, and what counts the tokens of another."""
    from knowrepo.bench.counting import tokens_of
    from knowrepo.index.embed import lacking, open_embedder

    embedder = open_embedder(model) if model is not None and not lacking(model) else None
    return embedder, tokens_of(counting_by)


def _lines(facts: dict[str, Any]) -> Iterator[str]:
    for mode in ("compact", "full"):
        one = facts[mode]
        own = "" if one["model_tokens"] is None else f", {one['model_tokens']:,} of the model's"
        yield (
            f"{mode}: {one['chars']:,} characters, {one['tokens']:,} tokens at four each{own},"
            f" {one['hits']} hits of {facts['queries']} queries"
        )
    if facts["saved"] is not None:
        yield f"saved: {100 * facts['saved']:.1f} %"
    if facts["model_tokens_a_line"] is not None:
        yield f"a compact line: {facts['model_tokens_a_line']:.1f} tokens of the model's"
    answer = facts.get("to_the_answer")
    if answer:
        yield (
            f"to the right answer, in {answer['found']} of {answer['questions']} questions"
            f" among the first {answer['limit']} hits, median tokens:"
        )
        for way, value in answer["median_tokens"].items():
            yield f"  {way.replace('_', ' ')}: {value:,.0f}" if value is not None else f"  {way}: -"
        if answer["model_tokens_a_line"] is not None:
            yield (
                f"a compact line, over all questions: {answer['model_tokens_a_line']:.1f} tokens"
                " of the model's (at most 50)"
            )
