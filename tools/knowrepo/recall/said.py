"""How much of a chunk of a session somebody said, and what its score is worth for that.

Owns this one judgement of a chunk by its text. The output of a tool quotes whatever it
meets, and the later parts of a long message tell its details: both hold the words of many
queries, and answer fewer of them than what a message begins with. Measured on sessions of
agents and chats with assistants; see the concept `weights-of-evidence`.
"""

from __future__ import annotations

import re

UNSAID = 0.12
"""What a chunk loses of its score of which nobody said a word; 0.08 to 0.15 do as well."""

_LABEL = re.compile(r"([\w.-]+): ")
_SPEAKERS = frozenset(("User", "Assistant"))
_OUTPUT = "Output"


def worth(text: str) -> float:
    """Return what the score of a session's chunk is multiplied by, at most 1."""
    return 1 - UNSAID * (1 - share(text))


def share(text: str) -> float:
    """Return how much of a session's chunk was said, 0 to 1.

    That is what follows a speaker's name, up to the output of a tool and but for the
    lines of tool calls. A chunk that goes on with a message of an earlier one names no
    speaker ahead of it.
    """
    said, speaks = 0, False
    for line in text.splitlines(keepends=True):
        label = found[1] if (found := _LABEL.match(line)) else ""
        if label in _SPEAKERS:
            speaks = True
        elif label == _OUTPUT:
            speaks = False
        if speaks and (not label or label in _SPEAKERS):
            said += len(line)
    return said / len(text) if text else 0.0
