"""The keyword strategy: the notes that hold words of the query, by bm25 or by weighted word hits."""

from __future__ import annotations

from sqlalchemy import ColumnElement

from memora_cli.retrieve.source import Found, Source, rank
from memora_cli.store import like, notes
from memora_cli.store.database import IndexUnavailable
from memora_cli.text.words import is_stop_word, stem
from memora_cli.values import Degraded, RankedList

FIELDS = ("title", "topic", "text")


def keyword(source: Source) -> RankedList:
    """Best match first; any word matches, more and rarer words rank higher."""
    words = telling(source.understood.words)
    if not words and not source.query.filters.topics:
        return RankedList("keyword", skipped="the query has no word in it")
    scores: dict[int, float] = {}
    backend = "like"
    degraded: tuple[Degraded, ...] = ()
    for scope in source.scopes():
        rows, backend, degraded = match(source, scope, source.settings.strategy_limit)
        scores.update(rows)
    held = notes.searchable(source.connection, source.space, scores, source.as_of)
    found = [Found(note_id, score, _reason(words, held.get(note_id, ()))) for note_id, score in scores.items()]
    hits = rank(source, found)
    best = max((hit.score for hit in hits), default=1.0)
    return RankedList("keyword", hits, degraded=degraded, backend=backend, best=best)


def telling(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words without function words, which match everything and say nothing; all when there are no others."""
    return tuple(word for word in words if not is_stop_word(word)) or words


def match(
    source: Source, scope: ColumnElement[bool], limit: int
) -> tuple[list[tuple[int, float]], str, tuple[Degraded, ...]]:
    """`(note id, score)` best first, what looked them up, and what went wrong: the index, else LIKE."""
    words = telling(source.understood.words)
    index = source.database.index
    degraded: tuple[Degraded, ...] = ()
    if words and source.settings.backend != "like":
        try:
            rows = index.match(source.connection, source.space, words, scope, limit)
            if source.settings.backend not in ("auto", index.keyword):
                said = f"this database has no {source.settings.backend}; the words were searched with {index.keyword}"
                degraded = (Degraded("keyword", said),)
            return rows, index.keyword, degraded
        except IndexUnavailable as error:
            degraded = (Degraded("keyword", f"{error}; the words were searched with LIKE instead"),)
    return like.match(source.connection, words, scope, limit), "like", degraded


def _reason(words: tuple[str, ...], fields: tuple[str, ...]) -> str:
    """Where the words stand, by their stems as in the index."""
    parts = []
    stems = {word: stem(word) for word in words}
    for name, text in zip(FIELDS, fields, strict=False):
        held = [word for word in words if stems[word] in _beginning(text, stems[word][:-1])]
        if held:
            parts.append(f"{name}: {', '.join(held)}")
    return "; ".join(parts) or ("part of a word" if words else "has the topic")


def _beginning(text: str, letters: str) -> set[str]:
    """The stems of the words that begin so; every word has a space before it and begins with its stem but one letter.

    To cut the text at these letters is far quicker than to look at each of its words.
    """
    return {stem(letters + rest.partition(" ")[0]) for rest in text.split(f" {letters}")[1:]}
