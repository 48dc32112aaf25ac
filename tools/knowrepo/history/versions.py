"""What differs between two versions of a concept, in a few words.

Owns which changes are told and how. Lines of the body are counted as a set of lines: one
that only moved is neither new nor gone, and a rewritten page of thousands costs nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from knowrepo.concepts.document import parse
from knowrepo.concepts.model import Concept, from_document
from knowrepo.units import shorten

_LONGEST = 60
_TOLD = frozenset({"title", "description", "tags", "aliases", "status", "superseded_by", "type"})


@dataclass(frozen=True)
class Version:
    """A concept as one commit has it, with who wrote and who verified it, by its front matter."""

    concept: Concept
    front: dict[str, Any]
    generated_by: str
    verified: tuple[str, ...]


def version(path: str, data: bytes) -> Version:
    """Read a version; what is missing or broken is empty, never an error."""
    document = parse(data)
    generated = document.front.get("generated")
    verified = document.front.get("verified")
    every = verified if isinstance(verified, list) else [verified]
    return Version(
        from_document(path, document),
        document.front,
        _by(generated),
        tuple(filter(None, map(_by, every))),
    )


def _by(value: object) -> str:
    actor = value.get("by") if isinstance(value, dict) else None
    return " ".join(actor.split()) if isinstance(actor, str) else ""


def differences(old: Version, new: Version) -> list[str]:
    """Return what differs, a few words each: `status draft -> stable`, `body +3 -1`."""
    return [*_front(old, new), *_body(old.concept.body, new.concept.body)]


def _front(old: Version, new: Version) -> Iterator[str]:
    before, after = old.concept, new.concept
    for name in ("title", "type", "status", "superseded_by"):
        was, is_ = _value(old, name), _value(new, name)
        if was != is_:
            yield f"{name} {_short(was)} -> {_short(is_)}"
    if before.description != after.description:
        yield "description"
    for name, had, has in (
        ("tags", before.tags, after.tags), ("aliases", before.aliases, after.aliases)
    ):  # fmt: skip
        more = [f"+{one}" for one in has if one not in had]
        less = [f"-{one}" for one in had if one not in has]
        if more or less:
            yield f"{name} {' '.join([*more, *less])}"
    verified = [f"+{actor}" for actor in new.verified if actor not in old.verified]
    if verified:
        yield f"verified {' '.join(verified)}"
    for key in dict.fromkeys([*old.front, *new.front]):
        said = key in _TOLD or (key == "verified" and verified)
        if not said and old.front.get(key) != new.front.get(key):
            yield _name(key)


def _value(one: Version, name: str) -> str:
    """Return a value as it is told; a title that only the file's name gives is none."""
    if name == "title" and not isinstance(one.front.get("title"), str):
        return ""
    return str(getattr(one.concept, name))


def _name(key: object) -> str:
    return shorten(str(key), _LONGEST)


def _short(value: str) -> str:
    return shorten(value, _LONGEST) or "(none)"


def _body(old: str, new: str) -> Iterator[str]:
    had, has = Counter(old.splitlines()), Counter(new.splitlines())
    del had[""], has[""]
    more, less = (has - had).total(), (had - has).total()
    if more or less:
        yield " ".join(
            filter(None, ("body", f"+{more}" if more else "", f"-{less}" if less else ""))
        )
    elif old != new:
        yield "body: order or space"
