"""A question is told from a few words or a title."""

from __future__ import annotations

import pytest
from conftest import NOW

from memora_cli.rank.rerank import QUESTION_SHARE, WORDS_SHARE, share
from memora_cli.text.questions import is_question
from memora_cli.values import Draft


@pytest.mark.parametrize(
    "text",
    ["What does Alice do?", "when did we move", "In which city does Bob live", "is the boiler old", "Alice's job?"],
)
def test_a_sentence_that_asks_is_a_question(text):
    assert is_question(text)


@pytest.mark.parametrize("text", ["Alice's job", "git rebase main", "Loop Over A List Of Dictionaries", "", "!!"])
def test_words_and_titles_are_no_question(text):
    assert not is_question(text)


def test_the_cross_encoder_counts_less_for_words_unless_its_share_is_set(memory, memora):
    assert (share(None, True), share(None, False)) == (QUESTION_SHARE, WORDS_SHARE)
    assert share(0.7, False) == share(0.7, True) == 0.7
    memory.add(Draft("Alice works at Google"), NOW)

    def used(*words):
        return memora("explain", *words, "--json").json["settings"]["rerank_weight"]

    assert used("Alice job") == WORDS_SHARE
    assert used("What does Alice do?") == QUESTION_SHARE
    assert used("Alice job", "--rerank-weight", "0.5") == 0.5
