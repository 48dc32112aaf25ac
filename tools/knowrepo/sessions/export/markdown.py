"""A session as Markdown that reads well as text and cannot break out of its place.

Owns the document's shape. What agents and people wrote is Markdown already and
stays so, with its headings lowered; but HTML in it is escaped, a fence that it
leaves open is closed, and where that does not hold a text to its place it is
shown as it is, in a fence that is longer than any in it.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from functools import cache

from markdown_it import MarkdownIt

from knowrepo.sessions.export.page import Budget, Conversation, Entry, Limits, Page
from knowrepo.sessions.export.prose import LONGEST
from knowrepo.sessions.export.text import Cut, first_line, moment, note, shown
from knowrepo.units import count, size

_CALL = 200  # characters of a tool call
_LOWER = 3  # levels that headings inside a message are set down
_TICKS = re.compile(r"`+")
# Without these a text holds no HTML, no image, no heading, and no fence to leave open.
_MARKED = re.compile(r"[<`~#]|!\[|^[ >]*(?:=+|-+)[ \t]*$", re.MULTILINE)
_CODE_OR_TAG = re.compile(r"\\.|`+|<", re.DOTALL)
_SPECIAL = re.compile(r"([\\`*_\[\]<>&|~#])")
_END = "know-end-of-message"
_NAMES = {"tool": "Output", "injected": "Injected text", "summary": "Summary", "system": "System"}


def render(page: Page, limits: Limits) -> Iterator[str]:
    """Yield the document."""
    budget = Budget(limits)
    yield from _head(page)
    yield from _conversation(page.main, budget)
    for conversation in page.below:
        kind = "Sub-agent: " if conversation.facts.sub_agent else ""
        yield f"# {kind}{_literal(conversation.title)}\n\n"
        yield f"{_code(conversation.session.id)}, {size(conversation.session.size)}\n\n"
        yield from _conversation(conversation, budget)


def _head(page: Page) -> Iterator[str]:
    facts, session = page.main.facts, page.main.session
    date = moment(facts.date)
    yield f"# {_literal(page.main.title)}\n\n|  |  |\n|---|---|\n"
    yield f"| Session | {_code(session.name)} |\n"
    rows = {
        "Project": facts.project,
        "Branch": facts.branch,
        "Begun": f"{date:%Y-%m-%d %H:%M} UTC" if date else "",
        "Size": size(session.size),
        "Sub-agents": str(page.sub_agents or ""),
    }
    for name, value in rows.items():
        if value:
            yield f"| {name} | {_literal(first_line(value, 300))} |\n"
    yield "\n"


def _conversation(conversation: Conversation, budget: Budget) -> Iterator[str]:
    speaker, side, calls = "", False, False
    for entry in conversation.entries(budget):
        record = entry.record
        if calls and not (record.role == "assistant" and not entry.text.head):
            yield "\n"  # ends the list of calls
            calls = False
        if record.side != side and not conversation.facts.sub_agent:
            side, speaker = record.side, ""
            yield f"---\n\n*{'A sub-agent, inline' if side else 'The session again'}*\n\n"
        if entry.skipped:
            yield f"*{note(entry.skipped, 'record')}*\n\n"
        if entry.opens:
            yield f"## {entry.opens}. {_literal(entry.heading)}\n\n"
        if record.role in {"user", "assistant"}:
            if entry.text.head:
                if record.role == "user" or speaker != record.role:
                    yield f"### {_speaker(entry)}\n\n"
                yield _message(entry.text)
                speaker = record.role
        else:
            yield _folded(entry)
        for call in record.calls:
            yield (
                f"- **{_literal(first_line(call.name, 80))}** {_code(call.argument)}".rstrip()
                + "\n"
            )
            calls = True
    yield "\n"


def _speaker(entry: Entry) -> str:
    name = "Task" if entry.task else "User" if entry.record.role == "user" else "Assistant"
    time = moment(entry.record.time)
    return f"{name}, {time:%Y-%m-%d %H:%M:%S}" if time else name


def _folded(entry: Entry) -> str:
    summary = f"{_NAMES[entry.record.role]}, {count(entry.lines, 'line')}"
    return f"<details>\n<summary>{summary}</summary>\n\n{_fenced(entry.text)}\n</details>\n\n"


def _message(text: Cut) -> str:
    parts = [contained(text.head)]
    if text.left_out:
        parts += [f"*{note(text.left_out, 'character')}*", contained(text.tail)]
    return "\n\n".join(filter(None, parts)) + "\n\n"


def _fenced(text: Cut) -> str:
    left = f"\n[{note(text.left_out, 'character')}]\n" if text.left_out else ""
    return fenced(f"{text.head}{left}{text.tail}")


def fenced(text: str) -> str:
    """Return ``text`` as a fenced block, the fence longer than any run of backticks in it."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}\n"


def contained(text: str) -> str:
    """Return Markdown that means the same, but for HTML, and ends where the text ends."""
    if not _MARKED.search(text):
        return text
    if len(text) <= LONGEST:
        with contextlib.suppress(RecursionError):
            tame = _lowered(_escaped(text))
            fences = [token.markup for token in _parser().parse(tame) if token.type == "fence"]
            for end in ("", *(f"\n{fence}" for fence in fences[-1:])):
                if _stays_in_place(tame + end):
                    return tame + end
    return fenced(text).rstrip("\n")


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


def _stays_in_place(text: str) -> bool:
    """Say whether what follows ``text`` is a paragraph of its own, and nothing in it ours alone."""
    tokens = _parser().parse(f"{text}\n\n{_END}\n")
    if len(tokens) < 2 or tokens[-2].content != _END or tokens[-2].level != 1:
        return False
    for token in tokens:
        inside = {child.type for child in token.children or ()}
        if token.type == "html_block" or inside & {"html_inline", "image"}:
            return False
        if token.type == "heading_open" and token.level == 0 and int(token.tag[1]) <= _LOWER:
            return False
    return True


def _escaped(text: str) -> str:
    """Escape what would be HTML or load an image, but not where it is code."""
    lines = text.split("\n")
    tokens = _parser().parse(text)
    code = [token.map for token in tokens if token.type in {"fence", "code_block"} and token.map]
    blocks = [token.map for token in tokens if token.type == "inline" and token.map]
    done = {number for span in code for number in range(*span)}
    for start, end in blocks:
        if done.isdisjoint(range(start, end)):
            lines[start:end] = _without_html("\n".join(lines[start:end])).split("\n")
            done.update(range(start, end))
    for number, line in enumerate(lines):
        if number not in done:
            lines[number] = line.replace("<", "&lt;")
    return "\n".join(lines)


def _without_html(block: str) -> str:
    """Escape `<` and `![` in a block of running text, but for its code spans."""
    out: list[str] = []
    at = 0
    for match in _CODE_OR_TAG.finditer(block):
        if match.start() < at:
            continue
        out.append(block[at : match.start()].replace("![", "!\\["))
        at = match.end()
        if match[0] == "<":
            out.append("&lt;")
        elif match[0].startswith("`"):
            close = re.compile(rf"(?<!`){match[0]}(?!`)").search(block, at)
            at = close.end() if close else at
            out.append(block[match.start() : at])
        else:
            out.append(match[0])
    out.append(block[at:].replace("![", "!\\["))
    return "".join(out)


def _lowered(text: str) -> str:
    """Set headings below those of the document."""
    lines = text.split("\n")
    for token in _parser().parse(text):
        if token.type != "heading_open" or not token.map:
            continue
        start, end = token.map
        level = "#" * min(6, int(token.tag[1]) + _LOWER)
        if token.markup.startswith("#"):
            lines[start] = lines[start].replace(token.markup, level, 1)
        elif token.level == 0:  # underlined; it may have several lines
            title = " ".join(line.strip() for line in lines[start : end - 1])
            lines[start:end] = [f"{level} {title}", *[""] * (end - start - 1)]
    return "\n".join(lines)


def _literal(text: str) -> str:
    """Return one line of text with nothing in it that Markdown would take for its own."""
    return _SPECIAL.sub(r"\\\1", text)


def _code(text: str) -> str:
    """Return text as one line of code."""
    line = first_line(" ".join(shown(text).split()), _CALL)
    if not line:
        return ""
    ticks = "`" * (max((len(run) for run in _TICKS.findall(line)), default=0) + 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{space}{line}{space}{ticks}"
