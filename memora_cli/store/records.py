"""Reads what an export needs beyond the notes themselves, and gives imported notes the ids that they had."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, insert, select, update

from memora_cli.store.conditions import matching, stale
from memora_cli.store.graph import Link
from memora_cli.store.schema import counters, entities, links, mentions, notes, pending_links, supersessions
from memora_cli.values import Filters

DERIVED = frozenset({"temporal", "semantic"})  # links that dates and vectors give anew
EXPLICIT = "explicit"


@dataclass(frozen=True, slots=True)
class Named:
    """What a note may be called by in a link: its title and the file it came from."""

    id: int
    title: str
    source: str


def listed(connection: Connection, filters: Filters, *, current_only: bool = False) -> list[int]:
    """The ids of the notes that pass the filters, in order."""
    condition = matching(filters) & ~stale(filters.space) if current_only else matching(filters)
    return list(connection.execute(select(notes.c.id).where(condition).order_by(notes.c.id)).scalars())


def spaces(connection: Connection) -> list[str]:
    """Every space that holds a note, by name."""
    return list(connection.execute(select(notes.c.space).distinct().order_by(notes.c.space)).scalars())


@dataclass(frozen=True, slots=True)
class Filed:
    """What is kept of a note and not shown: whether somebody said when it was, what its file held, since when."""

    dated: bool
    file_hash: str
    since: datetime | None


def files(connection: Connection, space: str, ids: Collection[int]) -> dict[int, Filed]:
    """What is kept of each of the notes and not shown."""
    columns = select(notes.c.id, notes.c.dated, notes.c.file_hash, notes.c.since)
    rows = connection.execute(columns.where(notes.c.space == space, notes.c.id.in_(ids)))
    return {row.id: Filed(row.dated, row.file_hash, row.since) for row in rows}


def explicit_entities(connection: Connection, space: str, ids: Collection[int]) -> dict[int, list[str]]:
    """The names that were given with each note, and are not found in its text."""
    found: dict[int, list[str]] = defaultdict(list)
    rows = connection.execute(
        select(mentions.c.note_id, func.coalesce(mentions.c.said, entities.c.name).label("name"))
        .join(entities, (entities.c.space == mentions.c.space) & (entities.c.id == mentions.c.entity_id))
        .where(mentions.c.space == space, mentions.c.note_id.in_(ids), mentions.c.origin == EXPLICIT)
        .order_by(mentions.c.note_id, entities.c.id)
    )
    for row in rows:
        found[row.note_id].append(row.name)
    return found


def said(connection: Connection, space: str, ids: Collection[int]) -> dict[int, list[tuple[str, str]]]:
    """`(name, origin)` of what each note mentions by an alias, as the note says it."""
    found: dict[int, list[tuple[str, str]]] = defaultdict(list)
    rows = connection.execute(
        select(mentions)
        .where(mentions.c.space == space, mentions.c.note_id.in_(ids), mentions.c.said.is_not(None))
        .order_by(mentions.c.note_id, mentions.c.entity_id)
    )
    for row in rows:
        found[row.note_id].append((row.said, row.origin))
    return found


def say(connection: Connection, space: str, note_id: int, names: Mapping[int, tuple[str, str]]) -> None:
    """Record by which alias a note mentions entities, `(name, origin)` by entity; all others it calls by their own."""
    here = (mentions.c.space == space) & (mentions.c.note_id == note_id)
    connection.execute(update(mentions).where(here, mentions.c.said.is_not(None)).values(said=None))
    for entity_id, (name, origin) in names.items():
        of = here & (mentions.c.entity_id == entity_id)
        connection.execute(update(mentions).where(of).values(said=name, origin=origin))


def stated_links(connection: Connection, space: str, ids: Collection[int]) -> dict[int, list[Link]]:
    """The links that lead from each note and that nothing else gives anew."""
    found: dict[int, list[Link]] = defaultdict(list)
    rows = connection.execute(
        select(links)
        .where(links.c.space == space, links.c.source_id.in_(ids), links.c.relation.not_in(DERIVED))
        .order_by(links.c.source_id, links.c.target_id, links.c.relation)
    )
    for row in rows:
        found[row.source_id].append(Link(row.source_id, row.target_id, row.relation, row.weight, row.origin))
    return found


def pending(connection: Connection, space: str, ids: Collection[int]) -> dict[int, list[tuple[str, str]]]:
    """`(relation, folded title)` of the links of each note that wait for their target."""
    found: dict[int, list[tuple[str, str]]] = defaultdict(list)
    rows = connection.execute(
        select(pending_links)
        .where(pending_links.c.space == space, pending_links.c.note_id.in_(ids))
        .order_by(pending_links.c.note_id, pending_links.c.relation, pending_links.c.target)
    )
    for row in rows:
        found[row.note_id].append((row.relation, row.target))
    return found


def replaced(connection: Connection, space: str, ids: Collection[int]) -> dict[int, list[tuple[int, datetime]]]:
    """`(old id, when)` of the supersessions by each note, oldest first."""
    found: dict[int, list[tuple[int, datetime]]] = defaultdict(list)
    rows = connection.execute(
        select(supersessions)
        .where(supersessions.c.space == space, supersessions.c.new_id.in_(ids))
        .order_by(supersessions.c.created_at, supersessions.c.old_id)
    )
    for row in rows:
        found[row.new_id].append((row.old_id, row.created_at))
    return found


def uids(connection: Connection, space: str, ids: Collection[int]) -> dict[int, str]:
    """The uid of each of the notes."""
    rows = connection.execute(select(notes.c.id, notes.c.uid).where(notes.c.space == space, notes.c.id.in_(ids)))
    return {row.id: row.uid for row in rows}


def by_uid(connection: Connection, space: str, wanted: Collection[str]) -> dict[str, tuple[int, str]]:
    """Id and content hash of the notes with these uids that are there, those in the trash too."""
    rows = connection.execute(
        select(notes.c.uid, notes.c.id, notes.c.content_hash).where(notes.c.space == space, notes.c.uid.in_(wanted))
    )
    return {row.uid: (row.id, row.content_hash) for row in rows}


def last_id(connection: Connection, name: str) -> int:
    """The last number of that kind that was given out."""
    found = select(counters.c.value).where(counters.c.space == "", counters.c.name == name)
    return connection.execute(found).scalar() or 0


def claim(connection: Connection, name: str, number: int) -> None:
    """Let no number up to this one be given out again."""
    where = (counters.c.space == "") & (counters.c.name == name)
    if last_id(connection, name) >= number:
        return
    if not connection.execute(update(counters).where(where).values(value=number)).rowcount:
        connection.execute(insert(counters).values(space="", name=name, value=number))


def taken(connection: Connection, ids: Collection[int]) -> set[int]:
    """Those of the ids that a note of any space has."""
    return set(connection.execute(select(notes.c.id).where(notes.c.id.in_(ids))).scalars())


def named(connection: Connection, space: str) -> Iterator[Named]:
    """Every note of the space that a title or a file names and nothing replaces, oldest first."""
    rows = connection.execute(
        select(notes.c.id, notes.c.title, notes.c.source)
        .where(notes.c.space == space, notes.c.deleted_at.is_(None), (notes.c.title != "") | (notes.c.source != ""))
        .where(~stale(space))
        .order_by(notes.c.id)
    )
    return (Named(row.id, row.title, row.source) for row in rows)


def linked(connection: Connection, space: str, relation: str, ids: Sequence[int]) -> dict[int, set[int]]:
    """The targets of the links of that relation that lead from each note."""
    found: dict[int, set[int]] = defaultdict(set)
    rows = connection.execute(
        select(links.c.source_id, links.c.target_id).where(
            links.c.space == space, links.c.relation == relation, links.c.source_id.in_(ids)
        )
    )
    for row in rows:
        found[row.source_id].add(row.target_id)
    return found
