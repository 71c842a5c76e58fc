"""`memora when`, and the dates that notes state about themselves."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

AT = "2025-11-24T14:54:57+00:00"


def test_when_tells_the_span_its_grain_and_the_words_it_came_from(memora):
    answer = memora("when", "What did Alice do last spring?", "--at", AT, "--json").json
    assert (answer["start"], answer["end"]) == ("2024-03-01T00:00:00+00:00", "2024-06-01T00:00:00+00:00")
    assert (answer["grain"], answer["text"]) == ("season", "last spring")


def test_when_prints_first_and_last_day_in_a_pipe(memora):
    assert memora("when", "last year", "--at", AT).out == "Mon 2024-01-01\tTue 2024-12-31\tyear\tlast year\n"


def test_of_several_times_the_narrowest_is_taken_and_all_are_told(memora):
    answer = memora("when", "in 2023 or on 3 May 2023", "--at", AT, "--json").json
    assert answer["start"] == "2023-05-03T00:00:00+00:00"
    assert len(answer["windows"]) == 2


def test_of_several_times_a_pipe_is_told_which_is_taken(memora):
    rows = [line.split("\t") for line in memora("when", "in 2023 or on 3 May 2023", "--at", AT).out.splitlines()]
    assert [row[-1] for row in rows] == ["no", "yes"]


def test_the_present_moment_may_be_said_in_weeks_that_start_on_another_day(memora, monkeypatch):
    monkeypatch.setenv("MEMORA_WEEK_START", "sunday")
    answer = memora("when", "today", "--at", "this week", "--json").json
    assert datetime.fromisoformat(answer["at"]).weekday() == 6


def test_no_time_is_an_answer_too(memora):
    outcome = memora("when", "may I march on", "--at", AT)
    assert outcome.out == ""
    assert "no time" in outcome.err
    assert memora("when", "may I march on", "--at", AT, "--json").json["start"] is None


def test_an_open_range_has_one_end(memora):
    answer = memora("when", "since June", "--at", AT, "--json").json
    assert answer["start"] == "2025-06-01T00:00:00+00:00"
    assert answer["end"] is None


def test_json_lines_are_answered_one_each_in_their_order(memora):
    asked = "".join(json.dumps({"text": text, "at": AT}) + "\n" for text in ("last year", "nothing", "in June"))
    answers = [json.loads(line) for line in memora("when", "-", stdin=asked).out.splitlines()]
    assert [answer["start"] for answer in answers] == ["2024-01-01T00:00:00+00:00", None, "2025-06-01T00:00:00+00:00"]


@pytest.mark.parametrize("line", ["[]", "{}", '{"text": 5}', "no json", '{"text": "today", "at": "never"}', "\xff"])
def test_a_line_that_cannot_be_read_is_answered_with_its_error_and_the_rest_goes_on(memora, line):
    outcome = memora("when", "-", stdin=f'{line}\n{{"text": "last year", "at": "{AT}"}}\n', code=1)
    first, second = map(json.loads, outcome.out.splitlines())
    assert "error" in first
    assert second["text"] == "last year"


@pytest.mark.parametrize("zone", ["Pacific/Midway", "Pacific/Kiritimati"])
def test_yesterday_is_the_users_calendar_day(memora, monkeypatch, zone):
    monkeypatch.setenv("TZ", zone)
    answer = memora("when", "yesterday", "--json").json
    today = datetime.now(ZoneInfo(zone)).date()
    assert datetime.fromisoformat(answer["start"]).date() in {today - timedelta(days=1), today - timedelta(days=2)}
    assert datetime.fromisoformat(answer["start"]).utcoffset() == datetime.now(ZoneInfo(zone)).utcoffset()


def test_a_date_that_the_text_states_about_itself_is_its_event_time_and_is_told(memora):
    outcome = memora("add", "On 3 May 2024 we moved to Lisbon", "--at", AT, "--no-embed")
    assert outcome.out == "1\n"
    assert "2024-05-03" in outcome.err
    shown = memora("show", "1", "--json").json["notes"][0]
    assert shown["occurred_start"].startswith("2024-05-03")


def test_no_date_leaves_it_out(memora):
    assert memora("add", "On 3 May 2024 we moved", "--at", AT, "--no-embed", "--no-date").err == ""
    assert memora("show", "1", "--json").json["notes"][0]["occurred_start"] is None


def test_occurred_is_read_as_people_say_it(memora):
    memora("add", "We hiked", "--occurred", "last spring", "--at", AT, "--no-embed")
    shown = memora("show", "1", "--json").json["notes"][0]
    assert (shown["occurred_start"][:10], shown["occurred_end"][:10]) == ("2024-03-01", "2024-06-01")


def test_an_occurred_that_names_no_time_is_refused_and_nothing_is_added(memora):
    assert memora("add", "We hiked", "--occurred", "purple", "--no-embed", code=2).out == ""
    assert memora("list", "--ids").out == ""


def test_since_and_until_today_is_today_and_not_nothing(memora):
    memora("add", "a note of today", "--no-embed")
    assert memora("search", "note", "--since", "today", "--until", "today", "--ids").out == "1\n"


def test_since_and_until_are_hard_but_a_time_in_the_question_is_not(memora):
    memora("add", "skiing in the Alps", "--occurred", "2020-01-05", "--no-embed")
    memora("add", "skiing near Oslo", "--occurred", "2024-02-05", "--no-embed")
    found = memora("search", "skiing in winter 2020", "--at", AT, "--ids").out.split()
    assert found == ["1", "2"]
    assert memora("search", "skiing", "--until", "2021-01-01", "--ids").out.split() == ["1"]
