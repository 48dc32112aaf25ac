"""Rules on the keys of a concept's front matter: their types, and what they may say.

All of it is advice: the spec requires nothing but `type`. Keys that it does not
know are never looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from knowrepo.concepts.checking.findings import Finding, at_key, at_value
from knowrepo.concepts.checking.rules import actors, instants
from knowrepo.concepts.document import Document, KeyPath, plain_type

STATUSES = ("draft", "stable", "deprecated")
_NEARLY = {
    "active": "stable", "published": "stable", "approved": "stable", "accepted": "stable",
    "final": "stable", "current": "stable", "proposed": "draft", "wip": "draft",
    "in-progress": "draft", "review": "draft", "obsolete": "deprecated", "retired": "deprecated",
    "archived": "deprecated", "superseded": "deprecated", "depricated": "deprecated",
}  # fmt: skip
_TEXTS = ("title", "description", "resource", "status", "stale_after", "superseded_by")
_RUN_TEXTS = ("runtime", "computation")
_WORDS = ("type", "title", "description")

Say = Callable[..., Finding]


def check(path: str, document: Document, now: datetime) -> Iterator[Finding]:
    """Yield what is to be said of the values of a front matter."""
    front = document.front

    def found(code: str, message: str, *key: str | int) -> Finding:
        return at_value(path, document, code, message, *key)

    yield from _type(path, document)
    texts = _TEXTS + _RUN_TEXTS if front.get("type") == "Attested Computation" else _TEXTS
    for key in texts:
        if isinstance(front.get(key), list | dict):
            yield found("OKF261", f"`{key}` is {_kind(front[key])}; write one text", key)
    for key, code in (("title", "OKF275"), ("description", "OKF276")):
        if _is_blank(front.get(key)):
            yield at_key(path, document, code, f"no `{key}`; add one", key)
    yield from _tags(front.get("tags"), found)
    yield from _unquoted(document, found)
    yield from _status(front.get("status"), found)
    if "timestamp" in front:
        said = "`timestamp` is OKF v0.1; write `generated.at`"
        yield at_key(path, document, "OKF205", said, "timestamp")
    yield from _events(path, document, now)
    if isinstance(front.get("stale_after"), str):
        yield from instants.check(path, document, front["stale_after"], ("stale_after",), None)


def _type(path: str, document: Document) -> Iterator[Finding]:
    kind = document.front.get("type")
    if isinstance(kind, str) and kind.strip():
        return
    what = "is missing" if "type" not in document.front else "is empty"
    if isinstance(kind, list | dict) and kind:
        what = f"is {_kind(kind)}"
    yield at_key(
        path, document, "OKF105", f"`type` {what}; write `type: …`, one short text", "type"
    )


def _tags(tags: Any, found: Say) -> Iterator[Finding]:
    if isinstance(tags, str):
        if tags.strip():
            yield found("OKF204", "`tags` is a string; write a list: `tags: [a, b]`", "tags")
        return
    if isinstance(tags, dict):
        yield found("OKF261", "`tags` is a mapping; write a list: `tags: [a, b]`", "tags")
    seen: dict[str, str] = {}
    for number, tag in enumerate(tags if isinstance(tags, list) else ()):
        if not isinstance(tag, str):
            yield found("OKF261", f"a tag is {_kind(tag)}; write one text", "tags", number)
            continue
        word = "".join(c for c in tag.casefold() if c not in "-_ ")
        if word in seen:
            same = "stands twice" if seen[word] == tag else f"and `{seen[word]}` are the same word"
            yield found("OKF273", f"the tag `{tag}` {same}; keep one", "tags", number)
        seen.setdefault(word, tag)


def _unquoted(document: Document, found: Say) -> Iterator[Finding]:
    """Yield words that YAML takes for numbers, dates or truth values."""
    front = document.front
    words: list[tuple[KeyPath, Any]] = [((name,), front.get(name)) for name in _WORDS]
    for name in ("tags", "aliases"):
        value = front.get(name)
        words += [((name, n), v) for n, v in enumerate(value if isinstance(value, list) else ())]
    for key, text in words:
        place = document.places.get(key)
        taken = plain_type(text) if isinstance(text, str) and place and place.plain else ""
        if taken:
            yield found("OKF274", f'`{text}` is {taken} to YAML; write "{text}"', *key)


def _status(status: Any, found: Say) -> Iterator[Finding]:
    if not isinstance(status, str) or status in STATUSES or not status.strip():
        return
    word = status.strip().lower()
    if word in STATUSES:
        yield found("OKF272", f"`status: {status}`; write `{word}`", "status")
        return
    near = _NEARLY.get(word.replace(" ", "-"))
    hint = f"perhaps `{near}`" if near else f"write one of {', '.join(STATUSES)}"
    yield found("OKF271", f"`status: {status[:40]}` is not known; {hint}", "status")


def _events(path: str, document: Document, now: datetime) -> Iterator[Finding]:
    """Yield what is to be said of `generated` and `verified`."""
    generated, verified = document.front.get("generated"), document.front.get("verified")
    if isinstance(generated, dict):
        yield from _event(path, document, generated, ("generated",), now)
        if _is_blank(generated.get("by")):
            said = "`generated` lacks `by`; add `by: human:<id>` or `by: tool/version`"
            yield at_value(path, document, "OKF262", said, "generated")
    elif generated is not None:
        said = f"`generated` is {_kind(generated)}; write `{{by: …, at: …}}`"
        yield at_value(path, document, "OKF261", said, "generated")
    if isinstance(verified, dict):
        said = "`verified` is one mapping; the spec allows it, a list is safer: `[{by: …, at: …}]`"
        yield at_value(path, document, "OKF263", said, "verified")
        yield from _verification(path, document, verified, ("verified",), now)
    elif isinstance(verified, list):
        for number, entry in enumerate(verified):
            yield from _verification(path, document, entry, ("verified", number), now)
    elif verified is not None:
        said = f"`verified` is {_kind(verified)}; write a list of `{{by: …, at: …}}`"
        yield at_value(path, document, "OKF261", said, "verified")


def _verification(
    path: str, document: Document, entry: Any, key: tuple[str | int, ...], now: datetime
) -> Iterator[Finding]:
    if not isinstance(entry, dict):
        said = f"an entry of `verified` is {_kind(entry)}; write `{{by: …, at: …}}`"
        yield at_value(path, document, "OKF261", said, *key)
        return
    yield from _event(path, document, entry, key, now)
    for name in ("by", "at"):
        if _is_blank(entry.get(name)):
            said = f"an entry of `verified` lacks `{name}`; add it"
            yield at_value(path, document, "OKF264", said, *key)


def _event(
    path: str,
    document: Document,
    event: dict[str, Any],
    key: tuple[str | int, ...],
    now: datetime,
) -> Iterator[Finding]:
    """Yield what is to be said of a pair of actor and time."""
    by, at = event.get("by"), event.get("at")
    for name, value in (("by", by), ("at", at)):
        if isinstance(value, list | dict):
            said = f"`{name}` is {_kind(value)}; write one text"
            yield at_value(path, document, "OKF261", said, *key, name)
    if isinstance(by, str) and by.strip():
        yield from actors.check(path, document, by, (*key, "by"))
    if isinstance(at, str) and at.strip():
        yield from instants.check(path, document, at, (*key, "at"), now)


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _kind(value: Any) -> str:
    names = {list: "a list", dict: "a mapping", str: "a text", type(None): "empty"}
    return names.get(type(value), "no text")
