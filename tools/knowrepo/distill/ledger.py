"""What was distilled before: which statements went where, and what became of them.

Owns `concepts/distilled.jsonl`, a sorted set of lines that branches merge line by
line: a statement by its key with the concept that it went into, and the hash of
each draft as it was last written. A draft that still has this hash is ours to
write anew; one that has another is a person's; one that is gone was rejected,
and what went into it is not proposed again.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from knowrepo.concepts.model import FOLDER, is_concept_path, read_concept
from knowrepo.concepts.tags import concept_path
from knowrepo.config import write_atomically
from knowrepo.distill.model import Proposal
from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.units import shorten

LEDGER = f"{FOLDER}/distilled.jsonl"

Standing = Literal["ours", "theirs", "gone"]
"""How a concept stands: an untouched draft, a person's, or deleted or renamed."""

ALONE = {"decision": "Decision", "preference": "Preference", "correction": "Correction"}
"""The kinds of statement that say something by themselves, and the type that they make."""

MENDED = f"`know merge` joins both sides; then: git add {LEDGER}"

_LONGEST_TITLE = 80
_PREFERRED: tuple[Standing, ...] = ("ours", "gone", "theirs")
_MARKS = (b"<<<<<<< ", b"||||||| ", b">>>>>>> ")  # which git writes into a file in conflict


class Ledger:
    """The lines of the ledger, by concept and by statement."""

    def __init__(self, data: bytes = b"") -> None:
        self._concepts: dict[str, dict[str, None]] = defaultdict(dict)  # by statement
        self._hashes: dict[str, set[str]] = defaultdict(set)
        self._sizes: Counter[str] = Counter()  # statements of each concept
        self._others: set[str] = set()  # what we do not understand is not ours to drop
        self.changed = False
        if is_marked(data):
            raise KnowError(f"{LEDGER}: holds conflict markers", hint=MENDED)
        for line in data.decode("utf-8", "surrogateescape").split("\n"):
            self._read(line.strip())

    def _read(self, line: str) -> None:
        entry = _object(line)
        concept, statement, digest = (entry.get(k) for k in ("concept", "statement", "sha256"))
        named = isinstance(concept, str) and _is_concept(concept)
        if named and isinstance(statement, str):
            self._put(str(concept), statement)
        elif named and isinstance(digest, str):
            self._hashes[str(concept)].add(digest)
        elif line:
            self._others.add(line)

    def _put(self, concept: str, statement: str) -> None:
        if concept not in self._concepts[statement]:
            self._concepts[statement][concept] = None
            self._sizes[concept] += 1

    def content(self) -> bytes:
        """Return the file's content: one line an entry, sorted."""
        lines = set(self._others)
        for statement, concepts in self._concepts.items():
            lines.update(_line(concept=concept, statement=statement) for concept in concepts)
        for concept, hashes in self._hashes.items():
            lines.update(_line(concept=concept, sha256=digest) for digest in hashes)
        text = "".join(f"{line}\n" for line in sorted(lines))
        return text.encode("utf-8", "surrogateescape")

    def concepts_of(self, statement: str) -> list[str]:
        """Return the concepts that a statement went into; none where it is new."""
        return sorted(self._concepts.get(statement, ()))

    def knows(self, concept: str) -> bool:
        """Say whether a concept is named here, whatever became of it."""
        return concept in self._sizes or concept in self._hashes

    def size(self, concept: str) -> int:
        """Return how many statements went into a concept."""
        return self._sizes[concept]

    def wrote(self, concept: str) -> bool:
        """Say whether a concept was a draft of ours, whatever became of it."""
        return concept in self._hashes

    def add(self, concept: str, statements: Iterable[str], digest: str = "") -> None:
        """Note what went into a concept, and its hash where it was written."""
        before = self._sizes[concept]
        for statement in statements:
            self._put(concept, statement)
        self.changed = self.changed or self._sizes[concept] > before
        if digest and self._hashes.get(concept) != {digest}:
            self._hashes[concept] = {digest}
            self.changed = True

    def standing(self, concept: str, data: bytes | None) -> Standing:
        """Say how a concept stands whose file holds ``data``, or is not there."""
        if data is None:
            return "gone"
        untouched = digest_of(data) in self._hashes.get(concept, ())
        draft = untouched and read_concept(concept_path(concept), data).status == "draft"
        return "ours" if draft else "theirs"


def _is_concept(concept: str) -> bool:
    """Say whether an id is that of a concept: a clone's ledger may name any path."""
    path = concept_path(concept)
    return is_concept_path(path) and posixpath.normpath(path) == path and path.isprintable()


def digest_of(data: bytes) -> str:
    """Return the hash of a concept's content; line ends are a checkout's business."""
    return hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest()


# -- what to do with a proposal ------------------------------------------------


@dataclass(frozen=True)
class Verdict:
    """What the ledger says of a proposal.

    ``new``: nothing of it was seen. ``grown``: ``concept`` is an untouched draft,
    and ``fresh`` are statements that it has not. ``beside``: the statements went
    into ``concept``, which is a person's now, and ``fresh`` are others. ``known``:
    nothing is to be done. ``fresh`` and ``kept`` are indices of the proposal's
    statements; ``other`` is a person's concept that a grown draft stands beside.
    """

    action: Literal["new", "grown", "beside", "known"]
    concept: str = ""
    fresh: tuple[int, ...] = ()
    kept: tuple[int, ...] = ()  # those that may stand in a grown draft
    other: str = ""


def judge(
    proposal: Proposal, ledger: Ledger, standing: Callable[[str], Standing], claimed: set[str]
) -> Verdict:
    """Say what a proposal is to the ledger.

    ``claimed`` are the concepts that earlier proposals of this session are: what
    is said there may be told again, and no second proposal takes their place. A
    proposal goes with the concept that most of it went into; if that was
    rejected, so is the rest.
    """
    owners = [ledger.concepts_of(one.key(proposal.session)) for one in proposal.statements]
    fresh = tuple(n for n, concepts in enumerate(owners) if not concepts)
    shares = Counter(c for concepts in owners for c in concepts if c not in claimed)
    if not shares and fresh[:1] == (0,):
        return Verdict("new", fresh=fresh)
    if not shares or not fresh:
        first = next(iter(shares or (c for concepts in owners for c in concepts)))
        return Verdict("beside" if fresh else "known", first, fresh)
    stands = {concept: standing(concept) for concept in shares}
    mine = min(shares, key=lambda c: (-shares[c], _PREFERRED.index(stands[c])))
    if stands[mine] == "theirs":  # a draft beside it may be open, all of which is said here
        open_ = (c for c in shares if stands[c] == "ours" and shares[c] == ledger.size(c))
        mine = next(open_, mine)
    if stands[mine] != "ours":
        return Verdict("known" if stands[mine] == "gone" else "beside", mine, fresh)
    kept = tuple(n for n, concepts in enumerate(owners) if not concepts or mine in concepts)
    other = next((c for c in shares if stands[c] == "theirs"), "")
    return Verdict("grown", mine, fresh, kept, other)


def part_of(proposal: Proposal, kept: Sequence[int]) -> Proposal:
    """Return a proposal of some of the statements; without the first it needs another name."""
    said = tuple(proposal.statements[n] for n in kept)
    if proposal.statements[0] in said:
        return replace(proposal, statements=said)
    first = next((one for one in said if one.kind in ALONE), said[0])
    return replace(
        proposal,
        type=ALONE.get(first.kind, proposal.type),
        title=shorten(first.text, _LONGEST_TITLE).rstrip("."),
        description=first.text,
        statements=said,
        note="",
    )


# -- a run that is killed ------------------------------------------------------


class Journal:
    """What a run is about to write, so that one that was killed is told from a rejection.

    The ledger is written once, at the end of a run. Until then each draft is
    noted here before it is written: a draft without a note, or a note without
    its draft, never happens to be taken for somebody's decision.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def note(self, concept: str, statements: Iterable[str], digest: str) -> None:
        """Note a draft that is written next."""
        entry = {"concept": concept, "statements": list(statements), "sha256": digest}
        with self._path.open("ab") as stream:
            # A killed run may have left half a line, which must not swallow this one.
            stream.write(b"\n" + json.dumps(entry).encode() + b"\n")

    def recover(self, ledger: Ledger, read: Callable[[str], bytes | None]) -> None:
        """Take into the ledger what a killed run wrote.

        A draft that is not there was not written, or was deleted since: its
        statements are new. One with other content was not rewritten yet, or a
        person has edited it.
        """
        try:
            lines = self._path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return
        for line in lines:
            entry = _object(line.decode("utf-8", "replace"))
            concept, digest = entry.get("concept"), entry.get("sha256")
            given = entry.get("statements")
            if not isinstance(concept, str) or not isinstance(given, list):
                continue
            statements = [one for one in given if isinstance(one, str)]
            data = read(concept)
            if data is not None and digest_of(data) == digest:
                ledger.add(concept, statements, digest)
            elif data is not None and not ledger.wrote(concept):
                ledger.add(concept, statements)

    def clear(self) -> None:
        """Forget the notes: the ledger has them."""
        self._path.unlink(missing_ok=True)


def read_ledger(path: Path) -> Ledger:
    """Read the ledger; an empty one where there is none.

    A clone may bring a link in its place: what lies there is not ours to read, and
    would be written into a file that is committed.
    """
    if path.is_symlink():
        raise KnowError(f"{LEDGER}: is a symbolic link", hint="remove it")
    try:
        return Ledger(path.read_bytes())
    except FileNotFoundError:
        return Ledger()
    except OSError as error:
        raise KnowError(f"{LEDGER}: cannot be read: {error.strerror}") from error


def is_marked(data: bytes) -> bool:
    """Say whether a ledger holds the markers of a conflict."""
    return any(line.startswith(_MARKS) for line in data.split(b"\n"))


def joined(data: bytes) -> bytes:
    """Return the ledger of a file with conflict markers: the lines of both sides."""
    lines = (line for line in data.split(b"\n") if not line.startswith((*_MARKS, b"=======")))
    return Ledger(b"\n".join(lines)).content()


def merged(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Return the ledger of both sides: a line that either side took out stays out.

    A side with conflict markers is none of ours: None.
    """
    if is_marked(ours) or is_marked(theirs):
        return None
    old = b"" if is_marked(base) else base
    lines = [Ledger(data).content().splitlines(keepends=True) for data in (old, ours, theirs)]
    before, one, other = (frozenset(some) for some in lines)
    return b"".join(sorted((one & other) | (one - before) | (other - before)))


def write_ledger(repository: Repository, ledger: Ledger) -> None:
    """Write the ledger where it changed."""
    if not ledger.changed:
        return
    try:
        path = repository.root / LEDGER
        write_atomically(path, ledger.content(), durable=True, aside=repository.locks)
    except OSError as error:
        raise KnowError(f"{LEDGER}: cannot be written: {error.strerror}") from error
    ledger.changed = False


def _object(line: str) -> dict[str, object]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return entry if isinstance(entry, dict) else {}


def _line(**fields: str) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(", ", ": "))
