"""Changes of notes that are there: pins, and what is kept of every change."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection

from memora_cli.memory.writing import require
from memora_cli.store import changes, notes


def keep(
    connection: Connection, space: str, entries: Sequence[changes.Entry], at: datetime, undoes: int | None = None
) -> None:
    """Keep changes that were made together, as a batch of their own."""
    if entries:
        changes.record(connection, space, changes.begin(connection), entries, at, undoes)


def pin(connection: Connection, space: str, ids: Sequence[int], *, pinned: bool) -> list[changes.Entry]:
    """Pin or unpin notes; what that changed. Raises `NoSuchNote`."""
    found = require(connection, space, ids)
    turned = [note_id for note_id in dict.fromkeys(ids) if found[note_id].pinned != pinned]
    for note_id in turned:
        notes.set_pinned(connection, space, note_id, pinned)
    return [changes.Entry("pin" if pinned else "unpin", note_id) for note_id in turned]
