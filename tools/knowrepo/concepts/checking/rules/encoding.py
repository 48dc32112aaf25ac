"""Rules on the bytes of a file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowrepo.concepts.checking.findings import Finding
from knowrepo.concepts.document import Document
from knowrepo.concepts.markdown import Outline

_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f\x7f]")
_MARKERS = re.compile(r"^(?:(<{7} )|(={7}$)|(>{7} ))", re.MULTILINE)
_MOST_EXAMPLES = 50  # conflicts in code; who writes more of them means something else
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def check(path: str, data: bytes, document: Document, outline: Outline) -> Iterator[Finding]:
    """Yield what is wrong with a file's bytes, whatever its text says."""
    if data.startswith(b"\xef\xbb\xbf"):
        said = "a byte order mark; save the file as UTF-8 without one"
        yield Finding(path, 1, 1, "OKF211", said)
    ends = data.count(b"\r\n")
    if ends and ends != data.count(b"\n"):
        yield Finding(path, _first_other(data), 1, "OKF212", "CRLF and LF mixed; keep one of them")
    control = None if data.startswith(_UTF16) else _CONTROL.search(data)
    if control:
        line = data.count(b"\n", 0, control.start()) + 1
        column = control.start() - data.rfind(b"\n", 0, control.start())
        name = f"U+{control.group()[0]:04X}"
        yield Finding(path, line, column, "OKF213", f"a control character, {name}; remove it")
    yield from _conflict(path, document, outline)


def _first_other(data: bytes) -> int:
    """Return the first line that ends otherwise than the line before it."""
    lines = data.split(b"\n")[:-1]
    first = lines[0].endswith(b"\r")
    return next((n for n, line in enumerate(lines, 1) if line.endswith(b"\r") != first), 1)


def _conflict(path: str, document: Document, outline: Outline) -> Iterator[Finding]:
    """Yield a merge conflict in the body; one that stands in code may be an example."""
    body = document.body
    begin, wanted, examples = -1, 1, 0
    for marker in _MARKERS.finditer(body) if "<<<<<<< " in body else ():
        if marker.lastindex == 1:
            begin, wanted = marker.start(), 2
        elif marker.lastindex == wanted == 2:
            wanted = 3
        elif marker.lastindex == wanted == 3:
            line = body.count("\n", 0, begin)
            wanted = 1
            if not any(first <= line < end for first, end in outline.code):
                said = "a merge conflict marker; keep what is right and remove the markers"
                yield Finding(path, document.body_line + line, 1, "OKF214", said)
                return
            examples += 1
            if examples == _MOST_EXAMPLES:
                return
