"""From one native message to the records that it says.

Owns how a message that holds text, calls and outputs side by side is cut, and how
its records are named. It knows no agent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from knowrepo.sessions.lines import Line
from knowrepo.sessions.readers.values import (
    clean,
)
from knowrepo.sessions.record import Record, Role, ToolCall, ToolResult


@dataclass
class _Said:
    role: Role
    time: str
    texts: list[str]
    calls: list[ToolCall] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)


class Message:
    """Collects what one native message says, and gives it as records in that order.

    What is said in one role is one record with the calls that follow it; each
    tool's output is a record of its own. The first record has the message's key.
    """

    def __init__(self, key: str, line: Line, *, time: str = "", parent: str = "") -> None:
        self._key = key
        self._line = line
        self._time = time
        self._parent = parent
        self._said: list[_Said] = []

    def say(self, role: Role, text: str, *, time: str = "") -> None:
        """Add text; nothing where it is blank."""
        if not text.strip():
            return
        if self._said and self._said[-1].role == role and role != "tool":
            self._said[-1].texts.append(text)
        else:
            self._said.append(_Said(role, time or self._time, [text]))

    def call(self, call: ToolCall, *, time: str = "") -> None:
        """Add a call to what the assistant said last."""
        spoken = next((said for said in reversed(self._said) if said.role == "assistant"), None)
        if spoken is None:
            spoken = _Said("assistant", time or self._time, [])
            self._said.append(spoken)
        spoken.calls.append(call)

    def output(
        self,
        text: str,
        *,
        ours: bool = False,
        time: str = "",
        result: ToolResult | None = None,
    ) -> None:
        """Add a tool's output; ``ours`` where it is our own recall's.

        Of a call that printed nothing what was said before holds the result.
        """
        if text.strip():
            self._said.append(_Said("injected" if ours else "tool", time or self._time, [text]))
        if result is not None and self._said:
            self._said[-1].results.append(result)

    def records(self) -> Iterator[Record]:
        """Yield the records; one without text where nothing was said."""
        for index, said in enumerate(self._said or [_Said("system", self._time, [])]):
            yield Record(
                key=f"{self._key}\0+{index}" if index else self._key,
                role=said.role,
                text=clean("\n".join(said.texts)).strip(),
                line=self._line.number,
                parent=self._parent,
                time=said.time,
                calls=tuple(said.calls),
                results=tuple(said.results),
                start=self._line.start,
                end=self._line.end,
            )
