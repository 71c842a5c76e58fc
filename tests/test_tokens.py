"""Promises of the token counter."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memora_cli.errors import ModelUnusable
from memora_cli.text import tokens
from memora_cli.text.tokens import LONGEST_RUN, count_tokens, shorten

STORY = (
    'Dr. Smith met Ada in Paris. They spoke of the engine! "Was it built?" she asked. '
    "Nobody knows; the plans were lost in the fire of 1835, it is said. End."
)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("hello world", 2),
        ("tiktoken is great!", 6),
        ("antidisestablishmentarianism", 6),
        ("2 + 2 = 4", 7),
        ("お誕生日おめでとう", 9),
    ],
)
def test_counts_are_those_published_for_cl100k_base(text: str, count: int) -> None:
    assert count_tokens(text) == count


def test_special_tokens_in_a_note_are_plain_text() -> None:
    assert count_tokens("<|endoftext|>") > 1


@given(st.text())
def test_every_text_has_a_count_and_it_is_stable(text: str) -> None:
    assert count_tokens(text) == count_tokens(text) >= (1 if text else 0)


@given(st.text(alphabet=st.characters(codec="utf-8")), st.text(alphabet=st.characters(codec="utf-8")))
def test_a_text_counts_no_more_than_its_bytes(left: str, right: str) -> None:
    assert count_tokens(left + right) <= len((left + right).encode())


@settings(max_examples=300)
@given(
    st.one_of(st.text(), st.lists(st.sampled_from([*STORY.split(), "\n", "?!", "  ", "一二。", "🧑‍🚀"])).map(" ".join)),
    st.integers(min_value=0, max_value=40),
)
def test_a_shortened_text_never_counts_more_than_asked_and_starts_the_text(text: str, limit: int) -> None:
    short = shorten(text, limit)
    assert count_tokens(short) <= limit
    assert text.startswith(short)
    if count_tokens(text) <= limit:
        assert short == text


@pytest.mark.parametrize(
    ("limit", "short"),
    [
        (100, STORY),
        (30, 'Dr. Smith met Ada in Paris. They spoke of the engine! "Was it built?" she asked.'),
        (20, 'Dr. Smith met Ada in Paris. They spoke of the engine! "Was it built?"'),
        (9, "Dr. Smith met Ada in Paris."),
        (4, "Dr. Smith met"),
        (0, ""),
        (-1, ""),
    ],
)
def test_a_text_is_cut_at_a_sentence_else_at_a_word(limit: int, short: str) -> None:
    assert shorten(STORY, limit) == short


def test_a_line_ends_a_sentence_and_so_do_cjk_marks() -> None:
    assert shorten("# Rent\n\ndue on the third of the month", 6) == "# Rent"
    assert shorten("一二三四。五六七八九十。一一一一", 9) == "一二三四。"


@pytest.mark.parametrize("text", ["a" * 1_000_000, " " * 1_000_000 + "x", ("b" * 3_999 + " ") * 250, "\n" * 1_000_000])
def test_a_very_long_run_is_counted_and_cut_in_seconds(text: str) -> None:
    count_tokens("the encoding is built once")
    start = time.perf_counter()
    assert count_tokens(shorten(text, 50)) <= 50
    assert count_tokens(text) > 1_000
    assert time.perf_counter() - start < 10


def test_only_runs_beyond_the_longest_are_split() -> None:
    encoding = tokens._encoding()
    for text in (STORY * 50, "x" * LONGEST_RUN, " " * LONGEST_RUN, "ab " * 4_000):
        assert count_tokens(text) == len(encoding.encode(text, disallowed_special=()))


def test_no_network_is_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    tokens._encoding.cache_clear()
    assert count_tokens("hello world") == 2


def test_damaged_or_missing_ranks_are_a_model_error_that_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, damaged = tokens.RANKS.read_bytes(), tmp_path / "cl100k_base.tiktoken"
    monkeypatch.setattr(tokens, "RANKS", damaged)
    for content in (None, b"", whole[:-1]):
        if content is not None:
            damaged.write_bytes(content)
        tokens._encoding.cache_clear()
        with pytest.raises(ModelUnusable, match="reinstall"):
            count_tokens("hello")
    tokens._encoding.cache_clear()
