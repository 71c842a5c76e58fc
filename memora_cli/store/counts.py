"""Counts what a space holds."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ColumnElement, Connection, Table, and_, func, select

from memora_cli.store.conditions import stale
from memora_cli.store.schema import notes, passages, topics


def total(connection: Connection, space: str) -> int:
    """How many notes the space holds."""
    return int(
        connection.execute(
            select(func.count()).select_from(notes).where(notes.c.space == space, notes.c.deleted_at.is_(None))
        ).scalar_one()
    )


def counts(connection: Connection, space: str) -> dict[str, int]:
    """How much of each thing the space holds."""
    alive = (notes.c.space == space) & notes.c.deleted_at.is_(None)

    def count(condition: ColumnElement[bool]) -> int:
        return int(connection.execute(select(func.count()).select_from(notes).where(condition)).scalar_one())

    return {
        "notes": count(alive),
        "pinned": count(alive & notes.c.pinned.is_(True)),
        "superseded": count(alive & stale()),
        "passages": int(
            connection.execute(
                select(func.count()).select_from(passages.join(notes, _of_note(passages))).where(alive)
            ).scalar_one()
        ),
        "topics": int(
            connection.execute(
                select(func.count(func.distinct(topics.c.topic)))
                .select_from(topics.join(notes, _of_note(topics)))
                .where(alive)
            ).scalar_one()
        ),
        "tokens": int(connection.execute(select(func.coalesce(func.sum(notes.c.tokens), 0)).where(alive)).scalar_one()),
    }


def _of_note(part: Table) -> ColumnElement[bool]:
    return and_(notes.c.space == part.c.space, notes.c.id == part.c.note_id)


def months(connection: Connection, space: str) -> list[datetime]:
    """When each note of the space was made, for counting by month."""
    return list(
        connection.execute(
            select(notes.c.created_at)
            .where(notes.c.space == space, notes.c.deleted_at.is_(None))
            .order_by(notes.c.created_at)
        ).scalars()
    )
