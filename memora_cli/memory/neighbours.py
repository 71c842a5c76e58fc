"""The notes around a note: who is tied to it, by which kind of edge, up to a number of steps."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from memora_cli.memory.writing import require
from memora_cli.retrieve.graph import HUB
from memora_cli.store import notes
from memora_cli.store.graph import Edge
from memora_cli.store.ties import linked, replacing, sharing
from memora_cli.values import Note

KINDS = (
    "supersedes",
    "superseded-by",
    "causes",
    "caused-by",
    "enables",
    "enabled-by",
    "prevents",
    "prevented-by",
    "references",
    "referenced-by",
    "entity",
    "semantic",
    "temporal",
)
"""In the order they are shown."""


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """A note and those around it.

    `tree` holds the edges over which a note is reached by the fewest steps, nearest first and by kind and weight;
    `others` further edges between these notes that were met on the way; `omitted` how many more a note has of a kind.
    """

    root: int
    notes: Mapping[int, Note]
    tree: tuple[Edge, ...]
    others: tuple[Edge, ...]
    omitted: Mapping[tuple[int, str], int]


def neighbourhood(connection: Connection, space: str, note_id: int, depth: int, most: int | None) -> Neighbourhood:
    """The notes up to `depth` steps away, at most `most` of each kind from one note. Raises `NoSuchNote`."""
    found = dict(require(connection, space, [note_id]))
    tree: list[Edge] = []
    others: list[Edge] = []
    omitted: Counter[tuple[int, str]] = Counter()
    frontier = [note_id]
    for _ in range(depth):
        edges = _edges(connection, space, frontier)
        alive = notes.fetch(connection, space, {edge.target for edge in edges} - set(found)) | found
        reached_from: dict[int, int] = dict.fromkeys(found, 0)
        shown: Counter[tuple[int, str]] = Counter()
        fresh: list[Edge] = []
        for edge in edges:
            place = (edge.source, edge.relation)
            if edge.target not in alive:
                continue
            if reached_from.get(edge.target, edge.source) != edge.source:
                others.append(edge)
            elif most is not None and shown[place] >= most:
                omitted[place] += 1
            else:
                shown[place] += 1
                reached_from[edge.target] = edge.source
                fresh.append(edge)
        frontier = list(dict.fromkeys(edge.target for edge in fresh))
        found |= {number: alive[number] for number in frontier}
        tree += fresh
        if not frontier:
            break
    return Neighbourhood(note_id, found, tuple(tree), tuple(others), dict(omitted))


def _edges(connection: Connection, space: str, frontier: list[int]) -> list[Edge]:
    """The edges that leave these notes, note by note in their order, by kind and falling weight."""
    by_source: dict[int, list[Edge]] = defaultdict(list)
    for edge in (
        *replacing(connection, space, frontier),
        *linked(connection, space, frontier),
        *sharing(connection, space, frontier, HUB),
    ):
        by_source[edge.source].append(edge)
    return [
        edge
        for source in frontier
        for edge in sorted(by_source[source], key=lambda e: (KINDS.index(e.relation), -e.weight, e.target))
    ]
