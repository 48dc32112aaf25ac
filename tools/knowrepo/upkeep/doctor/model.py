"""The checks of the model: whether there is one, whether it is whole, whether it runs."""

from __future__ import annotations

import json

from knowrepo.index import models
from knowrepo.index.models import Model, files
from knowrepo.upkeep.doctor.check import Found, Place, fail, ok, warn
from knowrepo.upkeep.doctor.trial import tried

_PULL = "`know model pull`"
_NONE = "there is no model: recall works with words"
# Nothing but the last line is the answer; a crash is told by the process's end.
_EMBED = """
import json, time
from knowrepo.index import embed, models
model = models.current()
started = time.monotonic()
embedder = embed.open_embedder(model)
loaded = time.monotonic()
vectors = embedder.embed_passage(embed.Passage("the quick brown fox"))
print(json.dumps({
    "dimension": len(vectors[0]),
    "load": round(loaded - started, 2), "embed": round(time.monotonic() - loaded, 3),
}))
"""


def present(_: Place) -> Found:
    """Whether there is a model to embed with."""
    model = models.current()
    if model is None:
        return warn(_NONE, _PULL)
    return ok(f"{model.name}, {model.endpoint or model.path}")


def whole(_: Place) -> Found:
    """Whether the model's file is the one that it was, by its whole content."""
    model = models.current()
    if model is None:
        return ok("no model, nothing to compare")
    if model.endpoint:
        return ok("the model is behind an endpoint, which has no file here")
    known = _known_hash(model)
    found = models.file_sha256(model.path)
    if not known:
        return warn(f"{model.path}: nothing tells what its hash was; it is {found}", _PULL)
    if known != found:
        return fail(
            f"{model.path}: damaged: its hash is {found[:16]}…, and was {known[:16]}…", _PULL
        )
    return ok(f"sha256 {found[:16]}…, as it was")


def embeds(_: Place) -> Found:
    """Whether the model loads and embeds a text, tried in a process of its own."""
    from knowrepo.index.embed import lacking

    model = models.current()
    if model is None:
        return ok("no model, nothing to try")
    missing = lacking(model)
    if missing:
        return warn(f"not tried: {missing.partition(';')[0]}", "see the check `llama-cpp`")
    said, problem = tried(_EMBED)
    if problem:
        other = "start the server" if model.endpoint else "try another build of llama-cpp-python"
        return fail(
            f"{model.name} does not embed: {problem}",
            f"`know model use` chooses another, or {other}; until then recall works with words",
        )
    answer = json.loads(said)
    return ok(
        f"{answer['dimension']} dimensions; loads in {answer['load']} s,"
        f" embeds a text in {answer['embed']} s"
    )


def _known_hash(model: Model) -> str:
    """Return the hash that was kept when the file was made or first used; '' for none."""
    kind, _, value = model.identity.partition(":")
    if kind == "sha256":
        return value
    record = files.read_record(files.record_path(model.path))
    return record.sha256 if record else ""
