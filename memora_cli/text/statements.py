"""What a text states about some words: the sentence that holds them, and the numbers and weekdays in it."""

from __future__ import annotations

import re
from collections.abc import Collection

from memora_cli.text.numerals import cardinal, ordinal
from memora_cli.text.words import fold, is_stop_word, stem, tokens

_END = re.compile(r"(?<=[.!?…])[\"')\]”’*_]*\s+|(?<=[。！？؟।])|\n+")
_SAID = re.compile(r"\d+(?:[.,:/]\d+)*|[^\W\d]+")
_WEEKDAYS = frozenset(["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"])
_UNSAID = frozenset(["1"])  # "one of them", "the first time" count nothing


def content_stems(text: str) -> frozenset[str]:
    """The stems of a text's words without function words."""
    return frozenset(stem(word) for word in tokens(text) if not is_stop_word(word))


def statement(text: str, stems: Collection[str]) -> str:
    """The sentence of a text that holds most of the stems, the shortest of equals."""
    sentences = [sentence.strip() for sentence in _END.split(text) if sentence.strip()]
    wanted = frozenset(stems)
    return max(sentences, key=lambda sentence: (len(content_stems(sentence) & wanted), -len(sentence)), default="")


def values(sentence: str) -> tuple[str, ...]:
    """The numbers and weekdays of a sentence in order: "4" for "four" and "fourth", "27:12", "friday"."""
    words = [fold(word) for word in _SAID.findall(sentence)]
    ahead = (*words, "", "", "")  # the readers of numerals look ahead
    found: dict[str, None] = {}
    place = 0
    while place < len(words):
        word, following = words[place], place + 1
        if word[0].isdigit():
            found[word.replace(",", "")] = None
        elif numeral := cardinal(ahead, place) or ordinal(ahead, place):
            value, following = numeral
            found[str(value)] = None
        elif word.removesuffix("s") in _WEEKDAYS:
            found[word.removesuffix("s")] = None
        place = following
    return tuple(value for value in found if value not in _UNSAID)
