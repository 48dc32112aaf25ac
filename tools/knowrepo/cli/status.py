"""``know status``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from knowrepo.cli.common import JsonOption, RepoOption, repository, show, show_json
from knowrepo.errors import KnowError, ModelError

if TYPE_CHECKING:
    from knowrepo.git.layout import Repository


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
