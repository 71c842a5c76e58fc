"""Looks for what should not be in a database: rows whose other half is missing, and vectors of another length."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, Table, and_, func, not_, select

from memora_cli.store.schema import links, notes, passages, supersessions, vectors


@dataclass(frozen=True, slots=True)
class Loose:
    """How many rows of one kind hang loose, named as a person would say it, with what mends them."""

    count: int
    what: str
    remedy: str


def loose(connection: Connection) -> list[Loose]:
    """The rows that lack their other half, kinds without any left out."""
    copy = "memora restore-backup a sound copy"
    found = [
        Loose(_without(connection, passages, passages.c.note_id, notes, notes.c.id), "passages without a note", copy),
        Loose(
            _without(connection, vectors, vectors.c.passage_id, passages, passages.c.id),
            "vectors without a passage",
            copy,
        ),
        *(
            Loose(
                _without(connection, supersessions, column, notes, notes.c.id),
                f"supersessions without their {name} note",
                copy,
            )
            for column, name in ((supersessions.c.old_id, "old"), (supersessions.c.new_id, "new"))
        ),
        *(
            Loose(_without(connection, links, column, notes, notes.c.id), f"links without their {name}", copy)
            for column, name in ((links.c.source_id, "source"), (links.c.target_id, "target"))
        ),
        Loose(_of_two_lengths(connection), "models with vectors of several lengths", "memora reindex"),
    ]
    return [item for item in found if item.count]


def counts(connection: Connection) -> tuple[int, int]:
    """How many notes and spaces the whole file holds."""
    here = notes.c.deleted_at.is_(None)
    row = connection.execute(select(func.count(), func.count(func.distinct(notes.c.space))).where(here)).one()
    return int(row[0]), int(row[1])


def waiting(connection: Connection, model: str) -> int:
    """How many notes of all spaces have a passage without a vector of that model."""
    has = and_(vectors.c.space == passages.c.space, vectors.c.passage_id == passages.c.id, vectors.c.model == model)
    missing = not_(select(vectors.c.passage_id).where(has).exists())
    of_note = and_(notes.c.space == passages.c.space, notes.c.id == passages.c.note_id, notes.c.deleted_at.is_(None))
    found = select(func.count(func.distinct(notes.c.id))).select_from(passages.join(notes, of_note)).where(missing)
    return int(connection.execute(found).scalar_one())


def _without(
    connection: Connection, table: Table, key: ColumnElement[int], other: Table, other_key: ColumnElement[int]
) -> int:
    there = select(other_key).where(other.c.space == table.c.space, other_key == key).exists()
    return int(connection.execute(select(func.count()).select_from(table).where(~there)).scalar_one())


def _of_two_lengths(connection: Connection) -> int:
    models = (
        select(vectors.c.space, vectors.c.model)
        .group_by(vectors.c.space, vectors.c.model)
        .having(func.min(vectors.c.dimension) != func.max(vectors.c.dimension))
        .subquery()
    )
    return int(connection.execute(select(func.count()).select_from(models)).scalar_one())
