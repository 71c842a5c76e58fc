"""Reads and writes when notes happened, and the times that their texts mention."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, insert, select

from memora_cli.store.schema import mentioned_times, notes
from memora_cli.values import Window


def event_times(
    connection: Connection, where: ColumnElement[bool], limit: int, window: Window | None = None
) -> dict[int, tuple[datetime, datetime | None]]:
    """Event start (else creation) and end of up to `limit` notes: the newest, or the nearest on each side of it."""
    columns = select(notes.c.id, notes.c.event_at, notes.c.occurred_end)
    newest = (notes.c.event_at.desc(), notes.c.id.desc())
    statements = [columns.where(where).order_by(*newest).limit(limit)]
    if window:
        statements = []
        if window.start:
            before = columns.where(where, notes.c.event_at < window.start)
            statements.append(before.order_by(*newest).limit(limit))
        if window.end:
            after = columns.where(where, notes.c.event_at >= window.end)
            statements.append(after.order_by(notes.c.event_at, notes.c.id).limit(limit))
    return {
        row.id: (row.event_at, row.occurred_end) for statement in statements for row in connection.execute(statement)
    }


def mention(connection: Connection, space: str, note_id: int, windows: Sequence[Window]) -> None:
    """Record the closed spans of time that a note's text mentions."""
    spans = dict.fromkeys((window.start, window.end) for window in windows if window.start and window.end)
    if spans:
        connection.execute(
            insert(mentioned_times),
            [
                {"space": space, "note_id": note_id, "position": position, "start": start, "end": end}
                for position, (start, end) in enumerate(spans)
            ],
        )


def mentions(window: Window) -> ColumnElement[bool]:
    """The condition over `notes` that its text mentions a time that meets the window."""
    return (
        select(mentioned_times.c.note_id)
        .where(
            mentioned_times.c.space == notes.c.space,
            mentioned_times.c.note_id == notes.c.id,
            *_overlaps(window),
        )
        .exists()
    )


def mentioned(
    connection: Connection, where: ColumnElement[bool], window: Window, limit: int
) -> dict[int, list[tuple[datetime, datetime]]]:
    """The mentioned spans that meet the window, by note, of up to `limit` spans."""
    found: dict[int, list[tuple[datetime, datetime]]] = {}
    rows = connection.execute(
        select(notes.c.id, mentioned_times.c.start, mentioned_times.c.end)
        .join(mentioned_times, (mentioned_times.c.space == notes.c.space) & (mentioned_times.c.note_id == notes.c.id))
        .where(where, *_overlaps(window))
        .order_by(notes.c.event_at.desc(), notes.c.id.desc())
        .limit(limit)
    )
    for row in rows:
        found.setdefault(row.id, []).append((row.start, row.end))
    return found


def _overlaps(window: Window) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if window.start:
        conditions.append(mentioned_times.c.end > window.start)
    if window.end:
        conditions.append(mentioned_times.c.start < window.end)
    return conditions
