"""The graph strategy: activation spreads from entry notes over links and shared entities."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from memora_cli.retrieve.source import Found, Source, rank
from memora_cli.store import conditions, counts, notes
from memora_cli.store import graph as stored
from memora_cli.values import RankedList

ENTRY_HITS = 5
DECAY = 0.8
CAUSAL_BOOST = 2.0
STOP_BELOW = 0.1
HUB = 65  # √(1/64) · 0.8 is the last damped step that activates anything
COMMON_SHARE = 0.05  # an entity in more of the notes than this says nothing about any of them …
COMMON_NOTES = 10  # … once there are more than a handful
NAME_SHARE = 0.5  # a word that is less often a name than this is no name
FREQUENCY_CAP = 10_000
AHEAD = 24  # neighbours are read for this many waiting notes at a time


@dataclass(frozen=True, slots=True)
class Activation:
    """How strongly a note is active, and the path of names and notes that made it so."""

    value: float
    path: str
    steps: int


def graph(source: Source) -> RankedList:
    """Highest activation first, in [0.1, 1]; the reason is the path."""
    start, common = entries(source)
    if not start:
        return RankedList("graph", skipped=f"no entry: {common or 'no known entity, and no note is near enough'}")
    active = spread(source, start)
    allowed = notes.allowed(source.connection, source.query.filters, active)
    near = {hit.note_id: hit.score for hit in source.list_of("semantic").hits}
    found = [
        Found(note_id, activation.value, activation.path, nearness=near.get(note_id, 0.0))
        for note_id, activation in active.items()
        if note_id in allowed
    ]
    return RankedList("graph", rank(source, found))


def entries(source: Source) -> tuple[dict[int, Activation], str]:
    """The notes nearest to the query with their cosine, and the holders of its entities with 1.0.

    An entity that a large share of the notes holds is no entry, nor one whose name mostly stands in them as a plain
    word ("List", "Files"); the text says which were left out for that.
    """
    start = {
        hit.note_id: Activation(hit.score, f"near → #{hit.note_id}", 0)
        for hit in source.list_of("semantic").hits[:ENTRY_HITS]
        if hit.score >= source.floors.entry
    }
    most = max(COMMON_NOTES, COMMON_SHARE * counts.total(source.connection, source.space, source.as_of))
    passing = conditions.matching(source.query.filters)
    common = []
    for key, (name, held, ids) in stored.holders(
        source.connection,
        passing,
        source.space,
        source.understood.entities,
        source.settings.thinking_budget,
        source.as_of,
    ).items():
        if held > most:
            common.append(f"{name} is in {held} notes and tells nothing")
            continue
        if held < NAME_SHARE * _written(source, key):
            common.append(f"{name} is mostly a plain word in these notes")
            continue
        for note_id in ids:
            start[note_id] = Activation(1.0, f"{name} → #{note_id}", 0)
    return start, ", ".join(common)


def _written(source: Source, key: str) -> int:
    """How many notes hold the one word of an entity's key, as a name or not; 0 for a key of several words."""
    if " " in key:
        return 0
    return source.database.index.frequency(source.connection, source.space, key, FREQUENCY_CAP)


def spread(source: Source, start: dict[int, Activation], stop_below: float = STOP_BELOW) -> dict[int, Activation]:
    """The activation of every note reached; `neighbour = current · weight · 0.8`, causal ×2, never above 1.

    The most active note is expanded first (fewer steps, then lower id at a tie), `thinking_budget` notes at most.
    """
    active = dict(start)
    waiting = [(-activation.value, activation.steps, note_id) for note_id, activation in start.items()]
    heapq.heapify(waiting)
    neighbours: dict[int, list[stored.Edge]] = {}
    done: set[int] = set()
    while waiting and len(done) < source.settings.thinking_budget:
        _, _, note_id = heapq.heappop(waiting)
        if note_id in done:
            continue
        done.add(note_id)
        if note_id not in neighbours:
            ahead = [number for _, _, number in heapq.nsmallest(AHEAD, waiting) if number not in neighbours]
            neighbours |= read_neighbours(source, {note_id, *ahead})
        here = active[note_id]
        for edge in neighbours[note_id]:
            boost = CAUSAL_BOOST if edge.relation in stored.CAUSAL else 1.0
            value = min(1.0, here.value * edge.weight * DECAY * boost)
            there = active.get(edge.target)
            if value < stop_below or edge.target in done or (there and there.value >= value):
                continue
            active[edge.target] = Activation(value, f"{here.path} → {edge.via} → #{edge.target}", here.steps + 1)
            heapq.heappush(waiting, (-value, here.steps + 1, edge.target))
    return active


def read_neighbours(source: Source, note_ids: Collection[int]) -> dict[int, list[stored.Edge]]:
    """The edges that leave each note, strongest first."""
    found: dict[int, list[stored.Edge]] = defaultdict(list, {note_id: [] for note_id in note_ids})
    for edge in stored.edges(source.connection, source.space, note_ids, HUB, source.as_of):
        found[edge.source].append(edge)
    for edges in found.values():
        edges.sort(key=lambda edge: (-edge.weight, edge.target, edge.relation, edge.via))
    return found
