"""What a terminal, or a reader of lines, would obey rather than show.

Owns what is taken out of a text, and escaped in JSON, before it is printed or
written for people: any text may come from an archive. Imports nothing that a
recall would wait for. Escaping for one format (HTML, Markdown) is that format's
business.
"""

from __future__ import annotations

import json
import re

# Colours, cursor movements, window titles: ECMA-48 control sequences and strings.
_ESCAPES = (
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI … final byte
    r"|\x1b[\]PX^_][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)"  # OSC, DCS, SOS, PM, APC … terminator
    r"|\x1b[ -/]*[0-~]"  # two-character sequences
)
_CONTROLS = "[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]"
# Embeddings, overrides and isolates reorder what follows them, in code as in
# prose; the marks that right-to-left text needs (U+200E, U+200F) do not.
_REORDERING = "[\u202a-\u202e\u2066-\u2069]"
# JSON lets these stand as they are. U+2028 and U+2029 end a line for some
# readers, and half an emoji cannot be written at all.
_IN_JSON = "[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"


def plain(text: str) -> str:
    """Return ``text`` without what a terminal would obey; line ends and tabs stay."""
    if text.isprintable():  # nearly all lines, and quick
        return text
    text = re.sub(_ESCAPES, "", text.replace("\r\n", "\n"))
    text = re.sub(_CONTROLS, "\ufffd", text)
    return re.sub(_REORDERING, lambda match: f"[U+{ord(match[0]):04X}]", text)


def json_text(value: object, *, indent: int | None = None) -> str:
    """Return ``value`` as JSON of the same meaning that can be printed anywhere."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    if text.isprintable():
        return text
    return re.sub(_IN_JSON, lambda match: f"\\u{ord(match[0]):04x}", text)
