"""Reads and writes what connects notes: entities, links and supersessions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Connection, and_, bindparam, delete, func, insert, or_, select

from memora_cli.store.notes import next_ids
from memora_cli.store.schema import entities, links, mentions, notes, pending_links, supersessions

TEMPORAL_HOURS = 24.0
TEMPORAL_NEAREST = 10
SEMANTIC_FLOOR = 0.7
SEMANTIC_NEAREST = 5
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
    rows = {
        (known[key], note_id): {"space": space, "entity_id": known[key], "note_id": note_id, "origin": origin}
        for note_id, items in found.items()
        for key, _, origin in items
    }
    connection.execute(insert(mentions), list(rows.values()))


def known_entities(connection: Connection, space: str, keys: Collection[str]) -> dict[str, int]:
    """The ids of the entities with these keys that exist, by key."""
    rows = connection.execute(
        select(entities.c.key, entities.c.id).where(entities.c.space == space, entities.c.key.in_(keys))
    )
    return {row.key: row.id for row in rows}


def holders(
    connection: Connection, where: ColumnElement[bool], space: str, keys: Collection[str], most: int
) -> dict[str, tuple[str, int, list[int]]]:
    """By entity key: its name, how many notes hold it, and up to `most` of these that pass `where`, newest first."""
    found: dict[str, tuple[str, int, list[int]]] = {}
    rows = connection.execute(
        select(entities.c.id, entities.c.key, entities.c.name).where(
            entities.c.space == space, entities.c.key.in_(keys)
        )
    ).all()
    for row in rows:
        of_entity = (mentions.c.space == space) & (mentions.c.entity_id == row.id)
        join = mentions.join(notes, (notes.c.space == mentions.c.space) & (notes.c.id == mentions.c.note_id))
        held = connection.execute(
            select(func.count()).select_from(join).where(of_entity, notes.c.deleted_at.is_(None))
        ).scalar_one()
        ids = connection.execute(
            select(notes.c.id)
            .select_from(join)
            .where(of_entity, where)
            .order_by(notes.c.created_at.desc(), notes.c.id)
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


def edges(connection: Connection, space: str, note_ids: Collection[int], hub: int) -> list[Edge]:
    """All edges that leave these notes; an entity in more than `hub` notes is a hub and connects nothing.

    With 0 for `hub` only links count. Temporal and semantic links lead both ways. A causal link does too, as an answer
    may be asked from either end.
    Entity edges have weight 1.0 between the only two holders, damped by the square root of the holders beyond that.
    """
    found = []
    rows = connection.execute(
        select(links).where(
            links.c.space == space, or_(links.c.source_id.in_(note_ids), links.c.target_id.in_(note_ids))
        )
    )
    wanted = set(note_ids)
    for row in rows:
        if row.source_id in wanted:
            found.append(Edge(row.source_id, row.target_id, row.relation, row.relation, row.weight))
        if row.target_id in wanted:
            found.append(Edge(row.target_id, row.source_id, row.relation, row.relation, row.weight))
    if hub < 2:
        return found
    held = (
        select(mentions.c.entity_id, func.count().label("notes"))
        .where(
            mentions.c.space == space,
            mentions.c.entity_id.in_(
                select(mentions.c.entity_id).where(mentions.c.space == space, mentions.c.note_id.in_(note_ids))
            ),
        )
        .group_by(mentions.c.entity_id)
        .having(func.count().between(2, hub))
        .subquery()
    )
    here, there = mentions.alias("here"), mentions.alias("there")
    shared = connection.execute(
        select(here.c.note_id, there.c.note_id.label("other"), entities.c.name, held.c.notes)
        .join(there, and_(there.c.space == here.c.space, there.c.entity_id == here.c.entity_id))
        .join(held, held.c.entity_id == here.c.entity_id)
        .join(entities, and_(entities.c.space == here.c.space, entities.c.id == here.c.entity_id))
        .where(here.c.space == space, here.c.note_id.in_(note_ids), there.c.note_id != here.c.note_id)
    )
    found += [Edge(row.note_id, row.other, "entity", row.name, (row.notes - 1) ** -0.5) for row in shared]
    return found


@dataclass(frozen=True, slots=True)
class Link:
    """A link to be stored: `caused-by` becomes its inverse, and what leads both ways is stored once."""

    source: int
    target: int
    relation: str
    weight: float

    def stored(self) -> Link:
        """The link in the direction it is stored in."""
        if self.relation == "caused-by":
            return Link(self.target, self.source, "causes", self.weight)
        if self.relation not in DIRECTED and self.source > self.target:
            return Link(self.target, self.source, self.relation, self.weight)
        return self


def link(connection: Connection, space: str, found: Iterable[Link]) -> None:
    """Connect notes; the same link said again takes the new weight."""
    rows = {}
    for item in (item.stored() for item in found if item.source != item.target):
        key = {"space": space, "source_id": item.source, "target_id": item.target, "relation": item.relation}
        rows[item.source, item.target, item.relation] = key | {"weight": item.weight}
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


def unlink(connection: Connection, space: str, source_id: int, targets: Collection[int], relation: str) -> None:
    """Take away the links of that relation that lead from a note to these."""
    here = (links.c.space == space) & (links.c.source_id == source_id) & (links.c.relation == relation)
    connection.execute(delete(links).where(here, links.c.target_id.in_(targets)))


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


def resolve_pending(connection: Connection, space: str, note_id: int, titles: Sequence[str]) -> None:
    """Make the links that waited for a note with one of these folded titles."""
    here = and_(pending_links.c.space == space, pending_links.c.target.in_(titles))
    waiting = connection.execute(select(pending_links).where(here)).all()
    link(connection, space, [Link(row.note_id, note_id, row.relation, 1.0) for row in waiting])
    connection.execute(delete(pending_links).where(here))


def supersede(connection: Connection, space: str, old_id: int, new_id: int, at: datetime) -> bool:
    """Record that one note replaces another; False when that was said already."""
    same = and_(supersessions.c.space == space, supersessions.c.old_id == old_id, supersessions.c.new_id == new_id)
    if connection.execute(select(supersessions.c.old_id).where(same)).first():
        return False
    connection.execute(insert(supersessions).values(space=space, old_id=old_id, new_id=new_id, created_at=at))
    return True


def successors(connection: Connection, space: str, note_ids: Collection[int]) -> dict[int, tuple[int, ...]]:
    """For every note reachable from these by supersession: the notes that directly replace it, oldest first."""
    found: dict[int, tuple[int, ...]] = {}
    frontier = set(note_ids)
    while frontier:
        step: dict[int, list[int]] = defaultdict(list)
        for row in connection.execute(
            select(supersessions.c.old_id, supersessions.c.new_id)
            .where(supersessions.c.space == space, supersessions.c.old_id.in_(frontier))
            .order_by(supersessions.c.created_at, supersessions.c.new_id)
        ):
            step[row.old_id].append(row.new_id)
        found |= {old: tuple(new) for old, new in step.items()}
        frontier = {number for new in step.values() for number in new} - set(found)
    return found


def predecessors(connection: Connection, space: str, note_ids: Collection[int]) -> dict[int, tuple[int, ...]]:
    """The notes that each of these directly replaces, oldest first."""
    found: dict[int, list[int]] = defaultdict(list)
    for row in connection.execute(
        select(supersessions.c.old_id, supersessions.c.new_id)
        .where(supersessions.c.space == space, supersessions.c.new_id.in_(note_ids))
        .order_by(supersessions.c.created_at, supersessions.c.old_id)
    ):
        found[row.new_id].append(row.old_id)
    return {new: tuple(old) for new, old in found.items()}


def any_superseded(connection: Connection, space: str) -> bool:
    """Whether any note of the space is superseded."""
    found = select(supersessions.c.old_id).where(supersessions.c.space == space).limit(1)
    return connection.execute(found).first() is not None


def link_counts(connection: Connection, space: str) -> dict[str, int]:
    """How many links of each relation the space holds, and how many entities."""
    rows = connection.execute(
        select(links.c.relation, func.count().label("n")).where(links.c.space == space).group_by(links.c.relation)
    )
    found = {row.relation: row.n for row in rows}
    found["entities"] = int(
        connection.execute(select(func.count()).select_from(entities).where(entities.c.space == space)).scalar_one()
    )
    return found
