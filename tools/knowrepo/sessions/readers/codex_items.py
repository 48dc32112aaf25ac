"""What the items of a Codex rollout say: the words, the calls and the outputs.

Owns the many forms of one item, each told by its own fields. What stands around
an item (envelopes, repeats, whose session it is) is `codex`'s.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from knowrepo.sessions.readers.base import (
    Meaning,
    shell_line,
    tool_call,
)
from knowrepo.sessions.readers.values import (
    clean,
    content_text,
    list_of,
    object_of,
    text_of,
)

_TEXT = frozenset({"text", "input_text", "output_text"})
# What Codex sends in the user's name: each text begins and ends like this.
_INJECTED = {
    "# AGENTS.md instructions": "</INSTRUCTIONS>",
    "<user_instructions>": "</user_instructions>",
    "<environment_context>": "</environment_context>",
    "<skill>": "</skill>",
    "<skills_instructions>": "</skills_instructions>",
    "<turn_aborted>": "</turn_aborted>",
    "<subagent_notification>": "</subagent_notification>",
    "<agent_message_board_notification>": "</agent_message_board_notification>",
    "<user_action>": "</user_action>",
    "<hook_prompt ": "</hook_prompt>",
    "<codex_internal_context": "</codex_internal_context>",
    "<goal_context>": "</goal_context>",
    "<recommended_plugins>": "</recommended_plugins>",
    "<image name=": ">",  # around an image
    "<image>": "",
    "</image>": "",
    "Warning: ": "",  # of apply_patch and of exec sessions
}
_WARNINGS = ("Warning: apply_patch was ", "Warning: The maximum number of unified exec processes")
_EXIT = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d+)$", re.MULTILINE)
_SHELL = "<user_shell_command>"
_REQUEST = "## My request for Codex:"  # after what an editor adds about itself
_SUMMARY = "Another language model started to solve this problem and produced a summary"


def texts(item: Mapping[str, Any]) -> list[str]:
    """Return the texts of a message, one a block; images have none."""
    content = item.get("content")
    if isinstance(content, list):
        return list(filter(None, (content_text([block], _TEXT) for block in content)))
    return list(filter(None, [content_text(content)]))


def is_injected(text: str) -> bool:
    """Tell what Codex sends in the user's name from what a person typed."""
    text = text.strip()
    if not text.startswith(tuple(_INJECTED)):
        return False
    if text.startswith("Warning: "):
        return text.startswith(_WARNINGS)
    return any(text.startswith(a) and text.endswith(b) for a, b in _INJECTED.items())


def of_user(given: list[str]) -> Meaning:
    """Say what a message in the user's name means."""
    typed = [text for text in given if not is_injected(text)]
    text = "\n".join(typed)
    if text.startswith(_SUMMARY):
        return Meaning("summary", text)
    if text.lstrip().startswith(_SHELL):  # run by the user, with `!`
        command, _, rest = text.partition("</command>")
        call = tool_call("shell", command.partition("<command>")[2].strip())
        output = rest.partition("<result>")[2].rpartition("</result>")[0]
        return Meaning("tool", output_text(output.strip()), (call,))
    if not typed:
        return Meaning("injected", "\n".join(given))
    return Meaning("user", typed_text(text))


def typed_text(text: str) -> str:
    """Return what a person typed, without what an editor put ahead of it."""
    if text.startswith("# ") and _REQUEST in text:
        return text.partition(_REQUEST)[2].strip()
    return text


def call_of(item: Mapping[str, Any]) -> tuple[str, object] | None:
    """Return the name and the arguments of an item that calls a tool."""
    kind, name = item.get("type"), text_of(item, "name")
    if kind == "function_call":
        space = text_of(item, "namespace")
        if space:
            name = f"{space}{name}" if name.startswith("_") else f"{space}__{name}"
        return name, item.get("arguments")
    if kind == "custom_tool_call":
        return name, item.get("input")
    if kind == "local_shell_call":
        command = list_of(object_of(item, "action"), "command")
        return "shell", shell_line([word for word in command if isinstance(word, str)])
    if kind == "web_search_call":
        return "web_search", item.get("action")
    if kind == "tool_search_call":
        return "tool_search", item.get("arguments")
    if kind == "image_generation_call":
        return "image_generation", item.get("revised_prompt")
    return None


def output_text(value: object) -> str:
    """Return the plain text of a tool's output, in each of its wrappings."""
    if isinstance(value, dict):
        value = value.get("content", value.get("output"))
    if isinstance(value, str) and value.startswith('{"output":'):
        try:
            inner = json.loads(value)["output"]
        except (ValueError, RecursionError):
            inner = value
        value = inner if isinstance(inner, str) else value
    text = content_text(value, _TEXT)
    if not text.startswith(("Chunk ID: ", "Exit code: ", "Wall time: ")):
        return text
    head, _, rest = text.partition("\nOutput:\n")
    failed = [
        line
        for line in head.split("\n")
        if line.startswith(("Exit code: ", "Process exited with code ")) and line[-2:] != " 0"
    ]
    return "\n".join([*failed, rest]) if len(head) < 400 else text


def has_failed(value: object) -> bool | None:
    """Say whether a tool's output tells of an exit code other than 0; None where of none."""
    if isinstance(value, dict):
        inner = value.get("content", value.get("output"))
        worked = value.get("success")
        return not worked if isinstance(worked, bool) else has_failed(inner)
    if isinstance(value, str) and value.startswith('{"output":'):
        try:
            code = json.loads(value)["metadata"]["exit_code"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
        return code != 0 if isinstance(code, int) else None
    code_line = _EXIT.search(content_text(value, _TEXT).partition("\nOutput:\n")[0][:400])
    return code_line[1] != "0" if code_line else None


def summary(payload: Mapping[str, Any]) -> str:
    """Return a compaction's summary; the last of what replaces the history may hold it."""
    told = text_of(payload, "message")
    if told.strip():
        return told
    for item in reversed(list_of(payload, "replacement_history")):
        for text in texts(item) if isinstance(item, dict) else ():
            if text.startswith(_SUMMARY):
                return text
    return ""


def folder_in(text: str) -> str:
    """Return the folder that an environment's description names, or an empty string."""
    if not text.lstrip().startswith("<environment_context>"):
        return ""
    _, found, rest = text.partition("<cwd>")
    if found:
        return clean(rest.partition("</cwd>")[0].strip())
    _, found, rest = text.partition("Current working directory: ")
    return clean(rest.partition("\n")[0].strip()) if found else ""
