"""Connects a note to others: by names, times, causes and nearness of meaning."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from memora_cli.store import conditions, graph, marks, notes, times, vectors
from memora_cli.store.database import Database, IndexUnavailable
from memora_cli.text.dates import find_windows
from memora_cli.text.entities import because_links, entity_key, extract
from memora_cli.text.words import search_text
from memora_cli.values import Draft, Floors

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


def nearest_links(database: Database, connection: Connection, space: str, model: str, note_id: int) -> list[graph.Link]:
    """The links to the notes that mean nearly the same, by the vectors that the note has of that model."""
    import numpy

    passages = [passage.id for passage in notes.passages_of(connection, space, [note_id])[note_id]]
    blobs = vectors.of_passages(connection, space, model, passages)
    rows = [numpy.frombuffer(blob, "<f4") for blob in blobs.values()]
    return nearest(database, connection, space, model, note_id, rows)


def nearest(
    database: Database,
    connection: Connection,
    space: str,
    model: str,
    note_id: int,
    matrix: Iterable[NDArray[numpy.float32]],
) -> list[graph.Link]:
    """The links to the notes that mean nearly the same as these vectors of a note."""
    floors = marks.floors(connection, space, model) or Floors()
    best: dict[int, float] = {}
    for row in matrix:
        try:
            found = database.index.nearest(connection, space, model, row, None, NEIGHBOURS)
        except IndexUnavailable:
            found = vectors.scan(connection, model, row, conditions.in_space(space), NEIGHBOURS)
        for _, other, cosine in found:
            if other != note_id and cosine >= floors.link:
                best[other] = max(cosine, best.get(other, 0.0))
    here = notes.standing(connection, space, best)
    nearest = sorted((other for other in best if other in here), key=lambda other: (-best[other], other))
    return [
        graph.Link(note_id, other, "semantic", min(1.0, best[other])) for other in nearest[: graph.SEMANTIC_NEAREST]
    ]


def connect(
    connection: Connection, space: str, note_id: int, draft: Draft, at: datetime, week_start: int
) -> list[graph.Link]:
    """Record the times that a note mentions and the titles it waits for; its links in time and by cause."""
    created_at = draft.created_at or at
    mention_times(connection, space, note_id, draft, created_at, at.tzinfo, week_start)
    event_at = (draft.occurred.start if draft.occurred else None) or created_at
    links = graph.near_in_time(connection, space, note_id, event_at) if is_dated(draft) else []
    links += derived_causes(connection, space, note_id, draft)
    if draft.title:
        graph.resolve_pending(connection, space, note_id, [search_text(draft.title)])
    return links


def mention_times(
    connection: Connection,
    space: str,
    note_id: int,
    draft: Draft,
    created_at: datetime,
    zone: tzinfo | None,
    week_start: int,
) -> None:
    """Record the times that a note mentions, as its writer meant them in that zone."""
    text = f"{draft.title}\n{draft.body}"[:MENTIONS_WITHIN]
    said = find_windows(text, created_at.astimezone(zone), week_start=week_start, sure_only=True)
    times.mention(connection, space, note_id, said[:MOST_MENTIONS])


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
