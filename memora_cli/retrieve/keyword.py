"""The keyword strategy: the notes that hold words of the query, by bm25 or by weighted word hits."""

from __future__ import annotations

from sqlalchemy import ColumnElement

from memora_cli.retrieve.source import Found, Source, rank
from memora_cli.store import like, notes
from memora_cli.store.database import IndexUnavailable
from memora_cli.text.words import is_stop_word
from memora_cli.values import Degraded, RankedList

FIELDS = ("title", "topic", "text")


def keyword(source: Source) -> RankedList:
    """Best match first; any word matches, more and rarer words rank higher."""
    words = telling(source.understood.words)
    if not words and not source.query.filters.topics:
        return RankedList("keyword", skipped="the query has no word in it")
    scores: dict[int, float] = {}
    degraded: dict[Degraded, None] = {}
    for scope in source.scopes():
        rows, problem = _match(source, scope)
        scores.update(rows)
        if problem:
            degraded[problem] = None
    held = notes.searchable(source.connection, source.space, scores)
    found = [Found(note_id, score, _reason(words, held.get(note_id, ()))) for note_id, score in scores.items()]
    return RankedList("keyword", rank(source, found), degraded=tuple(degraded))


def telling(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words without function words, which match everything and say nothing; all when there are no others."""
    return tuple(word for word in words if not is_stop_word(word)) or words


def _match(source: Source, scope: ColumnElement[bool]) -> tuple[list[tuple[int, float]], Degraded | None]:
    words, limit = telling(source.understood.words), source.settings.strategy_limit
    if not words or source.settings.backend == "like":
        return like.match(source.connection, words, scope, limit), None
    try:
        return source.database.index.match(source.connection, words, scope, limit), None
    except IndexUnavailable as error:
        problem = Degraded("keyword", f"{error}; the words were searched with LIKE instead")
        return like.match(source.connection, words, scope, limit), problem


def _reason(words: tuple[str, ...], fields: tuple[str, ...]) -> str:
    """Where the words stand; the last letters are left out of the comparison as the index compares stems."""
    parts = []
    for name, text in zip(FIELDS, fields, strict=False):
        held = [word for word in words if f" {word} " in text or (len(word) > 4 and f" {word[:-2]}" in text)]
        if held:
            parts.append(f"{name}: {', '.join(held)}")
    return "; ".join(parts) or ("part of a word" if words else "has the topic")
