from __future__ import annotations

import sys
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowrepo.index.text import content_words
from knowrepo.recall.times import Event, Period, event, period

TODAY = date(2026, 11, 18)  # a Wednesday


def days(query: str, today: date = TODAY) -> tuple[str, str] | None:
    found = period(query, today)
    return found and (found.since, found.until)


FROM_TODAY = {
    "what did we do today": ("2026-11-18", "2026-11-18"),
    "what broke this morning": ("2026-11-18", "2026-11-18"),
    "yesterday's deploy": ("2026-11-17", "2026-11-17"),
    "the day before yesterday": ("2026-11-16", "2026-11-16"),
    "who was here last night": ("2026-11-17", "2026-11-18"),
    "30 minutes ago": ("2026-11-17", "2026-11-18"),
    "three days ago": ("2026-11-15", "2026-11-15"),
    "a few days ago": ("2026-11-13", "2026-11-16"),
    "the other day": ("2026-11-11", "2026-11-17"),
    "two weeks ago": ("2026-11-01", "2026-11-07"),
    "a couple of months ago": ("2026-08-03", "2026-10-03"),
    "a year ago": ("2025-05-20", "2026-05-19"),
    "last week": ("2026-11-09", "2026-11-15"),
    "the week before last": ("2026-11-02", "2026-11-08"),
    "this week": ("2026-11-16", "2026-11-22"),
    "last weekend": ("2026-11-14", "2026-11-15"),
    "last month": ("2026-10-01", "2026-10-31"),
    "last quarter": ("2026-07-01", "2026-09-30"),
    "late last year": ("2025-09-01", "2025-12-31"),
    "in the past week": ("2026-11-11", "2026-11-18"),
    "past 10 days": ("2026-11-08", "2026-11-18"),
    "over the last couple of weeks": ("2026-10-28", "2026-11-18"),
    "in the last 36h": ("2026-11-16", "2026-11-18"),
    "since 3 days": ("2026-11-15", "2026-11-18"),
}  # fmt: skip
NAMED = {
    "on Monday": ("2026-11-16", "2026-11-16"),
    "wednesday": ("2026-11-18", "2026-11-18"),
    "last Wednesday": ("2026-11-11", "2026-11-11"),
    "Tuesday last week": ("2026-11-10", "2026-11-10"),
    "Monday, May 4": ("2026-05-04", "2026-05-04"),
    "since Fri": ("2026-11-13", "2026-11-18"),
    "in May": ("2026-05-01", "2026-05-31"),
    "in December": ("2025-12-01", "2025-12-31"),
    "last November": ("2025-11-01", "2025-11-30"),
    "december release": ("2025-12-01", "2025-12-31"),
    "may 2024": ("2024-05-01", "2024-05-31"),
    "May of last year": ("2025-05-01", "2025-05-31"),
    "the May 5 outage": ("2026-05-05", "2026-05-05"),
    "what failed on may 5": ("2026-05-05", "2026-05-05"),
    "5 May": ("2026-05-05", "2026-05-05"),
    "the 5th of may": ("2026-05-05", "2026-05-05"),
    "May 5th, 2023": ("2023-05-05", "2023-05-05"),
    "Feb 29": ("2024-02-29", "2024-02-29"),
    "the week of May 5": ("2026-05-04", "2026-05-10"),
    "the first week of May": ("2026-05-01", "2026-05-31"),
    "early May": ("2026-05-01", "2026-05-10"),
    "mid-May": ("2026-05-11", "2026-05-20"),
    "late may 2025": ("2025-05-21", "2025-05-31"),
    "the beginning of March": ("2026-03-01", "2026-03-10"),
    "in spring 2024": ("2024-03-01", "2024-05-31"),
    "fall 2023": ("2023-09-01", "2023-11-30"),
    "in summer": ("2026-06-01", "2026-08-31"),
    "last winter": ("2025-12-01", "2026-02-28"),
    "winter 2025": ("2025-12-01", "2026-02-28"),
    "winter 2026": ("2025-12-01", "2026-02-28"),  # that of December has not begun
    "Q3 2025": ("2025-07-01", "2025-09-30"),
    "2025-Q3": ("2025-07-01", "2025-09-30"),
    "since Q3": ("2026-07-01", "2026-11-18"),
    "the second quarter of 2025": ("2025-04-01", "2025-06-30"),
    "first half of 2025": ("2025-01-01", "2025-06-30"),
    "in 2024": ("2024-01-01", "2024-12-31"),
    "mid 2025": ("2025-05-02", "2025-08-31"),
}  # fmt: skip
IN_DIGITS = {
    "2026-05-01": ("2026-05-01", "2026-05-01"),
    "(2026-05-01)": ("2026-05-01", "2026-05-01"),
    "2026-05-01T10:30:00Z": ("2026-05-01", "2026-05-01"),
    "2026/05/01": ("2026-05-01", "2026-05-01"),
    "2026-05": ("2026-05-01", "2026-05-31"),
    "2026-W18": ("2026-04-27", "2026-05-03"),
    "01.05.2026": ("2026-05-01", "2026-05-01"),
    "1.2.2024": ("2024-02-01", "2024-02-01"),
    "05/01/2026": ("2026-05-01", "2026-05-01"),
    "25/12/2025": ("2025-12-25", "2025-12-25"),
    "12/1/2026": ("2026-01-12", "2026-01-12"),  # the first of December is still to come
}  # fmt: skip
BOUNDED = {
    "since May": ("2026-05-01", "2026-11-18"),
    "since the beginning of May": ("2026-05-01", "2026-11-18"),
    "since yesterday": ("2026-11-17", "2026-11-18"),
    "after 2026-05-01": ("2026-05-02", "2026-11-18"),
    "before May 2023": ("0001-01-01", "2023-04-30"),
    "until June 5": ("0001-01-01", "2026-06-05"),
    "by the end of May": ("0001-01-01", "2026-05-31"),
    "from 2026-05-01 on": ("2026-05-01", "2026-11-18"),
    "the log from yesterday": ("2026-11-17", "2026-11-17"),
    "between May 3 and June 4": ("2026-05-03", "2026-06-04"),
    "between 2026-06-04 and 2026-05-03": ("2026-05-03", "2026-06-04"),
    "from May to July": ("2026-05-01", "2026-07-31"),
    "from November to January": ("2025-11-01", "2026-01-31"),
    "from May 2023 to July": ("2023-05-01", "2023-07-31"),
    "from monday to wednesday": ("2026-11-16", "2026-11-18"),
    "2026-05-01..2026-05-09": ("2026-05-01", "2026-05-09"),
    "2026-05-01 - 2026-05-09": ("2026-05-01", "2026-05-09"),
}  # fmt: skip
ELSEWHERE = {
    "gestern": ("2026-11-17", "2026-11-17"),
    "vorgestern": ("2026-11-16", "2026-11-16"),
    "was haben wir letzte Woche geändert": ("2026-11-09", "2026-11-15"),
    "vor zwei Wochen": ("2026-11-01", "2026-11-07"),
    "vor Mai 2023": ("0001-01-01", "2023-04-30"),
    "seit Mai": ("2026-05-01", "2026-11-18"),
    "im März 2025": ("2025-03-01", "2025-03-31"),
    "5. Mai": ("2026-05-05", "2026-05-05"),
    "pourquoi est-ce que le serveur est tombé hier": ("2026-11-17", "2026-11-17"),
    "la semaine dernière": ("2026-11-09", "2026-11-15"),
    "lundi dernier": ("2026-11-16", "2026-11-16"),
    "il y a 3 jours": ("2026-11-15", "2026-11-15"),
    "en février": ("2026-02-01", "2026-02-28"),
    "l'année dernière": ("2025-01-01", "2025-12-31"),
    "昨天的部署": ("2026-11-17", "2026-11-17"),
    "上周修了什么": ("2026-11-09", "2026-11-15"),
    "三天前": ("2026-11-15", "2026-11-15"),
    "2026年5月1日": ("2026-05-01", "2026-05-01"),
    "2025年的决定": ("2025-01-01", "2025-12-31"),
    "2026年5月以降": ("2026-05-01", "2026-11-18"),
    "2026年5月之前": ("0001-01-01", "2026-04-30"),
    "5月に直したバグ": ("2026-05-01", "2026-05-31"),
    "先月": ("2026-10-01", "2026-10-31"),
    "2週間前": ("2026-11-01", "2026-11-07"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        item
        for table in (FROM_TODAY, NAMED, IN_DIGITS, BOUNDED, ELSEWHERE)
        for item in table.items()
    ],
)
def test_words_of_time_mean_days(query, expected):
    assert days(query) == expected
    assert days(f"xyz {query}") == expected


@pytest.mark.parametrize("query", [
    "it may fail", "May I ask", "may 5 threads write at once", "all 5 may be needed",
    "march of the penguins", "this may be slow", "by May Chen", "written by April",
    "sun.misc", "sat solver", "on mon server", "a second try", "the second half", "last commit",
    "spring boot", "in spring boot", "this spring boot service", "fall back", "end of file",
    "late binding", "the last 3 commits", "last minute", "week 20",
    "python 3.11.7", "1.2.3", "v2024.1", "2024.1", "2024.01.02", "10.12.2024.1", "10.0.19041",
    "error 2013", "port 2024", "in 2024 sessions", "after 2048 tokens", "in 1024",
    "10:30", "24/7", "12h", "2 days", "#2024", "Q4_K_M", "h264", "2024-2025", "CVE-2026-05",
    "2026/05/01/x.md", "sessions/2026-05-01.jsonl", "4f2026-05-01", "20260501", "2026-05-01x",
    "2026-13-01", "30.02.2026", "1999-99", "0.0.2024", "2026年13月", "hier ist ein Fehler",
    "node@latest", "the latest tag", "before the migration", "", "   ", "…",
])  # fmt: skip
def test_what_only_looks_like_time_is_none(query):
    assert period(query, TODAY) is None


def test_a_vague_word_counts_where_no_days_are_named():
    vague = period("recently changed hooks", TODAY)
    assert vague == Period("2026-10-19", "2026-11-18", "recently", frozenset({"recently"}), True)
    assert days("最近の変更") == ("2026-10-19", "2026-11-18")
    named = period("the latest changes in May", TODAY)
    assert named is not None
    assert (named.since, named.said, named.vague) == ("2026-05-01", "in May", False)


def test_a_month_is_the_last_that_has_begun():
    assert days("in May", date(2026, 4, 30)) == ("2025-05-01", "2025-05-31")
    assert days("in May", date(2026, 5, 1)) == ("2026-05-01", "2026-05-31")
    assert days("in May", date(2026, 12, 24)) == ("2026-05-01", "2026-05-31")


def test_what_was_said_is_told_with_words_that_are_asked_for_nowhere_else():
    found = period("why did Mid-May's build fail", TODAY)
    assert found is not None
    assert found.said == "Mid-May's"
    assert {"mid", "may"} <= found.words
    query = "which parser broke on the 5th of May, 2023?"
    found = period(query, TODAY)
    assert found is not None
    assert found.said == "on the 5th of May, 2023"
    assert [w for w in content_words(query) if w not in found.words] == ["parser", "broke"]


@pytest.mark.parametrize(("query", "expected"), [
    ("how did we deploy before the migration to postgres?", ("before", "migration to postgres")),
    ("before the migration, how did we deploy", ("before", "migration")),
    ("what changed since our last release", ("since", "last release")),
    ("which hook ran when the server crashed", ("during", "server crashed")),
    ("After the rewrite of `parser.py` how fast is it", ("after", "rewrite of parser.py")),
    ("till that outage", ("until", "outage")),
])  # fmt: skip
def test_an_event_that_says_when_is_told_with_its_relation(query, expected):
    assert event(query) == Event(*expected)


@pytest.mark.parametrize("query", [
    "when did we migrate", "before migrating", "before the", "after the, then", "since the 5th of",
    "since the beginning of May", "since the last week", "before the weekend", "before, the end",
    "after the other", "", "during",
])  # fmt: skip
def test_a_time_or_a_question_is_no_event(query):
    assert event(query) is None


PIECES = st.sampled_from([
    "last", "past", "week", "weeks", "ago", "3", "99", "9999", "0", "of", "the", "in", "since",
    "before", "until", "between", "and", "to", "from", "on", "May", "may", "Feb", "29", "31st",
    "Monday", "sun", "early", "mid", "end", "spring", "winter", "Q4", "h2", "2024", "1970", "2099",
    "2026-02-30", "2026-W53", "1/2/2024", "..", "-", "vor", "il", "y", "a", "few", "couple",
    "dernier", "this", "second", "quarter", "yesterday", "years", "weekend", "other", "day",
    "昨天", "5月", "年前", "九", "99年前", "以来", "９９９年前", "²", "\ud800", "’s", "l'",
])  # fmt: skip


@given(
    st.one_of(
        st.lists(PIECES, max_size=12).map(" ".join),
        st.lists(PIECES, max_size=8).map("".join),
        st.text(st.characters(exclude_categories=[]), max_size=80),
    ),
    st.dates(),
)
def test_any_text_on_any_day_gives_days_in_order_or_none(query, today):
    found = period(query, today)
    if found:
        assert date.fromisoformat(found.since) <= date.fromisoformat(found.until)
        assert found.said in query
        assert found.said.strip()
    named = event(query)
    assert named is None or named.phrase.strip()


def test_a_query_without_time_loads_none_of_its_grammar(monkeypatch):
    for name in ("phrases", "unspaced"):
        monkeypatch.setitem(sys.modules, f"knowrepo.recall.times.{name}", None)
    assert period("why does port 8080 answer with error 404 in v1.2", TODAY) is None
    with pytest.raises(ImportError):
        period("last week", TODAY)
