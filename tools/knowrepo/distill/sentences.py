"""What of a turn is prose, and its sentences.

Owns what is not read: code, quotations, tables, logs and what a terminal
printed. It knows no meaning. Everything takes linear time, whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST = 480
"""Characters of a sentence; a longer one is no sentence that somebody said."""
_SHORTEST = 8  # characters of a sentence that says something
_GLANCE = 120  # characters of a line by which it is told whether it is prose
_LONGEST_LINE = 6000  # a longer line is data
_WRAPPED = 60  # a line at least this long may go on in the next one

_FENCE = re.compile(r" {0,3}(?:[-*+] +)?(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}\s+(.*?)[\s#]*$")
_ITEM = re.compile(r"\s*(?:[-*+•]|\(?\d{1,2}[.)]|[A-Za-z]\))\s+(?:\[[ xX]\]\s+)?")
_TAG = re.compile(r"\s*<(/?)([A-Za-z][\w-]*)[^<>]*>")
_CLOSED = re.compile(r"</[A-Za-z][\w-]*>")
# A log, a diff, a trace, a prompt with what was typed at it, and what agents draw.
_PRINTED = re.compile(
    r"\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:|\[?\d\d:\d\d:\d\d|at \S+ ?\(|File \"|(?:\$|❯|➜|>>>|%) "
    r"|diff --git |@@ |\+\+\+ |--- |(?:[+-] ?){2,}|[│┃├└┌╭╰─━═║╔╚⎿⏺✻█]|\w+@[\w-]+[: ]|"
    r"(?:error|warning|info|debug|fatal|remote|hint|traceback)\b[^a-z]{0,3}[:\[(]|\S+:\d+:\d+:|"
    r"(?:exit code|npm ERR!))",
    re.IGNORECASE,
)
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,500}\)")
_CODE = re.compile(r"(`{1,2})([^`\n]{1,300})\1(?!`)")
_MARKS = re.compile(r"\*+|~~|`+|(?<!\w)__|__(?!\w)")
_URL = re.compile(r"\b(?:https?|ssh|git|file)://[^\s<>]+")
_QUOTED = re.compile(r"(?<![\w\"])[\"“]([^\"“”\n]{1,300})[\"”](?!\w)")
_END = re.compile(r"[.!?…][\"'”’)\]*_]*+(?=\s)")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|no|fig|mr|dr|st)|\b[A-Z])\.$", re.I
)
_LABEL = re.compile(
    r"[*_`\s]{0,4}([A-Za-z][^:*`.?!\n]{1,48}?)[*_`]{0,3}\s*(?::[*_]{0,3}|[–—]|\s-)\s+(?=\S)"
)
_BOLD_LINE = re.compile(r"\s*(?:\*\*|__)([^*_\n]{2,80})(?:\*\*|__)\s*:?\s*$")
_SYMBOLS = re.compile(r"^[^\w\"'“‘(\[/.~@#$<{-]+")
_HEAD, _BOLD, _ITEM_KIND, _TEXT = "heading", "bold", "item", "text"
_LEAD_IN = 100  # characters of a line that leads a list in, at most


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a turn.

    ``text`` is one line without Markdown's marks, ``raw`` with them. ``plain`` is
    the text in lower case, with code, addresses and quotations as one word each (`c0de`, `l1nk`,
    `qu0te`): what is quoted is not said. ``heading`` is what it stands under, a
    line that leads a list in included, and ``label`` what leads its block in
    (`Root cause: …`), both in lower case. ``block`` numbers its paragraph or list
    item in the turn, ``nth`` the sentence under its heading, from 0.
    """

    raw: str
    plain: str
    heading: str
    label: str
    block: int
    nth: int
    item: bool
    first: bool

    @property
    def text(self) -> str:
        """The sentence as it was said, in one line."""
        return _SYMBOLS.sub("", _without_marks(self.raw))


def sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a turn, in order."""
    scope = _Scope()
    nth = 0
    for number, (kind, block) in enumerate(_blocks(text)):
        nth = 0 if scope.enter(kind, block) else nth
        if kind in {_HEAD, _BOLD}:
            continue
        label = _label(block)
        for index, raw in enumerate(_split(block)):
            if _SHORTEST < len(raw) <= LONGEST:
                item = kind == _ITEM_KIND
                yield Sentence(
                    raw, _masked(raw), scope.heading, label, number, nth, item, index == 0
                )
                nth += 1


class _Scope:
    """What the blocks of a turn stand under.

    A heading holds until the next one. A line in bold, or one that ends with a
    colon, leads in the list or the paragraph after it.
    """

    def __init__(self) -> None:
        self.heading = ""
        self._above = ""
        self._listed = False

    def enter(self, kind: str, block: str) -> bool:
        """Go on to a block; say whether it stands under another heading than the last."""
        before = self.heading
        if kind == _HEAD:
            self.heading = self._above = _named(block)
            self._listed = False
        elif kind == _BOLD or (
            kind == _TEXT and block.endswith((":", ":**")) and len(block) < _LEAD_IN
        ):
            self.heading = _named(block)
            self._listed = False
        elif kind == _TEXT and self._listed:
            self.heading = self._above
        self._listed = kind == _ITEM_KIND
        return self.heading != before


def _named(block: str) -> str:
    """Return a heading's name; of a line that leads in, the last sentence."""
    return _without_marks(list(_split(block))[-1]).casefold().rstrip(": ")


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yield the kind and the line of all that is prose, block by block."""
    open_block: list[str] = []
    kind = _TEXT
    for line in _prose_lines(text):
        bare = line.strip()
        heading = _HEADING.match(line) if bare.startswith("#") else None
        bold = _BOLD_LINE.match(line) if bare.startswith(("**", "__")) else None
        item = None if heading or bold else _ITEM.match(line)
        ends = not bare or heading or bold or item
        if open_block and (ends or not _goes_on(open_block[-1], bare)):
            yield kind, " ".join(open_block)
            open_block = []
        if heading or bold:
            yield (_HEAD, heading.group(1)) if heading else (_BOLD, bold.group(1) if bold else "")
        elif bare:
            if not open_block:
                kind = _ITEM_KIND if item else _TEXT
            open_block.append(line[item.end() :].strip() if item else bare)
    if open_block:
        yield kind, " ".join(open_block)


def _goes_on(line: str, following: str) -> bool:
    """Tell whether a line was wrapped and not ended."""
    if line.endswith((".", "!", "?", ":", ";")):
        return False
    return following[0].islower() or (len(line) >= _WRAPPED and following[0].isalnum())


def _prose_lines(text: str) -> Iterator[str]:
    """Yield the lines that somebody said; an empty one in place of what is left out."""
    fence = closing = ""
    quoted = False
    lines = text.splitlines()
    last_closed = _last_closed(lines) if "</" in text else {}
    for number, line in enumerate(lines):
        if fence:
            bare = line.strip()
            if bare.startswith(fence) and not bare.strip(fence[0]):
                fence = ""
            continue
        if closing:
            if closing in line:
                closing = ""
            continue
        opened = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if opened:
            fence = opened.group(1)
            yield ""
            continue
        bare = line.strip()
        tag = _TAG.match(line) if bare.startswith("<") else None
        if tag:
            name = f"</{tag.group(2)}>"
            if not tag.group(1) and last_closed.get(name, -1) > number:
                closing = name
            yield ""
            continue
        quoted = bare.startswith(">") or (quoted and bool(bare))
        yield "" if quoted or not _is_prose(line, bare) else line


def _last_closed(lines: list[str]) -> dict[str, int]:
    """Return the last line on which each element is closed."""
    return {name: n for n, line in enumerate(lines) for name in _CLOSED.findall(line)}


def _is_prose(line: str, bare: str) -> bool:
    if not bare or len(bare) > _LONGEST_LINE:
        return False
    if bare.startswith("|") or bare.count(" | ") > 1 or _PRINTED.match(line):
        return False
    if line.startswith(("        ", "\t\t")) and not _ITEM.match(line):
        return False
    start = bare[:_GLANCE]
    letters = sum(map(str.isalpha, start))
    return letters * 2 > len(start) - start.count(" ") - start.count("`")


def _split(block: str) -> Iterator[str]:
    start = 0
    for match in _END.finditer(block):
        if match.group().startswith(".") and _ABBREVIATION.search(
            block, max(start, match.start() - 8), match.start() + 1
        ):
            continue
        yield block[start : match.end()].strip()
        start = match.end()
    if block[start:].strip():
        yield block[start:].strip()


def _label(block: str) -> str:
    match = _LABEL.match(block)
    return " ".join(match.group(1).split()).casefold() if match else ""


def _without_marks(raw: str) -> str:
    text = _LINK.sub(r"\1", raw) if "](" in raw else raw
    return " ".join(_MARKS.sub("", text).split())


def _masked(raw: str) -> str:
    text = _LINK.sub(r"\1", raw) if "](" in raw else raw
    if "`" in text:
        text = _CODE.sub("c0de", text)
    if "://" in text:
        text = _URL.sub("l1nk", text)
    if "*" in text or "_" in text or "`" in text or "~" in text:
        text = _MARKS.sub("", text)
    if '"' in text or "“" in text:
        text = _QUOTED.sub("qu0te", text)
    text = " ".join(text.replace("’", "'").split()).lower()
    return text if text[:1].isalnum() else _SYMBOLS.sub("", text)
