"""Reads and writes when notes happened, and the times that their texts mention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, insert, select

from memora_cli.store.schema import mentioned_times, notes
from memora_cli.values import Window


@dataclass(frozen=True, slots=True)
class Event:
    """When a note happened: a span, open where an end is None; its creation is a span of no length."""

    start: datetime | None
    end: datetime | None


def events(
    connection: Connection, where: ColumnElement[bool], limit: int | None, around: Window | None = None
) -> dict[int, Event]:
    """When the notes that pass happened: the newest `limit`, or as many as are nearest on each side of a window."""
    columns = select(
        notes.c.number, notes.c.created_at, notes.c.occurred_start, notes.c.occurred_end, notes.c.event_at
    ).where(where)
    newest = (notes.c.event_at.desc(), notes.c.number.desc())
    if around is None:
        statements = [columns.order_by(*newest).limit(limit)]
    else:
        statements = []
        if around.start:
            statements.append(columns.where(notes.c.event_at < around.start).order_by(*newest).limit(limit))
        if around.end:
            after = columns.where(notes.c.event_at >= around.end)
            statements.append(after.order_by(notes.c.event_at, notes.c.number).limit(limit))
    found = {}
    for statement in statements:
        for row in connection.execute(statement):
            stated = row.occurred_start or row.occurred_end
            found[row.number] = (
                Event(row.occurred_start, row.occurred_end) if stated else Event(row.created_at, row.created_at)
            )
    return found


def mention_new(connection: Connection, space: str, found: Mapping[int, Sequence[Window]]) -> None:
    """Record the closed spans of time that the texts of new notes mention, by note."""
    rows = [row for note_id, windows in found.items() for row in _rows(space, note_id, windows)]
    if rows:
        connection.execute(insert(mentioned_times), rows)


def _rows(space: str, note_id: int, windows: Sequence[Window]) -> list[dict[str, Any]]:
    spans = dict.fromkeys((window.start, window.end) for window in windows if window.start and window.end)
    return [
        {"space": space, "note_id": note_id, "position": position, "start": start, "end": end}
        for position, (start, end) in enumerate(spans)
    ]


def mention(connection: Connection, space: str, note_id: int, windows: Sequence[Window]) -> None:
    """Record the closed spans of time that a note's text mentions, in the place of those it mentioned before."""
    here = (mentioned_times.c.space == space) & (mentioned_times.c.note_id == note_id)
    connection.execute(delete(mentioned_times).where(here))
    mention_new(connection, space, {note_id: windows})


def mentions(space: str, window: Window) -> ColumnElement[bool]:
    """The condition over `notes` that its text mentions a time that meets the window."""
    # Not correlated: the spans are read once by their index, not once for each note.
    return notes.c.id.in_(select(mentioned_times.c.note_id).where(mentioned_times.c.space == space, *_overlaps(window)))


def mentioned(
    connection: Connection, where: ColumnElement[bool], window: Window, limit: int | None
) -> dict[int, list[tuple[datetime, datetime]]]:
    """The mentioned spans that meet the window, by note, of the newest notes, up to `limit` spans."""
    found: dict[int, list[tuple[datetime, datetime]]] = {}
    rows = connection.execute(
        select(notes.c.number, mentioned_times.c.start, mentioned_times.c.end)
        .join(mentioned_times, (mentioned_times.c.space == notes.c.space) & (mentioned_times.c.note_id == notes.c.id))
        .where(where, *_overlaps(window))
        .order_by(notes.c.event_at.desc(), notes.c.id.desc())
        .limit(limit)
    )
    for row in rows:
        found.setdefault(row.number, []).append((row.start, row.end))
    return found


def _overlaps(window: Window) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if window.start:
        conditions.append(mentioned_times.c.end > window.start)
    if window.end:
        conditions.append(mentioned_times.c.start < window.end)
    return conditions
