"""Keeps the texts that notes had, searchable as of a day: rows like the note's own, under a negative id."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, insert, literal, select

from memora_cli.store.notes import next_ids
from memora_cli.store.schema import keywords, mentioned_times, mentions, notes, passages, topics, vectors


def archive(connection: Connection, space: str, note_id: int, until: datetime) -> int:
    """Copy a note as it is, with all that a search reads of it, as a text that ended then; the id of the copy."""
    past = -next_ids(connection, "past text", 1)[0]
    ended = literal(until, notes.c.deleted_at.type)
    given = {"id": literal(past), "deleted_at": ended, "uid": notes.c.uid + f"~{-past}"}
    _copy(connection, notes, notes.c.id, space, note_id, given)
    for table in (topics, keywords, mentions, mentioned_times):
        _copy(connection, table, table.c.note_id, space, note_id, {"note_id": literal(past)})
    held = connection.execute(
        select(passages.c.id).where(passages.c.space == space, passages.c.note_id == note_id).order_by(passages.c.id)
    ).scalars()
    for number in list(held):
        copy = next_ids(connection, "passage", 1)[0]
        _copy(connection, passages, passages.c.id, space, number, {"id": literal(copy), "note_id": literal(past)})
        _copy(connection, vectors, vectors.c.passage_id, space, number, {"passage_id": literal(copy)})
    return past


def _copy(
    connection: Connection,
    table: Table,
    key: ColumnElement[int],
    space: str,
    number: int,
    given: dict[str, ColumnElement[Any]],
) -> None:
    """Copy the rows of a table with that number as key, with other values in some columns."""
    columns = [column.name for column in table.columns]
    values = [given.get(name, table.c[name]) for name in columns]
    rows = select(*values).where(table.c.space == space, key == number)
    connection.execute(insert(table).from_select(columns, rows))
