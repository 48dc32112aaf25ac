"""One OKF file: its front matter and its body, read strictly and reported exactly.

Owns python-frontmatter and YAML. The library alone takes missing, unclosed and
listed front matter for an empty one and turns dates into objects; the handler
here keeps its interface and refuses all that. Scalars stay strings, as written.
What the keys mean is `model`'s business.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import yaml
from frontmatter.default_handlers import YAMLHandler

_DELIMITER = re.compile(r"^---[ \t]*$", re.MULTILINE)
_PLAIN_WITH_COLON = re.compile(
    r"^(\s*(?:- )?[A-Za-z_][\w-]*:[ \t]+)([^\s\"'\[{|>&*!%@`].*:[ \t].*)$"
)


@dataclass(frozen=True)
class Problem:
    """What is wrong with a front matter; ``line`` and ``column`` are 1-based, of the file."""

    code: str
    line: int
    column: int
    message: str


@dataclass(frozen=True)
class Document:
    """A file taken apart.

    ``front`` is empty where ``problems`` says why, except that values with an
    unquoted colon are recovered as far as possible. ``lines`` gives the line of
    each top-level key; ``body_line`` is the line on which the body starts.
    """

    front: dict[str, Any]
    body: str
    body_line: int
    has_front: bool
    lines: dict[str, int] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def parse(data: bytes) -> Document:
    """Take an OKF file apart; never raises."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        problem = Problem("OKF106", line, column, "not UTF-8; save the file as UTF-8")
        return Document({}, data.decode("utf-8", "replace"), 1, False, problems=(problem,))
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    handler = StrictHandler()
    if not handler.detect(text):
        problem = Problem("OKF101", 1, 1, "no front matter; begin the file with a `---` block")
        return Document({}, text, 1, False, problems=(problem,))
    try:
        block, body = handler.split(text)
    except ValueError:
        problem = Problem("OKF102", 1, 1, "the front matter is not closed; end it with `---`")
        return Document({}, text, 1, True, problems=(problem,))
    body_line = block.count("\n") + 3
    return _with_front(handler, block, body, body_line)


def _with_front(handler: StrictHandler, block: str, body: str, body_line: int) -> Document:
    try:
        front, problems = handler.load(block), list(handler.problems)
    except yaml.YAMLError as error:
        problem = _explain(error, block)
        recovered = _recover(block)
        if recovered is None:
            return Document({}, body, body_line, True, problems=(problem,))
        front, problems = recovered, [problem]
    if not isinstance(front, dict):
        what = "empty" if front is None else f"a {type(front).__name__}"
        problem = Problem("OKF104", 2, 1, f"the front matter is {what}, not `key: value` lines")
        return Document({}, body, body_line, True, problems=(problem,))
    lines = dict(handler.key_lines)
    return Document(front, body, body_line, True, lines, tuple(problems))


class StrictHandler(YAMLHandler):
    """The YAML handler of python-frontmatter, exact about where the block ends.

    After `load`, ``key_lines`` and ``problems`` describe the block (lines are
    those of the file, whose first is the opening `---`).
    """

    def __init__(self) -> None:
        super().__init__(fm_boundary=_DELIMITER)
        self.key_lines: dict[str, int] = {}
        self.problems: list[Problem] = []

    def split(self, text: str) -> tuple[str, str]:
        """Return the block and the body; raises ValueError where the block has no end."""
        opening = _DELIMITER.match(text)
        closing = _DELIMITER.search(text, opening.end()) if opening else None
        if opening is None or closing is None:
            raise ValueError("no closing delimiter")
        return text[opening.end() + 1 : closing.start()], text[closing.end() + 1 :]

    def load(self, fm: str, **_: object) -> Any:
        """Parse the block; raises yaml.YAMLError."""
        loader = _Loader(fm)
        try:
            node = loader.get_single_node()
            if node is None:
                return None
            self.problems = list(_duplicates(node))
            if isinstance(node, yaml.MappingNode):
                for key, _value in node.value:
                    self.key_lines.setdefault(str(key.value), key.start_mark.line + 2)
            return loader.construct_document(node)
        except (RecursionError, ValueError, TypeError) as error:
            raise yaml.YAMLError(f"cannot be understood: {error}") from error
        finally:
            loader.dispose()


_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc]  # PyYAML's C loader is typed as Any
    """Safe YAML in which only null is a value of its own: `no`, 1.0 and dates are text."""

    yaml_implicit_resolvers: ClassVar = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag == "tag:yaml.org,2002:null"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def _duplicates(node: yaml.Node) -> Iterator[Problem]:
    if not isinstance(node, yaml.MappingNode):
        return
    seen: set[str] = set()
    for key, _ in node.value:
        name = str(key.value)
        if name in seen:
            mark = key.start_mark
            yield Problem(
                "OKF203", mark.line + 2, mark.column + 1, f"`{name}` stands twice; the last counts"
            )
        seen.add(name)


def _explain(error: yaml.YAMLError, block: str) -> Problem:
    mark = getattr(error, "problem_mark", None)
    line, column = (mark.line, mark.column) if mark is not None else (0, 0)
    lines = block.splitlines()
    for number, text in enumerate(lines):
        match = _PLAIN_WITH_COLON.match(text)
        if match and abs(number - line) <= 1:
            column = text.index(": ", match.end(1)) + 1
            return Problem(
                "OKF103",
                number + 2,
                column,
                f"not YAML: a `: ` inside an unquoted value; write {match.group(1).strip()} "
                f"{_quoted(match.group(2))}",
            )
    what = getattr(error, "problem", None) or str(error).splitlines()[0]
    return Problem("OKF103", line + 2, column + 1, f"not YAML: {what}")


def _recover(block: str) -> dict[str, Any] | None:
    """Read a block whose values hold unquoted colons, as its writer meant it."""
    mended = "\n".join(
        _PLAIN_WITH_COLON.sub(lambda m: m.group(1) + _quoted(m.group(2)), line)
        for line in block.split("\n")
    )
    try:
        value = StrictHandler().load(mended)
    except yaml.YAMLError:
        return None
    return value if isinstance(value, dict) else None


def _quoted(value: str) -> str:
    return '"' + value.strip().replace("\\", "\\\\").replace('"', '\\"') + '"'
