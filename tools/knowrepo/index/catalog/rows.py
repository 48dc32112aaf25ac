"""The values that go into the catalog and come out of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

SEEN = "seen"
"""The meta key of the signature of the state that a catalog holds."""
BEHIND = "behind"
"""The meta key of how many documents are still to be indexed."""
TEXTS = "texts"
"""The meta key of a name that is new whenever a text was added."""
STAMPS = "stamps"
"""The meta key of a digest of the session files that a catalog holds all of."""
EMBEDDED = "embedded:"
"""What the meta keys begin with that say, of a fingerprint, which texts have vectors."""

Field = Literal["tag", "alias", "title", "type", "path", "description"]
CALLED: frozenset[Field] = frozenset(("title", "alias", "tag"))
"""The fields that say what a concept is called; the others say something of it."""

# What of a concept's worth its standing leaves, in hundredths.
_TRUST = {"deprecated": 50, "draft": 90}
_SUPERSEDED = 50


@dataclass(frozen=True)
class Document:
    """A document as the catalog keeps it; ``id`` is 0 before it is stored."""

    key: str
    uid: str
    path: str
    oid: str
    kind: str
    type: str = ""
    title: str = ""
    description: str = ""
    date: str = ""
    project: str = ""
    identity: str = ""
    agent: str = ""
    branch: str = ""
    status: str = ""
    superseded_by: str = ""
    stale_after: str = ""
    stamp: str = ""
    id: int = 0


def trust(status: str, superseded_by: str) -> int:
    """Return what the standing of a document leaves of its worth, in hundredths.

    That it is stale is not in it: that comes with time.
    """
    hundredths = _TRUST.get(status, 100)
    return min(hundredths, _SUPERSEDED) if superseded_by else hundredths


Occurrence = tuple[int, str, int]
"""Where a word stands: (chunk, column, place): the title, heading or body, and as which word
of it. Plain, for a query reads thousands."""


class Often(NamedTuple):
    """How often a word stands somewhere: in how many places, and in how many chunks.

    Where it has several forms, a chunk that holds more of them counts for each.
    """

    places: int
    chunks: int


class Place(NamedTuple):
    """Where a chunk stands: in which document, as which of it; its date, ISO 8601 or empty."""

    document: int
    seq: int
    date: str
    text_hash: str


class StoredChunk(NamedTuple):
    """A chunk as the catalog keeps it; ``id`` is 0 before it is stored."""

    uid: str
    seq: int
    anchor: str
    heading: str
    context: str
    text: str
    time: str
    line: int
    text_hash: str
    id: int = 0
    document: int = 0

    @property
    def embedded_text(self) -> str:
        """The text that is embedded."""
        return f"{self.context}\n{self.text}" if self.context else self.text


@dataclass(frozen=True)
class Filter:
    """What a recall is limited to; empty fields do not limit.

    ``since`` and ``until`` are ISO dates, both included. ``keys`` are those of documents,
    and an empty set lets none pass.
    """

    kind: str = ""
    type: str = ""
    tag: str = ""
    since: str = ""
    until: str = ""
    session: str = ""
    project: str = ""
    agent: str = ""
    keys: frozenset[str] | None = None

    def __bool__(self) -> bool:
        return self.keys is not None or any(vars(self).values())
