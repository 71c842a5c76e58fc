"""Reads the texts that a model is to read, and walks over the notes of a space from the oldest to the newest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from sqlalchemy import Connection, func, select

from memora_cli.store.conditions import in_space
from memora_cli.store.schema import notes, passages


def of_notes(connection: Connection, space: str, note_ids: Collection[int]) -> dict[int, list[tuple[int, str, str]]]:
    """By note id: `(passage id, title, text)` of its passages, in order; also of past texts and of the trash."""
    found: dict[int, list[tuple[int, str, str]]] = defaultdict(list)
    here = (notes.c.space == space) & notes.c.id.in_(note_ids)
    for row in connection.execute(
        select(
            notes.c.id, notes.c.title, notes.c.body, passages.c.id.label("passage"), passages.c.start, passages.c.end
        )
        .join(passages, (passages.c.space == notes.c.space) & (passages.c.note_id == notes.c.id))
        .where(here)
        .order_by(notes.c.id, passages.c.start)
    ):
        found[row.id].append((row.passage, row.title, row.body[row.start : row.end]))
    return found


def after(connection: Connection, space: str, note_id: int, limit: int) -> list[int]:
    """The ids of up to `limit` notes that follow this one."""
    here = in_space(space) & (notes.c.id > note_id)
    return list(connection.execute(select(notes.c.id).where(here).order_by(notes.c.id).limit(limit)).scalars())


def count_after(connection: Connection, space: str, note_id: int) -> int:
    """How many notes follow this one."""
    here = in_space(space) & (notes.c.id > note_id)
    return int(connection.execute(select(func.count()).select_from(notes).where(here)).scalar_one())


def spread(connection: Connection, space: str, most: int) -> list[int]:
    """The ids of up to `most` notes at even distances, from the oldest to the newest."""
    ids = after(connection, space, 0, count_after(connection, space, 0))
    step = max(1.0, len(ids) / most)
    return [ids[int(place * step)] for place in range(min(most, len(ids)))]
