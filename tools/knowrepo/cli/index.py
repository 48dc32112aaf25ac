"""``know index`` and ``know status``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from knowrepo.cli.common import JsonOption, QuietOption, RepoOption, progress, repository, say

if TYPE_CHECKING:
    from knowrepo.git.layout import Repository


def index(
    vectors: Annotated[
        bool, typer.Option("--vectors/--no-vectors", help="Embed what has no vector yet.")
    ] = True,
    threads: Annotated[int, typer.Option(min=0, help="Threads that embed; 0 for all.")] = 0,
    repo: RepoOption = None,
    quiet: QuietOption = False,
) -> None:
    """Bring the catalog and the vectors up to the present state.

    Only what is new is read and embedded. The run can be stopped at any time and
    goes on where it was; without a model it indexes words and says so.

    \b
    Examples:
      know index
      know index --no-vectors
    """
    from knowrepo.index.build import refresh

    here = repository(repo)
    with progress("indexing", quiet=quiet) as tell:
        done = refresh(here, progress=tell)
    if done.busy:
        say("another process is indexing this work tree; nothing to do")
        return
    typer.echo(f"catalog: {done.indexed} documents indexed, {done.removed} removed")
    if vectors:
        _embed(here, threads, quiet=quiet)


def _embed(here: Repository, threads: int, *, quiet: bool) -> None:
    from knowrepo.errors import ModelError
    from knowrepo.index import embed, models

    model = models.current()
    if model is None:
        say("no vectors: there is no model; `know model pull` brings one")
        return
    if not embed.available():
        say("no vectors: llama-cpp-python is not installed; `pip install 'knowrepo[semantic]'`")
        return
    from filelock import FileLock, Timeout

    from knowrepo.index.catalog import Catalog
    from knowrepo.index.fill import embed_pending, pending_texts
    from knowrepo.index.vectors import VectorStore

    store = VectorStore(here.vectors, embed.fingerprint(model))
    catalog = Catalog.open(here.catalog)
    if catalog is None:
        raise ModelError(f"{here.catalog}: the catalog is gone", hint="run `know index` again")
    with catalog:
        if not pending_texts(catalog, store):
            typer.echo("vectors: 0 texts embedded")
            return
        store.folder.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(store.folder / "embedding.lock", timeout=0):
                embedder = embed.LlamaEmbedder(model, threads=threads)
                with progress("embedding", quiet=quiet) as tell:
                    count = embed_pending(catalog, store, embedder, progress=tell)
        except Timeout:
            say("another process is embedding for this repository; nothing to do")
            return
    typer.echo(f"vectors: {count} texts embedded")


def status(repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """Say what is indexed, what is pending, with which model, and where.

    \b
    Examples:
      know status
      know status --json
    """
    import json

    facts = _facts(repository(repo))
    if as_json:
        typer.echo(json.dumps(facts, ensure_ascii=False))
        return
    for name, value in facts.items():
        typer.echo(f"{name.replace('_', ' ') + ':':13} {value}")


def _facts(here: Repository) -> dict[str, Any]:
    from knowrepo.errors import ModelError
    from knowrepo.index import embed, freshness, models
    from knowrepo.index.catalog import BEHIND, SEEN, Catalog

    facts: dict[str, Any] = {
        "repository": str(here.root),
        "catalog": str(here.catalog),
        "state": "not built; run `know index`",
        "concepts": 0,
        "sessions": 0,
        "chunks": 0,
        "behind": 0,
        "vectors": str(here.vectors),
        "embedded": 0,
        "pending": 0,
    }
    catalog = Catalog.open(here.catalog)
    try:
        model = models.current()
        facts["model"] = model.name if model else "none; run `know model pull`"
        facts["model_file"] = str(model.path) if model else ""
        facts["fingerprint"] = embed.fingerprint(model) if model else ""
    except ModelError as error:
        model = None
        facts["model"] = f"unusable: {error.message}"
    if catalog is not None:
        with catalog:
            facts.update(catalog.counts())
            current = freshness.is_current(here, freshness.Signature.loads(catalog.meta(SEEN)))
            facts["state"] = "current" if current else "behind the work tree; run `know index`"
            facts["behind"] = int(catalog.meta(BEHIND) or 0)
            live = set(catalog.text_hashes())
        have: set[str] = set()
        if model is not None and here.vectors.is_dir():
            from knowrepo.index.vectors import VectorStore

            have = VectorStore(here.vectors, embed.fingerprint(model)).hashes()
        facts["embedded"] = len(live & have)
        facts["pending"] = len(live - have)
    return facts
