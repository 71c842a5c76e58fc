"""What the cross-encoder reads of a candidate: its date and the passage that matched."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from memora_cli.text.words import stem, tokens
from memora_cli.values import Note


def passage_text(title: str, passage: str) -> str:
    """A passage as models read it: under its note's title, unless it begins with it."""
    return passage if not title or passage.lstrip("# ").startswith(title) else f"{title}\n{passage}"


def dated(note: Note, passage: str, zone: tzinfo | None) -> str:
    """`[Date: June 05, 2022] passage`, with the day of the event (else of creation) in the user's zone."""
    day = (note.occurred_start or note.created_at).astimezone(zone)
    return f"[Date: {day:%B} {day.day:02d}, {day.year}] {passage_text(note.title, passage)}"


def best_passage(passages: Sequence[str], words: Sequence[str]) -> int:
    """The place of the passage that holds the most of the words, by their stems, the first of equals."""
    if len(passages) < 2:
        return 0
    wanted = {stem(word) for word in words}
    counts = [len(wanted & {stem(token) for token in tokens(passage)}) for passage in passages]
    return counts.index(max(counts))
