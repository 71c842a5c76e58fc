"""Looks for what should not be in a database: rows whose other half is missing, and vectors that are none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Table, and_, func, not_, select

from memora_cli.store.schema import (
    entities,
    keywords,
    links,
    mentions,
    notes,
    passages,
    supersessions,
    topics,
    vectors,
)
from memora_cli.store.vectors import LOOSEST_NORM

REMEDY = "memora doctor --repair"


@dataclass(frozen=True, slots=True)
class Loose:
    """How many rows of one kind hang loose, named as a person would say it, with what mends them."""

    count: int
    what: str
    remedy: str


def loose(connection: Connection, model: tuple[str, int] | None = None) -> list[Loose]:
    """The rows that lack their other half, kinds without any left out; `model` as for `unfit`."""
    found = [
        *(
            Loose(_without(connection, table, key, other, other_key), what, REMEDY)
            for what, table, key, other, other_key in (
                ("passages without a note", passages, passages.c.note_id, notes, notes.c.id),
                ("notes without a passage", notes, notes.c.id, passages, passages.c.note_id),
                ("notes that keyword search does not know", notes, notes.c.id, keywords, keywords.c.note_id),
                ("searchable words without a note", keywords, keywords.c.note_id, notes, notes.c.id),
                ("topics without a note", topics, topics.c.note_id, notes, notes.c.id),
                ("mentions without a note", mentions, mentions.c.note_id, notes, notes.c.id),
                ("mentions without their name", mentions, mentions.c.entity_id, entities, entities.c.id),
                ("vectors without a passage", vectors, vectors.c.passage_id, passages, passages.c.id),
                ("supersessions without their old note", supersessions, supersessions.c.old_id, notes, notes.c.id),
                ("supersessions without their new note", supersessions, supersessions.c.new_id, notes, notes.c.id),
                ("links without their source", links, links.c.source_id, notes, notes.c.id),
                ("links without their target", links, links.c.target_id, notes, notes.c.id),
            )
        ),
        Loose(len(unfit(connection, model)), "vectors of a wrong length or size", REMEDY),
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


def unfit(connection: Connection, model: tuple[str, int] | None) -> list[Row[Any]]:
    """The vectors (space, passage_id, model) that are not finite, not of unit length, or not as long as others.

    `model` is the id of a model and the dimension that its vectors have; those of others are as long as most are.
    """
    import numpy

    counted = connection.execute(
        select(vectors.c.model, func.length(vectors.c.vector), func.count())
        .group_by(vectors.c.model, func.length(vectors.c.vector))
        .order_by(func.count(), func.length(vectors.c.vector))
    )
    usual = {name: length for name, length, _ in counted}
    if model:
        usual[model[0]] = model[1] * 4
    found = []
    for row in connection.execute(select(vectors)):
        right = len(row.vector) == usual[row.model] == row.dimension * 4
        norm = float(numpy.linalg.norm(numpy.frombuffer(row.vector, "<f4"))) if right else 0.0
        if not abs(norm - 1.0) <= LOOSEST_NORM:  # NaN is not either
            found.append(row)
    return found
