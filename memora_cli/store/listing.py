"""Reads what lists show: notes in an order, and topics and entities with how many notes have them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, select

from memora_cli.store.conditions import matching, stale
from memora_cli.store.notes import fetch
from memora_cli.store.schema import entities, mentions, notes, topics
from memora_cli.text.words import fold
from memora_cli.values import Filters, Note, Order, Tally

NAME_LENGTH = 200  # characters of a text without a title that it is sorted by


def listing(
    connection: Connection,
    filters: Filters,
    *,
    current_only: bool = False,
    limit: int | None = None,
    order: Order = "created",
    reverse: bool = False,
) -> list[Note]:
    """Notes that pass the filters: newest, latest, longest or lowest id first, or by title from A; or the reverse."""
    condition = _passing(filters, current_only)
    if order == "title":
        ids = _by_name(connection, select(notes.c.number, notes.c.title, _opening()).where(condition), reverse=reverse)
        ids = ids[:limit]
    else:
        key = {
            "created": notes.c.created_at,
            "occurred": notes.c.event_at,
            "id": notes.c.number,
            "length": notes.c.tokens,
        }[order]
        rising = (order == "id") != reverse
        keys = [column.asc() if rising else column.desc() for column in dict.fromkeys((key, notes.c.number))]
        ids = list(connection.execute(select(notes.c.number).where(condition).order_by(*keys).limit(limit)).scalars())
    found = fetch(connection, filters.space, ids, filters.as_of)
    return [found[number] for number in ids]


def _opening() -> ColumnElement[str]:
    return func.substr(func.ltrim(notes.c.body, " \t\n"), 1, NAME_LENGTH).label("opening")


def _by_name(connection: Connection, statement: Select[Any], *, reverse: bool) -> list[int]:
    """The ids in the order of titles or first lines; folded here, as databases disagree about letters."""
    rows = [(fold(row.title or row.opening.split("\n")[0]), row.number) for row in connection.execute(statement)]
    return [number for _, number in sorted(rows, reverse=reverse)]


def topic_tallies(connection: Connection, filters: Filters, *, current_only: bool = False) -> list[Tally]:
    """The topics of the notes that pass the filters, commonest first."""
    held = topics.alias("held")  # not the table itself, which the filter by topic asks too
    statement = (
        select(held.c.topic.label("name"), func.count(func.distinct(notes.c.number)).label("held"))
        .join(notes, (notes.c.space == held.c.space) & (notes.c.id == held.c.note_id))
        .where(_passing(filters, current_only))
        .group_by(held.c.topic)
    )
    return _commonest_first(connection, statement)


def entity_tallies(connection: Connection, filters: Filters, *, current_only: bool = False) -> list[Tally]:
    """The entities that the notes that pass the filters mention, commonest first."""
    statement = (
        select(entities.c.name, func.count(func.distinct(notes.c.number)).label("held"))
        .join(mentions, (mentions.c.space == entities.c.space) & (mentions.c.entity_id == entities.c.id))
        .join(notes, (notes.c.space == mentions.c.space) & (notes.c.id == mentions.c.note_id))
        .where(_passing(filters, current_only))
        .group_by(entities.c.id, entities.c.name)
    )
    return _commonest_first(connection, statement)


def _passing(filters: Filters, current_only: bool) -> ColumnElement[bool]:
    return matching(filters) & ~stale(filters.space, filters.as_of) if current_only else matching(filters)


def _commonest_first(connection: Connection, statement: Select[Any]) -> list[Tally]:
    tallies = [Tally(row.name, row.held) for row in connection.execute(statement)]
    return sorted(tallies, key=lambda tally: (-tally.notes, fold(tally.name), tally.name))


def count(connection: Connection, filters: Filters, *, current_only: bool = False) -> int:
    """How many notes pass the filters."""
    statement = select(func.count()).select_from(notes).where(_passing(filters, current_only))
    return int(connection.execute(statement).scalar_one())
