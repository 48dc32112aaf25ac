"""Who runs a command: an agent, by the variables that it sets for its commands, or a person.

Owns which variables those are and how an agent is named. A recall asks on its
way out, so nothing is imported or compiled before it is needed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_ACTOR = r"[A-Za-z0-9][\w.+-]*/[\w.+-]+"
# Variables that coding agents set for the commands that they run.
_AGENTS = (
    ("CLAUDECODE", "claude-code"),
    ("CODEX_SANDBOX", "codex"),
    ("CODEX_THREAD_ID", "codex"),
    ("GEMINI_CLI", "gemini-cli"),
    ("CURSOR_AGENT", "cursor"),
)


def is_actor(name: str) -> bool:
    """Say whether a name has the form of a producer, `<producer>/<version>`."""
    return re.fullmatch(_ACTOR, name) is not None


def agent_in(environment: Mapping[str, str]) -> str:
    """Return the agent that runs this command, by what it tells its commands; '' for none."""
    told = environment.get("AI_AGENT", "").strip()
    if told:
        producer, _, rest = re.sub(r"[^\w.+/@-]", "", told).replace("@", "/").partition("/")
        actor = f"{producer}/{rest.partition('/')[0] or 'unknown'}"
        return actor if is_actor(actor) else "agent/unknown"
    return next((f"{name}/unknown" for key, name in _AGENTS if environment.get(key)), "")
