"""Counts what a space holds."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ColumnElement, Connection, func, select

from memora_cli.store.conditions import in_space, stale
from memora_cli.store.remembered import remembered
from memora_cli.store.schema import notes, passages, topics


def total(connection: Connection, space: str, as_of: datetime | None = None) -> int:
    """How many notes the space holds, or held at a moment."""
    count = select(func.count()).select_from(notes).where(in_space(space, as_of))
    return remembered(connection, ("total", space, as_of), lambda: int(connection.execute(count).scalar_one()))


def counts(connection: Connection, space: str) -> dict[str, int]:
    """How much of each thing the space holds."""
    alive = in_space(space)
    with_topics = notes.join(topics, (topics.c.space == notes.c.space) & (topics.c.note_id == notes.c.id))
    with_passages = notes.join(passages, (passages.c.space == notes.c.space) & (passages.c.note_id == notes.c.id))

    def count(condition: ColumnElement[bool]) -> int:
        return int(connection.execute(select(func.count()).select_from(notes).where(condition)).scalar_one())

    return {
        "notes": count(alive),
        "pinned": count(alive & notes.c.pinned.is_(True)),
        "superseded": count(alive & stale(space)),
        "passages": int(connection.execute(select(func.count()).select_from(with_passages).where(alive)).scalar_one()),
        "topics": int(
            connection.execute(
                select(func.count(func.distinct(topics.c.topic))).select_from(with_topics).where(alive)
            ).scalar_one()
        ),
        "tokens": int(connection.execute(select(func.coalesce(func.sum(notes.c.tokens), 0)).where(alive)).scalar_one()),
    }


def months(connection: Connection, space: str) -> list[datetime]:
    """When each note of the space was made, for counting by month."""
    return list(
        connection.execute(
            select(notes.c.created_at)
            .where(notes.c.space == space, notes.c.deleted_at.is_(None))
            .order_by(notes.c.created_at)
        ).scalars()
    )
