"""The promises of reading what a text states: the sentence about some words, and its values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memora_cli.text.statements import content_stems, statement, values


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("a personal best of 27:12 in the 5K", ("27:12", "5")),
        ("a quota of 1,200 calls", ("1200",)),
        ("I lead a team of four engineers", ("4",)),
        ("I just finished my fifth issue", ("5",)),
        ("twenty-one boxes", ("21",)),
        ("cocktail class on Fridays", ("friday",)),
        ("version 2.0.1 of one of them", ("2.0.1",)),
        ("nothing counted here, the first of all", ()),
        ("数学は 95 点", ("95",)),
        ("", ()),
    ],
)
def test_the_values_of_a_sentence_are_its_numbers_and_weekdays(sentence, expected):
    assert values(sentence) == expected


def test_a_statement_is_the_sentence_that_holds_most_of_the_words():
    text = "Hello there. I moved the standup to 9:30. The room stays."
    assert statement(text, content_stems("standup moved")) == "I moved the standup to 9:30."
    assert statement("召回率是 95。其他的话。", content_stems("其他")) == "其他的话。"


@given(st.text(), st.text())
def test_any_text_has_a_statement_of_its_own_and_values(text, words):
    found = statement(text, content_stems(words))
    assert found in text
    assert all(values(found))
