"""``know model use --rerank``."""

from __future__ import annotations

from collections.abc import Sequence

from knowrepo.cli.common import say, show


def rerank(named: str, *, without: bool, seconds: float | None, others: Sequence[object]) -> None:
    """Choose the model that reranks, or none; ``others`` are options of the one that embeds."""
    from knowrepo.config import config_path
    from knowrepo.errors import UsageError
    from knowrepo.index.models import rerankers
    from knowrepo.tables import RERANK_BOUNDS, RERANK_SECONDS

    if any(others) or (named and without):
        raise UsageError(
            "--rerank, --no-rerank: each stands alone", hint="the model that embeds is another one"
        )
    if without:
        if seconds is not None:
            raise UsageError("--seconds: only for `--rerank`")
        gone = rerankers.give_up()
        show(f"{config_path()}: " + ("reranks no more" if gone else "nothing reranked"))
        return
    limit = RERANK_SECONDS if seconds is None else seconds
    least, most = RERANK_BOUNDS
    if not least <= limit <= most:
        raise UsageError(f"--seconds {limit:g}: must be from {least:g} to {most:g}")
    model = rerankers.choose(named, limit)
    show(f"{config_path()}: reranks with {model.name}, for {limit:g} s at most")
    from knowrepo.index.embed import lacking

    missing = lacking(model)
    if missing:
        say(missing)
