"""Passages: where a note is cut, and that nothing is lost."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memora_cli.text.passages import split

PIECES = [
    "# Head\n",
    "One sentence. ",
    "word ",
    "\n\n",
    "\n",
    "- item\n",
    "```\ncode\n```\n",
    "长句子。",
    "x" * 30,
    " ",
    "e\u0301",
]
TEXT = st.one_of(st.text(st.characters(), max_size=200), st.lists(st.sampled_from(PIECES), max_size=40).map("".join))


def pieces(body, size, overlap=0):
    return [body[span.start : span.end] for span in split(body, size, overlap)]


def test_a_short_note_is_one_passage():
    assert pieces("# Title\n\nA line.\n\nAnother.", 900) == ["# Title\n\nA line.\n\nAnother."]


def test_headings_are_the_first_choice_and_stay_with_their_text():
    body = "# One\n\n" + "aaaa. " * 12 + "\n\n# Two\n\n" + "bbbb. " * 12
    assert [piece.split("\n")[0] for piece in pieces(body, 100)] == ["# One", "# Two"]


def test_then_paragraphs_then_sentences():
    assert pieces("aa aa. bb bb.\n\ncc cc. dd dd.", 16) == ["aa aa. bb bb.", "cc cc. dd dd."]
    assert pieces("aa aa aa. bb bb bb. cc cc cc.", 12) == ["aa aa aa.", "bb bb bb.", "cc cc cc."]
    assert pieces("第一句话。第二句话。第三句话。", 6) == ["第一句话。", "第二句话。", "第三句话。"]


def test_then_words_and_only_then_inside_a_word():
    assert pieces("aaa bbb ccc ddd", 8) == ["aaa bbb", "ccc ddd"]
    assert pieces("a" * 10, 4) == ["aaaa", "aaaa", "aa"]


def test_small_paragraphs_are_merged():
    assert pieces("a.\n\nb.\n\nc.\n\nd.", 900) == ["a.\n\nb.\n\nc.\n\nd."]
    assert len(pieces("short one.\n\n" * 90, 120)) == 9


def test_a_code_block_that_fits_is_kept_together():
    code = "```\n" + "line of code\n\n# comment\n" * 3 + "```"
    body = "Some words before it.\n\n" + code + "\n\nAnd some words after it, more than a few. " * 3
    assert any(code in piece for piece in pieces(body, 100))


def test_a_comment_in_code_is_no_heading():
    body = "Intro text here.\n\n```\n# not a heading\nx = 1\n```\n\n" + "tail words " * 8
    assert not any(piece.startswith("# not") for piece in pieces(body, 70))


def test_passages_overlap_by_whole_sentences_when_asked():
    assert pieces("aa aa. bb bb. cc cc. dd dd.", 14, 7) == ["aa aa. bb bb.", "bb bb. cc cc.", "cc cc. dd dd."]


@pytest.mark.parametrize(("size", "overlap"), [(10, 10), (10, -1), (0, 0)])
def test_an_impossible_overlap_is_refused(size, overlap):
    with pytest.raises(ValueError, match="overlap"):
        split("text", size, overlap)


@given(TEXT, st.integers(1, 60))
def test_passages_are_ordered_apart_and_hold_all_that_is_not_blank(body, size):
    spans = split(body, size)
    assert all(0 < span.end - span.start <= size for span in spans)
    assert all(one.end <= other.start for one, other in pairwise(spans))
    assert "".join("".join(body[span.start : span.end].split()) for span in spans) == "".join(body.split())
    assert bool(spans) == bool(body.strip())


@given(TEXT, st.integers(2, 60), st.data())
def test_overlapping_passages_move_on_and_leave_no_gap(body, size, data):
    spans = split(body, size, data.draw(st.integers(0, size - 1)))
    assert all(one.start < other.start and one.end < other.end for one, other in pairwise(spans))
    assert all(not body[one.end : other.start].strip() for one, other in pairwise(spans))
    assert bool(spans) == bool(body.strip())


@pytest.mark.parametrize(
    "text", ["a" * 10**6, "word " * 200_000, "Go. " * 250_000, "\n" * 10**6 + "a", "```\nx\n" * 160_000]
)
def test_a_megabyte_takes_seconds(text):
    start = time.perf_counter()
    assert split(text)
    split(text, overlap=200)
    assert time.perf_counter() - start < 10
