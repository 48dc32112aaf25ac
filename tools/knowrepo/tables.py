"""The tables of configuration files, and what may stand in each.

Owns which keys there are, what may stand in each and who may say it: the user, or
a repository that came with a clone. Where the files are, and what they say as a
whole, is `config`'s.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from knowrepo.errors import KnowError
from knowrepo.settings import (
    flag_of,
    number_of,
    price_of,
    table_of,
    text_of,
    texts_of,
    whole_of,
)

PART_MEGABYTES = 40
_LARGEST_PART = 95  # code hosts refuse files of 100 MB
_LONGEST_TIMEOUT = 86_400
_WINDOWS = (2048, 2_000_000)  # tokens; less holds no question, more has no model
POOLINGS = ("mean", "cls", "last")
"""What `pooling` may be, beside nothing for the weights' own."""
MOST_DIMENSIONS = 65_536
RERANK_SECONDS = 1.0
"""How long a recall may rerank where the user says nothing of it."""
RERANK_BOUNDS = (0.05, 60.0)
_HASH = re.compile(r"sha256:[0-9a-f]{64}")

MODEL_KEYS = ("model", "dimension", "pooling", "passage_prefix", "query_prefix", "endpoint")
_USER_TABLES = {
    "archive": {"exclude"},
    "distill": {"command", "model", "timeout_seconds", "window", "price_per_million_tokens"},
    "endpoint": {
        "url", "model", "dimension", "passage_prefix", "query_prefix", "timeout_seconds",
        "allow_remote",
    },
    "projects": {"identity", "path", "repository"},
    "recall": {"log"},
    "redact": set[str](),
    "rerank": {"model", "seconds"},
}  # fmt: skip
_USER_KEYS = {"repository", *MODEL_KEYS}
_REPOSITORY_TABLES = {
    "redact": set[str](), "archive": {"exclude", "part_megabytes"}, "recall": {"log"},
}  # fmt: skip


@dataclass(frozen=True)
class ExtraPattern:
    """A kind of secret that a user or a repository adds, and what it looks like."""

    kind: str
    pattern: str


@dataclass(frozen=True)
class RedactConfig:
    """The table ``[redact]``.

    ``allow`` are patterns of what is no secret, in the user's file alone, or
    `sha256:` and the hash of one exact secret. ``pseudonyms`` replaces user names
    in home paths.
    """

    allow: tuple[str, ...] = ()
    extra: tuple[ExtraPattern, ...] = ()
    pseudonyms: bool = False


@dataclass(frozen=True)
class DistillConfig:
    """The table ``[distill]``, in the user's file alone: the language model that is asked.

    It is a ``command`` (a program and its arguments, no shell) or a ``model``
    (the path of a GGUF file). ``window`` is in tokens and ``price`` for a million
    of them; 0 where the user does not say.
    """

    command: tuple[str, ...] = ()
    model: str = ""
    timeout_seconds: int = 600
    window: int = 0
    price: float = 0.0


@dataclass(frozen=True)
class EndpointConfig:
    """The table ``[endpoint]``, in the user's file alone: a server that embeds.

    ``url`` is the base of an OpenAI-compatible interface (`http://127.0.0.1:8080/v1`),
    empty where there is none, and ``model`` what the model is called there.
    """

    url: str = ""
    model: str = ""
    dimension: int = 0
    passage_prefix: str = ""
    query_prefix: str = ""
    timeout_seconds: int = 60
    allow_remote: bool = False


@dataclass(frozen=True)
class RerankConfig:
    """The table ``[rerank]``, in the user's file alone: what reranks, and for how long.

    ``model`` is a name of the registry or the path of a GGUF file, empty where
    nothing reranks.
    """

    model: str = ""
    seconds: float = RERANK_SECONDS


@dataclass(frozen=True)
class ModelConfig:
    """Which embedding model to use, in the user's file alone.

    ``model`` is a name of the registry or the path of a GGUF file, empty for the
    default. The prefixes and ``pooling`` are those of a file, as its makers say;
    ``dimension`` is what vectors are cut to, 0 for all that they have.
    """

    model: str = ""
    dimension: int = 0
    pooling: str = ""
    passage_prefix: str = ""
    query_prefix: str = ""
    endpoint: EndpointConfig = EndpointConfig()


def unknown_keys(data: dict[str, object], *, cloned: bool) -> tuple[str, ...]:
    """Return the keys of a file that mean nothing in it, once its tables were read.

    Those of ``[redact]`` are what `redact_table` left there.
    """
    top, tables = (set[str](), _REPOSITORY_TABLES) if cloned else (_USER_KEYS, _USER_TABLES)
    found = {key for key in data if key not in top and key not in tables}
    for name, known in tables.items():
        value = data.get(name, {})
        for table in value if isinstance(value, list) else [table_of(data, name, "")]:
            found.update(f"{name}.{key}" for key in table if key not in known)
    return tuple(sorted(found))


def _excludes(table: dict[str, object], where: str) -> tuple[str, ...]:
    patterns = texts_of(table, "exclude", where)
    if not all(pattern.strip() for pattern in patterns):
        raise KnowError(f"{where}: `exclude` holds an empty pattern")
    return patterns


def _megabytes(table: dict[str, object], where: str) -> int:
    return whole_of(table, "part_megabytes", where, PART_MEGABYTES, (1, _LARGEST_PART))


def archive_table(data: dict[str, object], where: str) -> tuple[tuple[str, ...], int]:
    """Return what the table ``[archive]`` says: patterns to leave out, and the size of parts.

    Both are looked at where they do not belong as well: what is wrong there is an
    error, and what is right is told as unknown.
    """
    _excludes(data, where)
    _megabytes(data, where)
    table = table_of(data, "archive", where)
    return _excludes(table, f"{where}: archive"), _megabytes(table, f"{where}: archive")


def recall_table(data: dict[str, object], where: str) -> bool:
    """Return what the table ``[recall]`` says: whether recalls are noted, where it says nothing.

    A repository can only tighten, so that `log = true` in its file changes nothing.
    """
    return flag_of(table_of(data, "recall", where), "log", f"{where}: recall", default=True)


def redact_table(data: dict[str, object], where: str, *, cloned: bool) -> RedactConfig:
    """Read the table ``[redact]`` and take what was understood out of it.

    A ``cloned`` file can only tighten: what it allows are exact secrets by hash.
    """
    table = table_of(data, "redact", where)
    allow = table.pop("allow", [])
    extra = table.pop("extra", [])
    pseudonyms = table.pop("pseudonyms", False)
    if not isinstance(allow, list) or not all(isinstance(entry, str) for entry in allow):
        raise KnowError(f"{where}: `redact.allow` must be a list of strings")
    for entry in allow:
        if (cloned or entry.startswith("sha256:")) and not _HASH.fullmatch(entry):
            raise KnowError(
                f"{where}: redact.allow: `{entry}` is not `sha256:` and 64 digits",
                hint="patterns are allowed in your own configuration only" if cloned else "",
            )
    if not isinstance(extra, list) or not all(isinstance(entry, dict) for entry in extra):
        raise KnowError(f"{where}: `redact.extra` must be a list of tables")
    if not isinstance(pseudonyms, bool):
        raise KnowError(f"{where}: `redact.pseudonyms` must be true or false")
    patterns = tuple(
        ExtraPattern(text_of(entry, "kind", where), text_of(entry, "pattern", where))
        for entry in extra
    )
    return RedactConfig(tuple(allow), patterns, pseudonyms)


def distill_table(data: dict[str, object], where: str) -> DistillConfig:
    """Read the table ``[distill]`` of the user's file."""
    table = table_of(data, "distill", where)
    inside = f"{where}: distill"
    command, model = texts_of(table, "command", inside), text_of(table, "model", inside)
    # What is looked for in the folder at hand could come out of a clone.
    if command and not _found_anywhere(command[0], bare=True):
        raise KnowError(f"{inside}: `command` must begin with a program's name or absolute path")
    if model and not _found_anywhere(model, bare=False):
        raise KnowError(f"{inside}: `model` must be an absolute path, or begin with `~/`")
    if command and model:
        raise KnowError(f"{inside}: `command` and `model` exclude each other; keep one")
    return DistillConfig(
        command,
        model,
        whole_of(table, "timeout_seconds", inside, 600, (1, _LONGEST_TIMEOUT)),
        whole_of(table, "window", inside, 0, _WINDOWS),
        price_of(table, "price_per_million_tokens", inside),
    )


def rerank_table(data: dict[str, object], where: str) -> RerankConfig:
    """Read the table ``[rerank]`` of the user's file."""
    table = table_of(data, "rerank", where)
    inside = f"{where}: rerank"
    return RerankConfig(
        text_of(table, "model", inside),
        number_of(table, "seconds", inside, RERANK_SECONDS, RERANK_BOUNDS),
    )


def model_keys(data: dict[str, object], where: str) -> ModelConfig:
    """Read what the user's file says of the embedding model."""
    found = ModelConfig(
        text_of(data, "model", where),
        whole_of(data, "dimension", where, 0, (1, MOST_DIMENSIONS)),
        text_of(data, "pooling", where),
        text_of(data, "passage_prefix", where),
        text_of(data, "query_prefix", where),
        _endpoint_table(data, where),
    )
    if found.pooling and found.pooling not in POOLINGS:
        raise KnowError(f"{where}: `pooling` must be one of {', '.join(POOLINGS)}")
    if found.model and found.endpoint.url:
        raise KnowError(f"{where}: `model` and `[endpoint]` exclude each other; keep one")
    return found


def _endpoint_table(data: dict[str, object], where: str) -> EndpointConfig:
    if "endpoint" not in data:
        return EndpointConfig()
    table = table_of(data, "endpoint", where)
    inside = f"{where}: endpoint"
    found = EndpointConfig(
        text_of(table, "url", inside),
        text_of(table, "model", inside),
        whole_of(table, "dimension", inside, 0, (1, MOST_DIMENSIONS)),
        text_of(table, "passage_prefix", inside),
        text_of(table, "query_prefix", inside),
        whole_of(table, "timeout_seconds", inside, 60, (1, 3600)),
        flag_of(table, "allow_remote", inside),
    )
    try:
        checked_endpoint(found)
    except KnowError as error:
        raise KnowError(f"{inside}: {error.message}", hint=error.hint) from error
    return found


def checked_endpoint(endpoint: EndpointConfig) -> None:
    """Raise KnowError where an endpoint must not be used.

    Passages are what a person and an agent said: they leave the machine only where
    its user says so in as many words. A name is not looked up, for it may mean
    another machine tomorrow: loopback are `localhost` and the loopback addresses.
    """
    from urllib.parse import urlsplit

    url = endpoint.url
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        parts, host = urlsplit(""), ""
    if not host or parts.scheme not in {"http", "https"} or re.search(r"[^!-~]|\\", url):
        raise KnowError(f"`{url}` is no http:// or https:// address")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise KnowError("`url` must hold no user, password, query or fragment")
    if not endpoint.model:
        raise KnowError("`model` must say what the model is called there")
    if not endpoint.allow_remote and not _is_loopback(host):
        raise KnowError(
            f"{host} may be another machine, and what is indexed would be sent there",
            hint="use a loopback address (127.0.0.1, localhost), or allow it: `--allow-remote`,"
            " `allow_remote = true`",
        )


def _is_loopback(host: str) -> bool:
    from ipaddress import ip_address

    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _found_anywhere(path: str, *, bare: bool) -> bool:
    return path.startswith(("/", "~/")) or (bare and bool(path) and "/" not in path)
