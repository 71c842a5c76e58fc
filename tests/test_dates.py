"""What people mean by the times they write: a table of expressions, and of words that only look like times."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from memora_cli.text.date_words import scan_text
from memora_cli.text.dateparser_fallback import dateparser_windows
from memora_cli.text.dates import choose_window, find_windows
from memora_cli.values import Window

# A Wednesday.
AT = datetime(2025, 6, 18, 15, 30, tzinfo=UTC)


def meant(text: str, at: datetime = AT, *, week_start: int = 0) -> str:
    """The chosen range as "start end", days alone when both are midnights; "none" when nothing is found."""
    window = choose_window(find_windows(text, at, week_start=week_start))
    return "none" if window is None else f"{written(window.start)} {written(window.end)}"


def written(edge: datetime | None) -> str:
    if edge is None:
        return "…"
    return f"{edge:%Y-%m-%d}" if edge.hour == edge.minute == 0 else f"{edge:%Y-%m-%dT%H:%M}"


SAID = {
    # days
    "today": "2025-06-18 2025-06-19",
    "what did I promise yesterday": "2025-06-17 2025-06-18",
    "the day before yesterday": "2025-06-16 2025-06-17",
    "who is coming tomorrow": "2025-06-19 2025-06-20",
    "yesterday at 5pm": "2025-06-17 2025-06-18",
    "at 17:30 on May 2": "2025-05-02 2025-05-03",
    "yesterday morning": "2025-06-17T05:00 2025-06-17T12:00",
    "last night": "2025-06-17T18:00 2025-06-18",
    "the evening of 4 May": "2025-05-04T18:00 2025-05-05",
    # weekdays
    "what did we agree on Monday?": "2025-06-16 2025-06-17",
    "Friday": "2025-06-13 2025-06-14",
    "last Friday": "2025-06-13 2025-06-14",
    "last Wednesday": "2025-06-11 2025-06-12",
    "this Friday": "2025-06-20 2025-06-21",
    "next Friday": "2025-06-27 2025-06-28",
    "Friday of last week": "2025-06-13 2025-06-14",
    "last week, on Tuesday": "2025-06-10 2025-06-11",
    "three Tuesdays ago": "2025-06-03 2025-06-04",
    "the Saturday before last": "2025-06-07 2025-06-08",
    "the Friday before Christmas": "2024-12-20 2024-12-21",
    "Thursday the 5th": "2025-06-05 2025-06-06",
    "Monday night last week": "2025-06-09T18:00 2025-06-10",
    # weeks and weekends
    "this week": "2025-06-16 2025-06-23",
    "last week": "2025-06-09 2025-06-16",
    "the week before last": "2025-06-02 2025-06-09",
    "the weekend": "2025-06-14 2025-06-16",
    "two weekends ago": "2025-06-07 2025-06-09",
    "in the week of 7 April": "2025-04-07 2025-04-14",
    "the week starting 8 April": "2025-04-08 2025-04-15",
    "first week of March": "2025-03-03 2025-03-10",
    "week 12 of 2024": "2024-03-18 2024-03-25",
    "end of last week": "2025-06-13 2025-06-16",
    # months
    "in June": "2025-06-01 2025-07-01",
    "in July": "2024-07-01 2024-08-01",
    "last month": "2025-05-01 2025-06-01",
    "notes of Feb 2024": "2024-02-01 2024-03-01",
    "September '23": "2023-09-01 2023-10-01",
    "March of last year": "2024-03-01 2024-04-01",
    "last year in April": "2024-04-01 2024-05-01",
    "2/2024": "2024-02-01 2024-03-01",
    "2024-02": "2024-02-01 2024-03-01",
    "early April": "2025-04-01 2025-04-16",
    "mid-April": "2025-04-10 2025-04-21",
    "the end of February 2024": "2024-02-21 2024-03-01",
    "the last day of February 2024": "2024-02-29 2024-03-01",
    "third Thursday of May": "2025-05-15 2025-05-16",
    "last Sunday of March 2024": "2024-03-31 2024-04-01",
    # dates
    "3 May 2024": "2024-05-03 2024-05-04",
    "May 3rd, 2024": "2024-05-03 2024-05-04",
    "the third of May, twenty twenty-four": "2024-05-03 2024-05-04",
    "2024-05-03": "2024-05-03 2024-05-04",
    "2024-05-03T08:15:00Z": "2024-05-03 2024-05-04",
    "20240503": "2024-05-03 2024-05-04",
    "5/3/2024": "2024-05-03 2024-05-04",
    "25/3/2024": "2024-03-25 2024-03-26",
    "3.5.2024": "2024-05-03 2024-05-04",
    "03-May-24": "2024-05-03 2024-05-04",
    "Fri, 3 May 2024": "2024-05-03 2024-05-04",
    "Fri May  3 10:36:28 UTC 2024": "2024-05-03 2024-05-04",
    "5th Sept., 2019": "2019-09-05 2019-09-06",
    "Friday, 3 May": "2024-05-03 2024-05-04",
    "June 17": "2025-06-17 2025-06-18",
    "June 19": "2024-06-19 2024-06-20",
    "on the 20th": "2025-05-20 2025-05-21",
    "the 3rd of last month": "2025-05-03 2025-05-04",
    "6/17": "2025-06-17 2025-06-18",
    "5 March last year": "2024-03-05 2024-03-06",
    # seasons, quarters, years and longer
    "last spring": "2024-03-01 2024-06-01",
    "in the summer of 2023": "2023-06-01 2023-09-01",
    "last winter": "2024-12-01 2025-03-01",
    "Q1": "2025-01-01 2025-04-01",
    "2024Q3": "2024-07-01 2024-10-01",
    "the second quarter of last year": "2024-04-01 2024-07-01",
    "first half of 2024": "2024-01-01 2024-07-01",
    "in 2019": "2019-01-01 2020-01-01",
    "tax return 2023": "2023-01-01 2024-01-01",
    "in nineteen eighty-four": "1984-01-01 1985-01-01",
    "the year before last": "2023-01-01 2024-01-01",
    "end of last year": "2024-09-01 2025-01-01",
    "the 90s": "1990-01-01 2000-01-01",
    "music of the 70s and 80s": "1970-01-01 1980-01-01",
    "May 2024 to now": "2024-05-01 2025-06-19",
    "in the late nineties": "1996-01-01 2000-01-01",
    "the nineteenth century": "1800-01-01 1900-01-01",
    # distances
    "3 days ago": "2025-06-15 2025-06-16",
    "a couple of weeks ago": "2025-06-04 2025-06-05",
    "two years and a month ago": "2023-05-18 2023-05-19",
    "half a year ago": "2024-12-18 2024-12-19",
    "2-3 weeks ago": "2025-05-28 2025-06-05",
    "10 days before 1 May 2024": "2024-04-21 2024-04-22",
    "the week after Easter 2024": "2024-04-01 2024-04-08",
    "1 yr. ago": "2024-06-18 2024-06-19",
    "2 hours ago": "2025-06-18T13:00 2025-06-18T14:00",
    "last three days": "2025-06-15 2025-06-18",
    "last 2 months": "2025-04-01 2025-06-01",
    "in the last 2 months": "2025-04-18 2025-06-18T15:30",
    "over the past ten days": "2025-06-08 2025-06-18T15:30",
    "31 May that is -3 days": "2025-05-31 2025-06-01",
    # ranges
    "between March and May": "2025-03-01 2025-06-01",
    "from November to February": "2024-11-01 2025-03-01",
    "from Monday to Friday": "2025-06-09 2025-06-14",
    "between 2015 and 2018": "2015-01-01 2019-01-01",
    "Aug 10 - Sep 2, 2023": "2023-08-10 2023-09-03",
    "4-22 January 2024": "2024-01-04 2024-01-23",
    "May 3rd to 9th": "2025-05-03 2025-05-10",
    "after March 2023 and before June 2024": "2023-04-01 2024-06-01",
    "since 2020": "2020-01-01 …",
    "since last Monday": "2025-06-16 …",
    "after Easter": "2025-04-21 …",
    "before May 2024": "… 2024-05-01",
    "until 3 May 2024": "… 2024-05-04",
    "more than two years ago": "… 2023-06-18",
    # holidays
    "Christmas": "2024-12-25 2024-12-26",
    "New Year's Eve 2021": "2021-12-31 2022-01-01",
    "last Thanksgiving": "2024-11-28 2024-11-29",
    "Good Friday 2024": "2024-03-29 2024-03-30",
    "Labor Day weekend 2024": "2024-08-31 2024-09-03",
}

NOT_TIMES = [
    "may I ask", "it may be", "you may 2 times", "May Smith called", "June said hello", "tell jan about it",
    "we march on", "march on Washington", "a long march", "I saw the second draft", "second", "a second opinion",
    "the sun is bright", "she sat down", "sat on it", "they wed", "mon ami", "the fall of Rome", "don't fall for it",
    "spring boot", "spring cleaning", "august company", "we", "room 101", "room 2019", "error 2024", "port 2020",
    "version 3.2", "v2.0.15", "python 3.11", "192.168.1.10", "costs $2000", "2000 people", "42", "1234", "3 cats",
    "24/7 support", "rated 8/10", "1/2 cup", "pages 10-20", "555-1234", "at 5pm", "10:30", "it took 3 days",
    "every Monday", "every 2 weeks", "each year", "last name", "next steps", "the first", "at the end of the day",
    "in his thirties", "90s timeout", "once upon a time", "before you go", "since I moved", "between you and me",
    "from Anna to Bob", "on the 4th floor", "one thousand", "19th century bc", "in the past", "", "…", "2024-13-45",
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), SAID.items(), ids=list(SAID))
def test_an_expression_means_what_people_mean_by_it(text: str, expected: str) -> None:
    assert meant(text) == expected


@pytest.mark.parametrize("text", NOT_TIMES)
def test_words_that_only_look_like_dates_are_none(text: str) -> None:
    assert find_windows(text, AT) == ()


def test_the_words_of_a_window_are_exactly_those_of_the_text() -> None:
    text = "What did Alice do  LAST   Spring, and since\tMay 2024?"
    assert [window.text for window in find_windows(text, AT)] == ["LAST   Spring", "since\tMay 2024"]


def test_windows_come_in_the_order_of_the_text() -> None:
    found = find_windows("in 2019, last week, and on 3 May 2024", AT)
    assert [window.text for window in found] == ["2019", "last week", "3 May 2024"]


def test_the_narrowest_closed_window_is_chosen() -> None:
    chosen = choose_window(find_windows("since 2010, in 2024, on the Tuesday of last week, this year", AT))
    assert chosen is not None
    assert chosen.text == "the Tuesday of last week"


def test_an_open_window_is_chosen_when_there_is_no_other() -> None:
    assert choose_window(find_windows("all I wrote since May", AT)) == Window(
        datetime(2025, 5, 1, tzinfo=UTC), None, "since May", "month"
    )


def test_no_window_is_chosen_of_none() -> None:
    assert choose_window(()) is None


def test_the_grain_is_the_unit_that_was_said() -> None:
    said = {"last week": "week", "3 May": "day", "in 2019": "year", "two weeks ago": "week", "last spring": "season"}
    assert {text: find_windows(text, AT)[0].grain for text in said} == said


def test_weeks_start_on_the_day_asked_for() -> None:
    assert meant("last week", week_start=6) == "2025-06-08 2025-06-15"
    assert meant("Sunday of last week", week_start=6) == "2025-06-08 2025-06-09"


def test_may_16_typed_on_18_may_is_two_days_ago() -> None:
    assert meant("May 16", datetime(2025, 5, 18, 9, tzinfo=UTC)) == "2025-05-16 2025-05-17"


@pytest.mark.parametrize(("zone", "expected"), [("Pacific/Midway", 23), ("Pacific/Kiritimati", 24)])
def test_yesterday_is_the_calendar_day_of_the_one_who_asks(zone: str, expected: int) -> None:
    at = datetime(2025, 11, 24, 12, tzinfo=UTC).astimezone(ZoneInfo(zone))
    (window,) = find_windows("yesterday", at)
    assert window.start == datetime(2025, 11, expected, tzinfo=ZoneInfo(zone))
    assert window.end == datetime(2025, 11, expected + 1, tzinfo=ZoneInfo(zone))


def test_today_holds_the_moment_of_asking() -> None:
    for hour in range(24):
        at = AT.replace(hour=hour)
        (window,) = find_windows("today", at)
        assert window.start is not None
        assert window.end is not None
        assert window.start <= at < window.end


def test_days_are_as_long_as_the_clock_change_makes_them() -> None:
    at = datetime(2025, 3, 31, 12, tzinfo=ZoneInfo("Europe/Berlin"))
    (window,) = find_windows("yesterday", at)
    assert window.start is not None
    assert window.end is not None
    assert window.end.astimezone(UTC) - window.start.astimezone(UTC) == timedelta(hours=23)


def test_hours_ago_are_counted_in_real_time() -> None:
    at = datetime(2025, 3, 30, 3, 30, tzinfo=ZoneInfo("Europe/Berlin"))  # 2:00 to 3:00 did not exist
    assert meant("an hour ago", at) == "2025-03-30T01:00 2025-03-30T02:00"


@pytest.fixture(params=["Pacific/Midway", "UTC", "Pacific/Kiritimati"])
def process_zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of a process cannot be changed on this system")
def test_answers_do_not_depend_on_the_zone_of_the_process(process_zone: str) -> None:
    at = AT.astimezone(timezone(timedelta(hours=5, minutes=30)))
    expected = {
        "yesterday": "2025-06-17 2025-06-18",
        "an hour ago": "2025-06-18T20:00 2025-06-18T21:00",
        "2024-02-03": "2024-02-03 2024-02-04",
        "in the last 2 weeks": "2025-06-04 2025-06-18T21:00",
    }
    assert {text: meant(text, at) for text in expected} == expected


def test_a_time_of_asking_without_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        find_windows("yesterday", datetime(2025, 6, 18))


def test_a_question_is_parsed_in_under_two_milliseconds() -> None:
    def milliseconds(text: str) -> float:
        start = time.perf_counter()
        find_windows(text, AT)
        return (time.perf_counter() - start) * 1000

    assert statistics.median(milliseconds(f"What did Alice tell me {text} about it?") for text in SAID) < 2


def test_nested_words_take_no_exponential_time() -> None:
    start = time.perf_counter()
    for word in ("early ", "the week before ", "first of ", "since ", "1 - ", "march to ", "in the "):
        find_windows(word * 1000, AT)
    assert time.perf_counter() - start < 5


def test_dateparser_reads_plausible_dates_and_nothing_else() -> None:
    def read(text: str) -> list[str]:
        return [written(window.start) for window in dateparser_windows(scan_text(text, AT, 0))]

    assert read("it was on the 5th day of May 2019, I think") == ["2019-05-05"]
    for text in NOT_TIMES:
        assert read(text) == []


def test_parsing_a_range_imports_no_dateparser() -> None:
    code = (
        "import sys; from datetime import datetime, UTC; from memora_cli.text.dates import find_windows; "
        "assert find_windows('last spring', datetime.now(UTC)); assert not find_windows('hello', datetime.now(UTC)); "
        "print(sorted({'dateparser', 'numpy'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ), check=True)
    assert run.stdout.strip() == "[]"
