"""The temporal strategy: notes by when they happened, and by the times that they mention."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from conftest import NOW
from hypothesis import given
from hypothesis import strategies as st

from memora_cli.retrieve.temporal import closeness, fit
from memora_cli.store.times import Event
from memora_cli.text.moments import read_window
from memora_cli.values import Draft, Filters, Query, Window

DAY = datetime(2025, 6, 1, tzinfo=UTC)
moments = st.integers(-3000, 3000).map(lambda days: DAY + timedelta(days=days))


def temporal_hits(memory, text, at=NOW, **filters):
    trace = memory.search(Query(text, at, Filters(**filters)))
    return {hit.note_id: hit for ranked in trace.lists if ranked.strategy == "temporal" for hit in ranked.hits}


def add(memory, text, *, occurred=None, created=None):
    window = read_window(occurred, NOW) if occurred else None
    return memory.add(Draft(text, occurred=window, created_at=created), NOW, embed=False).id


def at(moment):
    return Event(moment, moment)


@given(moments, st.integers(1, 400), moments)
def test_proximity_is_one_inside_the_window_and_falls_with_the_distance_in_its_lengths(start, days, event):
    window = Window(start, start + timedelta(days=days), "")
    value = closeness(window, at(event))
    assert 0.0 < value <= 1.0
    assert (value == 1.0) == (window.start <= event < window.end)
    further = event + timedelta(days=1) if event >= window.end else event - timedelta(days=1)
    if value < 1.0:
        assert closeness(window, at(further)) < value


def test_one_window_length_away_counts_half():
    window = Window(DAY, DAY + timedelta(days=10), "")
    assert closeness(window, at(window.end + timedelta(days=10))) == 0.5


@pytest.mark.parametrize("days", [-1, 1])
def test_the_day_before_and_the_day_after_a_window_of_a_day_are_not_inside(days):
    window = Window(DAY, DAY + timedelta(days=1), "")
    event = Event(DAY + timedelta(days=days), DAY + timedelta(days=days + 1))
    assert closeness(window, event) == 0.5


@pytest.mark.parametrize("side", ["start", "end"])
def test_a_window_open_on_one_side_measures_distance_in_months(side):
    window = Window(DAY, None, "") if side == "start" else Window(None, DAY, "")
    away = DAY - timedelta(days=30) if side == "start" else DAY + timedelta(days=30)
    inside = DAY + timedelta(days=9) if side == "start" else DAY - timedelta(days=9)
    assert closeness(window, at(away)) == 0.5
    assert closeness(window, at(inside)) == 1.0


def test_an_event_open_on_one_side_reaches_as_far_as_it_says(memory):
    before = add(memory, "lived in Rome", occurred="before 2019")
    since = add(memory, "lives in Oslo", occurred="since 2020")

    def found(**filters):
        return {note.id for note in memory.notes(Filters(**filters))}

    assert found(until=datetime(2018, 12, 31, tzinfo=UTC)) == {before}
    assert found(since=datetime(2023, 1, 1, tzinfo=UTC)) == {since}
    assert temporal_hits(memory, "where in 2023?")[since].score == 1.0


@given(moments, st.integers(1, 400), moments, st.integers(1, 400))
def test_a_mentioned_span_counts_between_a_half_and_one_by_the_share_of_it_that_is_inside(start, days, said, length):
    window = Window(start, start + timedelta(days=days), "")
    end = said + timedelta(days=length)
    if said < window.end and end > window.start:
        assert 0.5 <= fit(window, said, end) <= 1.0
        assert (fit(window, said, end) == 1.0) == (window.start <= said and end <= window.end)


def test_without_a_time_in_the_query_the_strategy_does_not_run(memory):
    add(memory, "a note")
    assert temporal_hits(memory, "a note") == {}


def test_the_event_time_counts_before_the_time_of_creation(memory):
    event = add(memory, "hike", occurred="2024-04-10", created=NOW - timedelta(days=3))
    written = add(memory, "walk", created=datetime(2024, 4, 12, tzinfo=UTC))
    hits = temporal_hits(memory, "last spring")
    assert {hits[event].score, hits[written].score} == {1.0}


def test_a_note_that_mentions_the_time_is_found_and_says_so(memory):
    said = add(memory, "George Peter owned the house from 1811 to 1827")
    other = add(memory, "The garden was laid out in 1900")
    hits = temporal_hits(memory, "who owned it in 1815?")
    assert "mentions 1811" in hits[said].reason
    assert other not in hits


def test_a_relative_time_in_a_note_is_meant_as_of_its_creation(memory):
    said = add(memory, "I told Bob that we met Carol yesterday", created=datetime(2024, 5, 2, 12, tzinfo=UTC))
    assert temporal_hits(memory, "what happened on 1 May 2024?")[said].score == 1.0


def test_notes_that_just_follow_one_another_are_not_linked_in_time(memory):
    first, second = add(memory, "wifi password"), add(memory, "sourdough")
    assert [view.links for view in memory.view([first, second])] == [(), ()]


def test_dated_events_within_a_day_are_linked(memory):
    first = add(memory, "breakfast", occurred="2024-05-03")
    second = add(memory, "dinner", occurred="2024-05-03T18:00:00")
    third = add(memory, "a week later", occurred="2024-05-10")
    assert [edge.target for edge in memory.view([first])[0].links] == [second]
    assert memory.view([first])[0].links[0].weight == pytest.approx(max(0.3, 1 - 18 / 24))
    assert memory.view([third])[0].links == ()


def test_activation_spreads_from_inside_the_window_over_temporal_links(memory):
    inside = add(memory, "arrival", occurred="2024-05-31T23:00:00")
    after = add(memory, "the morning after", occurred="2024-06-01T09:00:00")
    hits = temporal_hits(memory, "what was on 31 May 2024?")
    assert hits[inside].score == 1.0
    assert 0.1 <= hits[after].score < 1.0


def test_a_window_in_the_question_never_hides_what_is_outside(memory):
    old = add(memory, "skiing near Oslo", occurred="2001-02-05")
    trace = memory.search(Query("skiing last week", NOW))
    assert old in {candidate.note.id for candidate in trace.results}
