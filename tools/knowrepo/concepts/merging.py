"""Merging what is generated from the concepts, as git's merge drivers do: three versions to one.

Owns what a merge of records means. Concepts are records with fields: one that either
side deleted stays deleted, one that either side renamed takes the other's edits along,
and where both edited one, it is merged field by field. Nothing depends on which side is
which. It sees one file, so it can be wrong where git saw more; the concepts decide, and
what is generated from them replaces this. The forms are those of `tags`: a version that
is not exactly what `tags` writes is not ours to merge, and git merges it as text.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from urllib.parse import unquote

from knowrepo.concepts import tags
from knowrepo.concepts.listed import as_typed
from knowrepo.concepts.model import Concept, title_of

Value = str | tuple[str, ...] | frozenset[str]
Record = Mapping[str, Value]
Table = dict[str, Record]

_ENTRY = re.compile(r"\* \[((?:\\.|[^\\\]])*)\]\(([^()\s]*)\)(?: - (.*))?")
_HEADING = "# "
_NOTHING: Record = {}


def merge_tag_index(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Return the tag index that both sides come to; None where it is to be merged as text."""
    return _merged((base, ours, theirs), _read_tag_index, _write_tag_index)


def merge_index(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Return the `index.md` that both sides come to; None where it is to be merged as text.

    That is so where a person wrote it, on either side.
    """
    write = partial(_write_index, is_root=ours.startswith(b"---\n"))
    return _merged((base, ours, theirs), _read_index, write)


def _merged(
    versions: tuple[bytes, bytes, bytes],
    read: Callable[[str], Table],
    write: Callable[[Table], bytes],
) -> bytes | None:
    try:
        base, ours, theirs = (read(data.decode()) for data in versions)
    except UnicodeDecodeError:
        return None
    if (write(ours), write(theirs)) != versions[1:]:
        return None
    return write(merge_tables(base, ours, theirs))


# -- records -------------------------------------------------------------------


def merge_tables(base: Table, ours: Table, theirs: Table) -> Table:
    """Return the records, by key, of a three-way merge."""
    moved = [_renamed(base, side) for side in (ours, theirs)]
    merged: Table = {}
    taken = {new for renames in moved for new in renames.values()}
    for key, record in base.items():
        ends = [
            key if key in side else renames.get(key)
            for side, renames in zip((ours, theirs), moved, strict=True)
        ]
        if ends[0] is None or ends[1] is None:
            continue  # deleted on either side
        both = _merge_records(record, ours[ends[0]], theirs[ends[1]])
        for end in {ends[0], ends[1]} - {key} or {key}:
            merged[end] = _merge_records(_NOTHING, merged.get(end, both), both)
    for key in (ours.keys() | theirs.keys()) - base.keys() - taken:
        one, other = ours.get(key), theirs.get(key)
        merged[key] = _merge_records(_NOTHING, one or other or {}, other or one or {})
    return merged


def _merge_records(base: Record, ours: Record, theirs: Record) -> Record:
    fields = dict.fromkeys((*ours, *theirs))
    return {
        name: _merge_values(base.get(name), ours.get(name), theirs.get(name)) for name in fields
    }


def _merge_values(base: Value | None, ours: Value | None, theirs: Value | None) -> Value:
    """Return the value of one field; of two different ones the greater, as dates go."""
    if ours is None or theirs is None or ours == theirs:
        return (ours if theirs is None else theirs) or ""
    if ours == base or theirs == base:
        return theirs if ours == base else ours
    if isinstance(ours, frozenset) and isinstance(theirs, frozenset):
        return merge_sets(base if isinstance(base, frozenset) else frozenset(), ours, theirs)
    if isinstance(ours, tuple) and isinstance(theirs, tuple):
        return _merge_lists(base if isinstance(base, tuple) else (), ours, theirs)
    return max(ours, theirs, key=str)


def merge_sets(
    base: Iterable[str], ours: Iterable[str], theirs: Iterable[str]
) -> frozenset[str]:  # fmt: skip
    """Return what both kept, and what either added."""
    old, one, other = frozenset(base), frozenset(ours), frozenset(theirs)
    return (one & other) | (one - old) | (other - old)


def _merge_lists(
    base: tuple[str, ...], ours: tuple[str, ...], theirs: tuple[str, ...]
) -> tuple[str, ...]:
    """Merge lists as sets that keep their order: what is new stays behind what it stood behind."""
    kept = [item for item in base if item in ours and item in theirs]
    behind: dict[str, set[str]] = defaultdict(set)
    for side in (ours, theirs):
        before = ""
        for item in side:
            if item in kept:
                before = item
            elif item not in base:
                behind[before].add(item)
    merged = [item for place in ("", *kept) for item in (place, *sorted(behind[place]))]
    return tuple(dict.fromkeys(filter(None, merged)))


def _renamed(base: Table, side: Table) -> dict[str, str]:
    """Return the new key of each record that went under one key and came under another.

    What tells is all that two records have in common, then less; never where two
    would do.
    """
    gone = {key: base[key] for key in base if key not in side}
    came = {key: side[key] for key in side if key not in base}
    found: dict[str, str] = {}
    for mark in (_placed_and_said, _said, _name, _title_and_description, _title, _description):
        if not gone or not came:
            break
        old = {key: mark(key, record) for key, record in gone.items()}
        new = {key: mark(key, record) for key, record in came.items()}
        counts = Counter(old.values()), Counter(new.values())
        by_mark = {said: key for key, said in new.items()}
        for key, said in old.items():
            if said is not None and counts[0][said] == 1 == counts[1][said]:
                found[key] = by_mark[said]
        gone = {key: record for key, record in gone.items() if key not in found}
        came = {key: record for key, record in came.items() if key not in found.values()}
    return found


def _name(key: str, _: Record) -> object:
    return key.rstrip("/").rpartition("/")[2]


def _title(key: str, record: Record) -> object:
    """Return the title that somebody gave; None for one that only follows from the key."""
    title = str(record.get("title", ""))
    derived = title_of(f"{unquote(key).removesuffix('.md').rstrip('/')}.md")
    return None if as_typed(title) == derived else title


def _description(_: str, record: Record) -> object:
    return record.get("description") or None


def _title_and_description(key: str, record: Record) -> object:
    both = (_title(key, record), _description(key, record))
    return None if None in both else both


def _said(key: str, record: Record) -> object:
    others = (value for name, value in sorted(record.items()) if name != "title")
    return (_title(key, record), *others)


def _placed_and_said(key: str, record: Record) -> object:
    return (_name(key, record), _said(key, record))


# -- the two forms -------------------------------------------------------------


def _read_tag_index(text: str) -> Table:
    return {
        entry.concept: {
            "type": entry.type,
            "title": entry.title,
            "description": entry.description,
            "aliases": entry.aliases,
            "status": entry.status,
            "date": entry.date,
            "tags": frozenset(entry.tags),
        }
        for entry in tags.read_tag_index(text.encode())
    }


def _write_tag_index(table: Table) -> bytes:
    return tags.tag_index(_concept(key, record) for key, record in table.items())


def _concept(key: str, record: Record) -> Concept:
    words = {name: str(record[name]) for name in ("type", "title", "description", "status", "date")}
    lists = {name: tuple(record[name]) for name in ("tags", "aliases")}
    return Concept(
        id=key, path=tags.concept_path(key), type=words["type"], title=words["title"],
        description=words["description"], status=words["status"], date=words["date"],
        tags=lists["tags"], aliases=lists["aliases"], superseded_by="", stale_after="", body="",
    )  # fmt: skip


def _read_index(text: str) -> Table:
    """Read the entries of an `index.md` by their links, each as it is written there."""
    table: Table = {}
    section = ""
    for line in text.split("\n"):
        entry = _ENTRY.fullmatch(line)
        if line.startswith(_HEADING):
            section = line.removeprefix(_HEADING)
        elif entry is not None:
            title, link, told = entry[1], entry[2], entry[3] or ""
            if link.endswith("/"):
                kinds = told.removesuffix(tags.MORE).split(", ")
                more = {tags.MORE} if told.endswith(tags.MORE) else set()
                table[link] = {"title": title, "kinds": frozenset({*kinds, *more})}
            else:
                table[link] = {"section": section, "title": title, "description": told}
    return table


def _write_index(table: Table, *, is_root: bool) -> bytes:
    folders: list[str] = []
    sections: dict[str, list[str]] = defaultdict(list)
    for link, record in table.items():
        if link.endswith("/"):
            kinds = sorted(set(record["kinds"]) - {tags.MORE}, key=as_typed)
            told = tags.kinds_told(kinds)
            more = tags.MORE in record["kinds"] and not told.endswith(tags.MORE)
            folders.append(f"* [{record['title']}]({link}) - {told}{tags.MORE if more else ''}\n")
        else:
            told = f" - {record['description']}" if record["description"] else ""
            sections[str(record["section"])].append(f"* [{record['title']}]({link}){told}\n")
    return tags.index_page(folders, sections, is_root=is_root)
