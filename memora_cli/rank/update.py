"""Updating: of two notes that answer alike, the newer one seems to update the older, and goes first."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from memora_cli.rank.read import passage_text
from memora_cli.text.statements import content_stems, statement, values
from memora_cli.text.words import stem
from memora_cli.values import Candidate, Update

AMONG = 3  # the best notes, in which updates are looked for: further down it does harm (README, "Measured")
SURE = 0.7  # the least confidence of the cross-encoder that each of the two answers the question
CLOSE = 0.65  # the least relevance of the newer one, as a share of the older one's
SHARED = 0.4  # the least share of the query's words that both hold
ALIKE = 0.6  # the share of the shorter sentence that the other repeats, when words differ and no value
ABOVE = 0.01  # how far the newer one is lifted above the older


def update(candidates: Sequence[Candidate], words: Collection[str]) -> tuple[Candidate, ...]:
    """The candidates in the same order, the newer of two that answer alike marked with what it updates.

    Both must answer surely, hold the same words of the query, and state other numbers or days, or say the same but for
    some words. Notes that are superseded already, and notes that no cross-encoder read, update nothing.
    """
    best = max((candidate.relevance.value for candidate in candidates), default=0.0) or 1.0
    top = [candidate for candidate in candidates if not candidate.note.superseded_by][:AMONG]
    sure = [candidate for candidate in top if candidate.reranking and candidate.reranking.sigmoid >= SURE]
    levels = {candidate.note.id: candidate.relevance.value / best for candidate in sure}
    found: dict[int, Update] = {}
    for newer in sorted(sure, key=lambda candidate: (candidate.note.created_at, candidate.note.id)):
        text = levels[newer.note.id]
        for older in sorted(sure, key=lambda candidate: levels[candidate.note.id]):
            if older.note.created_at >= newer.note.created_at:
                continue
            if newer.relevance.value < CLOSE * older.relevance.value:
                continue
            if common := compare(_text(older), _text(newer), words):
                level = max(levels[newer.note.id], levels[older.note.id] + ABOVE)
                levels[newer.note.id] = level
                found[newer.note.id] = Update(older.note.id, *common, level - text)
    return tuple(
        candidate.with_(update=found[candidate.note.id]) if candidate.note.id in found else candidate
        for candidate in candidates
    )


def _text(candidate: Candidate) -> str:
    return passage_text(candidate.note.title, candidate.passage)


def compare(older: str, newer: str, words: Collection[str]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The words that both texts hold and the values that only the newer one states; None when it is no update."""
    stems = {word: stem(word) for word in words}
    held = content_stems(older) & content_stems(newer)
    shared = tuple(word for word in words if stems[word] in held)
    if not shared or len(shared) < SHARED * len(stems):
        return None
    before, after = statement(older, stems.values()), statement(newer, stems.values())
    said, now = values(before), values(after)
    fresh = tuple(value for value in now if value not in said)
    if said and fresh:
        return shared, fresh
    said_words, now_words = content_stems(before), content_stems(after)
    replaced = bool(said_words - now_words and now_words - said_words)
    alike = len(said_words & now_words) >= ALIKE * min(len(said_words), len(now_words))
    return (shared, ()) if replaced and alike else None
