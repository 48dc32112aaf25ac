"""What the generated files say of a concept: made once of its file, then kept by its blob.

Owns the parts of an entry that do not depend on where the file lies, in the form in
which they are written: a commit in a bundle of thousands puts all of them together
again, and only those few are made anew whose files changed. Which files there are,
and the order in them, is the business of `tags`.
"""

from __future__ import annotations

import re
from json.encoder import encode_basestring as json_of  # a string alone, and no encoder made for it
from typing import NamedTuple

from knowrepo.concepts.model import Concept, concept_id, title_of

_MORE = "\x1f"  # between the parts as they are kept; no text of a concept holds it, nor JSON
# What CommonMark takes for markup inside a line; `_` between letters is none.
_MARKUP = re.compile(r"[\\\[\]<>`*]|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])|#(?=#*\s*$)")
_MAY_BE_MARKUP = re.compile(r"[\\\[\]<>`*&_#]").search  # several times as fast
_ESCAPED = re.compile(r"\\(.)")


class Listed(NamedTuple):
    """A concept as it is listed.

    ``shown`` is its title and ``told`` its description for an `index.md`; ``rest`` is
    what follows the title in its line of the tag index, ``tags`` how those of its tags
    begin.
    """

    id: str
    path: str
    type: str
    title: str
    shown: str
    told: str
    rest: str
    tags: tuple[str, ...]

    def lines(self) -> list[str]:
        """Return its line in the tag index, and those of its tags."""
        name = json_of(self.id)
        head = f'{{"concept": {name}, "type": {json_of(self.type)}, "title": {json_of(self.title)}'
        return [f"{head}{self.rest}", *[f"{start}{name}}}" for start in self.tags]]


def listed(concept: Concept) -> Listed:
    """Return what is listed of a concept."""
    aliases = ", ".join(map(json_of, concept.aliases))
    return Listed(
        id=concept.id,
        path=concept.path,
        type=concept.type,
        title=concept.title,
        shown=shown_as_it_is(concept.title),
        told=f" - {shown_as_it_is(concept.description)}" if concept.description else "",
        rest=f', "description": {json_of(concept.description)}, "aliases": [{aliases}],'
        f' "status": {json_of(concept.status)}, "date": {json_of(concept.date)}}}',
        tags=tuple(f'{{"tag": {json_of(tag)}, "concept": ' for tag in dict.fromkeys(concept.tags)),
    )


def as_kept(entry: Listed) -> str:
    """Return as a line of text what holds wherever a concept, read without a path, lies."""
    return _MORE.join((*entry[2:-1], *entry.tags))


def from_kept(kept: str, path: str) -> Listed:
    """Return a concept that was kept as the one at ``path``, which names it if nothing else does.

    Raises ValueError where something else was kept.
    """
    kind, title, shown, told, rest, *tags = kept.split(_MORE)
    if not title:
        title = title_of(path)
        shown = shown_as_it_is(title)
    return Listed(concept_id(path), path, kind, title, shown, told, rest, tuple(tags))


def shown_as_it_is(text: str) -> str:
    """Return text that Markdown shows as it is."""
    return _MARKUP.sub(r"\\\g<0>", text) if _MAY_BE_MARKUP(text) else text


def as_typed(text: str) -> str:
    """Return what `shown_as_it_is` made its text of."""
    return _ESCAPED.sub(r"\1", text)
