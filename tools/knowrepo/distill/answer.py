"""Judging an answer: what of it is a proposal with evidence, and what is dropped.

Owns the distrust of a language model. An answer is data, whoever wrote it and
whatever a session made it say: an entry counts only where each of its texts has
the right form and its quotes stand in the records that it cites. What fails is
dropped and counted, never mended.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from knowrepo.distill import form
from knowrepo.distill.command import NoAnswerError
from knowrepo.distill.model import Kind, Proposal, Statement
from knowrepo.distill.prompt import GAP, Turn
from knowrepo.index.text import stems
from knowrepo.terminal import plain

WEIGHT = 0.8
"""How sure a language model is taken to be."""
TYPES = {
    "decision": "Decision",
    "rejection": "Decision",
    "cause": "Failure",
    "fix": "Project Knowledge",
    "preference": "Preference",
    "correction": "Correction",
}
_USERS = frozenset({"preference", "correction"})  # only a person has these
_ENTRIES = re.compile(r'"entries"\s*:\s*\[')
_MARKUP = re.compile(
    r"<[A-Za-z/!]|\]\(|\]\[|\[\^|!\[|://|```|^\s*(?:#{1,6}\s|>|[-*+]\s|\d+\.\s|\|)"
)
_ONE_OFF = re.compile(
    r"/(?:home|Users|root|tmp)/|[A-Za-z]:\\|\b[0-9a-f]{8}-[0-9a-f]{4}-|\b[0-9a-f]{16,}"
)
_EMPTY = re.compile(
    r"(?:the |a )?(?:title|untitled|string|text|placeholder|todo|tbd|example|entry|none|unknown"
    r"|decision|rejection|cause|fix|preference|correction|description|lorem)\b.{0,12}"
)
_STRAIGHT = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-"})
_MARKS = "*_`"
_decoder = json.JSONDecoder()


@dataclass(frozen=True)
class Judged:
    """The proposals of an answer, and why its other entries were dropped."""

    proposals: tuple[Proposal, ...]
    dropped: Counter[str] = field(default_factory=Counter)


class _DropError(Exception):
    """An entry that does not hold."""


def judge(answer: bytes, turns: Mapping[str, Turn], session: str) -> Judged:
    """Return what an answer proposes for ``session``, whose ``turns`` were shown.

    Raises NoAnswerError where it holds no list of entries. One that breaks off
    counts as far as it goes.
    """
    dropped: Counter[str] = Counter()
    proposals: list[Proposal] = []
    entries, whole = _entries(answer)
    if not whole:
        dropped["the answer breaks off"] += 1
    for number, entry in enumerate(entries):
        if number >= form.MOST_ENTRIES:
            dropped["more entries than asked for"] += 1
            continue
        try:
            proposals.append(_proposal(entry, turns, session))
        except _DropError as why:
            dropped[str(why)] += 1
    return Judged(tuple(proposals), dropped)


def _entries(answer: bytes) -> tuple[list[Any], bool]:
    """Return the entries of an answer, and whether they are all."""
    try:
        text = answer.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NoAnswerError("the answer is not UTF-8") from error
    for candidate in (text, _fenced(text)):
        try:
            value = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and isinstance(value.get("entries"), list):
            return cast("list[Any]", value["entries"]), True
    begin = _ENTRIES.search(text)
    if begin is None:
        raise NoAnswerError("the answer is no JSON object with `entries`")
    found, whole = _as_far_as_it_goes(text, begin.end())
    if not found and not whole:
        raise NoAnswerError("the answer breaks off before its first entry")
    return found, whole


def _fenced(text: str) -> str:
    """Return what stands between the first fence and the last, as models like to answer."""
    _, _, after = text.partition("```")
    inside, _, _ = after.rpartition("```")
    return inside.partition("\n")[2]


def _as_far_as_it_goes(text: str, at: int) -> tuple[list[Any], bool]:
    """Return the entries of a list up to where it ends or breaks off, and which it does."""
    found: list[Any] = []
    while True:
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        try:
            value, at = _decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return found, text.startswith("]", at)
        found.append(value)


def _proposal(entry: object, turns: Mapping[str, Turn], session: str) -> Proposal:
    if not isinstance(entry, dict):
        raise _DropError("not an object")
    kind = entry.get("kind")
    if not isinstance(kind, str) or kind not in TYPES:
        raise _DropError("unknown kind")
    statements = _evidence(entry.get("evidence"), turns, cast("Kind", kind))
    if kind in _USERS and statements[0].role != "user":
        raise _DropError("not the user's own words")
    title = _text(entry, "title", form.TITLE).rstrip(".")
    if _EMPTY.fullmatch(title.casefold()) or len(stems(title)) < 2:
        raise _DropError("the title says nothing")
    shown = " ".join(turns[quote["record"]].text for quote in entry["evidence"])
    if set(stems(title)).isdisjoint(stems(shown)):
        raise _DropError("the title has nothing of what it cites")
    return Proposal(
        type=TYPES[kind],
        title=title,
        description=_text(entry, "description", form.DESCRIPTION),
        session=session,
        statements=statements,
        note=_text(entry, "mechanism", form.MECHANISM),
    )


def _text(entry: Mapping[str, object], key: str, limits: tuple[int, int]) -> str:
    """Return a text of an entry as one line, where it is fit to be kept."""
    value = entry.get(key, "" if not limits[0] else None)
    if not isinstance(value, str):
        raise _DropError(f"no {key}")
    text = " ".join(value.split())
    if not limits[0] <= len(text) <= limits[1]:
        raise _DropError(f"the {key} is too long or too short")
    if plain(text) != text or any(
        unicodedata.category(c) in {"Cc", "Cs", "Co", "Cn"} for c in text
    ):
        raise _DropError(f"the {key} has control characters")
    if _MARKUP.search(text):
        raise _DropError(f"the {key} has links or markup")
    if _ONE_OFF.search(text):
        raise _DropError(f"the {key} has a path or id of one machine")
    return text


def _evidence(value: object, turns: Mapping[str, Turn], kind: Kind) -> tuple[Statement, ...]:
    if not isinstance(value, list) or not 0 < len(value) <= form.MOST_EVIDENCE:
        raise _DropError("no evidence")
    found: list[Statement] = []
    for quote in value:
        if not isinstance(quote, dict) or not isinstance(quote.get("quote"), str):
            raise _DropError("no evidence")
        label = quote.get("record")
        turn = turns.get(label) if isinstance(label, str) else None
        if turn is None:
            raise _DropError("cites a record that was not shown")
        said = find(turn.text, quote["quote"])
        if not said:
            raise _DropError("quotes what was not said")
        record = turn.record
        found.append(
            Statement(kind, said, record.key, record.line, record.role, record.time, WEIGHT)
        )
    return tuple(dict.fromkeys(found))


def find(text: str, quote: str) -> str:
    """Return the words of ``text`` that ``quote`` repeats, or nothing.

    Spaces, case, Markdown's marks and the shape of quotation marks do not count.
    """
    if len(quote) > 2 * form.QUOTE[1]:
        return ""
    wanted, _ = _bare(quote)
    if not form.QUOTE[0] * 2 // 3 <= len(wanted) <= form.QUOTE[1] or GAP in quote:
        return ""
    bare, places = _bare(text)
    at = bare.find(wanted)
    if at == -1:
        return ""
    first, last = places[at], places[at + len(wanted) - 1]
    # A word is quoted whole.
    while first and text[first].isalnum() and text[first - 1].isalnum() and text[first].isascii():
        first -= 1
    while last + 1 < len(text) and text[last + 1].isascii() and text[last + 1].isalnum():
        last += 1
    if last + 1 < len(text) and text[last + 1] in ".!?":
        last += 1
    said = text[first : last + 1].translate(str.maketrans("", "", "*`"))
    return plain(" ".join(said.split()))


def _bare(text: str) -> tuple[str, list[int]]:
    """Return what of a text counts when it is compared, and where each character stands."""
    characters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text.translate(_STRAIGHT)):
        if not character.isspace() and character not in _MARKS:
            for folded in character.casefold():
                characters.append(folded)
                places.append(place)
    return "".join(characters), places
