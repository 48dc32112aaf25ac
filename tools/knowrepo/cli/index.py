"""``know index`` and ``know status``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

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
from knowrepo.errors import KnowError, ModelError

if TYPE_CHECKING:
    from knowrepo.git.layout import Repository
    from knowrepo.index.vectors import VectorStore


def index(
    vectors: Annotated[
        bool, typer.Option("--vectors/--no-vectors", help="Embed what has no vector yet.")
    ] = True,
    threads: Annotated[
        int, typer.Option(metavar="N", min=0, help="Threads that embed; 0 for all.")
    ] = 0,
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
        done = refresh(here, progress=tell, wait=5.0)
    for note in done.notes:
        say(note)
    if done.busy:
        say("another process is indexing this work tree; nothing to do")
        return
    show(f"catalog: {done.indexed} documents indexed, {done.removed} removed")
    if vectors:
        _embed(here, threads, quiet=quiet)


def _embed(here: Repository, threads: int, *, quiet: bool) -> None:
    from knowrepo.index import embed, models

    model = models.current()
    if model is None:
        say("no vectors: there is no model; `know model pull` brings one")
        return
    if not embed.available():
        say("no vectors: llama-cpp-python is not installed; `pip install 'knowrepo[semantic]'`")
        return
    from filelock import FileLock, Timeout

    from knowrepo.index.fill import embed as embed_texts
    from knowrepo.index.vectors import VectorStore

    store = VectorStore(here.vectors, embed.fingerprint(model))
    for name in store.repair():
        say(f"{store.folder / name}: cannot be read; set aside, and what it held is embedded anew")
    waiting = _waiting(here, store)
    if waiting:
        try:
            store.folder.mkdir(parents=True, exist_ok=True)
            with FileLock(store.folder / "embedding.lock", timeout=0):
                embedder = embed.LlamaEmbedder(model, threads=threads)
                with progress("embedding", quiet=quiet) as tell:
                    embed_texts(waiting, store, embedder, progress=tell)
        except Timeout:
            say("another process is embedding for this repository; run this again when it is done")
            return
        except OSError as error:
            raise KnowError(
                f"{error.filename or store.folder}: cannot be written: {error.strerror}",
                hint="make the git directory writable, and free some space",
            ) from error
    show(f"vectors: {len(waiting)} texts embedded")


def _waiting(here: Repository, store: VectorStore) -> list[tuple[str, str]]:
    """Return the texts without a vector; a catalog that is damaged is built anew first."""
    from knowrepo.index.build import discard, refresh
    from knowrepo.index.catalog import Catalog, DamagedError, told
    from knowrepo.index.fill import pending_texts

    for _ in range(2):
        catalog = Catalog.open(here.catalog)
        if catalog is None:
            break
        try:
            with told(here.catalog), catalog:
                return pending_texts(catalog, store)
        except DamagedError as error:
            say(f"{error.message}; it is built anew")
            discard(here)
            refresh(here, wait=5.0)
    raise KnowError(f"{here.catalog}: the catalog is gone", hint="run `know index` again")


def status(repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """Say what is indexed, what is pending, with which model, and where.

    \b
    Examples:
      know status
      know status --json
    """
    facts = _facts(repository(repo))
    if as_json:
        show_json(facts)
        return
    for name, value in facts.items():
        show(f"{name.replace('_', ' ') + ':':13} {value}")


def _facts(here: Repository) -> dict[str, Any]:
    from knowrepo.index import embed, freshness, models
    from knowrepo.index.catalog import BEHIND, SEEN, Catalog, DamagedError, told

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
    live: set[str] = set()
    if catalog is not None:
        try:
            with told(here.catalog), catalog:
                facts.update(catalog.counts())
                current = freshness.is_current(here, freshness.Signature.loads(catalog.meta(SEEN)))
                facts["state"] = "current" if current else "behind the work tree; run `know index`"
                facts["behind"] = int(catalog.meta(BEHIND) or 0)
                live = set(catalog.text_hashes())
        except DamagedError:
            facts["state"] = "damaged; `know index` builds it anew"
    have: set[str] = set()
    if model is not None and here.vectors.is_dir():
        from knowrepo.index.vectors import VectorStore

        try:
            have = VectorStore(here.vectors, embed.fingerprint(model)).hashes()
        except KnowError:
            facts["vectors"] += " (damaged; `know index` sets the damaged ones aside)"
    facts["embedded"] = len(live & have)
    facts["pending"] = len(live - have)
    return facts
