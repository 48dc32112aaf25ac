"""A repository's recall tests as a file: what may stand in it, and adding one to it.

Owns the form of `eval.toml`: one `[[case]]` a question, with what must be found.
The file comes with a clone, so it is data of strangers: it is bounded, what it
names is only ever compared with the names that the catalog has, never opened,
and no pattern in it is run. A person wrote it, so adding a case appends text and
changes no byte of what is there. Whether a case passes is `run`'s business.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from knowrepo.errors import KnowError, UsageError
from knowrepo.evaluate.places import Place, line_of_key, places_of
from knowrepo.index.catalog import Filter
from knowrepo.settings import flag_of, text_of, whole_of
from knowrepo.terminal import json_text
from knowrepo.units import shorten

FILE = "eval.toml"
"""The file at the root of a repository that is taken where none is named."""
K = 5
"""Among how many hits the expected one must be, where a case does not say."""
MOST_K = 100
ROUTES = ("structured", "hybrid")
"""The layers that a case may ask for; `hybrid` is without a model the search for words."""
MOST_BYTES = 256_000
MOST_CASES = 2000
MOST_CHARACTERS = 2000
"""Characters of a value at most."""
MOST_EXPECTED = 50
MOST_DOTS = 250
"""Dots in a line: a key of thousands of parts takes the standard library minutes."""

_FILTERS = ("type", "tag", "since", "until", "session", "project", "agent")
# `kind` is the case's own, so the filter of that name has another one.
_KEYS = {"query", "expect", "none", "kind", "k", "route", "only", "note", *_FILTERS}
_DAY = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?")
_HEAD = "[[case]]"
_BEGINNING = """\
# Questions that this repository must be able to answer: `know eval` asks them all
# and fails where one is no longer answered. `know eval --add` records one.
"""


class MalformedError(UsageError):
    """A file of cases that cannot be understood."""


@dataclass(frozen=True)
class Case:
    """A question, and what must be found for it.

    ``expect`` names concepts and sessions, any of which will do; where it is empty,
    nothing may be found with confidence. ``kind`` is a word of the author's, by
    which figures are summed up. ``line`` is where the case begins in its file.
    """

    query: str
    expect: tuple[str, ...] = ()
    kind: str = ""
    k: int = K
    route: str = ""
    only: Filter = field(default_factory=Filter)
    note: str = ""
    line: int = 0

    @property
    def question(self) -> tuple[str, Filter]:
        """What is asked, whatever is expected; spaces and capitals make no other question."""
        return " ".join(self.query.split()).casefold(), self.only


def plain_name(name: str) -> str:
    """Return a name of a document without its folder and its ending: `decisions/two-stores`."""
    name = name.removesuffix(".md").removesuffix(".jsonl")
    return name.removeprefix("concepts/").removeprefix("sessions/")


def read_bytes(path: Path, shown: str) -> bytes:
    """Return what a file of cases holds; ``shown`` is how messages name it."""
    with path.open("rb") as stream:
        data = stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise MalformedError(f"{shown}: larger than {MOST_BYTES:,} bytes")
    return data


def parse(data: bytes, shown: str) -> list[Case]:
    """Return the cases of a file.

    Raises MalformedError with `FILE:LINE:` for the first thing that is wrong.
    """
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise MalformedError(f"{shown}:{line}: not UTF-8") from error
    tables = _tables(text, shown)
    places = places_of(text)
    if len(places) != len(tables):
        raise MalformedError(f"{shown}:1: cases must be written as {_HEAD}, one a table")
    if len(tables) > MOST_CASES:
        raise MalformedError(f"{shown}:{places[MOST_CASES].line}: more than {MOST_CASES:,} cases")
    cases = [_case(table, place, shown) for table, place in zip(tables, places, strict=True)]
    _refuse_duplicates(cases, shown)
    return cases


def appended(data: bytes, case: Case, shown: str) -> tuple[bytes, Case]:
    """Return a file with one more case at its end, and the case as it stands there.

    What was there stays byte for byte, and so do its line ends.
    """
    end = "\r\n" if b"\r\n" in data else "\n"
    before = data or _BEGINNING.encode()
    gap = end if before.endswith(b"\n") else end * 2
    block = "".join(f"{line}{end}" for line in _block(case))
    after = before + (gap + block).encode()
    if len(after) > MOST_BYTES:
        raise KnowError(f"{shown}: has no room for another case ({MOST_BYTES:,} bytes at most)")
    cases = parse(after, shown)
    assert replace(cases[-1], line=0) == replace(case, line=0)  # else it would test another thing
    return after, cases[-1]


def _block(case: Case) -> Iterator[str]:
    yield _HEAD
    yield f"query = {_text(case.query)}"
    if len(case.expect) == 1:
        yield f"expect = {_text(case.expect[0])}"
    elif case.expect:
        yield f"expect = [{', '.join(map(_text, case.expect))}]"
    else:
        yield "none = true"
    if case.kind:
        yield f"kind = {_text(case.kind)}"
    if case.k != K:
        yield f"k = {case.k}"


def _text(value: str) -> str:
    """Return a basic string of TOML: JSON's escapes are all among its own."""
    return json_text(value)


# -- reading ----------------------------------------------------------------------


def _tables(text: str, shown: str) -> list[dict[str, object]]:
    import tomllib

    for number, whole in enumerate(text.split("\n"), start=1):
        if whole.count(".") > MOST_DOTS:
            raise MalformedError(f"{shown}:{number}: more than {MOST_DOTS} dots in a line")
    try:
        data = tomllib.loads(text)
    except RecursionError as error:
        raise MalformedError(f"{shown}:1: nested too deeply") from error
    except ValueError as error:  # TOMLDecodeError is one, as is a number of 5,000 digits
        reason, _, place = str(error).partition(" (at ")
        found = re.match(r"line (\d+)", place)
        line = int(found[1]) if found else text.rstrip("\n").count("\n") + 1
        raise MalformedError(f"{shown}:{line}: not valid TOML: {shorten(reason, 200)}") from error
    tables = data.pop("case", [])
    for key in data:
        line = line_of_key(text, key)
        raise MalformedError(f"{shown}:{line}: `{_said(key)}` means nothing here; write {_HEAD}")
    if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
        raise MalformedError(f"{shown}:1: `case` must be tables, each under {_HEAD}")
    return tables


def _case(table: dict[str, object], place: Place, shown: str) -> Case:
    def where(key: str) -> str:
        return f"{shown}:{place.keys.get(key, place.line)}"

    def text(key: str) -> str:
        value = text_of(table, key, where(key))
        if len(value) > MOST_CHARACTERS:
            raise MalformedError(
                f"{where(key)}: `{key}` has more than {MOST_CHARACTERS:,} characters"
            )
        return value

    for key in table:
        if key not in _KEYS:
            raise MalformedError(f"{where(key)}: `{_said(key)}` means nothing in a case")
    try:
        filters: dict[str, Any] = {key: text(key) for key in _FILTERS}
        found = Case(
            query=text("query"),
            expect=_expected(table, where("expect")),
            kind=text("kind"),
            k=whole_of(table, "k", where("k"), K, (1, MOST_K)),
            route=text("route"),
            only=Filter(kind=text("only"), **filters),
            note=text("note"),
            line=place.line,
        )
        none = flag_of(table, "none", where("none"))
    except MalformedError:
        raise
    except KnowError as error:
        raise MalformedError(error.message) from error
    _check(found, table, where, none=none)
    return found


def _expected(table: dict[str, object], where: str) -> tuple[str, ...]:
    value = table.get("expect", [])
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise MalformedError(f"{where}: `expect` must be a string or a list of strings")
    if len(names) > MOST_EXPECTED:
        raise MalformedError(f"{where}: `expect` names more than {MOST_EXPECTED} documents")
    for name in names:
        parts = name.split("/")
        if not name.strip() or len(name) > MOST_CHARACTERS or not all(parts) or ".." in parts:
            raise MalformedError(
                f"{where}: `{_said(name)}` cannot be a concept or a session",
                hint="write decisions/two-stores, or claude/768de5d6",
            )
    return tuple(dict.fromkeys(names))


def _check(
    case: Case, table: dict[str, object], where: Callable[[str], str], *, none: bool
) -> None:
    """Raise MalformedError where values that are well by themselves make no case."""
    if not case.query.strip():
        raise MalformedError(f"{where('query')}: a case needs a `query`")
    if none and case.expect:
        raise MalformedError(f"{where('none')}: `none` and `expect` exclude each other")
    if not none and "expect" not in table:
        raise MalformedError(f"{where('query')}: a case needs `expect`, or `none = true`")
    if not case.expect:
        for key in ("k", "route"):
            if key in table:
                raise MalformedError(
                    f"{where(key)}: `{key}` says nothing where nothing is expected"
                )
    if case.route not in {"", *ROUTES}:
        raise MalformedError(f"{where('route')}: `route` must be {' or '.join(ROUTES)}")
    if case.only.kind not in {"", "concept", "session"}:
        raise MalformedError(f"{where('only')}: `only` must be concept or session")
    for key in ("since", "until"):
        value = getattr(case.only, key)
        if value and not _is_day(value):
            raise MalformedError(f"{where(key)}: `{key}` must be a date: 2026, 2026-05, 2026-05-31")


def _is_day(value: str) -> bool:
    """Tell a date from all else; an age would ask another question every day."""
    try:
        date.fromisoformat(f"{value}-01-01"[:10])
    except ValueError:
        return False
    return _DAY.fullmatch(value) is not None


def _refuse_duplicates(cases: Iterable[Case], shown: str) -> None:
    """Raise MalformedError where two cases ask the same and expect the same of it.

    Two that expect different documents are no duplicates: both must be found.
    """
    seen: dict[tuple[object, str], int] = {}
    for case in cases:
        for name in map(plain_name, case.expect or ("",)):
            earlier = seen.setdefault((case.question, name), case.line)
            if earlier != case.line:
                raise MalformedError(f"{shown}:{case.line}: the same case stands on line {earlier}")


def _said(value: str) -> str:
    return shorten(value, 60)
