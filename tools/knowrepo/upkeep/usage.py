"""Which model answered, and how many tokens it took, as the agents write it down.

Owns what each agent's own figures mean. `claude`, `codex`, `gemini`, `pi` and `opencode`
tell all four kinds; `copilot` tells what was written, and the rest where a session was shut
down; of the others' sessions nothing is known. Prices are nobody's business here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from knowrepo.sessions.readers.values import object_of, text_of

UNNAMED = "unknown"
_LONGEST_NAME = 80  # characters of a name that a transcript gives
_MOST = 10**12  # a figure beyond this is none


class Tokens(NamedTuple):
    """Tokens that a model read, wrote, and found or left in its cache."""

    read: int = 0
    written: int = 0
    cache_read: int = 0
    cache_written: int = 0

    def plus(self, other: Tokens) -> Tokens:
        """Return the sum of both."""
        return Tokens(*(a + b for a, b in zip(self, other, strict=True)))

    def at_least(self, other: Tokens) -> Tokens:
        """Return the larger of each: a message that is written in parts repeats its figures."""
        return Tokens(*map(max, self, other))


class Use(NamedTuple):
    """What one record tells; of records with the same key the largest figures count."""

    key: str
    model: str
    tokens: Tokens


class Meter:
    """Adds up one session's records, as its agent writes them."""

    def __init__(self, agent: str) -> None:
        self._uses = _READERS.get(agent)
        self._keyed: dict[tuple[str, str], Tokens] = {}
        self._before = Tokens()  # what codex said last
        self._model = ""  # and which model it named
        self._agent = agent

    def see(self, record: Mapping[str, Any]) -> None:
        """Take in what a record tells."""
        if self._agent == "codex":
            self._see_running_total(record)
        elif self._uses is not None:
            for number, use in enumerate(self._uses(record)):
                key = (name_of(use.model), use.key or f"\0{len(self._keyed)}.{number}")
                self._keyed[key] = self._keyed.get(key, Tokens()).at_least(use.tokens)

    def by_model(self) -> dict[str, Tokens]:
        """Return the sums of each model that was named."""
        found: dict[str, Tokens] = {}
        for (model, _), tokens in self._keyed.items():
            found[model] = found.get(model, Tokens()).plus(tokens)
        return found

    def _see_running_total(self, record: Mapping[str, Any]) -> None:
        """Codex tells the sum so far; one that is smaller than the last begins anew."""
        payload = object_of(record, "payload")
        if record.get("type") == "turn_context":
            self._model = text_of(payload, "model") or self._model
        total = object_of(object_of(payload, "info"), "total_token_usage")
        if payload.get("type") != "token_count" or not total:
            return
        cached = _number(total, "cached_input_tokens")
        now = Tokens(
            max(0, _number(total, "input_tokens") - cached),
            _number(total, "output_tokens"),
            cached,
        )
        grown = all(a >= b for a, b in zip(now, self._before, strict=True))
        before = self._before if grown else Tokens()
        key = (name_of(self._model), "")
        new = Tokens(*(a - b for a, b in zip(now, before, strict=True)))
        self._keyed[key] = self._keyed.get(key, Tokens()).plus(new)
        self._before = now


def name_of(given: str) -> str:
    """Return a name out of a transcript as it is counted and shown."""
    return " ".join(given.split())[:_LONGEST_NAME] or UNNAMED


def _number(given: Mapping[str, Any], name: str) -> int:
    value = given.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 <= value <= _MOST else 0


def _claude(record: Mapping[str, Any]) -> Iterator[Use]:
    message = object_of(record, "message")
    usage = object_of(message, "usage")
    model = text_of(message, "model")
    if usage and model != "<synthetic>":  # what Claude Code itself says in a model's name
        names = (
            "input_tokens", "output_tokens", "cache_read_input_tokens",
            "cache_creation_input_tokens",
        )  # fmt: skip
        yield Use(text_of(message, "id"), model, Tokens(*(_number(usage, n) for n in names)))


def _pi(record: Mapping[str, Any]) -> Iterator[Use]:
    message = object_of(record, "message")
    usage = object_of(message, "usage")
    if usage:
        names = ("input", "output", "cacheRead", "cacheWrite")
        tokens = Tokens(*(_number(usage, name) for name in names))
        yield Use(text_of(record, "id"), text_of(message, "model"), tokens)


def _gemini(record: Mapping[str, Any]) -> Iterator[Use]:
    usage = object_of(record, "tokens")
    if usage:
        cached = _number(usage, "cached")  # which its input includes
        read = max(0, _number(usage, "input") + _number(usage, "tool") - cached)
        written = _number(usage, "output") + _number(usage, "thoughts")
        yield Use(text_of(record, "id"), text_of(record, "model"), Tokens(read, written, cached))


def _opencode(record: Mapping[str, Any]) -> Iterator[Use]:
    info = object_of(record, "info")
    usage = object_of(info, "tokens")
    if usage and "parts" in record:
        cache = object_of(usage, "cache")
        model = text_of(info, "modelID") or text_of(object_of(info, "model"), "modelID")
        tokens = Tokens(
            _number(usage, "input"),
            _number(usage, "output") + _number(usage, "reasoning"),
            _number(cache, "read"),
            _number(cache, "write"),
        )
        yield Use(text_of(info, "id"), model, tokens)


def _copilot(record: Mapping[str, Any]) -> Iterator[Use]:
    data = object_of(record, "data")
    if record.get("type") == "assistant.message":
        tokens = Tokens(written=_number(data, "outputTokens"))
        yield Use(text_of(data, "messageId"), text_of(data, "model"), tokens)
    elif record.get("type") == "session.shutdown":
        for model, metrics in object_of(data, "modelMetrics").items():
            usage = object_of(metrics, "usage") if isinstance(metrics, Mapping) else {}
            names = ("inputTokens", "", "cacheReadTokens", "cacheWriteTokens")
            tokens = Tokens(*(_number(usage, name) for name in names))
            yield Use(f"{text_of(record, 'id')} shutdown", str(model), tokens)


_READERS: dict[str, Callable[[Mapping[str, Any]], Iterator[Use]]] = {
    "claude": _claude,
    "pi": _pi,
    "gemini": _gemini,
    "opencode": _opencode,
    "copilot": _copilot,
}
