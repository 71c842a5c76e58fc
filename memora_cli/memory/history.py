"""Tells what was done to a note, and the chain of notes that replaced one another around it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from memora_cli.memory.writing import require
from memora_cli.store import changes, notes, supersessions
from memora_cli.values import Change, Note


@dataclass(frozen=True, slots=True)
class Chain:
    """A note with the notes that it directly replaced, and when each was; in the trash when `note.forgotten_at`.

    `repeated` says that the note stands further up in the tree already, with what it replaced.
    """

    note: Note
    replaced_at: datetime | None = None
    replaced: tuple[Chain, ...] = ()
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class History:
    """A note, its changes in the order they were made, and its chains from the newest notes down."""

    note: Note
    changes: tuple[Change, ...]
    chains: tuple[Chain, ...]


def history(connection: Connection, space: str, note_id: int) -> History:
    """The history of a note, in the trash or not. Raises `NoSuchNote`."""
    trash = notes.in_trash(connection, space, [note_id])
    note = trash.get(note_id) or require(connection, space, [note_id])[note_id]
    edges = supersessions.chain(connection, space, note_id)
    numbers = {note_id} | {number for old, new, _ in edges for number in (old, new)}
    known = notes.in_trash(connection, space, numbers) | notes.fetch(connection, space, numbers)
    below: dict[int, list[tuple[int, datetime]]] = {}
    for old, new, at in edges:
        below.setdefault(new, []).append((old, at))
    replaced = {old for old, _, _ in edges}
    heads = sorted(numbers - replaced) or [note_id]  # a corrupt cycle has no head
    seen: set[int] = set()
    chains = tuple(_tree(head, None, below, known, seen) for head in heads if head in known)
    made = changes.of_notes(connection, space, [note_id])
    made.sort(key=lambda change: (change.batch != changes.BEFORE_KEPT, change.id))
    return History(note, tuple(made), chains)


def _tree(
    number: int,
    at: datetime | None,
    below: dict[int, list[tuple[int, datetime]]],
    known: dict[int, Note],
    seen: set[int],
) -> Chain:
    if number in seen:
        return Chain(known[number], at, repeated=True)
    seen.add(number)
    older = [(old, moment) for old, moment in below.get(number, ()) if old in known]
    return Chain(known[number], at, tuple(_tree(old, moment, below, known, seen) for old, moment in older))
