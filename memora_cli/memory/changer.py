"""The use cases that change notes that are there, and take changes back: one method each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memora_cli.memory import changing, history, naming
from memora_cli.memory.changing import Undone
from memora_cli.memory.editing import Edited, Revise, edit
from memora_cli.memory.embedding import Embedding
from memora_cli.memory.history import History
from memora_cli.memory.writing import require
from memora_cli.models import Embedder
from memora_cli.store import changes, graph, notes
from memora_cli.text.weeks import first_weekday
from memora_cli.text.words import normalise
from memora_cli.values import Note, Relation


class Changer(Embedding):
    """The part of an open memory that changes notes; every change is kept."""

    def edit(self, note_id: int, revise: Revise, at: datetime, *, embed: bool = True) -> Edited:
        """Give a note the text that `revise` makes of the one it has; the text that was is kept.

        Raises `NoSuchNote`, `EmptyNote` and `NoteTooLong`.
        """
        embedder, waits = self._embedder(embed)
        with self.database.read() as connection:
            require(connection, self.space, [note_id])
        changed = self._edit(note_id, revise, at, embedder)
        return Edited(note_id, changed, waits if changed else "")

    def pin(self, ids: Sequence[int], at: datetime, *, pinned: bool) -> None:
        """Pin or unpin notes: all of them, or none. Raises `NoSuchNote`."""
        with self.database.write() as connection:
            changes.record(connection, self.space, changing.pin(connection, self.space, ids, pinned=pinned), at)

    def forget(self, ids: Sequence[int], at: datetime) -> None:
        """Move notes to the trash: all of them, or none. Raises `NoSuchNote`."""
        with self.database.write() as connection:
            changes.record(connection, self.space, changing.forget(connection, self.space, ids, at), at)

    def restore(self, ids: Sequence[int], at: datetime) -> None:
        """Take notes out of the trash: all of them, or none. Raises `NoSuchNote`."""
        with self.database.write() as connection:
            changes.record(connection, self.space, changing.restore(connection, self.space, ids, at), at)

    def forgotten(self) -> list[Note]:
        """The notes in the trash, the last forgotten first."""
        with self.database.read() as connection:
            return list(notes.in_trash(connection, self.space).values())

    def purgeable(self, ids: Sequence[int] | None) -> list[Note]:
        """The notes with these ids, in the trash or not; None is all of the trash. Raises `NoSuchNote`."""
        with self.database.read() as connection:
            return changing.purgeable(connection, self.space, ids)

    def purge(self, ids: Sequence[int], at: datetime) -> str:
        """Delete notes for good: no byte of them stays in the database; where some may still be, empty for nowhere.

        Raises `NoSuchNote`.
        """
        with self.database.write() as connection:
            changing.purge(self.database, connection, self.space, ids, at)
        return self.database.scrub()

    def link(self, one: int, relation: Relation, other: int, at: datetime) -> None:
        """Say that a note causes, is caused by, enables or prevents another. Raises `NoSuchNote` and `Usage`."""
        wanted = graph.Link(one, other, relation, 1.0, graph.PERSON)
        with self.database.write() as connection:
            changes.record(connection, self.space, changing.link(connection, self.space, wanted), at)

    def unlink(self, one: int, other: int, relation: Relation | None, at: datetime) -> None:
        """Take away the links by cause between two notes, or one of them. Raises `NoSuchNote` and `Usage`."""
        with self.database.write() as connection:
            changes.record(connection, self.space, changing.unlink(connection, self.space, one, other, relation), at)

    def alias(self, name: str, other: str, at: datetime) -> None:
        """Let another name mean the same entity. Raises `Usage` for a name that means another."""
        with self.database.write() as connection:
            entries = naming.join(connection, self.space, normalise(name), normalise(other), at)
            changes.record(connection, self.space, entries, at)

    def unalias(self, other: str, at: datetime) -> None:
        """Let a name mean an entity of its own again. Raises `Usage` for a name that is no alias."""
        with self.database.write() as connection:
            changes.record(connection, self.space, naming.part(connection, self.space, normalise(other)), at)

    def aliases(self, name: str | None = None) -> list[tuple[str, str]]:
        """Every name with each other name that means the same, or those that mean the same as one name."""
        with self.database.read() as connection:
            return naming.listing(connection, self.space, None if name is None else normalise(name))

    def history(self, note_id: int) -> History:
        """What was done to a note, and what it replaced and was replaced by. Raises `NoSuchNote`."""
        with self.database.read() as connection:
            return history.history(connection, self.space, note_id)

    def undo(self, at: datetime) -> Undone | None:
        """Take the last change back, whichever command made it; None when nothing is left to take back."""
        embedder, _ = self._embedder(True)
        return changing.undo(self.database, self.space, at, embedder, self._week)

    def _edit(
        self,
        note_id: int,
        revise: Revise,
        at: datetime,
        embedder: Embedder | None,
        file_hash: str = "",
        change: changes.Batch | None = None,
    ) -> bool:
        return edit(self.database, self.space, note_id, revise, at, embedder, self._week, file_hash, change)

    @property
    def _week(self) -> int:
        return first_weekday(self.config.week_start, self.config.locale)
