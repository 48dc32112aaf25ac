"""Writing a new concept: its front matter as strict YAML, its name from its title.

Owns how our tools write: quoted scalars, which every YAML reader takes for the
same text, keys in one order, LF, a final newline. A file that a person wrote is
never composed again; `edit` changes one key of it.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence

Value = str | Sequence["Value"] | Mapping[str, "Value"]
"""What a front matter holds: text, lists of texts or of mappings, mappings."""

_BARE = re.compile(r"[A-Za-z][A-Za-z0-9-]*(?: [A-Za-z][A-Za-z0-9-]*)*")
# Words that a YAML 1.1 reader takes for something else.
_NOT_TEXT = frozenset({"yes", "no", "on", "off", "y", "n", "true", "false", "null"})
_LONGEST_SLUG = 60
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d|index|log)")  # names that are taken


def compose(front: Mapping[str, Value], body: str, *, blank: Collection[str] = ()) -> bytes:
    """Return a concept's bytes. Keys stand in the order given.

    An empty value is left out, but for the keys of ``blank``: they are to be
    filled in.
    """
    lines = ["---"]
    for key, value in front.items():
        if value or key in blank:
            lines += entry(key, value, "")
    text = body.strip("\n")
    return "\n".join([*lines, "---", *(("", text) if text else ()), ""]).encode()


def scalar(text: str) -> str:
    """Return a text as YAML: bare where every reader takes it for text, else in quotes."""
    if _BARE.fullmatch(text) and text.lower() not in _NOT_TEXT:
        return text
    return quoted(text)


def quoted(text: str) -> str:
    """Return a text as a double-quoted YAML scalar on one line."""
    return '"' + "".join(_escaped(character) for character in text) + '"'


def flow(value: Value) -> str:
    """Return a value as YAML on one line."""
    if isinstance(value, str):
        return scalar(value)
    if isinstance(value, Mapping):
        inside = ", ".join(f"{scalar(key)}: {flow(part)}" for key, part in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    return f"[{', '.join(flow(item) for item in value)}]"


def slug(title: str) -> str:
    """Return the file name that a title gives, without `.md`.

    Letters and digits of any script are kept, in lower case and without the
    accents of Latin ones; every other run is a hyphen. It is a name on every
    platform, and never that of a reserved file.
    """
    compatible = unicodedata.normalize("NFKD", title)
    decomposed = unicodedata.normalize("NFKD", compatible.casefold())
    folded = unicodedata.normalize("NFC", re.sub(r"(?<=[a-z])[\u0300-\u036f]+", "", decomposed))
    words = re.findall(r"[^\W_]+", folded)
    name = ""
    for word in words:
        longer = f"{name}-{word}" if name else word
        if len(longer.encode()) > _LONGEST_SLUG * (1 if longer.isascii() else 3):
            break
        name = longer
    if not name:
        digest = hashlib.sha256(title.encode("utf-8", "replace")).hexdigest()[:8]
        return f"{words[0][:20]}-{digest}" if words else f"concept-{digest}"
    return f"{name}-concept" if _DEVICES.fullmatch(name) else name


def free_path(folder: str, title: str, taken: Callable[[str], bool]) -> str:
    """Return a path in ``folder`` for a new concept; a number follows where names are taken."""
    name = slug(title)
    path = f"{folder}/{name}.md"
    number = 2
    while taken(path):
        path = f"{folder}/{name}-{number}.md"
        number += 1
    return path


def entry(key: str, value: Value, indent: str) -> list[str]:
    """Return a key with its value as lines, each indented by ``indent``."""
    if isinstance(value, str):
        return [f"{indent}{key}: {scalar(value)}"]
    if isinstance(value, Mapping):
        lines = [f"{indent}{key}:"]
        for inner, part in value.items():
            lines += entry(inner, part, f"{indent}  ")
        return lines
    if all(isinstance(item, str) for item in value):
        texts = [scalar(item) for item in value if isinstance(item, str)]
        return [f"{indent}{key}: [{', '.join(texts)}]"]
    lines = [f"{indent}{key}:"]
    for item in value:
        assert isinstance(item, Mapping)  # a list holds texts or mappings
        inside = [line for inner, part in item.items() for line in entry(inner, part, "")]
        lines += [f"{indent}  {'- ' if n == 0 else '  '}{line}" for n, line in enumerate(inside)]
    return lines


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    number = ord(character)
    if 0xD800 <= number < 0xE000:  # half an emoji, which no file can hold
        return "\ufffd"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
