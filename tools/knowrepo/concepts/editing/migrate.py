"""Lifting a file from OKF v0.1 to v0.2, without inventing anything.

Owns what became of the keys and sections of v0.1 (S13), and of dates from
before v0.2 asked for an offset. Every change is an edit that keeps all other
bytes, and a second run changes nothing. What cannot be lifted without a guess
is said, and stays.
"""

from __future__ import annotations

import codecs
import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from knowrepo.concepts import tags
from knowrepo.concepts.document import parse
from knowrepo.concepts.editing import citations, edit
from knowrepo.concepts.editing.place import Keys, cut, name_of, value_at
from knowrepo.concepts.model import FOLDER, RESERVED
from knowrepo.errors import KnowError

ACTOR = "process:unknown"
"""Who wrote what v0.1 gives no author of: no person may be named who was not asked."""

VERSION = "0.2"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt ]+(\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?) ?(Z|z|[+-]\d{2}:?\d{2})?"
)


@dataclass(frozen=True)
class Lifted:
    """A file's bytes in v0.2, what was done, and what could not be, with the reason."""

    data: bytes
    done: tuple[str, ...]
    left: tuple[str, ...]


Step = Callable[[bytes], tuple[bytes, list[str], list[str]]]


def lift(path: str, data: bytes, root: str = FOLDER) -> Lifted:
    """Lift the file at ``path`` of the bundle in ``root``, both relative to the repository."""
    name = PurePosixPath(path).name
    steps: list[Step] = []
    if path == posixpath.join(root, "index.md") and not tags.is_generated(data):
        steps = [_version]
    elif name not in RESERVED and parse(data).front:
        steps = [_timestamp, _dates, _citations]
    done: list[str] = []
    left: list[str] = []
    for step in steps:
        try:
            data, more, rest = step(data)
        except KnowError as error:
            left.append(error.message)
        else:
            done += more
            left += rest
    return Lifted(data, tuple(done), tuple(dict.fromkeys(left)))


def _version(data: bytes) -> tuple[bytes, list[str], list[str]]:
    document = parse(data)
    if document.problems and document.has_front:
        raise KnowError(document.problems[0].message)
    if not document.has_front:
        mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
        eol = "\r\n" if b"\r\n" in data else "\n"
        front = eol.join(["---", f'okf_version: "{VERSION}"', "---", "", ""])
        return mark + front.encode() + data[len(mark) :], [f"okf_version {VERSION} added"], []
    old = document.front.get("okf_version")
    if old not in {None, "", "0.1", VERSION}:
        return data, [], [f"okf_version {old} is none that this command knows"]
    new = edit.set_value(data, ["okf_version"], VERSION)
    new = edit.quote(new, ["okf_version"])
    return new, [f"okf_version {VERSION}"] if new != data else [], []


def _timestamp(data: bytes) -> tuple[bytes, list[str], list[str]]:
    """Make `timestamp` what it is called now, `generated.at`."""
    front = parse(data).front
    if "timestamp" not in front:
        return data, [], []
    said = front["timestamp"]
    at, note = _instant(said)
    generated = front.get("generated")
    if not at:
        return data, [], [f"`timestamp: {str(said)[:40]}` is no time"]
    if generated is not None and not isinstance(generated, dict):
        return data, [], ["`generated` is no mapping, so `timestamp` has no place there"]
    if generated is None:
        data = edit.remove(data, ["generated"]) if "generated" in front else data
        data = edit.rename(data, ["timestamp"], "generated")
        data = edit.set_value(data, ["generated"], {"by": ACTOR, "at": at})
        return data, [f"timestamp -> generated.at{note}, by {ACTOR}"], []
    if not generated.get("at"):
        data = edit.set_value(data, ["generated", "at"], at)
        return edit.remove(data, ["timestamp"]), [f"timestamp -> generated.at{note}"], []
    if not _is_same(at, str(generated["at"])):
        return data, [], ["`timestamp` and `generated.at` differ; remove the one that is wrong"]
    return edit.remove(data, ["timestamp"]), ["timestamp removed, generated.at says the same"], []


def _dates(data: bytes) -> tuple[bytes, list[str], list[str]]:
    """Make days instants, where the beginning of the day is what they mean."""
    done, left = [], []
    for keys, said in list(_times(parse(data).front)):
        at, note = _instant(said)
        if keys[-1] == "to" and note:
            left.append(f"`{name_of(keys)}: {said}`: its midnight would cut that day off")
        elif note:
            data = edit.set_value(data, keys, at)
            done.append(f"{name_of(keys)}{note}")
        elif at and not at.endswith("Z") and not re.search(r"[+-]\d\d:?\d\d$", at):
            left.append(f"`{name_of(keys)}: {said}` has no offset; only its writer knows it")
    return data, done, left


def _times(front: dict[str, Any]) -> Iterator[tuple[Keys, str]]:
    """Yield the keys that hold a time (S5)."""
    verified, sources = (_length(front.get(key)) for key in ("verified", "sources"))
    ways: list[Keys] = [["generated", "at"], ["verified", "at"], ["stale_after"]]
    ways += [["usage_window", "from"], ["usage_window", "to"]]
    ways += [["verified", number, "at"] for number in range(verified)]
    for number in range(sources):
        ways += [["sources", number, "last_modified"]]
        ways += [["sources", number, "usage_window", end] for end in ("from", "to")]
    for keys in ways:
        value = value_at(front, keys)
        if isinstance(value, str):
            yield keys, value


def _length(value: Any) -> int:
    return len(value) if isinstance(value, list) else 0


def _instant(said: Any) -> tuple[str, str]:
    """Return a time as v0.2 writes it, and what to say where that adds something; or nothing."""
    text = said.strip() if isinstance(said, str) else ""
    match = _TIME.fullmatch(text)
    try:
        datetime.fromisoformat(text[:10] if _DAY.match(text) else "none")
        if match:
            time = match[2].replace(",", ".")
            datetime.fromisoformat(f"{match[1]}T{time[:8]}")
            return f"{match[1]}T{time}{(match[3] or '').upper()}", ""
    except ValueError:
        return "", ""
    if _DAY.fullmatch(text):
        return f"{text}T00:00:00Z", " (a day: its midnight in UTC)"
    return "", ""


def _is_same(one: str, other: str) -> bool:
    moments = [datetime.fromisoformat(_instant(text)[0] or "0001-01-01") for text in (one, other)]
    if any(moment.tzinfo is None for moment in moments):
        return one == other
    return moments[0] == moments[1]


def _citations(data: bytes) -> tuple[bytes, list[str], list[str]]:
    """Make the list in the body the key `sources`, and what refers to it footnotes."""
    parts, front = cut(data), parse(data).front
    if parts is None:
        return data, [], []
    closing, line_end, body = parts.tail.partition("\n")
    found = citations.read(body)
    if found is None:
        return data, [], []
    old = front.get("sources") or []
    if not isinstance(old, list) or not all(isinstance(source, dict) for source in old):
        raise KnowError("`sources` is no list of mappings, so `# Citations` has no place there")
    ids = {str(s.get("resource")): str(s["id"]) for s in old if s.get("id")}
    entries = citations.named(found.entries, ids)
    body, referred = citations.footnoted(body, found, entries)
    data = (parts.head + parts.block + closing + line_end + body).encode()
    known = [source.get("resource") for source in old]
    for entry in entries:
        source = {"id": entry.id, "resource": entry.resource, "title": entry.title}
        if entry.resource not in known:
            filled = {key: value for key, value in source.items() if value}
            data = edit.append(data, ["sources"], filled)
        elif entry.resource not in ids:
            data = edit.set_value(data, ["sources", known.index(entry.resource), "id"], entry.id)
        known.append(entry.resource)
    told = f"# Citations -> sources ({len(entries)}, referred to {referred} times)"
    return data, [told], []
