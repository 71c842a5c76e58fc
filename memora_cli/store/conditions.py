"""The conditions over notes that filters, windows and spaces mean."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import ColumnElement, and_, or_, select, true

from memora_cli.store.schema import notes, supersessions, topics
from memora_cli.values import Filters


def matching(filters: Filters) -> ColumnElement[bool]:
    """The condition over `notes` that the filters mean."""
    conditions: list[ColumnElement[bool]] = [notes.c.space == filters.space, notes.c.deleted_at.is_(None)]
    if filters.kind:
        conditions.append(notes.c.kind == filters.kind)
    conditions += [
        select(topics.c.note_id)
        .where(topics.c.space == notes.c.space, topics.c.note_id == notes.c.id, topics.c.topic == topic)
        .exists()
        for topic in filters.topics
    ]
    conditions.append(meets(filters.since, filters.until))
    if filters.pinned:
        conditions.append(notes.c.pinned.is_(True))
    return and_(*conditions)


def meets(start: datetime | None, end: datetime | None) -> ColumnElement[bool]:
    """The condition over `notes` that its event (else its creation) meets the half-open range.

    An event may be open on one side: "since 2020" has no end, "before 2019" no start.
    """
    conditions: list[ColumnElement[bool]] = []
    if start:
        endless = notes.c.occurred_start.is_not(None) & notes.c.occurred_end.is_(None)
        conditions.append(or_(notes.c.event_at >= start, notes.c.occurred_end > start, endless))
    if end:
        beginless = notes.c.occurred_start.is_(None) & notes.c.occurred_end.is_not(None)
        conditions.append(or_(notes.c.event_at < end, beginless))
    return and_(true(), *conditions)


def in_space(space: str) -> ColumnElement[bool]:
    """The condition over `notes` that it is in the space."""
    return and_(notes.c.space == space, notes.c.deleted_at.is_(None))


def with_ids(space: str, ids: Collection[int]) -> ColumnElement[bool]:
    """The condition over `notes` that it is one of these."""
    return and_(in_space(space), notes.c.id.in_(ids))


def stale() -> ColumnElement[bool]:
    """The condition over `notes` that something supersedes it."""
    return (
        select(supersessions.c.old_id)
        .where(supersessions.c.space == notes.c.space, supersessions.c.old_id == notes.c.id)
        .exists()
    )
