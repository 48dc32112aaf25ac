"""A catalog in memory of what the tag index says: for the structured layer, where no other is.

Owns what a fresh clone answers from. The tag index of thousands of concepts is read for
each question, so no more is made of it than the question asks for: the other concepts are
counted, for how rare a word is, and nothing else.
"""

from __future__ import annotations

import re

from knowrepo.concepts.model import Concept
from knowrepo.concepts.tags import TAG_INDEX, TagEntry, concept_path, read_tag_index
from knowrepo.git.layout import Repository
from knowrepo.index.catalog import Catalog
from knowrepo.index.documents import put_concept, put_named
from knowrepo.index.folding import fold
from knowrepo.index.text import STOP_WORDS, spelled, stem

# Characters that are written otherwise when folded; dashes, quotes and arrows are not.
_FOLDED = re.compile("[\u00aa\u00ba\u00c0-\u1fff\u2070-\u218f\u2460-\u24ff\u2c00-\U0010ffff]")
_LETTERS = re.compile(r"\w*")


def from_tag_index(repository: Repository, query: str | None = None) -> Catalog | None:
    """Return a catalog of the concepts that the tag index names; None where it names none.

    With ``query`` it holds those that may share a word with it, and of their words those;
    the others are only counted. A concept whose file is absent is left out.
    """
    path = repository.root / TAG_INDEX
    entries = list(read_tag_index(path.read_bytes())) if path.is_file() else []
    if not entries:
        return None
    beginnings = ("",) if query is None else _beginnings(query)
    asked = [entry for entry in entries if _may_match(entry, beginnings)]
    catalog = Catalog.in_memory()
    with catalog.transaction():
        for entry in asked:
            file = concept_path(entry.concept)
            if ".." not in file.split("/") and (repository.root / file).is_file():
                put_named(catalog, _concept(entry, file), beginnings)
        catalog.count_also(len(entries) - len(asked))
    return catalog


def _beginnings(query: str) -> tuple[str, ...]:
    """Return how the words begin that say something in a query; of a query without any, all."""
    words = [(whole, *parts) for whole, parts in spelled(query)]
    told = [some for some in words if some[0] not in STOP_WORDS] or words
    return tuple({_beginning(form) for some in told for form in some})


def _may_match(entry: TagEntry, beginnings: tuple[str, ...]) -> bool:
    said = (entry.concept, entry.title, entry.description, entry.type, *entry.tags, *entry.aliases)
    text = " ".join(said)
    written = text.lower()  # folding takes several times as long
    if any(beginning in written for beginning in beginnings):
        return True
    if text.isascii() or not _FOLDED.search(text):
        return False
    folded = fold(text)
    return any(beginning in folded for beginning in beginnings)


def _beginning(word: str) -> str:
    """Return what all words of one stem have in common: `happy` and `happiness`, `happ`."""
    found = _LETTERS.match(stem(word))
    letters = found[0] if found else ""
    return letters[:-1] if len(letters) > 3 else letters


def _concept(entry: TagEntry, path: str) -> Concept:
    return Concept(
        id=entry.concept, path=path, type=entry.type, title=entry.title,
        description=entry.description, tags=entry.tags, aliases=entry.aliases,
        status=entry.status, date=entry.date, superseded_by="", stale_after="", body="",
    )  # fmt: skip


def read_text(catalog: Catalog, repository: Repository, path: str) -> None:
    """Put the whole concept at ``path`` in the place of what the tag index says of it.

    What git has not got here stays without a text.
    """
    from knowrepo.git import partial, plumbing

    oid = plumbing.tracked(repository, path).get(path)
    data = next(partial.blobs(repository, [oid]), None) if oid else None
    if data is not None:
        put_concept(catalog, path, oid or "", data)
