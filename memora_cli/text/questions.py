"""Tells a question from a few words or a title."""

from __future__ import annotations

from memora_cli.text.words import tokens

_MARKS = ("?", "؟", "？")
_ASKING = frozenset(["who", "whom", "whose", "what", "when", "where", "why", "which", "how"])
_OPENING = frozenset(
    [
        "do",
        "does",
        "did",
        "is",
        "are",
        "was",
        "were",
        "am",
        "has",
        "have",
        "had",
        "can",
        "could",
        "will",
        "would",
        "shall",
        "should",
        "may",
        "might",
        "must",
    ]
)
WITHIN = 3  # words at the start of a question among which the asking one stands, as in "In which city"


def is_question(text: str) -> bool:
    """Whether a text asks in a sentence: by its mark, an asking word near its start, or an auxiliary that opens it."""
    words = tokens(text)
    if any(mark in text for mark in _MARKS):
        return True
    return bool(words) and (words[0] in _OPENING or not _ASKING.isdisjoint(words[:WITHIN]))
