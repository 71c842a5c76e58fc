"""Takes in the exported history of a memory: as it was into an empty one, else what belongs to the notes that came."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from memora_cli.errors import MemoraError
from memora_cli.memory import naming
from memora_cli.memory.kept import Kept, Opening
from memora_cli.store import aliases, archive, changes, notes, records
from memora_cli.text.entities import entity_key
from memora_cli.values import Change


class Archive:
    """What one import brings beside notes. `whole` says that a whole memory comes into an empty one."""

    def __init__(self, at: datetime, change: changes.Batch) -> None:
        self.whole = False
        self._at = at
        self._change = change
        self._ids: dict[int, int] = {}
        self._created: set[int] = set()
        self._ended: list[tuple[str, archive.Ended]] = []
        self._made: dict[str, list[Change]] = {}
        self._refused: list[str] = []

    def took(self, said: int, note_id: int, *, created: bool) -> None:
        """Remember which note here the id of a line is."""
        self._ids[said] = note_id
        if created:
            self._created.add(note_id)

    def new(self, said: int) -> int | None:
        """The note here that the id of a line is, if it came with this import."""
        note_id = self._ids.get(said)
        return note_id if note_id in self._created else None

    def name(self, connection: Connection, space: str, kept: Kept) -> bool:
        """Take in what notes are read by; whether that is an alias that was not known."""
        match kept.value:
            case Opening(counters):
                self._ids.clear()
                self.whole = not any(archive.counters(connection).values())
                for name, number in counters.items() if self.whole else ():
                    records.claim(connection, name, number)
            case archive.Renaming(name, other, at):
                return self._rename(connection, space, name, other, at)
            case tuple() as names:
                for name in names if self.whole else ():
                    if key := entity_key(name):
                        aliases.entity(connection, space, key, name)
        return False

    def keep(self, space: str, kept: Kept) -> bool:
        """Keep what names notes until all are there; whether it belongs to notes that came."""
        match kept.value:
            case archive.Ended() as one:
                old, new = self._ids.get(one.old), self._ids.get(one.new)
                if old and new and {old, new} & self._created:
                    self._ended.append((space, replace(one, old=old, new=new)))
                    return True
            case Change() as change:
                if (mine := self._mine(change)) is not None:
                    self._made.setdefault(space, []).append(mine)
                    return True
        return False

    def finish(self, connection: Connection) -> Iterator[str]:
        """Write what names notes; yields what could not be taken in, and why."""
        for space, one in self._ended:
            archive.end(connection, space, one)
        for space, made in self._made.items():
            fresh = [change for change in made if change.id == 0]
            numbers = iter(notes.next_ids(connection, "change", len(fresh)) if fresh else ())
            as_they_are = {change.id: change for change in made if change.id}
            archive.keep(connection, space, list(as_they_are.values()))
            archive.keep(connection, space, [replace(change, id=next(numbers)) for change in fresh])
            for name, number in (
                ("change", max(as_they_are, default=0)),
                ("batch", max((change.batch for change in made), default=0)),
            ):
                records.claim(connection, name, number)
        yield from self._refused

    def _mine(self, change: Change) -> Change | None:
        """A change as it is kept here, without a number where it is to get one; None for one of other notes."""
        ids = [self._ids.get(number) for number in (change.note_id, change.other_id) if number is not None]
        if self.whole:
            said = (change.note_id, change.other_id)
            note_id, other_id = (None if number is None else self._ids.get(number, number) for number in said)
            return replace(change, note_id=note_id, other_id=other_id)
        if not ids or None in ids or not set(ids) & self._created:
            return None
        other_id = ids[1] if len(ids) > 1 else None
        return replace(change, id=0, batch=changes.BEFORE_KEPT, note_id=ids[0], other_id=other_id, undoes=None)

    def _rename(self, connection: Connection, space: str, name: str, other: str, at: datetime) -> bool:
        try:
            entries = naming.join(connection, space, name, other, at if self.whole else self._at)
        except MemoraError as error:
            self._refused.append(str(error))
            return False
        if not self.whole:
            changes.record(connection, space, entries, self._at, self._change)
        return bool(entries)
