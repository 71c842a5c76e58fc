"""Keeps every change of a note or an alias, and reads the changes back."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, func, insert, or_, select

from memora_cli.store.notes import next_ids
from memora_cli.store.schema import changes
from memora_cli.values import Action, Change

BEFORE_KEPT = 0  # the batch of what happened before changes were kept


@dataclass(frozen=True, slots=True)
class Entry:
    """A change about to be kept: what was done to which note; see `Change`."""

    action: Action
    note_id: int | None = None
    other_id: int | None = None
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None


@dataclass(slots=True)
class Batch:
    """Changes that are taken back as one, over several transactions; it has a number once something was changed."""

    number: int | None = None


def record(
    connection: Connection,
    space: str,
    entries: Sequence[Entry],
    at: datetime,
    batch: Batch | None = None,
    undoes: int | None = None,
) -> None:
    """Keep changes, in the transaction that makes them: as a batch of their own, or as more of one."""
    if not entries:
        return
    batch = batch or Batch()
    if batch.number is None:
        batch.number = next_ids(connection, "batch", 1)[0]
    numbers = next_ids(connection, "change", len(entries))
    connection.execute(
        insert(changes),
        [
            {
                "space": space,
                "id": number,
                "batch": batch.number,
                "note_id": entry.note_id,
                "other_id": entry.other_id,
                "at": at,
                "action": entry.action,
                "before": _json(entry.before),
                "after": _json(entry.after),
                "undoes": undoes,
            }
            for number, entry in zip(numbers, entries, strict=True)
        ],
    )


def of_notes(connection: Connection, space: str, ids: Collection[int]) -> list[Change]:
    """The changes in which these notes have a part, in the order they were made."""
    return _read(connection, space, or_(changes.c.note_id.in_(ids), changes.c.other_id.in_(ids)))


def of_batch(connection: Connection, space: str, batch: int) -> list[Change]:
    """The changes of a batch, in the order they were made."""
    return _read(connection, space, changes.c.batch == batch)


def every(connection: Connection, space: str) -> list[Change]:
    """All changes of the space, in the order they were made."""
    return _read(connection, space, changes.c.space == space)


def last(connection: Connection, space: str) -> int | None:
    """The newest batch that is no undo, was not taken back, and can be."""
    taken_back = select(changes.c.undoes).where(changes.c.space == space, changes.c.undoes.is_not(None))
    return connection.execute(
        select(changes.c.batch)
        .where(
            changes.c.space == space,
            changes.c.batch != BEFORE_KEPT,
            changes.c.action != "purge",
            changes.c.undoes.is_(None),
            changes.c.batch.not_in(taken_back),
        )
        .order_by(changes.c.id.desc())
        .limit(1)
    ).scalar()


def purged_since(connection: Connection, space: str, batch: int) -> list[int]:
    """The notes that were purged after a batch was made."""
    made = select(func.max(changes.c.id)).where(changes.c.space == space, changes.c.batch == batch).scalar_subquery()
    found = select(changes.c.note_id).where(changes.c.space == space, changes.c.action == "purge", changes.c.id > made)
    return [number for number in connection.execute(found.order_by(changes.c.id)).scalars() if number is not None]


def drop(connection: Connection, space: str, ids: Collection[int]) -> None:
    """Let go of all that is kept of these notes."""
    here = or_(changes.c.note_id.in_(ids), changes.c.other_id.in_(ids))
    connection.execute(delete(changes).where(changes.c.space == space, here))


def _read(connection: Connection, space: str, condition: ColumnElement[bool]) -> list[Change]:
    later = changes.alias("later")
    undone = (
        select(later.c.id)
        .where(later.c.space == changes.c.space, later.c.undoes == changes.c.batch)
        .exists()
        .label("undone")
    )
    rows = connection.execute(select(changes, undone).where(changes.c.space == space, condition).order_by(changes.c.id))
    return [
        Change(
            id=row.id,
            batch=row.batch,
            at=row.at,
            action=row.action,
            note_id=row.note_id,
            other_id=row.other_id,
            before=json.loads(row.before or "{}"),
            after=json.loads(row.after or "{}"),
            undoes=row.undoes,
            undone=bool(row.undone),
        )
        for row in rows
    ]


def _json(values: dict[str, Any] | None) -> str | None:
    return json.dumps(values, ensure_ascii=False) if values else None
