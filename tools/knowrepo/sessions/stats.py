"""What each kind of content costs in an archive.

Owns one sum over archived lines, made only when somebody asks: what is archived
pays nothing for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from knowrepo.sessions.lines import parse_object

KINDS = (
    "user text",
    "assistant text",
    "thinking",
    "tool calls",
    "tool results",
    "toolUseResult",
    "payload stubs",
    "other",
)
"""The kinds of content, in the order to show them; what they cost adds up to all bytes."""

_ROLES = {
    **dict.fromkeys(("user", "human"), "user text"),
    **dict.fromkeys(("assistant", "model", "gemini", "agent"), "assistant text"),
    **dict.fromkeys(("tool", "toolResult", "function"), "tool results"),
}
# The kind that a block, an event or a record of this type has, whoever said it.
_TYPES = {
    **dict.fromkeys(("thinking", "redacted_thinking", "reasoning", "thought"), "thinking"),
    **dict.fromkeys(
        (
            "tool_use",
            "toolCall",
            "tool-call",
            "function_call",
            "custom_tool_call",
            "local_shell_call",
        ),
        "tool calls",
    ),
    **dict.fromkeys(
        (
            "tool_result",
            "function_call_output",
            "custom_tool_call_output",
            "tool-result",
            "tool.execution_complete",
            "bashExecution",
        ),
        "tool results",
    ),
    **dict.fromkeys(("user.message", "user_message"), "user text"),
    **dict.fromkeys(("assistant.message", "agent_message"), "assistant text"),
}
# The kind of what stands under this name, in records of every agent.
_NAMES = {
    "toolUseResult": "toolUseResult",
    "thoughts": "thinking",
    "tool_calls": "tool calls",
    "toolCalls": "tool calls",
    "toolRequests": "tool calls",
    "tool_uses": "tool calls",
    "arguments": "tool calls",
}


def content_costs(lines: Iterable[bytes]) -> dict[str, int]:
    """Return the bytes of each kind of content in archived lines.

    Text counts with its UTF-8 bytes; what JSON adds, ids, times and bookkeeping are
    `other`. The sum is the bytes of the lines, line ends included.
    """
    costs: Counter[str] = Counter()
    for line in lines:
        before = costs.total()
        record = parse_object(line)
        if record is not None:
            _count(record, "", costs)
        whole = len(line) + (not line.endswith(b"\n"))
        costs["other"] += whole - (costs.total() - before)
    return {kind: costs[kind] for kind in KINDS}


def _count(value: Any, kind: str, costs: Counter[str]) -> None:
    if isinstance(value, str):
        stub = value.startswith("[stub ") and value.endswith("]")
        if stub or kind:
            costs["payload stubs" if stub else kind] += len(value.encode("utf-8", "replace"))
    elif isinstance(value, list):
        for item in value:
            _count(item, kind, costs)
    elif isinstance(value, dict):
        own = _kind_of(value, kind)
        for name, item in value.items():
            if name in _NAMES:
                _count(item, _NAMES[name], costs)
            elif isinstance(item, str) and not _is_text(name, own):
                continue
            else:
                _count(item, own, costs)


def _kind_of(value: Mapping[str, Any], kind: str) -> str:
    """Return the kind of what stands in an object: by type, by role, else as around it."""
    named = value.get("type")
    if isinstance(named, str) and named in _TYPES:
        return _TYPES[named]
    if kind not in {"", "user text", "assistant text"}:
        return kind  # text inside of a tool's result is still that
    role = value.get("role") or (value.get("message") is None and named)
    return _ROLES.get(role, kind) if isinstance(role, str) else kind


_LABELS = frozenset(
    "id type role call_id tool_use_id toolCallId uuid parentUuid timestamp status".split()
)
_TEXTS = frozenset(
    "text content thinking message prompt summary description data url image_url base64".split()
)


def _is_text(name: str, kind: str) -> bool:
    """Say whether a string under this name is content, and no id or label."""
    if kind in {"tool calls", "tool results", "toolUseResult"}:
        return name not in _LABELS
    return name in _TEXTS
