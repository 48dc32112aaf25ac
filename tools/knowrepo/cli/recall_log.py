"""``know recall --log``: what the log of recalls tells, as a page and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from knowrepo.cli.common import iso_date, say, show, show_json

if TYPE_CHECKING:
    from knowrepo.git.layout import Repository
    from knowrepo.recall.review import Review

_LABEL = 11  # columns


def show_or_clear(
    here: Repository, since: str, until: str, limit: int, *, clear: bool, as_json: bool
) -> None:
    """Print what the log tells of a period, with ``limit`` rows a table; or remove the log."""
    if clear:
        from knowrepo.recall import journal

        show("the log is removed" if journal.clear(here) else "there is no log")
        return
    show_log(here, iso_date("since", since), iso_date("until", until), limit=limit, as_json=as_json)


def show_log(here: Repository, since: str, until: str, *, limit: int, as_json: bool) -> None:
    """Print what the log tells of the recalls from ``since`` to ``until``, ISO or empty."""
    from knowrepo.recall import journal
    from knowrepo.recall.review import review

    found = review(here, since=since, until=until)
    off = journal.switched_off(here)
    if as_json:
        show_json(_facts(found, here, off, limit))
        return
    if found.recalls:
        for line in _lines(found, _names(here, found, limit), limit):
            show(line)
    else:
        show("no recall was noted" + (" in that time" if since or until else " yet"))
    if off:
        say(f"recalls are not noted now: {off} says so")


# -- for people -------------------------------------------------------------------


def _lines(found: Review, names: dict[str, str], limit: int) -> Iterator[str]:
    from knowrepo.cli.rows import as_table

    for label, text in _rows(found):
        yield f"{label:{_LABEL}}{text}"
    if found.unanswered:
        yield f"\nunanswered: {len(found.unanswered):,}, the newest first"
        rows = [(one.count, _day(one.last), one.why, one.query) for one in found.unanswered]
        yield from as_table(("times", "last", "why", "query"), rows[:limit])
    if found.most_opened:
        yield "\nopened most"
        opened = [(many, _day(last), names[uid]) for uid, many, last in found.most_opened[:limit]]
        yield from as_table(("times", "last", "hit"), opened)


def _rows(found: Review) -> Iterator[tuple[str, str]]:
    median = f"half of them within {found.milliseconds:.1f} ms"
    yield "recalls", f"{found.recalls:,}, {_day(found.first)} to {_day(found.last)}, {median}"
    yield "routes", _counts(found.routes)
    if any(found.askers):
        yield "asked by", _counts({name or "people": n for name, n in found.askers.items()})
    yield "confident", f"{found.confident:,} {_share(found.confident, found.recalls)}"
    opened = sum(found.opened.values())
    ranks = (("the first hit", 1, 1), ("the second", 2, 2), ("a later one", 3, 1 << 30))
    told = [
        f"{name} {number:,}"
        for name, low, high in ranks
        if (number := sum(n for rank, n in found.opened.items() if low <= rank <= high))
    ]
    share = f"{opened:,} {_share(opened, found.openable)}"
    yield "opened", ": ".join([share, *([", ".join(told)] if told else [])])
    yield "tokens", f"about {found.tokens_spared:,} spared, an estimate at 4 characters a token:"
    yield "", "the bodies of all hits, less what was printed and opened of them"


def _counts(numbers: dict[str, int]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in numbers.items())


def _share(number: int, of: int) -> str:
    return f"of {of:,} ({100 * number // of}%)" if of else "of 0"


def _day(time: str) -> str:
    return time[:16].replace("T", " ")


def _names(here: Repository, found: Review, limit: int) -> dict[str, str]:
    """Return what the ids that were opened most name now; one that names nothing stands alone."""
    from knowrepo.errors import KnowError
    from knowrepo.recall import ids, opening, present

    names: dict[str, str] = {}
    if not found.most_opened:
        return names
    with opening.current(here) as opened:
        for uid, _, _ in found.most_opened[:limit]:
            try:
                names[uid] = present.line(ids.resolve(opened.catalog, uid), scored=False)
            except KnowError:
                names[uid] = f"[{uid}] not there any more"
    return names


# -- for programs -----------------------------------------------------------------


def _facts(found: Review, here: Repository, off: str, limit: int) -> dict[str, Any]:
    from knowrepo.recall import journal, review

    return {
        "version": 1,
        "file": str(journal.files(here)[1]),
        "off": off,
        "recalls": found.recalls,
        "first": found.first,
        "last": found.last,
        "routes": found.routes,
        "askers": found.askers,
        "median_milliseconds": round(found.milliseconds, 2),
        "confident": found.confident,
        "openable": found.openable,
        "opened_at_rank": {str(rank): number for rank, number in found.opened.items()},
        "unanswered": [vars(one) for one in found.unanswered[:limit]],
        "unanswered_queries": len(found.unanswered),
        "most_opened": [
            {"id": uid, "count": many, "last": last}
            for uid, many, last in found.most_opened[:limit]
        ],
        "characters": {"printed": found.printed, "whole": found.whole, "opened": found.read},
        "tokens_spared": found.tokens_spared,
        "characters_a_token": review.CHARACTERS,
    }
