"""What of a text is shown, and how much of it: without what a reader does not need.

Owns the one-line summary, and what is taken out of a text before it is shown:
the comments of an unfilled form, marks of Markdown, rulers, the far ends of
paths and hashes, and what stands above it already. It never adds a word, and the
text itself, as a program gets it, is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowrepo.units import shorten

SUMMARY = 80
"""Characters of a summary at most."""
_ENOUGH = 4_000  # characters of a text of which a summary is made
_SPEAKER = re.compile(r"\A(?:User|Assistant|Output): ")
_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_CODE = re.compile(r"(`+)[^`\n]+\1")
# What opens a line and says nothing in one line: marks of Markdown, numbers of a listing, times.
_OPENING = re.compile(
    r"\A(?:#{1,6}[ \t]+|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?|>[ \t]?|\d+(?:\u2192|\t)"
    r"|\[?\d{4}-\d\d-\d\dT[\d:.,+]+Z?\]?[ \t]+)+"
)
_RULER = re.compile(r"([^\w\s])\1{3,}")
_LINE_OF_SIGNS = re.compile(r"[\W_]*")
_OF_A_DIFF = re.compile(r"index [0-9a-f]{4,}\.\.|(?:---|\+\+\+) (?:[ab]/|/dev/null)")
_DIFF = re.compile(r"diff --git a/(\S+) b/\1(?!\S)")
_OPENS = "([{\"'`<$/.-"
_STRONG = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")
_LINK = re.compile(r"!?\[([^\[\]]+)\]\((?:https?://|[./#\w])[^()\s]*\)")
_SCHEME = re.compile(r"\bhttps?://(?:www\.)?")
_FAR_PATH = re.compile(r"(?<![\w./:~-])(?:~|[A-Za-z]:)?/?(?:[\w.@+-]+/){2,}(?=[\w.@+-]+/[\w.@+-])")
_HASH = re.compile(r"\b(?=[0-9a-f-]*\d)([0-9a-f]{8})[0-9a-f]*(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
                   r"|\b(?=[a-f]*\d)([0-9a-f]{8})[0-9a-f]{8,}\b")  # fmt: skip

_LONG_NUMBER = re.compile(r"[0-9a-f]{8}")  # what each hash begins with


def summary(text: str, *, title: str = "", concept: bool = False, limit: int = SUMMARY) -> str:
    """Return the first of ``text`` in one line of at most ``limit`` characters.

    What ``title`` says already is left out; empty where nothing else is said.
    """
    text = text[:_ENOUGH]
    lines = settled(without_comments(text) if concept else text)
    line = _brief(_SPEAKER.sub("", " ".join(lines), count=1))
    while (rest := _after(line, title)) != line:
        line = _SPEAKER.sub("", rest, count=1) if _SPEAKER.match(rest) else rest
    return shorten(line, limit)


def settled(text: str) -> list[str]:
    """Return the lines of ``text`` that say something, without the marks that open them."""
    lines = []
    for line in map(str.strip, text.splitlines()):
        speaker = found[0] if (found := _SPEAKER.match(line)) else ""
        said = _RULER.sub(" ", _OPENING.sub("", line[len(speaker) :]))
        if any(sign(said) for sign in (_FENCE.match, _LINE_OF_SIGNS.fullmatch, _OF_A_DIFF.match)):
            said = ""
        if said or speaker:
            said = _STRONG.sub(r"\1", _DIFF.sub(r"diff \1", said))
            lines.append(" ".join(f"{speaker}{said}".split()))
    return lines


def without_comments(text: str) -> str:
    """Return Markdown without its HTML comments, but for those that are shown as code."""
    if "<!--" not in text:
        return text
    kept = [(start, end) for start, end in _code(text)]
    parts: list[str] = []
    done = 0
    for found in _COMMENT.finditer(text):
        if any(start <= found.start() < end for start, end in kept):
            continue
        if found.start() >= done:
            parts.append(text[done : found.start()])
            done = found.end()
    parts.append(text[done:])
    left = parts[0]
    for part in parts[1:]:  # of the blank lines around a comment one stays
        if left.endswith("\n") or not left:
            left, part = left.rstrip("\n") + "\n\n" if left else "", part.lstrip("\n")
        left += part
    return left.strip("\n")


def said_once(text: str, title: str) -> str:
    """Return the text of a concept without comments, and without what was just said.

    That is a paragraph that says what the title says, or the one before it.
    """
    said = key_of(title)
    kept: list[str] = []
    inside = ""  # the fence that is open
    for block in re.split(r"\n{2,}", without_comments(text)):
        key = "" if inside or _FENCE.search(block) else key_of(block)
        for fence in (m[1] for line in block.split("\n") if (m := _FENCE.match(line))):
            inside = "" if inside and fence.startswith(inside) else inside or fence
        if not key or key != said:
            kept.append(block)
        said = key
    return "\n\n".join(kept)


def _code(text: str) -> Iterator[tuple[int, int]]:
    """Yield where code stands: fenced blocks, and spans within a line."""
    opened, fence, at = 0, "", 0
    for line in text.splitlines(keepends=True):
        found = _FENCE.match(line)
        if not fence and found:
            opened, fence = at, found[1]
        elif fence and found and found[1].startswith(fence):
            yield opened, at + len(line)
            fence = ""
        elif not fence:
            yield from ((at + m.start(), at + m.end()) for m in _CODE.finditer(line))
        at += len(line)
    if fence:
        yield opened, len(text)


def _brief(line: str) -> str:
    """Return a line without what costs a reader more than it tells."""
    # Most lines have none of it, and to look for a character costs next to nothing.
    if "](" in line:
        line = _LINK.sub(r"\1", line)
    if _LONG_NUMBER.search(line):
        line = _HASH.sub(lambda found: f"{found[1] or found[2]}…", line)
    if line.count("/") > 2:
        line = _FAR_PATH.sub("…/", line)
    return _SCHEME.sub("", line) if "://" in line else line


def _after(line: str, title: str) -> str:
    """Return what of ``line`` follows the words of ``title``, or the line where it says others."""
    cut = title.endswith("…")
    wanted = key_of(title)
    if not wanted:
        return line
    at = told = 0
    for at, character in enumerate(line):  # noqa: B007 - where it stopped is what counts
        key = key_of(character)
        if told >= len(wanted) and key:
            break
        if wanted[told : told + len(key)] != key:
            return line
        told += len(key)
    else:
        return ""  # no more than the title says
    if not cut and key_of(line[at - 1]):
        return line  # in the middle of a word
    return line[at - (line[at - 1] in _OPENS) :]


def key_of(text: str) -> str:
    """Return what of a text tells it from another: its letters and digits, in lower case."""
    return "".join(filter(str.isalnum, text.casefold()))
