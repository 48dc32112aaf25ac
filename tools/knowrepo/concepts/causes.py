"""Why a front matter cannot be read, said so that its writer can mend it.

Owns the guesses. They look at the text around the place where YAML gave up,
and at what stands in place of a block; they decide nothing: whether there is a
fault, `document` knows.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# A value that holds `: `, or ends with a colon, and is in no quotes.
PLAIN_WITH_COLON = re.compile(
    r"^(\s*(?:- )*[A-Za-z_][\w-]*:[ \t]+)([^\s\"'\[{|>&*!%@`#].*:(?:[ \t].*)?)$"
)
DELIMITER = re.compile(r"^---[ \t]*$", re.MULTILINE)
CONFLICT = re.compile(r"^(?:<{7}|>{7}|\|{7})(?: |$)|^={7}$", re.MULTILINE)
_KEY = re.compile(r"^[A-Za-z_][\w-]*:(?:[ \t]|$)")
_ALMOST = re.compile(r"^(?:\s+-{3,}\s*|-{2}|-{4,}|[—–]-?|-—|\.\.\.)$")
_GOES_ON = re.compile(
    r"^(\s*(?:- )*[^\s:#][^:#]*:[ \t]+)"
    r"((\[[^\[\]]*\]|\{[^{}]*\}|\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*')[ \t]*[^\s#,\]}].*)$"
)
_NO_SPACE = re.compile(r"^\s*([A-Za-z_][\w-]*:)[^\s:/]")
_NO_COLON = re.compile(r"^[A-Za-z_][^:#]*$")
_STARTS_WRONG = re.compile(r"^(\s*(?:- )*[A-Za-z_][\w-]*:[ \t]+)([@`%*&!|>].*)$")


class Cause(NamedTuple):
    """A place, 1-based in the text looked at, and what is wrong there."""

    line: int
    column: int
    message: str


def quoted(value: str) -> str:
    """Return a value as one double-quoted YAML scalar."""
    return '"' + value.strip().replace("\\", "\\\\").replace('"', '\\"') + '"'


def no_block(text: str) -> Cause:
    """Say why a text has no front matter."""
    if not text.strip():
        return Cause(1, 1, "the file is empty; begin it with `---`, `type: …`, `---`")
    lines = text.split("\n", 60)[:60]
    first = next(
        number for number, line in enumerate(lines, start=1) if line.strip() or number > 50
    )
    begins = lines[first - 1].strip()
    if begins in {"+++", ";;;"} or begins.startswith("{"):
        return Cause(first, 1, "front matter that is not YAML; write `---`, `type: …`, `---`")
    if lines[first - 1] != begins and begins == "---":
        return Cause(first, 1, "the `---` is indented; it must stand at the start of its line")
    for number, line in enumerate(lines[1:], start=2):
        follows = lines[number] if number < len(lines) else ""
        if DELIMITER.match(line) and _KEY.match(follows):
            what = "blank lines" if not "".join(lines[: number - 1]).strip() else "text"
            return Cause(1, 1, f"{what} before the front matter in line {number}; remove it")
    if CONFLICT.match(begins):
        return Cause(first, 1, "a merge conflict marker before the front matter; resolve it")
    return Cause(1, 1, "no front matter; begin the file with `---`, `type: …`, `---`")


def no_end(text: str) -> Cause:
    """Say why the block at the start of a text has no end."""
    for number, line in enumerate(text.split("\n", 200)[1:200], start=2):
        if _ALMOST.match(line):
            return Cause(
                number, 1, f"the front matter is not closed: `{line.strip()}` must be `---` alone"
            )
    return Cause(1, 1, "the front matter is not closed; put `---` on a line after the last key")


def not_yaml(block: str, line: int, column: int, said: str) -> Cause:
    """Say why a block is not YAML; ``line`` and ``column``, 0-based, are where YAML gave up."""
    lines = block.split("\n")
    conflict = CONFLICT.search(block)
    if conflict:
        at = block.count("\n", 0, conflict.start()) + 1
        return Cause(at, 1, "not YAML: a merge conflict marker; resolve the conflict")
    for number in (line, line - 1, line + 1):
        match = PLAIN_WITH_COLON.match(lines[number]) if 0 <= number < len(lines) else None
        if match:
            at = lines[number].find(": ", match.end(1)) + 1 or len(lines[number])
            name = match.group(1).strip().removeprefix("- ")
            return Cause(
                number + 1,
                at,
                f"not YAML: a `: ` inside an unquoted value; write {name} {quoted(match.group(2))}",
            )
    here = lines[line] if line < len(lines) else ""
    if "\t" in here[: len(here) - len(here.lstrip())] or "'\\t'" in said:
        at = here.find("\t") + 1 or column + 1
        return Cause(line + 1, at, "not YAML: indented with a tab; use spaces")
    wrong = _STARTS_WRONG.match(here)
    if wrong and ("cannot start" in said or "alias" in said or "tag" in said or "expected" in said):
        name = wrong.group(1).strip().removeprefix("- ")
        return Cause(
            line + 1,
            wrong.end(1) + 1,
            f"not YAML: a value that begins with `{wrong.group(2)[0]}`;"
            f" write {name} {quoted(wrong.group(2))}",
        )
    return (
        _goes_on(lines, line) or _no_key(lines, line, said) or _unclosed(lines, line, column, said)
    )


def _goes_on(lines: list[str], line: int) -> Cause | None:
    """Tell a value that goes on after its closing quote or bracket: `[WIP] a title`."""
    for number in (line, line - 1):
        match = _GOES_ON.match(lines[number]) if 0 <= number < len(lines) else None
        if match:
            name, ends = match.group(1).strip().removeprefix("- "), match.group(3)[-1]
            return Cause(
                number + 1,
                match.end(3) + 1,
                f"not YAML: a value that goes on after `{ends}`;"
                f" write {name} {quoted(match.group(2))}",
            )
    return None


def _no_key(lines: list[str], line: int, said: str) -> Cause | None:
    """Tell a line that YAML looked for a key in and found none, or found one too deep."""
    here = lines[line] if line < len(lines) else ""
    if "mapping values" in said and here[:1] == " ":
        name = here.strip().partition(":")[0][:30]
        what = f"`{name}:` is indented below a value"
        return Cause(line + 1, 1, f"not YAML: {what}; move it to the start of its line")
    if "':'" not in said:
        return None
    for number in (line, line - 1):
        text = lines[number] if 0 <= number < len(lines) else ""
        close = _NO_SPACE.match(text)
        if close:
            what = f"no space after `{close.group(1)}`"
            return Cause(number + 1, close.end(1) + 1, f"not YAML: {what}; put one there")
        if _NO_COLON.match(text):
            what = f"`{text.strip()[:30]}` has no `: `"
            return Cause(number + 1, 1, f"not YAML: {what}; write `key: value`")
    return None


def _unclosed(lines: list[str], line: int, column: int, said: str) -> Cause:
    """Tell an open quote or bracket from the rest; YAML notices it at the end of the block."""
    if "end of stream" in said or "document separator" in said:
        for number, text in enumerate(lines):
            for quote in "\"'":
                value = text.partition(": ")[2].strip() or text.strip().removeprefix("- ")
                if value.startswith(quote) and value.count(quote) % 2:
                    at = text.index(value) + 1
                    return Cause(number + 1, at, f"not YAML: a quote `{quote}` that is not closed")
    if "',' or" in said or "node content" in said:
        for number in range(min(line, len(lines) - 1), -1, -1):
            text = lines[number]
            for opening, closing in ("[]", "{}"):
                if text.count(opening) > text.count(closing):
                    at = text.index(opening) + 1
                    return Cause(
                        number + 1, at, f"not YAML: `{opening}` without `{closing}`; close it"
                    )
    return Cause(line + 1, column + 1, f"not YAML: {said}")
