"""What holds for every text and every time of asking."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from memora_cli.text.date_words import NUMBER_WORDS, OPENING_WORDS
from memora_cli.text.dates import choose_window, find_windows
from memora_cli.text.holidays import HOLIDAY_WORDS
from memora_cli.text.stated_dates import stated_date

_JOINS = [
    "of",
    "and",
    "to",
    "ago",
    "before",
    "after",
    ",",
    ".",
    "-",
    "/",
    "(",
    ")",
    "'",
    "+",
    ":",
    "1",
    "2",
    "15",
    "31",
    "27th",
    "90",
    "s",
    "2019",
    "2019-02-30",
    "12/5",
    "5/12/19",
    "99999",
    "week",
    "day",
]
_WORDS = sorted(OPENING_WORDS | NUMBER_WORDS | HOLIDAY_WORDS | frozenset(_JOINS))
_ZONES = [UTC, ZoneInfo("America/Sao_Paulo"), ZoneInfo("Pacific/Apia"), timezone(timedelta(hours=14))]

times = st.datetimes(min_value=datetime(1, 1, 1), timezones=st.sampled_from(_ZONES))
date_like = st.lists(st.sampled_from(_WORDS), max_size=10).map(" ".join)
texts = st.one_of(st.text(max_size=60), date_like)


@given(texts, times, st.integers(0, 6))
@settings(max_examples=400, deadline=None)
def test_no_text_fails_and_every_range_starts_before_it_ends(text: str, at: datetime, week_start: int) -> None:
    windows = find_windows(text, at, week_start=week_start)
    for window in windows:
        assert window.text in text
        assert window.start is not None or window.end is not None
        if window.start is not None and window.end is not None:
            assert window.start < window.end
        for edge in (window.start, window.end):
            assert edge is None or edge.tzinfo is at.tzinfo
            assert edge is None or edge.astimezone(UTC)
    assert choose_window(windows) is None or choose_window(windows) in windows
    stated_date(text, at)


@given(times.filter(lambda at: at.year > 3))
@settings(deadline=None)
def test_last_month_lies_in_the_month_before(at: datetime) -> None:
    (window,) = find_windows("what did I do last month?", at)
    assert window.start is not None
    assert window.end is not None
    months = at.year * 12 + at.month - (window.start.year * 12 + window.start.month)
    assert (months, window.start.day) == (1, 1)
    assert (window.end.year, window.end.month, window.end.day) == (at.year, at.month, 1)


@given(
    st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2200, 1, 1)),
    st.sampled_from(["in June", "on 3 March", "Friday", "on the 14th", "29 February", "in winter", "Easter", "week 7"]),
)
@settings(deadline=None)
def test_without_a_year_the_last_one_not_in_the_future_is_meant(moment: datetime, text: str) -> None:
    at = moment.replace(tzinfo=UTC)
    (window,) = find_windows(text, at)
    assert window.start is not None
    assert at - timedelta(days=366 * 8) < window.start <= at


@given(
    st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2200, 1, 1)),
    st.sampled_from(["yesterday", "last week", "3 days ago", "in June", "last spring", "between May and July", "2019"]),
    st.sampled_from([timezone(timedelta(hours=hours)) for hours in (-11, 0, 14)]),
)
@settings(deadline=None)
def test_the_same_clock_gives_the_same_days_in_every_zone(moment: datetime, text: str, zone: timezone) -> None:
    here, there = (choose_window(find_windows(text, moment.replace(tzinfo=of))) for of in (UTC, zone))
    assert here is not None
    assert there is not None
    assert (here.start, here.end) == tuple(edge and edge.replace(tzinfo=UTC) for edge in (there.start, there.end))
