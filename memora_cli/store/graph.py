"""Reads and writes what connects notes: entities and links."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, bindparam, delete, func, insert, or_, select

from memora_cli.store.conditions import alive, in_space, with_ids
from memora_cli.store.notes import next_ids
from memora_cli.store.schema import (
    aliases,
    entities,
    links,
    mentions,
    notes,
    pending_links,
)

TEMPORAL_HOURS = 24.0
TEMPORAL_NEAREST = 10
SEMANTIC_NEAREST = 5
PERSON = "person"  # the origin of a link that no change of a text takes away
CAUSAL = frozenset({"causes", "enables", "prevents"})
REFERENCE = "references"  # a note that names another in a `[[link]]`
DIRECTED = CAUSAL | {REFERENCE}


@dataclass(frozen=True, slots=True)
class Edge:
    """A step of the graph from one note to another: over a link or over an entity they share."""

    source: int
    target: int
    relation: str
    via: str
    weight: float


def mention(connection: Connection, space: str, found: Mapping[int, Iterable[tuple[str, str, str]]]) -> None:
    """Record that notes mention entities, given as `(key, name, origin)` by note id; the first spelling is kept."""
    names: dict[str, str] = {}
    for items in found.values():
        for key, name, _ in items:
            names.setdefault(key, name)
    if not names:
        return
    known = known_entities(connection, space, names)
    fresh = [key for key in names if key not in known]
    if fresh:
        numbers = next_ids(connection, "entity", len(fresh))
        connection.execute(
            insert(entities),
            [
                {"space": space, "id": number, "key": key, "name": names[key]}
                for number, key in zip(numbers, fresh, strict=True)
            ],
        )
        known |= dict(zip(fresh, numbers, strict=True))
    named = and_(entities.c.space == space, entities.c.id.in_(known.values()))
    own = dict(connection.execute(select(entities.c.id, entities.c.key).where(named)).all())
    rows: dict[tuple[int, int], dict[str, Any]] = {}
    for note_id, items in found.items():
        for key, name, origin in items:
            said = name if own[known[key]] != key else None
            row = {"space": space, "entity_id": known[key], "note_id": note_id, "origin": origin, "said": said}
            rows.setdefault((known[key], note_id), row)
    connection.execute(insert(mentions), list(rows.values()))


def unmention(connection: Connection, space: str, note_id: int) -> None:
    """Forget what a note mentions."""
    connection.execute(delete(mentions).where(mentions.c.space == space, mentions.c.note_id == note_id))


def explicit_names(connection: Connection, space: str, note_id: int) -> list[str]:
    """The names that a person gave to a note, as they were given."""
    rows = connection.execute(
        select(func.coalesce(mentions.c.said, entities.c.name))
        .join(entities, and_(entities.c.space == mentions.c.space, entities.c.id == mentions.c.entity_id))
        .where(mentions.c.space == space, mentions.c.note_id == note_id, mentions.c.origin == "explicit")
        .order_by(entities.c.name)
    )
    return list(rows.scalars())


def known_entities(connection: Connection, space: str, keys: Collection[str]) -> dict[str, int]:
    """The ids of the entities that these keys, or names that mean the same, stand for; by key."""
    own = select(entities.c.key, entities.c.id).where(entities.c.space == space, entities.c.key.in_(keys))
    other = select(aliases.c.key, aliases.c.entity_id).where(aliases.c.space == space, aliases.c.key.in_(keys))
    return {row[0]: row[1] for row in (*connection.execute(other), *connection.execute(own))}


def holders(
    connection: Connection,
    where: ColumnElement[bool],
    space: str,
    keys: Collection[str],
    most: int,
    as_of: datetime | None = None,
) -> dict[str, tuple[str, int, list[int]]]:
    """By entity key: its name, how many notes hold it, and up to `most` of these that pass `where`, newest first."""
    found: dict[str, tuple[str, int, list[int]]] = {}
    numbers = set(known_entities(connection, space, keys).values())
    rows = connection.execute(
        select(entities.c.id, entities.c.key, entities.c.name).where(
            entities.c.space == space, entities.c.id.in_(numbers)
        )
    ).all()
    for row in rows:
        of_entity = (mentions.c.space == space) & (mentions.c.entity_id == row.id)
        join = mentions.join(notes, (notes.c.space == mentions.c.space) & (notes.c.id == mentions.c.note_id))
        held = connection.execute(select(func.count()).select_from(join).where(of_entity, alive(as_of))).scalar_one()
        ids = connection.execute(
            select(notes.c.number)
            .select_from(join)
            .where(of_entity, where)
            .order_by(notes.c.created_at.desc(), notes.c.number)
            .limit(most)
        ).scalars()
        found[row.key] = (row.name, held, list(ids))
    return found


def entities_of(connection: Connection, space: str, note_ids: Collection[int]) -> dict[int, list[str]]:
    """The names of the entities each note mentions."""
    found: dict[int, list[str]] = defaultdict(list)
    rows = connection.execute(
        select(mentions.c.note_id, entities.c.name)
        .join(entities, (entities.c.space == mentions.c.space) & (entities.c.id == mentions.c.entity_id))
        .where(mentions.c.space == space, mentions.c.note_id.in_(note_ids))
        .order_by(mentions.c.note_id, entities.c.name)
    )
    for row in rows:
        found[row.note_id].append(row.name)
    return found


def edges(
    connection: Connection, space: str, note_ids: Collection[int], hub: int, as_of: datetime | None = None
) -> list[Edge]:
    """All edges that leave these notes for others of the space; an entity in more than `hub` notes connects nothing.

    With 0 for `hub` only links count. Temporal and semantic links lead both ways. A causal link does too, as an answer
    may be asked from either end.
    Entity edges have weight 1.0 between the only two holders, damped by the square root of the holders beyond that.
    """
    here = links.c.space == space  # two look-ups by an index; one for either end would read all of the space
    leaving = connection.execute(select(links).where(here, links.c.source_id.in_(note_ids)))
    found = [Edge(row.source_id, row.target_id, row.relation, row.relation, row.weight) for row in leaving]
    reaching = connection.execute(select(links).where(here, links.c.target_id.in_(note_ids)))
    found += [Edge(row.target_id, row.source_id, row.relation, row.relation, row.weight) for row in reaching]
    others = {edge.target for edge in found}
    there = set(connection.execute(select(notes.c.number).where(with_ids(space, others, as_of))).scalars())
    found = [edge for edge in found if edge.target in there]
    return found + _shared(connection, space, note_ids, hub, as_of) if hub >= 2 else found


def _shared(
    connection: Connection, space: str, note_ids: Collection[int], hub: int, as_of: datetime | None
) -> list[Edge]:
    """The edges from these notes to others that mention the same entity; each step reads a set, and at most `hub`."""
    holding = and_(notes.c.space == mentions.c.space, notes.c.id == mentions.c.note_id)
    here = connection.execute(select(notes.c.id, notes.c.number).where(with_ids(space, note_ids, as_of)))
    numbers = {row.id: row.number for row in here}
    rows = connection.execute(
        select(mentions.c.note_id, mentions.c.entity_id).where(
            mentions.c.space == space, mentions.c.note_id.in_(numbers)
        )
    )
    mentioned = [(numbers[note_id], entity_id) for note_id, entity_id in rows]
    of_entity = and_(mentions.c.space == entities.c.space, mentions.c.entity_id == entities.c.id)
    some = (
        select(mentions.c.note_id)
        .join(notes, holding)
        .where(of_entity, alive(as_of))
        .limit(hub + 1)
        .correlate(entities)
        .subquery()
    )
    counted = connection.execute(
        select(
            entities.c.id, entities.c.name, select(func.count()).select_from(some).scalar_subquery().label("notes")
        ).where(entities.c.space == space, entities.c.id.in_({entity_id for _, entity_id in mentioned}))
    )
    named = {row.id: (row.name, (row.notes - 1) ** -0.5) for row in counted if 2 <= row.notes <= hub}
    holders: dict[int, list[int]] = defaultdict(list)
    for entity_id, number in connection.execute(
        select(mentions.c.entity_id, notes.c.number)
        .join(notes, holding)
        .where(mentions.c.space == space, mentions.c.entity_id.in_(named), alive(as_of))
    ):
        holders[entity_id].append(number)
    return [
        Edge(number, other, "entity", *named[entity_id])
        for number, entity_id in mentioned
        if entity_id in named
        for other in holders[entity_id]
        if other != number
    ]


@dataclass(frozen=True, slots=True)
class Link:
    """A link to be stored: `caused-by` becomes its inverse, and what leads both ways is stored once.

    `origin` is "derived" from what the notes say, or "person" for a link that somebody made.
    """

    source: int
    target: int
    relation: str
    weight: float
    origin: str = "derived"

    def stored(self) -> Link:
        """The link in the direction it is stored in."""
        if self.relation == "caused-by":
            return Link(self.target, self.source, "causes", self.weight, self.origin)
        if self.relation not in DIRECTED and self.source > self.target:
            return Link(self.target, self.source, self.relation, self.weight, self.origin)
        return self


def link(connection: Connection, space: str, found: Iterable[Link]) -> None:
    """Connect notes; the same link said again takes the new weight, and one that a person made stays theirs."""
    rows: dict[tuple[int, int, str], dict[str, Any]] = {}
    for item in (item.stored() for item in found if item.source != item.target):
        key = {"space": space, "source_id": item.source, "target_id": item.target, "relation": item.relation}
        rows[item.source, item.target, item.relation] = key | {"weight": item.weight, "origin": item.origin}
    causal = {key[:2] for key, row in rows.items() if row["relation"] in CAUSAL and row["origin"] != PERSON}
    for source, target in causal:
        for kept in links_between(connection, space, source, target):
            if kept.origin == PERSON:
                rows.pop((kept.source, kept.target, kept.relation), None)
    if not rows:
        return
    same = and_(*(links.c[name] == bindparam(f"at_{name}") for name in ("space", "source_id", "target_id", "relation")))
    connection.execute(
        delete(links).where(same), [{f"at_{name}": value for name, value in row.items()} for row in rows.values()]
    )
    connection.execute(insert(links), list(rows.values()))


def unlink_all(connection: Connection, space: str, relation: str) -> None:
    """Forget every link of that relation."""
    connection.execute(delete(links).where(links.c.space == space, links.c.relation == relation))


def links_between(connection: Connection, space: str, source: int, target: int) -> list[Link]:
    """The links stored in that direction."""
    here = and_(links.c.space == space, links.c.source_id == source, links.c.target_id == target)
    rows = connection.execute(select(links).where(here).order_by(links.c.relation))
    return [Link(row.source_id, row.target_id, row.relation, row.weight, row.origin) for row in rows]


def unlink(connection: Connection, space: str, gone: Iterable[Link]) -> None:
    """Delete links, given as they are stored."""
    for item in gone:
        same = and_(links.c.source_id == item.source, links.c.target_id == item.target)
        connection.execute(delete(links).where(links.c.space == space, same, links.c.relation == item.relation))


def unlink_derived(connection: Connection, space: str, note_id: int, relation: str) -> None:
    """Delete the links of one kind that were derived from a note: causes lead to the note whose text says them."""
    touches = links.c.target_id == note_id
    if relation not in CAUSAL:
        touches = or_(touches, links.c.source_id == note_id)
    derived = and_(links.c.relation == relation, links.c.origin != PERSON)
    connection.execute(delete(links).where(links.c.space == space, touches, derived))
    if relation in CAUSAL:
        here = and_(pending_links.c.space == space, pending_links.c.note_id == note_id)
        connection.execute(delete(pending_links).where(here, pending_links.c.relation != REFERENCE))


def near_in_time(connection: Connection, space: str, note_id: int, event_at: datetime) -> list[Link]:
    """Links to the nearest dated events within a day: near in time first, then near in order of writing."""
    reach = timedelta(hours=TEMPORAL_HOURS)
    alive = (notes.c.space == space) & (notes.c.id != note_id) & notes.c.dated & notes.c.deleted_at.is_(None)
    before = notes.c.event_at.between(event_at - reach, event_at)
    after = (notes.c.event_at > event_at) & (notes.c.event_at <= event_at + reach)
    columns = select(notes.c.id, notes.c.event_at)
    rows = [
        *connection.execute(
            columns.where(alive, before).order_by(notes.c.event_at.desc(), notes.c.id.desc()).limit(TEMPORAL_NEAREST)
        ),
        *connection.execute(columns.where(alive, after).order_by(notes.c.event_at, notes.c.id).limit(TEMPORAL_NEAREST)),
    ]
    nearest = sorted((abs((row.event_at - event_at).total_seconds()), abs(row.id - note_id), row.id) for row in rows)
    return [
        Link(note_id, other, "temporal", max(0.3, 1.0 - seconds / 3600.0 / TEMPORAL_HOURS))
        for seconds, _, other in nearest[:TEMPORAL_NEAREST]
    ]


def link_pending(connection: Connection, space: str, note_id: int, relation: str, target: str) -> None:
    """Remember a link to a title that no note has yet."""
    values = {"space": space, "note_id": note_id, "relation": relation, "target": target}
    same = and_(*(pending_links.c[name] == value for name, value in values.items()))
    if not connection.execute(select(pending_links.c.note_id).where(same)).first():
        connection.execute(insert(pending_links).values(**values))


def wait_for(connection: Connection, space: str, note_id: int, relation: str, targets: Sequence[str]) -> None:
    """Remember all links of a kind from a note to titles that no note has yet, in the place of those before."""
    here = and_(pending_links.c.space == space, pending_links.c.note_id == note_id)
    connection.execute(delete(pending_links).where(here, pending_links.c.relation == relation))
    for target in targets:
        link_pending(connection, space, note_id, relation, target)


def awaited(connection: Connection, space: str, titles: Collection[str]) -> set[str]:
    """Those of the folded titles that a link waits for."""
    here = and_(pending_links.c.space == space, pending_links.c.target.in_(titles))
    return set(connection.execute(select(pending_links.c.target).where(here)).scalars())


def resolve_pending(connection: Connection, space: str, note_id: int, titles: Sequence[str]) -> None:
    """Make the links that waited for a note with one of these folded titles."""
    here = and_(pending_links.c.space == space, pending_links.c.target.in_(titles))
    waiting = connection.execute(select(pending_links).where(here)).all()
    link(connection, space, [Link(row.note_id, note_id, row.relation, 1.0) for row in waiting])
    connection.execute(delete(pending_links).where(here))


def link_counts(connection: Connection, space: str) -> dict[str, int]:
    """How many links of each relation the space holds, and how many entities."""
    one, other = notes.alias("one"), notes.alias("other")
    rows = connection.execute(
        select(links.c.relation, func.count().label("n"))
        .join(one, and_(one.c.space == links.c.space, one.c.id == links.c.source_id, alive(None, one)))
        .join(other, and_(other.c.space == links.c.space, other.c.id == links.c.target_id, alive(None, other)))
        .where(links.c.space == space)
        .group_by(links.c.relation)
    )
    found = {row.relation: row.n for row in rows}
    named = (
        select(func.count(func.distinct(mentions.c.entity_id)))
        .join(notes, and_(notes.c.space == mentions.c.space, notes.c.id == mentions.c.note_id))
        .where(in_space(space))
    )
    found["entities"] = int(connection.execute(named).scalar_one())
    return found
