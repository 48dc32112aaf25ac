"""What of a body need not be parsed, because nothing that is looked for can stand in it.

Owns the shortcuts of `markdown`, which are proven against the full parser by
tests: each leaves the outline of a body as it is. They are narrow on purpose.
Whatever is not certain goes to the parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

# A rule for blocks cannot match where its sign stands nowhere.
_SIGNS = {
    name: re.compile(pattern, re.MULTILINE)
    for name, pattern in {
        "html_block": "<",
        "blockquote": ">",
        "reference": r"\]:",
        "fence": "```|~~~",
        "lheading": r"[=-][ \t]*$",
        "hr": r"([-_*])[ \t]*\1[ \t]*\1[ \t]*$",
        "list": r"^[ \t>]*(?:[-+*]|[0-9]{1,9}[.)])(?:[ \t]|$)",
    }.items()
}
# The start of a line that begins no block but a paragraph, or a table; the rest of
# one that holds no link, tag or note, and neither ends a block of HTML.
_START = r"(?:[^\W\d_]|\*\*(?=[^\W_])|`(?!`)|[(\"'])"
_REST = r"[^<>\[\]\r\n\0]*\n"
_AFTER_BLANK = r"\n(?<=\n\n)"  # begins with a letter that is quickly found
_BEFORE_BLANK = r"(?=\n|\Z)"
_TEXT = rf"(?:(?:{_START}|\|){_REST})+"
_TEXTS = re.compile(rf"{_AFTER_BLANK}{_TEXT}(?:\n+{_TEXT})*{_BEFORE_BLANK}")
_ITEMS = re.compile(
    rf"{_AFTER_BLANK}(?:([-*] ){_START}{_REST}(?:(?:[-*]| ) {_START}{_REST})*"
    rf"|([0-9]\. ){_START}{_REST}(?:(?:[0-9]\.|  ) {_START}{_REST})*){_BEFORE_BLANK}"
)
_INLINE = re.compile(
    r"\n|\[\^(?P<note>[^\s\[\]^&]+)\](?![:(])"
    r"|\[[^\[\]]*\]\((?P<target>[\w./#?=%:+@,;~$*-]+)\)"
)
_NOT_PLAIN = re.compile(r"[\\`<]|!\[")


def idle_rules(body: str) -> set[str]:
    """Return the rules for blocks that cannot match anywhere in a body."""
    return {name for name, sign in _SIGNS.items() if not sign.search(body)}


def shortened(body: str) -> str:
    """Return a body, line for line, in which text without anything to find is one letter.

    The letter stays where the text began: it ends a list as the text did, and an
    item of a list keeps what is indented below it.
    """
    if "\r" in body:
        return body
    text = _TEXTS.sub(lambda m: "\nx" + "\n" * (m.group().count("\n") - 1), f"\n\n{body}")
    return _ITEMS.sub(_one_item, text)[2:]


def _one_item(items: re.Match[str]) -> str:
    return f"\n{items[1] or items[2]}x" + "\n" * (items[0].count("\n") - 1)


class Piece(NamedTuple):
    """A footnote, a link, or the end of a line; ``lines`` end within it."""

    note: str | None
    target: str | None
    lines: int


def pieces(text: str) -> Iterator[Piece] | None:
    """Return the links and notes of a paragraph that cannot be read in two ways, else None.

    Every bracket is one of a whole link, or a whole note; nothing is escaped, and
    there is no code, no tag and no image.
    """
    if _NOT_PLAIN.search(text):
        return None
    rest = _INLINE.sub("", text)
    if "[" in rest or "]" in rest:
        return None
    return (Piece(m["note"], m["target"], m.group().count("\n")) for m in _INLINE.finditer(text))
