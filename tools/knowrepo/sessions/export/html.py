"""A session as one HTML file that stands alone and cannot do harm.

Owns the elements of the page. It holds no script, loads nothing, and has a
policy that forbids both; every text of a transcript is escaped, and no
attribute is made of one. What is long (outputs, injected text, sub-agents) is
folded, and what is off the screen is not laid out.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from html import escape
from importlib.resources import files

from knowrepo.sessions.export.page import Budget, Conversation, Entry, Limits, Page
from knowrepo.sessions.export.prose import to_html
from knowrepo.sessions.export.text import Cut, first_line, moment, note, shown
from knowrepo.sessions.record import ToolCall
from knowrepo.units import count, size

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_IN_MEMORY = 1 << 23  # bytes of the body; more goes to a temporary file
_GROUP = 40  # records that are laid out together
_CALL = 160  # characters of a call that are shown unfolded
_PEEK = 90
_MOST_CALL = 20_000
_NAMES = {
    "assistant": "Assistant",
    "tool": "Output",
    "injected": "Injected text",
    "summary": "Summary",
    "system": "System",
}


def render(page: Page, limits: Limits) -> Iterator[str]:
    """Yield the page. Its contents stand before its body, so the body waits in a file."""
    budget = Budget(limits)
    with tempfile.SpooledTemporaryFile(
        _IN_MEMORY, "w+", encoding="utf-8", errors="replace", newline="\n"
    ) as body:
        seen = []
        for number, conversation in enumerate(page.conversations):
            if number == 1:
                body.write('<h2 class="below">Sub-agents</h2>\n')
            told = _Told(conversation, f"a{number}-" if number else "")
            seen.append(told)
            for piece in _conversation(told, budget, limits):
                body.write(piece)  # writelines would hold all before it looks at the size
        yield from _head(page, seen[0])
        yield from _contents(seen)
        yield "<main>\n"
        body.seek(0)
        while piece := body.read(1 << 16):
            yield piece
        yield "</main>\n</body>\n</html>\n"


@dataclass
class _Told:
    """What the head of the page says of a conversation, known once it has been written."""

    conversation: Conversation
    prefix: str  # of the ids of its elements
    records: int = 0
    first: datetime | None = None
    last: datetime | None = None
    prompts: list[tuple[str, str]] = field(default_factory=list)  # id, heading

    @property
    def anchor(self) -> str:
        return f"{self.prefix}top"


def _head(page: Page, told: _Told) -> Iterator[str]:
    main, facts = page.main, page.main.facts
    first, last = told.first or moment(facts.date), told.last
    date = f"{_day(first)}, {first:%H:%M}" if first else ""
    if first and last and last > first:
        date += f" to {last:%H:%M}" if last.date() == first.date() else f" to {_day(last)}"
    holds = [count(len(told.prompts), "prompt"), count(told.records, "record")]
    if page.sub_agents:
        holds.append(count(page.sub_agents, "sub-agent"))
    rows = {
        "Session": main.session.name,
        "Project": facts.project,
        "Branch": facts.branch,
        "Time": f"{date} UTC" if date else "",
        "Holds": f"{', '.join(holds)}; {size(main.session.size)}",
    }
    yield f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(main.title)}</title>
<style>
{files(__package__).joinpath("style.css").read_text(encoding="utf-8")}</style>
</head>
<body>
<a class="skip" href="#top">Skip to the conversation</a>
<header>
<h1>{escape(main.title)}</h1>
<dl>
"""
    for name, value in rows.items():
        if value:
            yield f"<div><dt>{name}</dt><dd>{escape(first_line(value, 300))}</dd></div>\n"
    yield "</dl>\n</header>\n"


def _contents(seen: list[_Told]) -> Iterator[str]:
    main, *below = seen
    yield '<nav aria-label="Contents">\n'
    if main.prompts:
        yield "<h2>Prompts</h2>\n<ol>\n"
        for anchor, heading in main.prompts:
            yield f'<li><a href="#{anchor}">{escape(heading)}</a></li>\n'
        yield "</ol>\n"
    if below:
        yield "<h2>Sub-agents</h2>\n<ul>\n"
        for told in below:
            yield f'<li><a href="#{told.anchor}">{escape(told.conversation.title)}</a></li>\n'
        yield "</ul>\n"
    yield "</nav>\n"


def _conversation(told: _Told, budget: Budget, limits: Limits) -> Iterator[str]:
    conversation = told.conversation
    if not told.prefix:
        yield f'<section id="{told.anchor}" aria-label="Conversation" tabindex="-1">\n'
        yield from _Body(told, budget, limits, level=2).write()
        yield "</section>\n"
        return
    kind = "Helper" if conversation.facts.helper else "Sub-agent"
    kind = kind if conversation.facts.sub_agent else "Beside it"
    yield (
        f'<details class="agent">\n<summary><h3><span>{kind}</span> '
        f"{escape(conversation.title)}</h3> <small>{escape(conversation.session.id)}, "
        f"{size(conversation.session.size)}</small></summary>\n"
    )
    # A browser unfolds what an anchor lies in, so the anchor lies inside.
    yield f'<div class="inside" id="{told.anchor}">\n'
    yield from _Body(told, budget, limits, level=4).write()
    yield "</div>\n</details>\n"


class _Body:
    """Writes the records of one conversation, in groups that a browser can skip."""

    def __init__(self, told: _Told, budget: Budget, limits: Limits, *, level: int) -> None:
        self._told = told
        self._budget = budget
        self._limits = limits
        self._level = level  # of the headings of prompts
        self._open: list[str] = []  # the closing tags of what is open
        self._in_group = 0
        self._side = False
        self._day = ""
        self._line = self._on_line = 0
        self._speaker = ""

    def write(self) -> Iterator[str]:
        for entry in self._told.conversation.entries(self._budget):
            self._told.records += 1 + entry.skipped
            if entry.skipped:
                yield from self._close()
                yield f'<p class="day">{_set_note(entry.skipped, "record")}</p>\n'
            yield from self._make_room(entry)
            yield from self._day_of(entry)
            yield from self._entry(entry, self._anchor(entry))
        yield from self._close()
        if not self._told.records:
            yield '<p class="none">Nothing in it was said.</p>\n'

    def _make_room(self, entry: Entry) -> Iterator[str]:
        """Open a new group where an exchange begins, or the last one is full."""
        side = entry.record.side and not self._told.conversation.facts.sub_agent
        if side != self._side:
            yield from self._close()
            self._side, self._speaker = side, ""
        elif self._in_group and (entry.opens or self._in_group >= _GROUP):
            yield self._open.pop()
            self._in_group = 0
        if side and not self._open:
            task = escape(first_line(entry.text.head, _PEEK)) or "inline"
            yield f'<details class="agent"><summary><span>Sub-agent</span> {task}</summary>\n'
            self._open.append("</details>\n")
        if not self._in_group:
            yield '<div class="group">\n'
            self._open.append("</div>\n")
        self._in_group += 1

    def _close(self) -> Iterator[str]:
        while self._open:
            yield self._open.pop()
        self._in_group = 0

    def _day_of(self, entry: Entry) -> Iterator[str]:
        time = moment(entry.record.time)
        if time is None:
            return
        self._told.first = min(self._told.first or time, time)
        self._told.last = max(self._told.last or time, time)
        if f"{time:%Y-%m-%d}" > self._day:  # agents' clocks go back now and then
            if self._day:
                yield f'<p class="day">{time:%A}, {_day(time)}</p>\n'
            self._day = f"{time:%Y-%m-%d}"

    def _anchor(self, entry: Entry) -> str:
        line = entry.record.line
        self._on_line = self._on_line + 1 if line == self._line else 1
        self._line = line
        more = f".{self._on_line}" if self._on_line > 1 else ""
        return f"{self._told.prefix}r-{line}{more}"

    def _entry(self, entry: Entry, anchor: str) -> Iterator[str]:
        record = entry.record
        kind = {"user": "prompt"}.get(record.role, record.role)
        if kind == "assistant" and not entry.text.head:
            kind = "calls"
        yield f'<div class="r {kind}" id="{anchor}">\n<div class="m">'
        if record.role == "user":
            self._told.prompts += [(anchor, entry.heading)] if entry.opens else []
            yield from self._prompt_heading(entry)
        elif record.role == "assistant" and entry.text.head and self._speaker != "assistant":
            yield f"<h{self._level + 1}>Assistant</h{self._level + 1}> "
        if record.role != "assistant" or entry.text.head:
            self._speaker = record.role if record.role in {"user", "assistant"} else self._speaker
        yield f'{_time(entry, anchor)}</div>\n<div class="b">\n'
        if record.role == "user" and not entry.task:
            yield f'<div class="said">{_cut(entry.text)}</div>\n'
        elif record.role in {"user", "assistant"}:
            if entry.text.head:
                yield f'<div class="prose">{_prose(entry.text)}</div>\n'
        elif entry.lines:
            yield _folded(entry)
        for call in record.calls:
            yield _call(call, min(_MOST_CALL, self._limits.output))
        yield "</div>\n</div>\n"

    def _prompt_heading(self, entry: Entry) -> Iterator[str]:
        name = "Task" if entry.task else "User"
        if entry.opens:
            level, number = self._level, f'<span class="n">{entry.opens}</span> '
            hidden = f'<span class="hidden">: {escape(entry.heading)}</span>'
            yield f"<h{level}>{number}{name}{hidden}</h{level}> "
        else:
            yield f"<b>{name}</b> "


def _day(time: datetime) -> str:
    return f"{time.day} {time:%B %Y}"


def _time(entry: Entry, anchor: str) -> str:
    time = moment(entry.record.time)
    if time is None:
        return f'<a href="#{anchor}">line {entry.record.line}</a>'
    return (
        f'<a href="#{anchor}"><time datetime="{time:%Y-%m-%dT%H:%M:%SZ}">{time:%H:%M:%S}</time></a>'
    )


def _folded(entry: Entry) -> str:
    name = _NAMES[entry.record.role]
    lines = count(entry.lines, "line")
    peek = escape(first_line(entry.text.head, _PEEK))
    return (
        f"<details><summary><b>{name}</b> <small>{lines}</small> <code>{peek}</code></summary>\n"
        f"<pre>\n{_cut(entry.text)}</pre></details>\n"
    )


def _call(call: ToolCall, most: int) -> str:
    name, argument = escape(first_line(call.name, 80)), shown(call.argument)
    first = first_line(argument, _CALL)
    lead = f"<b>{name}</b> <code>{escape(first)}</code>"
    if first == argument.strip():
        return f'<p class="call">{lead}</p>\n'
    whole = Cut(argument[:most], max(0, len(argument) - most))
    return (
        f'<details class="call"><summary>{lead}</summary>\n<pre>\n{_cut(whole)}</pre></details>\n'
    )


def _cut(text: Cut) -> str:
    return escape(text.head) + _note(text.left_out) + escape(text.tail)


def _prose(text: Cut) -> str:
    tail = to_html(text.tail) if text.tail else ""
    return to_html(text.head) + _note(text.left_out) + tail


def _note(left_out: int) -> str:
    told = _set_note(left_out, "character")
    return f'\n<span class="cut">{told}</span>\n' if left_out else ""


def _set_note(left_out: int, thing: str) -> str:
    return re.sub("`(.*?)`", r"<code>\1</code>", note(left_out, thing))
