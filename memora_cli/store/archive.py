"""Reads and writes what a memory holds beside its notes, as it is: names, past texts, changes, ended supersessions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from sqlalchemy import Connection, delete, insert, select

from memora_cli.store import schema
from memora_cli.store.records import last_id
from memora_cli.values import Change

COUNTERS = ("note", "past text", "change", "batch")
"""The numbers that are given out once and known outside the database, or compared by their order."""


@dataclass(frozen=True, slots=True)
class Renaming:
    """That a name means what another one is shown as, since when."""

    name: str
    other: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Ended:
    """A supersession that was taken back: from when until when it held."""

    old: int
    new: int
    at: datetime
    until: datetime


def counters(connection: Connection) -> Mapping[str, int]:
    """The last number of each kind that was given out."""
    return MappingProxyType({name: last_id(connection, name) for name in COUNTERS})


def spaces(connection: Connection) -> list[str]:
    """Every space that holds anything, by name."""
    tables = (schema.notes, schema.changes, schema.aliases)
    return sorted({name for table in tables for name in connection.execute(select(table.c.space).distinct()).scalars()})


def ids(connection: Connection, space: str) -> list[int]:
    """The ids of all notes of a space, those in the trash too, in order."""
    found = select(schema.notes.c.id).where(schema.notes.c.space == space, schema.notes.c.id > 0)
    return list(connection.execute(found.order_by(schema.notes.c.id)).scalars())


def past(connection: Connection, space: str) -> list[int]:
    """The ids of the rows that hold past texts, oldest first: they are negative, and fall."""
    found = select(schema.notes.c.id).where(schema.notes.c.space == space, schema.notes.c.id < 0)
    return list(connection.execute(found.order_by(schema.notes.c.id.desc())).scalars())


def names(connection: Connection, space: str) -> list[str]:
    """What all entities of a space are called, in the order in which they were met."""
    found = select(schema.entities.c.name).where(schema.entities.c.space == space).order_by(schema.entities.c.id)
    return list(connection.execute(found).scalars())


def renamings(connection: Connection, space: str) -> list[Renaming]:
    """All aliases of a space, in the order in which they were made."""
    aliases, entities = schema.aliases, schema.entities
    rows = connection.execute(
        select(entities.c.name, aliases.c.name.label("other"), aliases.c.created_at)
        .join(aliases, (aliases.c.space == entities.c.space) & (aliases.c.entity_id == entities.c.id))
        .where(entities.c.space == space)
        .order_by(aliases.c.created_at, aliases.c.key)
    )
    return [Renaming(row.name, row.other, row.created_at) for row in rows]


def ended(connection: Connection, space: str) -> list[Ended]:
    """All supersessions of a space that were taken back."""
    table = schema.past_supersessions
    found = select(table).where(table.c.space == space).order_by(table.c.ended_at, table.c.old_id, table.c.new_id)
    return [Ended(row.old_id, row.new_id, row.created_at, row.ended_at) for row in connection.execute(found)]


def end(connection: Connection, space: str, one: Ended) -> None:
    """Record a supersession that was taken back."""
    table = schema.past_supersessions
    row = {"space": space, "old_id": one.old, "new_id": one.new, "created_at": one.at}
    same = [table.c[name] == value for name, value in row.items()]
    connection.execute(delete(table).where(*same))
    connection.execute(insert(table).values(**row, ended_at=one.until))


def keep(connection: Connection, space: str, made: Sequence[Change]) -> None:
    """Keep changes under the numbers that they have."""
    rows = [
        {
            "space": space,
            "id": change.id,
            "batch": change.batch,
            "note_id": change.note_id,
            "other_id": change.other_id,
            "at": change.at,
            "action": change.action,
            "before": json.dumps(dict(change.before), ensure_ascii=False) if change.before else None,
            "after": json.dumps(dict(change.after), ensure_ascii=False) if change.after else None,
            "undoes": change.undoes,
        }
        for change in made
    ]
    if rows:
        connection.execute(insert(schema.changes), rows)
