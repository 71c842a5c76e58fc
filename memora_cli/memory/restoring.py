"""Writes exported notes back: with their ids, uids and relations, where these are free."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection

from memora_cli.errors import MemoraError, Usage
from memora_cli.memory import naming
from memora_cli.memory.connecting import entities_of, mention_times
from memora_cli.memory.keeping import Archive
from memora_cli.memory.kept import Kept
from memora_cli.memory.lines import Bond, Record
from memora_cli.memory.writing import Added, Prepared, prepare, supersede
from memora_cli.store import changes, graph, notes, records, sources
from memora_cli.store.database import Database
from memora_cli.text.words import search_text
from memora_cli.values import Draft, Note, Window


@dataclass(frozen=True, slots=True)
class Restorable:
    """An exported note, checked and cut into passages, and the space that it goes to."""

    space: str
    record: Record
    prepared: Prepared


def restorable(record: Record, into: str | None) -> Restorable:
    """The record ready to be written, to its own space or to another. Raises `EmptyNote` and `NoteTooLong`."""
    note = record.note
    occurred = Window(note.occurred_start, note.occurred_end, "") if note.occurred_start or note.occurred_end else None
    draft = Draft(
        body=note.body,
        title=note.title,
        topics=note.topics,
        kind=note.kind,
        context=note.context,
        created_at=note.created_at,
        occurred=occurred,
        entities=record.entities,
        pinned=note.pinned,
        source=note.source,
        dated=record.dated,
    )
    return Restorable(into or note.space, record, prepare(draft))


class Restoring:
    """One import of exported notes: which id each got, and the relations that are made when all are there.

    A whole memory that comes into an empty one keeps its history, and the import is no change of it. Into a memory in
    use come the changes of the notes that are new there, as something that happened before and is not taken back.
    """

    def __init__(self, database: Database, at: datetime, week_start: int, change: changes.Batch) -> None:
        self._database = database
        self._change = change
        self._at = at
        self._week_start = week_start
        self._ids: dict[tuple[str, str], int] = {}
        self._bonds: list[tuple[str, int, Bond]] = []
        self._written: set[int] = set()
        self._created: dict[str, list[int]] = defaultdict(list)
        self._forgotten: list[tuple[str, int, datetime]] = []
        self._history = Archive(at, change)
        with database.read() as connection:
            self._free_above = records.last_id(connection, "note")

    def write(self, batch: Sequence[Restorable]) -> list[Added | MemoraError]:
        """Write the notes in one transaction; one whose uid or text was there before the import stays as it is.

        An error stands for a note that is there with another text.
        """
        with self._database.write() as connection:
            added = [self._write(connection, one) for one in batch]
            made: dict[str, list[changes.Entry]] = defaultdict(list)
            for one, result in zip(batch, added, strict=True):
                if isinstance(result, Added) and result.created and not one.record.past and not self._history.whole:
                    made[one.space].append(changes.Entry("add", result.id))
            for space, entries in made.items():
                changes.record(connection, space, entries, self._at, self._change)
        for one, result in zip(batch, added, strict=True):
            if not isinstance(result, Added):
                continue
            if result.created:
                self._created[one.space].append(result.id)
            if not one.record.past:
                self._ids[one.space, one.record.note.uid] = result.id
                self._bonds += [(one.space, result.id, bond) for bond in one.record.bonds]
        return added

    def name(self, kept: Kept, into: str | None) -> bool:
        """Take in what notes are read by; whether that is an alias that was not known."""
        with self._database.write() as connection:
            return self._history.name(connection, into or kept.space, kept)

    def keep(self, kept: Kept, into: str | None) -> bool:
        """Keep what names notes until all are there; whether it belongs to notes that came."""
        return self._history.keep(into or kept.space, kept)

    def _write(self, connection: Connection, one: Restorable) -> Added | MemoraError:
        space, record, prepared = one.space, one.record, one.prepared
        if record.past:
            return self._write_past(connection, one)
        known = records.by_uid(connection, space, [record.note.uid]).get(record.note.uid)
        if known and known[1] != prepared.content_hash:
            return Usage(
                f"note {known[0]} is this one with another text, and keeps it: memora edit {known[0]} changes it"
            )
        same = known[0] if known else None
        if same is None and not record.note.forgotten_at:
            same = sources.find_text(connection, space, prepared.content_hash, record.note.source)
        if same is not None and same not in self._written:
            self._history.took(record.note.id, same, created=False)
            return Added(same, created=False)
        wanted = record.note.id
        if wanted > self._free_above and not records.taken(connection, [wanted]):
            records.claim(connection, "note", wanted)
            note_id = wanted
        else:
            note_id = notes.next_ids(connection, "note", 1)[0]
        note = self._insert(connection, one, note_id, None)
        if note.forgotten_at:
            self._forgotten.append((space, note_id, _event(note)))
        elif record.dated:
            graph.link(connection, space, graph.near_in_time(connection, space, note_id, _event(note)))
        for relation, title in record.pending:
            graph.link_pending(connection, space, note_id, relation, title)
        self._written.add(note_id)
        self._history.took(wanted, note_id, created=True)
        return Added(note_id, created=True)

    def _write_past(self, connection: Connection, one: Restorable) -> Added:
        """Write a text that a note had, if the note came with this import."""
        note_id = self._history.new(one.record.note.id)
        if note_id is None:
            return Added(one.record.note.id, created=False)
        number = one.record.past
        if self._history.whole and not records.taken(connection, [-number]):
            records.claim(connection, "past text", number)
        else:
            number = notes.next_ids(connection, "past text", 1)[0]
        self._insert(connection, one, -number, note_id)
        return Added(-number, created=True)

    def _insert(self, connection: Connection, one: Restorable, row_id: int, number: int | None) -> Note:
        """Write a note, or with a number a text that it had, and what is found in it."""
        draft, said = one.prepared.draft, one.record.note
        note = replace(
            said,
            id=row_id,
            uid=said.uid if number is None else f"{said.uid}~{-row_id}",
            space=one.space,
            title=draft.title,
            body=draft.body,
            topics=draft.topics,
            context=draft.context,
            source=draft.source,
            tokens=one.prepared.tokens,
        )
        words = (search_text(note.title), search_text(" ".join(note.topics)), search_text(note.body))
        row = notes.Row(
            note,
            one.prepared.content_hash,
            one.record.dated,
            one.prepared.passages,
            words,
            one.record.file_hash,
            number,
            one.record.since,
            note.forgotten_at,
        )
        notes.write(connection, [row])
        graph.mention(connection, one.space, {row_id: entities_of(draft)})
        if self._history.whole:
            naming.say(connection, one.space, row_id, one.record.said)
        mention_times(connection, one.space, row_id, draft, note.created_at, self._at.tzinfo, self._week_start)
        return note

    def relate(self) -> Iterator[str]:
        """Make the links and supersessions in one transaction; yields what could not be made, and why."""
        with self._database.write() as connection:
            absent: Mapping[str, set[str]] = defaultdict(set)
            for space, _, bond in self._bonds:
                if (space, bond.uid) not in self._ids:
                    absent[space].add(bond.uid)
            for space, uids in absent.items():
                for uid, (number, _) in records.by_uid(connection, space, sorted(uids)).items():
                    self._ids[space, uid] = number
            for space, note_id, bond in self._bonds:
                other = self._ids.get((space, bond.uid))
                if other is None:
                    yield f"note {note_id} {bond.relation} a note that is not here (uid {bond.uid})"
                elif bond.relation == "supersedes":
                    try:
                        entries = supersede(connection, space, [other], note_id, bond.at or self._at, trash=True)
                    except MemoraError as error:
                        yield str(error)
                        continue
                    if not self._history.whole:
                        changes.record(connection, space, entries, bond.at or self._at, self._change)
                else:
                    link = graph.Link(note_id, other, bond.relation, bond.weight, bond.origin)
                    graph.link(connection, space, [link])
            for space, note_id, event_at in self._forgotten:
                if notes.is_dated(connection, space, note_id):
                    graph.link(connection, space, graph.near_in_time(connection, space, note_id, event_at))
            yield from self._history.finish(connection)

    def created(self) -> Mapping[str, list[int]]:
        """The ids of the notes that were written, by space."""
        return self._created


def _event(note: Note) -> datetime:
    return note.occurred_start or note.created_at
