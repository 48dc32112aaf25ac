"""One small session of each agent whose transcripts are JSON lines, as the agent writes it.

`test_readers` holds every reader against every sample, so an agent is added here
once. The user asks `why is it slow?`, a tool prints `12 s`, the agent answers.
"""

from __future__ import annotations

from typing import Any

from helpers import assistant, tool_call, tool_result, user

PARENT, SESSION, CHILD = (f"0197000{n}-0000-7000-8000-00000000000{n}" for n in (1, 5, 9))
"""Ids of version 7: the parent's session began first, the child's last."""


def rollout(kind: str, second: int = 0, **payload: Any) -> dict[str, Any]:
    """A line of a Codex rollout."""
    time = f"2026-05-01T10:00:{second:02d}.000Z"
    return {"timestamp": time, "type": kind, "payload": payload}


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return rollout("response_item", type=kind, **fields)


def words(role: str, *texts: str, **fields: Any) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text} for text in texts]
    return item("message", role=role, content=content, **fields)


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return rollout("event_msg", type=kind, **fields)


def head(session: str = SESSION, **fields: Any) -> dict[str, Any]:
    given = {"cwd": "/home/dev/app", "git": {"branch": "main"}, "source": "cli", **fields}
    return rollout("session_meta", id=session, **given)


CODEX = [
    head(),
    words("developer", "<permissions instructions>…"),
    words("user", "# AGENTS.md instructions for /home/dev/app\n\n<INSTRUCTIONS>x</INSTRUCTIONS>"),
    rollout("turn_context", 1, cwd="/home/dev/app", turn_id=SESSION),
    words("user", "why is it slow?"),
    event("user_message", message="why is it slow?", images=[]),
    item("function_call", name="shell", arguments='{"command": ["time", "app"]}', call_id="c1"),
    item("function_call_output", call_id="c1", output="12 s"),
    event("agent_message", message="It reads twice."),
    words("assistant", "It reads twice."),
]


def copilot(kind: str, number: int = 1, **data: Any) -> dict[str, Any]:
    return {
        "type": kind, "data": data, "id": f"e{number}", "parentId": f"e{number - 1}",
        "timestamp": f"2026-05-01T10:00:{number:02d}.000Z",
    }  # fmt: skip


COPILOT = [
    copilot(
        "session.start", sessionId=SESSION, context={"cwd": "/home/dev/app", "branch": "main"}
    ),
    copilot("system.message", 2, role="system", content="You are the GitHub Copilot CLI"),
    copilot(
        "user.message", 3, content="why is it slow?",
        transformedContent="<current_datetime>now</current_datetime>\n\nwhy is it slow?",
    ),
    copilot(
        "assistant.message", 4, content="",
        toolRequests=[{"toolCallId": "c1", "name": "bash", "arguments": {"command": "time app"}}],
    ),
    copilot(
        "tool.execution_start", 5, toolCallId="c1", toolName="bash",
        arguments={"command": "time app"},
    ),
    copilot("tool.execution_complete", 6, toolCallId="c1", result={"content": "12 s"}),
    copilot("assistant.message", 7, content="It reads twice.", toolRequests=[]),
]  # fmt: skip


def entry(kind: str, number: int, **fields: Any) -> dict[str, Any]:
    """An entry of a Pi session."""
    return {
        "type": kind, "id": f"{number:08x}", "parentId": f"{number - 1:08x}",
        "timestamp": f"2026-05-01T10:00:{number:02d}.000Z", **fields,
    }  # fmt: skip


def pi(role: str, number: int, **message: Any) -> dict[str, Any]:
    return entry("message", number, message={"role": role, **message})


def blocks(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}]


def pi_head(**fields: Any) -> dict[str, Any]:
    time = "2026-05-01T10:00:00.000Z"
    return {
        "type": "session", "version": 3, "id": SESSION, "timestamp": time, "cwd": "/home/dev/app",
        **fields,
    }  # fmt: skip


PI = [
    pi_head(),
    pi("system", 1, content="", sections={"preamble": "You are an expert"}),
    pi("user", 2, content="why is it slow?", timestamp=1777629602000),
    pi(
        "assistant", 3, stopReason="toolUse",
        content=[{"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "app"}}],
    ),
    pi("toolResult", 4, toolCallId="c1", toolName="bash", content=blocks("12 s"), isError=False),
    pi("assistant", 5, stopReason="stop", content=blocks("It reads twice.")),
]  # fmt: skip


def droid(role: str, number: int, content: Any, **message: Any) -> dict[str, Any]:
    return {
        "type": "message", "id": f"m{number}", "parentId": f"m{number - 1}",
        "timestamp": f"2026-05-01T10:00:{number:02d}.000Z",
        "message": {"role": role, "content": content, **message},
    }  # fmt: skip


def droid_start(**fields: Any) -> dict[str, Any]:
    given = {"title": "Slow start", "owner": "dev", "version": 2, "cwd": "/home/dev/app"}
    return {"type": "session_start", "id": SESSION, **given, **fields}


DROID = [
    droid_start(),
    droid("user", 1, blocks("<system-reminder>be brief</system-reminder>")),
    droid("user", 2, [*blocks("<system-reminder>x</system-reminder>"), *blocks("why is it slow?")]),
    droid(
        "assistant", 3,
        [{"type": "tool_use", "id": "c1", "name": "Execute", "input": {"command": "time app"}}],
    ),
    droid("user", 4, [{"type": "tool_result", "tool_use_id": "c1", "content": "12 s"}]),
    droid("assistant", 5, blocks("It reads twice.")),
]  # fmt: skip

CLAUDE = [
    user("why is it slow?", 1),
    tool_call("Bash", 2, command="time app"),
    tool_result("12 s", 3, 2),
    assistant("It reads twice.", 4),
]

SAMPLES = {"claude": CLAUDE, "codex": CODEX, "copilot": COPILOT, "droid": DROID, "pi": PI}
