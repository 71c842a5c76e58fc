"""Snippets: the words that show why a passage was found."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memora_cli.text.snippets import mark_spans, snippet

FILLER = "Nothing of note is said here at all. " * 8
ANY_TEXT = st.text(st.characters(), max_size=200)
WORDS = st.lists(st.sampled_from(["go", "run", "召回", "username", "a"]), max_size=4)


def marked(text, *words):
    return [text[start:end] for start, end in mark_spans(text, words)]


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("Running tests is fun", ["run", "test"], ["Running", "tests"]),
        ("Žluťoučký kůň", ["zlutoucky"], ["Žluťoučký"]),
        ("un cafe\u0301 noir", ["café"], ["cafe\u0301"]),
        ("the getUserName call", ["username"], ["getUserName"]),
        ("atomic_write_json(x)", ["json"], ["json"]),
        ("atomic_write_json(x)", ["atomicwritejson"], ["atomic_write_json"]),
        ("see i18n", ["18n"], ["i18n"]),
        ("中文关键词召回效果不好", ["召回", "回效"], ["召回效"]),
        ("a cat concatenates", ["cat"], ["cat"]),
        ("Alice's job", ["alice"], ["Alice"]),
        ("nothing", [], []),
    ],
)
def test_matching_words_are_marked_whole(text, words, expected):
    assert marked(text, *words) == expected


def test_a_short_text_is_its_own_snippet_on_one_line():
    assert snippet("  One\n\n\ttwo  three ", ["two"]) == "One two three"


def test_the_window_holds_the_most_different_words():
    text = "tea tea tea. " + FILLER + "Green tea from Japan. " + FILLER
    assert "Green tea from Japan." in snippet(text, ["green", "tea", "japan"], 80)


def test_it_starts_at_a_sentence_when_the_match_stays_in_reach():
    text = FILLER + "Then Maria moved to Brno. " + FILLER
    assert snippet(text, ["brno"], 100).startswith("…Then Maria moved to Brno.")


def test_in_an_endless_sentence_it_cuts_between_words():
    text = "word " * 100 + "needle " + "word " * 100
    cut = snippet(text, ["needle"], 60)
    assert "needle" in cut
    assert set(cut.strip("…").split()) == {"word", "needle"}


def test_without_a_match_it_is_the_beginning():
    assert snippet(FILLER, ["absent"], 60).startswith("Nothing of note")


def test_what_is_cut_is_marked():
    text = FILLER + "needle. " + FILLER
    assert snippet(text, ["needle"], 60).startswith("…")
    assert snippet(text, ["needle"], 60).endswith("…")
    assert not snippet("needle. " + FILLER, ["needle"], 60).startswith("…")


@given(ANY_TEXT, WORDS, st.integers(10, 60))
def test_a_snippet_is_one_line_no_wider_than_asked_and_never_empty(text, words, width):
    cut = snippet(text, words, width)
    assert len(cut) <= width
    assert cut.split() == cut.split(" ") if cut else not text.strip()


@given(
    st.lists(st.sampled_from(["go", "Running", "other", "words", ". ", "\n"]), min_size=1, max_size=60).map(" ".join)
)
def test_a_match_is_always_in_view(text):
    if mark_spans(text, ["run"]):
        assert "Running" in snippet(text, ["run"], 40)


@given(ANY_TEXT, WORDS)
def test_marks_are_ordered_ranges_that_do_not_overlap(text, words):
    spans = mark_spans(text, words)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(one[1] < other[0] for one, other in pairwise(spans))


@pytest.mark.parametrize("text", ["a" * 10**6, "word " * 200_000, "中文" * 400_000, "a-" * 400_000])
def test_a_megabyte_takes_seconds(text):
    start = time.perf_counter()
    snippet(text, ["word", "中文", "a"])
    assert time.perf_counter() - start < 10
