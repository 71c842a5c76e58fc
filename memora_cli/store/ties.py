"""Reads what notes are tied to, as people see it: links with their direction, shared entities, supersessions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from types import MappingProxyType

from sqlalchemy import Connection, or_, select

from memora_cli.store.conditions import replacements
from memora_cli.store.graph import Edge, edges
from memora_cli.store.schema import links
from memora_cli.store.supersessions import predecessors

INVERSE: Mapping[str, str] = MappingProxyType(
    {
        "causes": "caused-by",
        "enables": "enabled-by",
        "prevents": "prevented-by",
        "references": "referenced-by",
        "supersedes": "superseded-by",
    }
)
"""What a relation is called from its other end; the others lead both ways."""


def linked(connection: Connection, space: str, note_ids: Collection[int]) -> list[Edge]:
    """The links of these notes, named as seen from each."""
    wanted, found = set(note_ids), []
    rows = connection.execute(
        select(links)
        .where(links.c.space == space, or_(links.c.source_id.in_(wanted), links.c.target_id.in_(wanted)))
        .order_by(links.c.source_id, links.c.relation, links.c.target_id)
    )
    for row in rows:
        back = INVERSE.get(row.relation, row.relation)
        if row.source_id in wanted:
            found.append(Edge(row.source_id, row.target_id, row.relation, "", row.weight))
        if row.target_id in wanted:
            found.append(Edge(row.target_id, row.source_id, back, "", row.weight))
    return found


def sharing(connection: Connection, space: str, note_ids: Collection[int], hub: int) -> list[Edge]:
    """One edge to each note that shares entities, with all their names and the weight of the strongest.

    An entity in more than `hub` notes connects nothing.
    """
    shared: dict[tuple[int, int], list[Edge]] = defaultdict(list)
    for edge in edges(connection, space, note_ids, hub):
        if edge.relation == "entity":
            shared[edge.source, edge.target].append(edge)
    return [
        Edge(source, target, "entity", ", ".join(sorted({edge.via for edge in same})), max(e.weight for e in same))
        for (source, target), same in shared.items()
    ]


def replacing(connection: Connection, space: str, note_ids: Collection[int]) -> list[Edge]:
    """The supersessions of these notes, in both directions; their weight means nothing and is 1."""
    held = replacements(space).subquery()
    rows = connection.execute(
        select(held.c.old_id, held.c.new_id).where(held.c.space == space, held.c.old_id.in_(note_ids))
    )
    found = [Edge(row.old_id, row.new_id, "superseded-by", "", 1.0) for row in rows]
    for new, old in predecessors(connection, space, note_ids).items():
        found += [Edge(new, number, "supersedes", "", 1.0) for number in old]
    return found
