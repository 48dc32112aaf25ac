"""How near the dates of chunks are to what a query says of time."""

from __future__ import annotations

from datetime import date

import pytest

from helpers import assistant, transcript, user
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog, Filter, Place
from knowrepo.recall.dates import near_dates
from knowrepo.recall.times import period
from knowrepo.sessions.archive import archive

TODAY = date(2026, 11, 30)


@pytest.fixture
def catalog(repository, tmp_path):
    records = [user("we ran the big migration", 1), assistant("done", 2)]
    list(archive(repository, [transcript(tmp_path / "in", records)]))
    refresh(repository)
    opened = Catalog.open(repository.catalog)
    assert opened is not None
    with opened:
        yield opened


def near(catalog: Catalog, query: str, *dates: str) -> list[float]:
    places = {number: Place(1, number, told, "") for number, told in enumerate(dates)}
    found = near_dates(catalog, query, period(query, TODAY), places, Filter()).near
    return [found.get(number, 0.0) for number in places]


def test_the_days_that_are_meant_count_fully_and_those_after_them_less_and_less(catalog):
    told = near(
        catalog, "what broke on 5 May 2026",
        "2026-05-05T10:00:00Z", "2026-05-06", "2026-05-12", "2026-07-01", "2026-05-04", "",
    )  # fmt: skip
    assert told[0] == 1.0
    assert 1.0 > told[1] > told[2] > 0
    assert told[3:] == [0.0, 0.0, 0.0]


def test_a_month_without_a_year_counts_in_other_years_too_but_less(catalog):
    assert near(catalog, "what broke in May", "2026-05-05", "2024-05-05", "2024-06-05") == [
        1.0, 0.5, 0.0,
    ]  # fmt: skip
    assert near(catalog, "what broke in May 2026", "2024-05-05") == [0.0]


def test_lately_is_weak_evidence(catalog):
    assert 0 < near(catalog, "what did we change recently", "2026-11-20")[0] < 0.5


def test_an_event_is_dated_by_the_chunk_that_names_it(catalog):
    day = catalog.newest(1, Filter())[0].date[:10]
    before, after = near(
        catalog, "what did we use before the big migration", "2020-01-01", "2999-01-01"
    )
    assert (before > 0, after) == (True, 0.0)
    assert near(catalog, "what came after the big migration", "2020-01-01", "2999-01-01")[0] == 0.0
    told = near_dates(catalog, "what came after the big migration", None, {}, Filter()).said
    assert day in told


def test_an_event_that_nothing_names_and_no_time_at_all_say_nothing(catalog):
    assert near(catalog, "what came after the xyzzy plugh", "2026-01-01") == [0.0]
    assert near(catalog, "how do hooks work", "2026-11-30") == [0.0]
