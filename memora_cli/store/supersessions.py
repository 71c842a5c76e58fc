"""Reads and writes which notes replace which."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Connection, FromClause, and_, delete, insert, or_, select

from memora_cli.store.conditions import alive, replacements
from memora_cli.store.schema import notes, past_supersessions, supersessions


def supersede(connection: Connection, space: str, old_id: int, new_id: int, at: datetime) -> bool:
    """Record that one note replaces another; False when that was said already."""
    same = and_(supersessions.c.space == space, supersessions.c.old_id == old_id, supersessions.c.new_id == new_id)
    if connection.execute(select(supersessions.c.old_id).where(same)).first():
        return False
    connection.execute(insert(supersessions).values(space=space, old_id=old_id, new_id=new_id, created_at=at))
    return True


def unsupersede(connection: Connection, space: str, old_id: int, new_id: int, at: datetime) -> None:
    """Take back that one note replaces another; that it did is kept for a search as of then."""
    same = and_(supersessions.c.space == space, supersessions.c.old_id == old_id, supersessions.c.new_id == new_id)
    begun = connection.execute(select(supersessions.c.created_at).where(same)).scalar()
    if begun is None:
        return
    row = {"space": space, "old_id": old_id, "new_id": new_id, "created_at": begun, "ended_at": at}
    again = and_(*(past_supersessions.c[name] == row[name] for name in ("space", "old_id", "new_id", "created_at")))
    connection.execute(delete(past_supersessions).where(again))
    connection.execute(insert(past_supersessions).values(**row))
    connection.execute(delete(supersessions).where(same))


def successors(
    connection: Connection,
    space: str,
    note_ids: Collection[int],
    as_of: datetime | None = None,
    *,
    trash: bool = False,
) -> dict[int, tuple[int, ...]]:
    """For every note reachable from these by supersession: the notes that directly replace it, oldest first.

    With `trash`, notes in the trash replace others too.
    """
    held: FromClause = supersessions if trash else replacements(space, as_of).subquery()
    found: dict[int, tuple[int, ...]] = {}
    frontier = set(note_ids)
    while frontier:
        step: dict[int, list[int]] = defaultdict(list)
        for row in connection.execute(
            select(held.c.old_id, held.c.new_id)
            .where(held.c.space == space, held.c.old_id.in_(frontier))
            .order_by(held.c.created_at, held.c.new_id)
        ):
            step[row.old_id].append(row.new_id)
        found |= {old: tuple(new) for old, new in step.items()}
        frontier = {number for new in step.values() for number in new} - set(found)
    return found


def predecessors(connection: Connection, space: str, note_ids: Collection[int]) -> dict[int, tuple[int, ...]]:
    """The notes that each of these directly replaces, oldest first; none that is in the trash."""
    found: dict[int, list[int]] = defaultdict(list)
    for row in connection.execute(
        select(supersessions.c.old_id, supersessions.c.new_id)
        .join(notes, and_(notes.c.space == supersessions.c.space, notes.c.id == supersessions.c.old_id, alive()))
        .where(supersessions.c.space == space, supersessions.c.new_id.in_(note_ids))
        .order_by(supersessions.c.created_at, supersessions.c.old_id)
    ):
        found[row.new_id].append(row.old_id)
    return {new: tuple(old) for new, old in found.items()}


def chain(connection: Connection, space: str, note_id: int) -> list[tuple[int, int, datetime]]:
    """`(old, new, when)` of every supersession that is connected to a note, the trash included, oldest first."""
    found: dict[tuple[int, int], datetime] = {}
    known: set[int] = set()
    frontier = {note_id}
    while frontier:
        known |= frontier
        touches = or_(supersessions.c.old_id.in_(frontier), supersessions.c.new_id.in_(frontier))
        rows = connection.execute(select(supersessions).where(supersessions.c.space == space, touches)).all()
        found |= {(row.old_id, row.new_id): row.created_at for row in rows}
        frontier = {number for row in rows for number in (row.old_id, row.new_id)} - known
    return sorted(((old, new, at) for (old, new), at in found.items()), key=lambda item: (item[2], item[0], item[1]))


def any_superseded(connection: Connection, space: str) -> bool:
    """Whether any note of the space is superseded."""
    found = select(supersessions.c.old_id).where(supersessions.c.space == space).limit(1)
    return connection.execute(found).first() is not None
