"""Edits of real bundles, where they are laid out beside the checkout; see test_shared_data."""

from __future__ import annotations

import re

import pytest

from helpers import SHARED
from knowrepo.concepts.document import Document, parse
from knowrepo.concepts.editing import edit
from knowrepo.concepts.editing.spans import other_kind

BUNDLES = SHARED / "okf" / "bundles"
CONCEPTS = sorted(path for path in BUNDLES.rglob("*.md") if path.name not in {"index.md", "log.md"})
pytestmark = pytest.mark.skipif(
    not CONCEPTS, reason="the shared data is not laid out beside the checkout"
)

# A value of the same kind: what becomes a text to a YAML reader is put in quotes for good.
LIKE = {
    "": "word",
    "tag:yaml.org,2002:timestamp": "2020-01-01",
    "tag:yaml.org,2002:int": "2",
    "tag:yaml.org,2002:float": "2.5",
    "tag:yaml.org,2002:bool": "true",
}
FORMS = {
    "as it is": lambda text: text,
    "CRLF": lambda text: text.replace("\r\n", "\n").replace("\n", "\r\n"),
    "a byte order mark": lambda text: "\ufeff" + text,
    "comments": lambda text: in_front(text, r"(?m)^(?=\w+:)", "# é: [x\n"),
    "comments at the ends": lambda text: in_front(text, r"(?m)(?<=[\w\]}])$(?!\n +\S)", " # é"),
    "anchors": lambda text: in_front(text, r"(?m)^(type: )(?=\w)", r"\1&kind "),
    "odd indentation": lambda text: in_front(text, r"(?m)^(?=.)", "   "),
}


def in_front(text: str, pattern: str, replacement: str) -> str:
    """Return a file with a pattern replaced in its front matter alone."""
    match = re.match(r"(?s)(---\n)(.*?\n)(?=---\n)", text)
    if match is None:
        return text
    return match[1] + re.sub(pattern, replacement, match[2]) + text[match.end() :]


@pytest.mark.parametrize("form", FORMS)
def test_any_key_of_a_real_concept_is_changed_and_every_other_byte_stays(form):
    changed = 0
    for number, path in enumerate(CONCEPTS):
        before = FORMS[form](path.read_bytes().decode()).encode()
        document = parse(before)
        if document.problems:
            continue
        entries = list(document.front.items())
        if form != "as it is":  # one key of each concept, not the same one
            entries = [entries[number % len(entries)]]
        for key, value in entries:
            new = "another word" if isinstance(value, str) else ["one", "two"]
            after = edit.set_value(before, [key], new)
            assert parse(after).front == {**document.front, key: new}, (path, key)
            first, last = lines_of(document, before, key)
            start, end = differing(before, after)
            assert first <= start <= end <= last, (path, key, before[start:end])
            changed += 1
    assert changed > (2500 if form == "as it is" else 400)


def test_a_text_on_one_line_is_changed_back_to_the_same_bytes():
    tried = 0
    for path in CONCEPTS:
        before = path.read_bytes()
        document = parse(before)
        for key, value in document.front.items() if not document.problems else ():
            first, last = lines_of(document, before, key)
            line = before[first:last].decode()
            if isinstance(value, str) and line.count("\n") == 1 and "\\" not in line:
                tried += 1
                after = edit.set_value(before, [key], LIKE[other_kind(value)])
                assert edit.set_value(after, [key], value) == before, (path, key)
    assert tried > 1700


def lines_of(document: Document, data: bytes, key: str) -> tuple[int, int]:
    """Return the bytes at which the lines of a key begin and end, by another way than edit's."""
    ends = [match.end() for match in re.finditer(rb"\n", data)]
    later = [line for line in document.lines.values() if line > document.lines[key]]
    after = min(later, default=document.body_line - 1)
    return ends[document.lines[key] - 2], ends[after - 2]


def differing(before: bytes, after: bytes) -> tuple[int, int]:
    """Return the bytes of ``before`` outside of which nothing differs."""
    start = next(
        (n for n, (one, two) in enumerate(zip(before, after, strict=False)) if one != two),
        min(len(before), len(after)),
    )
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return start, len(before) - end
