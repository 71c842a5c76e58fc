"""Deletes notes for good: their rows, those of their past texts, and what other tables hold of them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, delete, or_, select

from memora_cli.store import aliases, changes, vectors
from memora_cli.store.database import Database
from memora_cli.store.schema import (
    keywords,
    links,
    mentioned_times,
    mentions,
    notes,
    passages,
    past_supersessions,
    pending_links,
    supersessions,
    topics,
)


def purge(database: Database, connection: Connection, space: str, ids: Sequence[int]) -> None:
    """Delete these notes and every trace of them; `Database.scrub` then overwrites what the file still holds."""
    rows = list(connection.execute(select(notes.c.id).where(notes.c.space == space, notes.c.number.in_(ids))).scalars())
    held = select(passages.c.id).where(passages.c.space == space, passages.c.note_id.in_(rows))
    vectors.remove(database, connection, space, list(connection.execute(held).scalars()))
    for table in (topics, passages, keywords, mentions, mentioned_times, pending_links):
        connection.execute(delete(table).where(table.c.space == space, table.c.note_id.in_(rows)))
    for table, one, other in (
        (links, links.c.source_id, links.c.target_id),
        (supersessions, supersessions.c.old_id, supersessions.c.new_id),
        (past_supersessions, past_supersessions.c.old_id, past_supersessions.c.new_id),
    ):
        connection.execute(delete(table).where(table.c.space == space, or_(one.in_(ids), other.in_(ids))))
    connection.execute(delete(notes).where(notes.c.space == space, notes.c.id.in_(rows)))
    changes.drop(connection, space, ids)
    aliases.drop_unused(connection, space)
