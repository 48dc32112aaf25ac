"""``know model use``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from knowrepo.cli.common import RepoOption, say, show

if TYPE_CHECKING:
    from knowrepo.index.models import Model, ModelSpec
    from knowrepo.tables import ModelConfig


def use(
    chosen: Annotated[
        str, typer.Argument(metavar="MODEL", help="A name of `know model list`, or a GGUF file.")
    ] = "",
    dimension: Annotated[
        int,
        typer.Option(
            metavar="N", help="Cut vectors to so many dimensions (Matryoshka).", show_default=False
        ),
    ] = 0,
    passage_prefix: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What its makers put before passages.")
    ] = None,
    query_prefix: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What its makers put before queries.")
    ] = None,
    pooling: Annotated[
        str, typer.Option(metavar="KIND", help="mean, cls or last, if not what the file says.")
    ] = "",
    endpoint: Annotated[
        str, typer.Option(metavar="URL", help="An OpenAI-compatible server, up to its /v1.")
    ] = "",
    name: Annotated[
        str, typer.Option(metavar="MODEL", help="What the model is called at the endpoint.")
    ] = "",
    timeout: Annotated[
        int,
        typer.Option(
            metavar="SECONDS", help="How long the endpoint may take to answer.", min=1, max=3600
        ),
    ] = 60,
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="The endpoint may be another machine.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Cut to a dimension that it was not trained for.")
    ] = False,
    rerank: Annotated[
        str, typer.Option("--rerank", metavar="MODEL", help="Have this one rerank what is found.")
    ] = "",
    no_rerank: Annotated[bool, typer.Option("--no-rerank", help="Rerank no more.")] = False,
    seconds: Annotated[
        float | None,
        typer.Option(metavar="S", help="How long a recall may rerank; 1 if not said."),
    ] = None,
    repo: RepoOption = None,
) -> None:
    """Choose the model that embeds, or one that reranks, in your own configuration.

    Vectors of the model before are kept, and going back to it costs nothing. It
    says how many texts of the repository at hand the new one has not embedded;
    `know index` does that. An endpoint must be on this machine, unless you say
    otherwise, for all that is indexed is sent there.

    A reranker reads each of the best passages together with the query: slower, and
    after the search. None does unless you choose one.

    \b
    Examples:
      know model use nomic-embed-text-v1.5 --dimension 256
      know model use ~/models/mine.gguf --query-prefix "query: "
      know model use --endpoint http://127.0.0.1:8080/v1 --name my-model
      know model use --rerank jina-reranker-v1-tiny-en --seconds 0.5
    """
    from knowrepo.errors import UsageError
    from knowrepo.index.models import choose
    from knowrepo.tables import POOLINGS, EndpointConfig

    if rerank or no_rerank:
        from knowrepo.cli.model_rerank import rerank as choose_reranker

        chosen_prefix = passage_prefix is not None or query_prefix is not None
        others = (chosen, endpoint, name, dimension, pooling, force, allow_remote, chosen_prefix)
        choose_reranker(rerank, without=no_rerank, seconds=seconds, others=others)
        return
    if seconds is not None:
        raise UsageError("--seconds: only for `--rerank`")
    if bool(chosen) == bool(endpoint):
        both = ", not both" if chosen else ""
        raise UsageError(f"name a model, or an endpoint{both}", hint="see `know model use --help`")
    if endpoint and not name:
        raise UsageError("--endpoint: `--name` must say what the model is called there")
    if pooling and pooling not in POOLINGS:
        raise UsageError(f"--pooling {pooling}: not known", hint=f"known are {', '.join(POOLINGS)}")
    prefixes = {"passage_prefix": passage_prefix, "query_prefix": query_prefix}
    _refuse_what_does_not_belong(chosen, endpoint, [*prefixes.values(), pooling or None], name)
    if endpoint:
        given = {key: value or "" for key, value in prefixes.items()}
        place = EndpointConfig(
            endpoint, name, dimension, **given, timeout_seconds=timeout, allow_remote=allow_remote
        )
        choice = choose.by_endpoint(place, force=force)
    elif _is_path(chosen):
        choice, known = choose.by_path(
            Path(chosen), **prefixes, pooling=pooling, dimension=dimension, force=force
        )
        _say_of_prefixes(choice, known, prefixes)
    else:
        choice = choose.by_name(chosen, dimension=dimension, force=force)
    _say_what_follows(choose.choose(choice), repo)


def _is_path(chosen: str) -> bool:
    return "/" in chosen or chosen.lower().endswith(".gguf")


def _refuse_what_does_not_belong(
    chosen: str, endpoint: str, of_a_file: list[str | None], name: str
) -> None:
    from knowrepo.errors import UsageError

    if chosen and not _is_path(chosen) and any(value is not None for value in of_a_file):
        raise UsageError(
            f"{chosen}: its prefixes and its pooling are known",
            hint="others are for a file or an endpoint of your own",
        )
    if endpoint and of_a_file[-1] is not None:
        raise UsageError("--pooling: an endpoint pools by itself")
    if name and not endpoint:
        raise UsageError("--name: only for `--endpoint`")


def _say_of_prefixes(
    choice: ModelConfig, known: ModelSpec | None, prefixes: dict[str, str | None]
) -> None:
    if known is not None:
        say(f"{choice.model}: it is {known.name}, whose prefixes are known")
    elif all(value is None for value in prefixes.values()):
        say(
            "no prefixes; where its makers name some, vectors are worse without:"
            " `--passage-prefix`, `--query-prefix`"
        )


def _say_what_follows(model: Model, repo: Path | None) -> None:
    """Say what is in use now, and how much there is to embed in the repository at hand."""
    from knowrepo.config import config_path
    from knowrepo.index import embed

    cut = f", cut to {model.dimension} dimensions" if model.dimension else ""
    show(f"{config_path()}: uses {model.name}{cut}")
    if os.environ.get("KNOW_MODEL"):
        say("KNOW_MODEL is set, and overrides it")
    lacking = embed.lacking(model)
    if lacking:
        say(lacking)
    waiting = _to_embed(model, repo)
    if waiting:
        say(
            f"{waiting:,} texts here have no vector of it; `know index` makes them,"
            " and says how long it takes"
        )


def _to_embed(model: Model, repo: Path | None) -> int:
    """Count the texts of the repository at hand that a model has not embedded."""
    from knowrepo.errors import KnowError, NotARepositoryError
    from knowrepo.git.layout import open_repository
    from knowrepo.index import embed, embedded
    from knowrepo.index.catalog import Catalog, told

    try:
        here = open_repository(repo)
        catalog = Catalog.open(here.catalog)
        if catalog is None:
            return 0
        with told(here.catalog), catalog:
            if not here.vectors.is_dir():
                return embedded.number_of_texts(catalog)
            from knowrepo.index.vectors import VectorStore

            store = VectorStore(here.vectors, embed.fingerprint(model), only_look=True)
            return embedded.pending(here, catalog, store)
    except NotARepositoryError:
        if repo is not None:
            raise
        return 0
    except KnowError:  # a damaged catalog or segment is for `know index` to mend
        return 0
