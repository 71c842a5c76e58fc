"""Puts another text in the place of the one that a note has."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection, and_, delete, insert, or_, update

from memora_cli.store.notes import Row, next_ids
from memora_cli.store.schema import keywords, notes, passages, topics


def rewrite(connection: Connection, row: Row, at: datetime) -> None:
    """Put another text, and all that is said of it, in the place of a note's own; its passages stay as they are."""
    note = row.note
    here = and_(notes.c.space == note.space, notes.c.id == note.id)
    connection.execute(
        update(notes)
        .where(here)
        .values(
            title=note.title,
            body=note.body,
            kind=note.kind,
            context=note.context,
            created_at=note.created_at,
            occurred_start=note.occurred_start,
            occurred_end=note.occurred_end,
            event_at=note.occurred_start or note.occurred_end or note.created_at,
            dated=row.dated,
            tokens=note.tokens,
            content_hash=row.content_hash,
            since=at,
        )
    )
    connection.execute(delete(topics).where(topics.c.space == note.space, topics.c.note_id == note.id))
    if note.topics:
        connection.execute(
            insert(topics),
            [
                {"space": note.space, "note_id": note.id, "position": position, "topic": topic}
                for position, topic in enumerate(note.topics)
            ],
        )
    title, topic_words, body = (f" {words} " for words in row.keywords)
    said = {"title": title, "topics": topic_words, "body": body}
    changed = or_(*(keywords.c[name] != words for name, words in said.items()))
    connection.execute(
        update(keywords).where(keywords.c.space == note.space, keywords.c.note_id == note.id, changed).values(**said)
    )


def move_passages(connection: Connection, space: str, spans: Mapping[int, tuple[int, int]]) -> None:
    """Give passages other places in their text."""
    for number, (start, end) in spans.items():
        here = and_(passages.c.space == space, passages.c.id == number)
        connection.execute(update(passages).where(here).values(start=start, end=end))


def add_passages(connection: Connection, space: str, note_id: int, spans: Sequence[tuple[int, int]]) -> list[int]:
    """New passages of a note; their ids, in order."""
    numbers = list(next_ids(connection, "passage", len(spans))) if spans else []
    if numbers:
        rows = zip(numbers, spans, strict=True)
        connection.execute(
            insert(passages),
            [
                {"space": space, "id": number, "note_id": note_id, "start": start, "end": end}
                for number, (start, end) in rows
            ],
        )
    return numbers


def remove_passages(connection: Connection, space: str, ids: Collection[int]) -> None:
    """Delete passages; their vectors are another matter."""
    connection.execute(delete(passages).where(passages.c.space == space, passages.c.id.in_(ids)))


def set_file_hash(connection: Connection, space: str, note_id: int, file_hash: str) -> None:
    """Remember what the file of a note holds."""
    connection.execute(update(notes).where(notes.c.space == space, notes.c.id == note_id).values(file_hash=file_hash))
