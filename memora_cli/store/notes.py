"""Reads and writes notes, their passages, vectors and searchable words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Connection, and_, func, insert, select, update

from memora_cli.store.conditions import in_space, matching, replacements, stale, with_ids
from memora_cli.store.remembered import remembered
from memora_cli.store.schema import counters, keywords, notes, passages, topics
from memora_cli.values import Filters, Note

LARGEST_ID = 2**63 - 1  # of any database
MOST_VARIABLES = 10_000  # ids in one statement; SQLite takes 32,766


@dataclass(frozen=True, slots=True)
class Row:
    """A note ready to be written: its columns, topics, passages as offsets, and the words keyword search reads.

    `keywords` are title, topics and body as search text; `file_hash` is of the file that it was imported from. A text
    that a note had is a row under a negative id, of the note `number`; `since` and `deleted_at` are when it was.
    """

    note: Note
    content_hash: str
    dated: bool
    passages: tuple[tuple[int, int], ...]
    keywords: tuple[str, str, str]
    file_hash: str = ""
    number: int | None = None
    since: datetime | None = None
    deleted_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """A stored passage: the note it belongs to and its character range in the body."""

    id: int
    note_id: int
    start: int
    end: int


def next_ids(connection: Connection, name: str, count: int) -> range:
    """Give out `count` numbers of that kind; a number is never given out again."""
    where = (counters.c.space == "") & (counters.c.name == name)
    grown = connection.execute(
        update(counters).where(where).values(value=counters.c.value + count).returning(counters.c.value)
    ).scalar()
    if grown is None:
        connection.execute(insert(counters).values(space="", name=name, value=count))
        grown = count
    return range(grown - count + 1, grown + 1)


def write(connection: Connection, rows: Sequence[Row]) -> list[tuple[int, int]]:
    """Write notes with everything but vectors; `(passage id, note id)` of the passages, in order."""
    written: list[tuple[int, int]] = []
    topic_rows, passage_rows, keyword_rows, note_rows = [], [], [], []
    ids = iter(next_ids(connection, "passage", sum(len(row.passages) for row in rows)))
    for row in rows:
        note = row.note
        note_rows.append(
            {
                "space": note.space,
                "id": note.id,
                "number": row.number or note.id,
                "uid": note.uid,
                "title": note.title,
                "body": note.body,
                "kind": note.kind,
                "context": note.context,
                "created_at": note.created_at,
                "occurred_start": note.occurred_start,
                "occurred_end": note.occurred_end,
                "event_at": note.occurred_start or note.occurred_end or note.created_at,
                "dated": row.dated,
                "pinned": note.pinned,
                "source": note.source,
                "tokens": note.tokens,
                "content_hash": row.content_hash,
                "file_hash": row.file_hash,
                "since": row.since,
                "deleted_at": row.deleted_at,
            }
        )
        topic_rows += [
            {"space": note.space, "note_id": note.id, "position": position, "topic": topic}
            for position, topic in enumerate(note.topics)
        ]
        for start, end in row.passages:
            number = next(ids)
            written.append((number, note.id))
            passage_rows.append({"space": note.space, "id": number, "note_id": note.id, "start": start, "end": end})
        title, topic_words, body = (f" {words} " for words in row.keywords)
        keyword_rows.append(
            {"space": note.space, "note_id": note.id, "title": title, "topics": topic_words, "body": body}
        )
    for target, values in (
        (notes, note_rows),
        (topics, topic_rows),
        (passages, passage_rows),
        (keywords, keyword_rows),
    ):
        if values:
            connection.execute(insert(target), values)
    return written


def fetch(connection: Connection, space: str, ids: Collection[int], as_of: datetime | None = None) -> dict[int, Note]:
    """The notes with these ids that exist, or existed at a moment, by id."""
    wanted = [number for number in ids if 1 <= number <= LARGEST_ID]
    found: dict[int, Note] = {}
    for start in range(0, len(wanted), MOST_VARIABLES):
        here = with_ids(space, wanted[start : start + MOST_VARIABLES], as_of)
        found |= _read(connection, space, here, as_of)
    return found


def in_trash(connection: Connection, space: str, ids: Collection[int] | None = None) -> dict[int, Note]:
    """The forgotten notes by id, the last forgotten first: those of these ids, or all."""
    here = forgotten(space)
    if ids is not None:
        here &= notes.c.id.in_([number for number in ids if 1 <= number <= LARGEST_ID])
    found = _read(connection, space, here)
    return dict(sorted(found.items(), key=lambda item: (item[1].forgotten_at, item[0]), reverse=True))


def forgotten(space: str) -> ColumnElement[bool]:
    """The condition over `notes` that it is in the trash; past texts of a note are not."""
    return and_(notes.c.space == space, notes.c.deleted_at > datetime.min.replace(tzinfo=UTC), notes.c.id > 0)


def any_forgotten(connection: Connection, space: str) -> bool:
    """Whether any note of the space is in the trash."""
    some = select(notes.c.id).where(forgotten(space)).limit(1)
    return remembered(connection, ("forgotten", space), lambda: connection.execute(some).first() is not None)


def past_texts(connection: Connection, space: str, row_ids: Collection[int]) -> dict[int, Note]:
    """Texts that notes had, by the ids of their rows; `forgotten_at` is until when."""
    return _rows(connection, space, and_(notes.c.space == space, notes.c.id.in_(row_ids), notes.c.id < 0))


def _read(
    connection: Connection, space: str, where: ColumnElement[bool], as_of: datetime | None = None
) -> dict[int, Note]:
    """The notes whose rows meet a condition, by id."""
    return {note.id: note for note in _rows(connection, space, where, as_of).values()}


def _rows(
    connection: Connection, space: str, where: ColumnElement[bool], as_of: datetime | None = None
) -> dict[int, Note]:
    rows = connection.execute(select(notes).where(where)).all()
    found_topics: dict[int, list[str]] = defaultdict(list)
    superseders: dict[int, list[int]] = defaultdict(list)
    for start in range(0, len(rows), MOST_VARIABLES):
        part = rows[start : start + MOST_VARIABLES]
        for row in connection.execute(
            select(topics.c.note_id, topics.c.topic)
            .where(topics.c.space == space, topics.c.note_id.in_([row.id for row in part]))
            .order_by(topics.c.note_id, topics.c.position)
        ):
            found_topics[row.note_id].append(row.topic)
        held = replacements(space, as_of).subquery()
        for row in connection.execute(
            select(held.c.old_id, held.c.new_id)
            .where(held.c.space == space, held.c.old_id.in_([row.number for row in part]))
            .order_by(held.c.created_at, held.c.new_id)
        ):
            superseders[row.old_id].append(row.new_id)
    return {
        row.id: Note(
            id=row.number,
            uid=row.uid.partition("~")[0],
            space=row.space,
            title=row.title,
            body=row.body,
            topics=tuple(found_topics[row.id]),
            kind=row.kind,
            context=row.context,
            created_at=row.created_at,
            occurred_start=row.occurred_start,
            occurred_end=row.occurred_end,
            pinned=row.pinned,
            source=row.source,
            tokens=row.tokens,
            superseded_by=tuple(superseders[row.number]),
            forgotten_at=None if as_of else row.deleted_at,
        )
        for row in rows
    }


def standing(
    connection: Connection, space: str, ids: Collection[int], as_of: datetime | None = None
) -> dict[int, tuple[datetime, bool]]:
    """When each note was made and whether something supersedes it: what a total order needs, without the texts."""
    rows = connection.execute(
        select(notes.c.number, notes.c.created_at, stale(space, as_of).label("stale")).where(
            with_ids(space, ids, as_of)
        )
    )
    return {row.number: (row.created_at, bool(row.stale)) for row in rows}


def allowed(connection: Connection, filters: Filters, ids: Collection[int]) -> set[int]:
    """Those of the notes that pass the filters."""
    return set(connection.execute(select(notes.c.number).where(matching(filters), notes.c.number.in_(ids))).scalars())


def searchable(
    connection: Connection, space: str, ids: Collection[int], as_of: datetime | None = None
) -> dict[int, tuple[str, str, str]]:
    """Title, topics and body as keyword search reads them, by note id."""
    rows = connection.execute(
        select(notes.c.number, keywords.c.title, keywords.c.topics, keywords.c.body)
        .join(keywords, (keywords.c.space == notes.c.space) & (keywords.c.note_id == notes.c.id))
        .where(with_ids(space, ids, as_of))
    )
    return {row.number: (row.title, row.topics, row.body) for row in rows}


def fetch_passages(connection: Connection, space: str, ids: Collection[int]) -> dict[int, Passage]:
    """Passages by id."""
    rows = connection.execute(
        select(passages.c.id, passages.c.note_id, passages.c.start, passages.c.end).where(
            passages.c.space == space, passages.c.id.in_(ids)
        )
    )
    return {row.id: Passage(row.id, row.note_id, row.start, row.end) for row in rows}


def passages_of(
    connection: Connection, space: str, note_ids: Collection[int], as_of: datetime | None = None
) -> dict[int, list[Passage]]:
    """The passages of each note, in order."""
    owners = {number: number for number in note_ids}
    if as_of is not None:
        rows = connection.execute(select(notes.c.id, notes.c.number).where(with_ids(space, note_ids, as_of)))
        owners = {row.id: row.number for row in rows}
    found: dict[int, list[Passage]] = defaultdict(list)
    for row in connection.execute(
        select(passages.c.id, passages.c.note_id, passages.c.start, passages.c.end)
        .where(passages.c.space == space, passages.c.note_id.in_(owners))
        .order_by(passages.c.note_id, passages.c.start)
    ):
        found[owners[row.note_id]].append(Passage(row.id, owners[row.note_id], row.start, row.end))
    return found


def find_title(connection: Connection, space: str, words: str) -> int | None:
    """The newest note whose title has exactly these search words."""
    if not words:
        return None
    return connection.execute(
        select(func.max(notes.c.id))
        .join(keywords, (keywords.c.space == notes.c.space) & (keywords.c.note_id == notes.c.id))
        .where(in_space(space), keywords.c.title == f" {words} ")
    ).scalar()


def is_dated(connection: Connection, space: str, note_id: int) -> bool:
    """Whether somebody said when the note was."""
    here = and_(notes.c.space == space, notes.c.id == note_id)
    return bool(connection.execute(select(notes.c.dated).where(here)).scalar())


def set_forgotten(
    connection: Connection, space: str, note_id: int, at: datetime | None, since: datetime | None = None
) -> None:
    """Move a note to the trash, or with None out of it; `since` is when it came back."""
    values = {"deleted_at": at} | ({"since": since} if since else {})
    connection.execute(update(notes).where(notes.c.space == space, notes.c.id == note_id).values(**values))


def set_pinned(connection: Connection, space: str, note_id: int, pinned: bool) -> None:
    """Pin or unpin a note."""
    connection.execute(update(notes).where(notes.c.space == space, notes.c.id == note_id).values(pinned=pinned))
