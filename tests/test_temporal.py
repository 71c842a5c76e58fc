"""The temporal strategy: notes by when they happened, and by the times that they mention."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from conftest import NOW
from hypothesis import given
from hypothesis import strategies as st

from memora_cli.retrieve.temporal import closeness, fit
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


@given(moments, st.integers(1, 400), moments)
def test_proximity_is_one_inside_the_window_and_falls_with_the_distance_in_its_lengths(start, days, event):
    window = Window(start, start + timedelta(days=days), "")
    value = closeness(window, event, None)
    assert 0.0 < value <= 1.0
    assert (value == 1.0) == (window.start <= event <= window.end)
    further = event + timedelta(days=1) if event >= window.end else event - timedelta(days=1)
    if value < 1.0:
        assert closeness(window, further, None) < value


def test_one_window_length_away_counts_half():
    window = Window(DAY, DAY + timedelta(days=10), "")
    assert closeness(window, window.end + timedelta(days=10), None) == 0.5


@pytest.mark.parametrize("side", ["start", "end"])
def test_a_window_open_on_one_side_measures_distance_in_months(side):
    window = Window(DAY, None, "") if side == "start" else Window(None, DAY, "")
    away = DAY - timedelta(days=30) if side == "start" else DAY + timedelta(days=30)
    inside = DAY + timedelta(days=9) if side == "start" else DAY - timedelta(days=9)
    assert closeness(window, away, None) == 0.5
    assert closeness(window, inside, None) == 1.0


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
