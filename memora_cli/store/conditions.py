"""The conditions over notes that filters, windows and spaces mean."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import ColumnElement, FromClause, Select, and_, or_, select, true, tuple_, union_all

from memora_cli.store.schema import notes, past_supersessions, supersessions, topics
from memora_cli.values import Filters


def matching(filters: Filters) -> ColumnElement[bool]:
    """The condition over `notes` that the filters mean."""
    conditions: list[ColumnElement[bool]] = [in_space(filters.space, filters.as_of)]
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


def alive(as_of: datetime | None = None, table: FromClause = notes) -> ColumnElement[bool]:
    """The condition over `notes` (or an alias) that it is a note of today, or the text that a note had at a moment."""
    if as_of is None:
        return table.c.deleted_at.is_(None)
    begun = and_(table.c.created_at <= as_of, or_(table.c.since.is_(None), table.c.since <= as_of))
    return and_(begun, or_(table.c.deleted_at.is_(None), table.c.deleted_at > as_of))


def in_space(space: str, as_of: datetime | None = None) -> ColumnElement[bool]:
    """The condition over `notes` that it is in the space."""
    return and_(notes.c.space == space, alive(as_of))


def with_ids(space: str, ids: Collection[int], as_of: datetime | None = None) -> ColumnElement[bool]:
    """The condition over `notes` that it is one of these."""
    return and_(in_space(space, as_of), notes.c.number.in_(ids))


def replacements(space: str, as_of: datetime | None = None) -> Select[tuple[str, int, int, datetime]]:
    """The supersessions (space, old_id, new_id, created_at) that hold: a note in the trash replaces nothing."""
    here: FromClause = supersessions
    if as_of is not None:
        columns = ("space", "old_id", "new_id", "created_at")
        here = union_all(
            select(*(supersessions.c[name] for name in columns)).where(
                supersessions.c.space == space, supersessions.c.created_at <= as_of
            ),
            select(*(past_supersessions.c[name] for name in columns)).where(
                past_supersessions.c.space == space,
                past_supersessions.c.created_at <= as_of,
                past_supersessions.c.ended_at > as_of,
            ),
        ).subquery()
    newer = notes.alias("newer")
    number = newer.c.id if as_of is None else newer.c.number
    same = and_(newer.c.space == here.c.space, number == here.c.new_id, alive(as_of, newer))
    # Not a join, which a database may begin at its many notes: it is to begin at its few supersessions.
    there = select(newer.c.id).where(same).limit(1).scalar_subquery()
    return select(here.c.space, here.c.old_id, here.c.new_id, here.c.created_at).where(
        here.c.space == space, there.is_not(None)
    )


def stale(space: str, as_of: datetime | None = None) -> ColumnElement[bool]:
    """The condition over `notes` that something supersedes it."""
    held = replacements(space, as_of).subquery()
    if as_of is not None:  # not correlated: the past has no index of its own, so it is read once
        return tuple_(notes.c.space, notes.c.number).in_(select(held.c.space, held.c.old_id))
    return select(held.c.old_id).where(held.c.space == notes.c.space, held.c.old_id == notes.c.number).exists()
