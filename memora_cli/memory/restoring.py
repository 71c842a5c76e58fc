"""Writes exported notes back: with their ids, uids and relations, where these are free."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection

from memora_cli.errors import MemoraError, Usage
from memora_cli.memory.connecting import entities_of, mention_times
from memora_cli.memory.lines import Bond, Record
from memora_cli.memory.writing import Added, Prepared, prepare, supersede
from memora_cli.store import changes, graph, notes, records, sources
from memora_cli.store.database import Database
from memora_cli.text.words import search_text
from memora_cli.values import Draft, Window


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
    """One import of exported notes: which id each got, and the relations that are made when all are there."""

    def __init__(self, database: Database, at: datetime, week_start: int, change: changes.Batch) -> None:
        self._database = database
        self._change = change
        self._at = at
        self._week_start = week_start
        self._ids: dict[tuple[str, str], int] = {}
        self._bonds: list[tuple[str, int, Bond]] = []
        self._written: set[int] = set()
        self._created: dict[str, list[int]] = defaultdict(list)
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
                if isinstance(result, Added) and result.created:
                    made[one.space].append(changes.Entry("add", result.id))
            for space, entries in made.items():
                changes.record(connection, space, entries, self._at, self._change)
        for one, result in zip(batch, added, strict=True):
            if not isinstance(result, Added):
                continue
            self._ids[one.space, one.record.note.uid] = result.id
            self._bonds += [(one.space, result.id, bond) for bond in one.record.bonds]
            if result.created:
                self._created[one.space].append(result.id)
        return added

    def _write(self, connection: Connection, one: Restorable) -> Added | MemoraError:
        space, record, prepared = one.space, one.record, one.prepared
        known = records.by_uid(connection, space, [record.note.uid]).get(record.note.uid)
        if known and known[1] != prepared.content_hash:
            return Usage(
                f"note {known[0]} is this one with another text, and keeps it: memora edit {known[0]} changes it"
            )
        same = known[0] if known else sources.find_text(connection, space, prepared.content_hash, record.note.source)
        if same is not None and same not in self._written:
            return Added(same, created=False)
        draft, wanted = prepared.draft, record.note.id
        if wanted > self._free_above and not records.taken(connection, [wanted]):
            records.claim(connection, "note", wanted)
            note_id = wanted
        else:
            note_id = notes.next_ids(connection, "note", 1)[0]
        note = replace(
            record.note,
            id=note_id,
            space=space,
            title=draft.title,
            body=draft.body,
            topics=draft.topics,
            context=draft.context,
            source=draft.source,
            tokens=prepared.tokens,
        )
        words = (search_text(note.title), search_text(" ".join(note.topics)), search_text(note.body))
        row = notes.Row(note, prepared.content_hash, record.dated, prepared.passages, words, record.file_hash)
        notes.write(connection, [row])
        graph.mention(connection, space, {note_id: entities_of(draft)})
        zone = self._at.tzinfo
        mention_times(connection, space, note_id, draft, note.created_at, zone, self._week_start)
        if record.dated:
            event_at = note.occurred_start or note.created_at
            graph.link(connection, space, graph.near_in_time(connection, space, note_id, event_at))
        for relation, title in record.pending:
            graph.link_pending(connection, space, note_id, relation, title)
        self._written.add(note_id)
        return Added(note_id, created=True)

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
                        entries = supersede(connection, space, [other], note_id, bond.at or self._at)
                    except MemoraError as error:
                        yield str(error)
                        continue
                    changes.record(connection, space, entries, bond.at or self._at, self._change)
                else:
                    link = graph.Link(note_id, other, bond.relation, bond.weight, bond.origin)
                    graph.link(connection, space, [link])

    def created(self) -> Mapping[str, list[int]]:
        """The ids of the notes that were written, by space."""
        return self._created
