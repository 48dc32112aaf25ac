"""New concepts from what a person, or an agent, types.

Owns what stands in them: whose they are, a title and a sentence taken from a
text, and where their file goes. What is new never takes the place of what is
there, however many commands run at once. Whether a text may be written at all
(a secret may not) its caller has asked.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches

from knowrepo import callers
from knowrepo.concepts.compose import Value, compose, free_path
from knowrepo.concepts.kinds import TYPES, folder_of
from knowrepo.concepts.model import Concept
from knowrepo.concepts.writing import templates
from knowrepo.errors import KnowError, UsageError
from knowrepo.git import plumbing
from knowrepo.git.layout import Repository
from knowrepo.units import LONGEST_TITLE, shorten

MOST_CHARACTERS = 100_000
"""A longer text is no concept: one concept says one thing."""
_LONGEST_FOUND_TITLE = 80
_LONGEST_DESCRIPTION = 240

_MARKER = re.compile(r"\s*(?:#{1,6}|[-*+>]|\d{1,3}[.)])\s+")
# A sentence ends where the next word does not go on in lower case (`e.g. this`).
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?![a-z])|(?<=[。！？])")


@dataclass(frozen=True)
class Author:
    """Who says a thing: the actor of the front matter; a machine's word is a draft."""

    actor: str

    @property
    def is_human(self) -> bool:
        """Whether a person is the author."""
        return self.actor.startswith("human:")


def author(name: str, by: str, environment: Mapping[str, str]) -> Author:
    """Return whose a new concept is.

    ``by`` is what the caller says of itself, else what an agent's environment
    says of it, else it is the person whom git knows by ``name``. Raises KnowError
    where git knows none, and UsageError where ``by`` names no producer.
    """
    if by and not callers.is_actor(by):
        raise UsageError(
            f"--by {by}: not `<producer>/<version>`",
            hint="an agent writes --by claude-code/2.1; a person leaves it out",
        )
    actor = by or callers.agent_in(environment)
    if actor:
        return Author(actor)
    person = " ".join("".join(filter(lambda c: c.isprintable(), name)).split())
    if not person:
        raise KnowError(
            "git does not know your name, and a concept says whose it is",
            hint='run: git config --global user.name "Your Name"',
        )
    return Author(f"human:{person}")


def now() -> str:
    """Return the present moment as concepts spell it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def form(kind: str, title: str, tags: Sequence[str], by: Author, at: str) -> bytes:
    """Return a concept to be filled in: a draft with the sections of its type."""
    front: dict[str, Value] = {
        "type": kind,
        "title": title,
        "description": "",
        "tags": tags,
        "status": "draft",
        "generated": {"by": by.actor, "at": at},
    }
    return compose(front, templates.body(kind), blank=("description", "tags"))


def finished(
    text: str,
    kind: str,
    by: Author,
    at: str,
    *,
    title: str = "",
    tags: Sequence[str] = (),
    aliases: Sequence[str] = (),
    scope: str = "",
) -> tuple[str, bytes]:
    """Return the title and the bytes of a small concept that says ``text``.

    Without a title it is the first sentence, shortened. A machine's is a draft.
    """
    called = title or found_title(text)
    front: dict[str, Value] = {
        "type": kind,
        "title": called,
        "description": _description(text, called),
        "tags": tags,
        "aliases": aliases,
        "scope": scope,
        "status": "" if by.is_human else "draft",
        "generated": {"by": by.actor, "at": at},
    }
    return called, compose(front, text)


def found_title(text: str) -> str:
    """Return the first sentence of a text as a title."""
    first = next(_sentences(text), "")
    return shorten(first.rstrip(" .:;,。"), _LONGEST_FOUND_TITLE)


def _description(text: str, title: str) -> str:
    """Return one sentence of a text: the first that says more than the title."""
    sentences = list(_sentences(text))
    more = [one for one in sentences[:2] if same_words(one) != same_words(title)]
    return shorten((more or sentences or [""])[0], _LONGEST_DESCRIPTION)


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text's first lines; a heading or a list item is one of its own."""
    running = ""
    for line in [*text.split("\n")[:200], ""]:
        if not line.strip() or _MARKER.match(line):
            yield from _cut(running)
            running = ""
        running = f"{running} {_MARKER.sub('', line, count=1)}"
        if line.startswith("#"):
            yield from _cut(running)
            running = ""


def _cut(text: str) -> Iterator[str]:
    for sentence in _SENTENCE_END.split(" ".join(text.split())):
        if same_words(sentence):
            yield sentence


def same_words(text: str) -> str:
    """Return a text by which another of the same words is known, whatever its case and marks."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"[^\W_]+", folded))


def alike(concepts: Iterable[Concept], title: str, text: str) -> Concept | None:
    """Return a concept that is called or says the same already, None for none."""
    name, words = same_words(title), same_words(text)
    for concept in concepts:
        names = {same_words(one) for one in (concept.title, *concept.aliases)}
        is_near = len(concept.body) < 2 * len(text) + 100  # folding a long one takes a while
        if (name and name in names) or (words and is_near and words == same_words(concept.body)):
            return concept
    return None


def checked_title(title: str) -> str:
    """Return a title as one line; raises UsageError where it is none, or a page."""
    line = "".join(filter(str.isprintable, " ".join(title.split())))
    if not line:
        raise UsageError("the title is empty", hint='try: know new Decision "Retry uploads"')
    if len(line) > LONGEST_TITLE:
        raise UsageError(
            f"the title has {len(line):,} characters; {LONGEST_TITLE} at most",
            hint="a title says what is so in a few words; the rest belongs into the body",
        )
    return line


def near_type(kind: str, in_use: Iterable[str]) -> str:
    """Return a known type that ``kind`` may be a slip of; '' for none, or where it is known."""
    known = {same_words(one): one for one in (*in_use, *TYPES) if one}
    if kind in known.values():
        return ""
    close = get_close_matches(same_words(kind), known, n=1, cutoff=0.8)
    return known[close[0]] if close else ""


def place(repository: Repository, kind: str, title: str, data: bytes) -> str:
    """Write a new concept under a name that nothing has; returns its path.

    The file is made exclusively: where another command takes the name meanwhile,
    the next one is tried.
    """
    folder = folder_of(kind)
    names = _taken(repository, folder)
    while True:
        path = free_path(folder, title, lambda path: _name(path) in names)
        names.add(_name(path))
        with suppress(FileExistsError):
            _write_new(repository, path, data)
            return path


def _taken(repository: Repository, folder: str) -> set[str]:
    """Return the names in a folder, of files and of what git knows, as any platform tells them."""
    full = repository.inside(repository.root / folder)
    try:
        there = [f"{folder}/{entry.name}" for entry in full.iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        there = []
    return {_name(path) for path in (*there, *plumbing.tracked(repository, folder))}


def _name(path: str) -> str:
    """Return a name by which a file is known also where case and composition do not count."""
    return unicodedata.normalize("NFC", path.casefold())


def _write_new(repository: Repository, path: str, data: bytes) -> None:
    full = repository.root / path
    try:
        full.parent.mkdir(parents=True, exist_ok=True)
        stream = repository.inside(full).open("xb")
    except FileExistsError:
        if not full.parent.is_dir():
            raise KnowError(f"{path}: its folder is a file", hint="move that away") from None
        raise
    except OSError as error:
        raise KnowError(f"{path}: cannot be written: {error.strerror}") from error
    try:
        with stream:
            stream.write(data)
    except OSError as error:
        full.unlink(missing_ok=True)
        raise KnowError(f"{path}: cannot be written: {error.strerror}") from error
