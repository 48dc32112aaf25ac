"""One OKF file: its front matter and its body, read strictly and reported exactly.

Owns python-frontmatter and YAML. The library alone takes missing, unclosed and
listed front matter for an empty one and turns dates into objects; the handler
here keeps its interface and refuses all that. Scalars stay strings, as written.
What the keys mean is `model`'s business, why a block cannot be read `causes`'.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import yaml
from frontmatter.default_handlers import YAMLHandler

from knowrepo.concepts.causes import DELIMITER, PLAIN_WITH_COLON, no_block, no_end, not_yaml, quoted

KeyPath = tuple[str | int, ...]
"""Where a value stands: `("sources", 0, "resource")`."""

_RAW_DELIMITER = re.compile(rb"^---[ \t]*\r?$", re.MULTILINE)
_DEEPEST = 4  # a value further down has no place of its own


@dataclass(frozen=True)
class Problem:
    """What is wrong with a front matter; ``line`` and ``column`` are 1-based, of the file."""

    code: str
    line: int
    column: int
    message: str


class Place(NamedTuple):
    """Where a value stands, 1-based in the file; ``plain`` is a scalar without quotes."""

    line: int
    column: int
    plain: bool


@dataclass(frozen=True)
class Document:
    """A file taken apart.

    ``front`` is empty where ``problems`` says why, except that values with an
    unquoted colon are recovered as far as possible. ``lines`` gives the line of
    each top-level key, ``places`` the place of each value; ``body_line`` is the
    line on which the body starts.
    """

    front: dict[str, Any]
    body: str
    body_line: int
    has_front: bool
    lines: dict[str, int] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    places: dict[KeyPath, Place] = field(default_factory=dict)


def parse(data: bytes, needed: Callable[[str], object] | None = None) -> Document:
    """Take an OKF file apart; never raises.

    ``needed`` says of the text of a front matter whether it has to be read at all;
    one that has not is empty.
    """
    problems: tuple[Problem, ...] = ()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = _undecodable(data, error.start)
        text = data.decode("utf-8", "replace")
        if problem.code == "OKF106":
            return Document({}, text, 1, False, problems=(problem,))
        problems = (problem,)
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    handler = StrictHandler()
    if not handler.detect(text):
        return Document(
            {}, text, 1, False, problems=(*problems, Problem("OKF101", *no_block(text)))
        )
    try:
        block, body = handler.split(text)
    except ValueError:
        return Document({}, text, 1, True, problems=(*problems, Problem("OKF102", *no_end(text))))
    if needed is not None and not needed(block):
        return Document({}, body, block.count("\n") + 3, True, problems=problems)
    return _with_front(handler, block, body, problems)


def ends_within(data: bytes, size: int) -> bool:
    """Say whether a front matter, if a file has one, ends within so many bytes."""
    opening = _RAW_DELIMITER.match(data.removeprefix(b"\xef\xbb\xbf")[:100])
    return opening is None or _RAW_DELIMITER.search(data, opening.end() + 3, size) is not None


def _undecodable(data: bytes, at: int) -> Problem:
    """Say that a file is not UTF-8, what it seems to be, and whether that spoils the block."""
    line = data.count(b"\n", 0, at) + 1
    column = at - (data.rfind(b"\n", 0, at) + 1) + 1
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or data[:200].count(0) > len(data[:200]) // 4:
        return Problem("OKF106", 1, 1, "this seems to be UTF-16; save the file as UTF-8")
    said = "not UTF-8, perhaps Latin-1; save the file as UTF-8"
    opening = _RAW_DELIMITER.match(data.removeprefix(b"\xef\xbb\xbf"))
    closing = _RAW_DELIMITER.search(data, opening.end()) if opening else None
    in_body = closing is not None and at >= closing.end()
    return Problem("OKF215" if in_body else "OKF106", line, column, said)


def _with_front(
    handler: StrictHandler, block: str, body: str, problems: tuple[Problem, ...]
) -> Document:
    body_line = block.count("\n") + 3
    try:
        front, found = handler.load(block), list(handler.problems)
    except yaml.YAMLError as error:
        problem = _explain(error, block)
        recovered = _recover(block)
        if recovered is None:
            return Document({}, body, body_line, True, problems=(*problems, problem))
        handler = recovered
        front, found = recovered.front, [problem, *recovered.problems]
    if not isinstance(front, dict):
        what = {type(None): "empty", list: "a list", str: "text"}.get(type(front), "a value")
        problem = Problem("OKF104", 2, 1, f"the front matter is {what}; write `key: value` lines")
        return Document({}, body, body_line, True, problems=(*problems, problem))
    return Document(
        front, body, body_line, True, handler.key_lines, (*problems, *found), handler.places
    )


class StrictHandler(YAMLHandler):
    """The YAML handler of python-frontmatter, exact about where the block ends.

    After `load`, ``key_lines``, ``places`` and ``problems`` describe the block
    (lines are those of the file, whose first is the opening `---`).
    """

    def __init__(self) -> None:
        super().__init__(fm_boundary=DELIMITER)
        self.key_lines: dict[str, int] = {}
        self.places: dict[KeyPath, Place] = {}
        self.problems: list[Problem] = []
        self.front: Any = None

    def split(self, text: str) -> tuple[str, str]:
        """Return the block and the body; raises ValueError where the block has no end."""
        opening = DELIMITER.match(text)
        closing = DELIMITER.search(text, opening.end()) if opening else None
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
            self.problems = list(_oddities(node))
            self.places = dict(_places(node, (), set()))
            if isinstance(node, yaml.MappingNode):
                for key, _value in node.value:
                    if isinstance(key, yaml.ScalarNode):  # another would be printed, with aliases
                        self.key_lines.setdefault(str(key.value), key.start_mark.line + 2)
            self.front = loader.construct_document(node)
        except (RecursionError, ValueError, TypeError) as error:
            raise yaml.YAMLError(f"cannot be understood: {error}") from error
        finally:
            loader.dispose()
        return self.front


_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _as_written(loader: Any, node: yaml.Node) -> Iterator[Any]:
    """Make a value of a node, whatever its tag and its keys: both are YAML, known or not."""
    if isinstance(node, yaml.ScalarNode):
        yield node.value
    elif isinstance(node, yaml.SequenceNode):
        items: list[Any] = []
        yield items
        items += [loader.construct_object(item) for item in node.value]
    else:
        pairs: dict[Any, Any] = {}
        yield pairs
        others = 0
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                name = loader.construct_object(key)
            else:
                others += 1
                name = f"(key {others} that is no text)"
            pairs[name] = loader.construct_object(value)


class _Loader(_Base):  # type: ignore[misc]  # PyYAML's C loader is typed as Any
    """Safe YAML in which only null is a value of its own: `no`, 1.0 and dates are text."""

    yaml_implicit_resolvers: ClassVar = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag == "tag:yaml.org,2002:null"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    yaml_constructors: ClassVar = {
        "tag:yaml.org,2002:null": yaml.SafeLoader.construct_yaml_null,
        "tag:yaml.org,2002:str": yaml.SafeLoader.construct_yaml_str,
        "tag:yaml.org,2002:seq": yaml.SafeLoader.construct_yaml_seq,
        None: _as_written,
    }


def plain_type(text: str) -> str:
    """Say what YAML readers take an unquoted text for, where it is not text."""
    for tag, pattern in yaml.SafeLoader.yaml_implicit_resolvers.get(text[:1], ()):
        if pattern.match(text) and tag in _NAMES:
            return _NAMES[tag]
    return ""


_NAMES = {
    "tag:yaml.org,2002:bool": "a truth value",
    "tag:yaml.org,2002:int": "a number",
    "tag:yaml.org,2002:float": "a number",
    "tag:yaml.org,2002:timestamp": "a date",
}


def _oddities(root: yaml.Node) -> Iterator[Problem]:
    """Yield what is YAML in the block, or just below it, and yet not the same to every reader."""
    seen: set[int] = set()  # an alias is the same node again
    level = [root]
    for _ in range(_DEEPEST):
        below: list[yaml.Node] = []
        for node in level:
            if id(node) not in seen:
                seen.add(id(node))
                yield from _twice(node)
                yield from _unusual(node)
                below += _children(node)
        level = below


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [value for _, value in node.value]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _twice(node: yaml.Node) -> Iterator[Problem]:
    seen: set[str] = set()
    for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
        name = str(key.value) if isinstance(key, yaml.ScalarNode) else ""
        if name in seen and name:
            mark = key.start_mark
            yield Problem(
                "OKF203", mark.line + 2, mark.column + 1, f"`{name}` stands twice; the last counts"
            )
        seen.add(name)


def _unusual(node: yaml.Node) -> Iterator[Problem]:
    mark = node.start_mark
    if not node.tag.startswith("tag:yaml.org,2002:") or "/" in node.tag:
        said = f"the tag `{node.tag[:40]}` is not known to every reader; remove it"
        yield Problem("OKF281", mark.line + 2, mark.column + 1, said)
    for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
        if not isinstance(key, yaml.ScalarNode):
            said = "a key that is no text; write text, or quote the value if this is no key"
            yield Problem("OKF281", key.start_mark.line + 2, key.start_mark.column + 1, said)


def _places(node: yaml.Node, path: KeyPath, seen: set[int]) -> Iterator[tuple[KeyPath, Place]]:
    if path:
        mark = node.start_mark
        plain = isinstance(node, yaml.ScalarNode) and not node.style
        yield path, Place(mark.line + 2, mark.column + 1, plain)
    if len(path) >= _DEEPEST or id(node) in seen:  # an alias is the same node again
        return
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                yield from _places(value, (*path, str(key.value)), seen)
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            yield from _places(value, (*path, number), seen)


def _explain(error: yaml.YAMLError, block: str) -> Problem:
    mark = getattr(error, "problem_mark", None)
    line, column = (mark.line, mark.column) if mark is not None else (0, 0)
    said = str(getattr(error, "problem", None) or str(error).partition("\n")[0])
    cause = not_yaml(block, line, column, said)
    return Problem("OKF103", cause.line + 1, cause.column, cause.message)


def _recover(block: str) -> StrictHandler | None:
    """Read a block whose values hold unquoted colons, as its writer meant it."""
    mended = "\n".join(
        PLAIN_WITH_COLON.sub(lambda m: m.group(1) + quoted(m.group(2)), line)
        for line in block.split("\n")
    )
    handler = StrictHandler()
    try:
        value = handler.load(mended)
    except yaml.YAMLError:
        return None
    return handler if isinstance(value, dict) else None
