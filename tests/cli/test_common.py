"""What the commands share: one way to say a time."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from knowrepo.cli.common import iso_date, moment
from knowrepo.errors import UsageError

FORMS = [
    "2026", "2026-05", "2026-05-31", "20260531", "2026-05-31T10", "2026-05-31T10:00:00Z",
    "2026-05-31T12:00:00+02:00", "2026-05-31 10:00", "2026-W22", "12h", "7d", "3w",
]  # fmt: skip


@pytest.mark.parametrize("value", FORMS)
def test_a_time_means_the_same_as_text_and_as_a_number(value):
    text, number = iso_date("since", value), moment("since", value)
    begins = (text if len(text) > 4 else f"{text}-01") + ("-01" if len(text) < 8 else "")
    assert abs(datetime.fromisoformat(begins).replace(tzinfo=UTC).timestamp() - number) < 2


@pytest.mark.parametrize(("value", "hours"), [("12h", 12), ("7d", 168), ("3w", 504)])
def test_an_age_is_counted_back_from_now(value, hours):
    assert abs(time.time() - hours * 3600 - moment("since", value)) < 60


@pytest.mark.parametrize("value", ["2027-13", "2026-02-30", "0000", "27", "7x", "999999w", "now"])
@pytest.mark.parametrize("read", [iso_date, moment])
def test_what_is_no_time_is_wrong_usage_with_the_forms(read, value):
    with pytest.raises(UsageError) as error:
        read("since", value)
    assert "2026-05" in str(error.value.hint)
    assert f"--since {value}" in error.value.message


def test_a_day_is_a_day_however_it_is_spelt():
    assert iso_date("until", "20260531") == iso_date("until", "2026-05-31") == "2026-05-31"


def test_nothing_stays_nothing():
    assert iso_date("since", "") == ""
