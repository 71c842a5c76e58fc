"""Connects a note to others: by names, times, causes and nearness of meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from memora_cli.store import conditions, graph, marks, notes, times, vectors
from memora_cli.store.database import Database, IndexUnavailable
from memora_cli.text.dates import find_windows
from memora_cli.text.entities import because_links, entity_key, extract
from memora_cli.text.words import search_text
from memora_cli.values import Draft, Floors, Window

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

MENTIONS_WITHIN = 20_000  # characters of a text in which mentioned times are looked for
MOST_MENTIONS = 50
NEIGHBOURS = 24  # passages asked for to find the nearest notes, as several may be of one note


def is_dated(draft: Draft) -> bool:
    """Whether somebody said when the note was; notes just typed one after the other have nothing in common by that."""
    return draft.occurred is not None or (draft.created_at is not None and draft.dated)


def entities_of(draft: Draft) -> list[tuple[str, str, str]]:
    """Key, name and origin of what a note is about."""
    return [
        (entity_key(entity.name), entity.name, entity.source)
        for entity in extract(draft.title, draft.body, draft.topics, draft.entities)
    ]


def nearest_links(
    database: Database, connection: Connection, space: str, model: str, note_ids: Sequence[int]
) -> list[graph.Link]:
    """The links to the notes that mean nearly the same, by the vectors that the notes have of that model."""
    import numpy

    passages = notes.passages_of(connection, space, note_ids)
    blobs = vectors.of_passages(connection, space, model, [one.id for held in passages.values() for one in held])
    rows = {
        note_id: numpy.array([numpy.frombuffer(blobs[one.id], "<f4") for one in held if one.id in blobs])
        for note_id, held in passages.items()
    }
    return nearest(database, connection, space, model, rows)


def nearest(
    database: Database,
    connection: Connection,
    space: str,
    model: str,
    rows: Mapping[int, NDArray[numpy.float32]],
) -> list[graph.Link]:
    """The links to the notes that mean nearly the same as these vectors, by note; they are stored already."""
    import numpy

    owners = [note_id for note_id, held in rows.items() for _ in held]
    if not owners:
        return []
    matrix = numpy.concatenate([held for held in rows.values() if len(held)])
    try:
        found = database.index.nearest_many(connection, space, model, matrix, NEIGHBOURS)
    except IndexUnavailable:
        here = conditions.in_space(space)
        found = [vectors.scan(connection, model, row, here, NEIGHBOURS) for row in matrix]
    floors = marks.floors(connection, space, model) or Floors()
    best: dict[int, dict[int, float]] = {note_id: {} for note_id in rows}
    for note_id, hits in zip(owners, found, strict=True):
        for _, other, cosine in hits:
            if other != note_id and cosine >= floors.link:
                best[note_id][other] = max(cosine, best[note_id].get(other, 0.0))
    here_now = notes.standing(connection, space, {other for others in best.values() for other in others})
    links = []
    for note_id, others in best.items():
        ordered = sorted((other for other in others if other in here_now), key=lambda other: (-others[other], other))
        links += [
            graph.Link(note_id, other, "semantic", min(1.0, others[other]))
            for other in ordered[: graph.SEMANTIC_NEAREST]
        ]
    return links


def connect(
    connection: Connection, space: str, drafts: Mapping[int, Draft], at: datetime, week_start: int
) -> list[graph.Link]:
    """Record the times that new notes mention and the titles they wait for; their links in time and by cause."""
    links: list[graph.Link] = []
    said: dict[int, tuple[Window, ...]] = {}
    titles = {note_id: search_text(draft.title) for note_id, draft in drafts.items() if draft.title}
    for note_id, draft in drafts.items():
        created_at = draft.created_at or at
        said[note_id] = mentioned(draft, created_at, at.tzinfo, week_start)
        event_at = (draft.occurred.start if draft.occurred else None) or created_at
        links += graph.near_in_time(connection, space, note_id, event_at) if is_dated(draft) else []
        links += derived_causes(connection, space, note_id, draft)
    times.mention_new(connection, space, said)
    awaited = graph.awaited(connection, space, set(titles.values()))
    for note_id, title in titles.items():
        if title in awaited:
            graph.resolve_pending(connection, space, note_id, [title])
    return links


def mentioned(draft: Draft, created_at: datetime, zone: tzinfo | None, week_start: int) -> tuple[Window, ...]:
    """The times that a note mentions, as its writer meant them in that zone."""
    text = f"{draft.title}\n{draft.body}"[:MENTIONS_WITHIN]
    return find_windows(text, created_at.astimezone(zone), week_start=week_start, sure_only=True)[:MOST_MENTIONS]


def mention_times(
    connection: Connection,
    space: str,
    note_id: int,
    draft: Draft,
    created_at: datetime,
    zone: tzinfo | None,
    week_start: int,
) -> None:
    """Record the times that a note mentions, in the place of those it mentioned before."""
    times.mention(connection, space, note_id, mentioned(draft, created_at, zone, week_start))


def derived_causes(connection: Connection, space: str, note_id: int, draft: Draft) -> list[graph.Link]:
    """The links by cause that a note's text says; a title that no note has yet is waited for."""
    links = []
    causes = dict.fromkeys((*draft.links, *(("caused-by", target) for target in because_links(draft.body))))
    for relation, title in causes:
        words = search_text(title)
        target = notes.find_title(connection, space, words)
        if target is None:
            graph.link_pending(connection, space, note_id, relation, words)
        else:
            links.append(graph.Link(note_id, target, relation, 1.0))
    return links
