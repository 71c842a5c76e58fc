"""Reads and writes which names mean the same entity, and which mentions belong to it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, and_, delete, func, insert, or_, select, update

from memora_cli.store.graph import known_entities
from memora_cli.store.notes import next_ids
from memora_cli.store.schema import aliases, entities, mentions, notes, topics


@dataclass(frozen=True, slots=True)
class Named:
    """An entity: its key, and the name that is shown."""

    id: int
    key: str
    name: str


@dataclass(frozen=True, slots=True)
class Holder:
    """A row of `notes` that mentions an entity, with the texts that names are read from."""

    row_id: int
    origin: str
    said: str | None
    title: str
    body: str
    topics: tuple[str, ...]


def entity(connection: Connection, space: str, key: str, name: str) -> Named:
    """The entity that a name means, made when there is none."""
    known = known_entities(connection, space, [key]).get(key)
    if known is None:
        number = next_ids(connection, "entity", 1)[0]
        connection.execute(insert(entities).values(space=space, id=number, key=key, name=name))
        return Named(number, key, name)
    row = connection.execute(select(entities).where(entities.c.space == space, entities.c.id == known)).one()
    return Named(row.id, row.key, row.name)


def listing(connection: Connection, space: str) -> list[tuple[str, str]]:
    """`(name, other name)` of all aliases, in the order of the alphabet."""
    rows = connection.execute(
        select(entities.c.name, aliases.c.name.label("other"))
        .join(aliases, and_(aliases.c.space == entities.c.space, aliases.c.entity_id == entities.c.id))
        .where(entities.c.space == space)
        .order_by(func.lower(entities.c.name), func.lower(aliases.c.name))
    )
    return [(row.name, row.other) for row in rows]


def find(connection: Connection, space: str, key: str) -> tuple[str, Named] | None:
    """The alias with that key: its name, and the entity that it means."""
    row = connection.execute(
        select(aliases.c.name.label("other"), entities.c.id, entities.c.key, entities.c.name)
        .join(entities, and_(entities.c.space == aliases.c.space, entities.c.id == aliases.c.entity_id))
        .where(aliases.c.space == space, aliases.c.key == key)
    ).one_or_none()
    return None if row is None else (row.other, Named(row.id, row.key, row.name))


def join(connection: Connection, space: str, main: Named, key: str, name: str, at: datetime) -> list[str]:
    """Let a name mean an entity; what mentions it, and the names that mean it, go over. The keys of these names."""
    gone = connection.execute(select(entities).where(entities.c.space == space, entities.c.key == key)).one_or_none()
    carried: list[str] = []
    if gone is not None:
        theirs = and_(mentions.c.space == space, mentions.c.entity_id == gone.id)
        ours = select(mentions.c.note_id).where(mentions.c.space == space, mentions.c.entity_id == main.id)
        connection.execute(delete(mentions).where(theirs, mentions.c.note_id.in_(ours.scalar_subquery())))
        said = func.coalesce(mentions.c.said, gone.name)
        connection.execute(update(mentions).where(theirs).values(entity_id=main.id, said=said))
        names = and_(aliases.c.space == space, aliases.c.entity_id == gone.id)
        carried = list(connection.execute(select(aliases.c.key).where(names).order_by(aliases.c.key)).scalars())
        connection.execute(update(aliases).where(names).values(entity_id=main.id))
        connection.execute(delete(entities).where(entities.c.space == space, entities.c.id == gone.id))
    connection.execute(insert(aliases).values(space=space, key=key, name=name, entity_id=main.id, created_at=at))
    return carried


def part(connection: Connection, space: str, key: str, name: str, carried: Collection[str]) -> Named:
    """Let a name mean an entity of its own again, with the names that came with it; the entity."""
    connection.execute(delete(aliases).where(aliases.c.space == space, aliases.c.key == key))
    own = entity(connection, space, key, name)
    names = and_(aliases.c.space == space, aliases.c.key.in_(carried))
    connection.execute(update(aliases).where(names).values(entity_id=own.id))
    return own


def holders(connection: Connection, space: str, entity_id: int) -> list[Holder]:
    """What mentions an entity: notes, those in the trash and past texts too."""
    here = and_(mentions.c.space == space, mentions.c.entity_id == entity_id)
    found: dict[int, list[str]] = {}
    for row in connection.execute(
        select(topics.c.note_id, topics.c.topic)
        .join(mentions, and_(mentions.c.space == topics.c.space, mentions.c.note_id == topics.c.note_id))
        .where(here)
        .order_by(topics.c.note_id, topics.c.position)
    ):
        found.setdefault(row.note_id, []).append(row.topic)
    rows = connection.execute(
        select(notes.c.id, notes.c.title, notes.c.body, mentions.c.origin, mentions.c.said)
        .join(mentions, and_(mentions.c.space == notes.c.space, mentions.c.note_id == notes.c.id))
        .where(here)
        .order_by(notes.c.id)
    )
    return [Holder(row.id, row.origin, row.said, row.title, row.body, tuple(found.get(row.id, ()))) for row in rows]


def mention(connection: Connection, space: str, entity_id: int, found: Sequence[tuple[int, str, str | None]]) -> None:
    """Record that rows of `notes` mention an entity, `(row id, origin, name said)`, in the place of what was known."""
    for row_id, origin, said in found:
        same = and_(mentions.c.space == space, mentions.c.entity_id == entity_id, mentions.c.note_id == row_id)
        connection.execute(delete(mentions).where(same))
        connection.execute(
            insert(mentions).values(space=space, entity_id=entity_id, note_id=row_id, origin=origin, said=said)
        )


def unmention(connection: Connection, space: str, entity_id: int, row_ids: Collection[int]) -> None:
    """Forget that rows of `notes` mention an entity."""
    here = and_(mentions.c.space == space, mentions.c.entity_id == entity_id)
    connection.execute(delete(mentions).where(here, mentions.c.note_id.in_(row_ids)))


def drop_unused(connection: Connection, space: str) -> None:
    """Delete the entities that nothing mentions and no alias means."""
    named = select(mentions.c.entity_id).where(mentions.c.space == space)
    meant = select(aliases.c.entity_id).where(aliases.c.space == space)
    used = or_(entities.c.id.in_(named), entities.c.id.in_(meant))
    connection.execute(delete(entities).where(entities.c.space == space, ~used))
