"""Reads and writes notes, their passages, vectors and searchable words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import Connection, func, insert, select, update

from memora_cli.store.conditions import in_space, matching, stale
from memora_cli.store.schema import counters, keywords, notes, passages, supersessions, topics
from memora_cli.values import Filters, Note

if TYPE_CHECKING:
    pass

MOST_VARIABLES = 10_000  # ids in one statement; SQLite takes 32,766


@dataclass(frozen=True, slots=True)
class Row:
    """A note ready to be written: its columns, topics, passages as offsets, and the words keyword search reads.

    `keywords` are title, topics and body as search text; `file_hash` is of the file that it was imported from.
    """

    note: Note
    content_hash: str
    dated: bool
    passages: tuple[tuple[int, int], ...]
    keywords: tuple[str, str, str]
    file_hash: str = ""


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
                "number": note.id,
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
                "since": None,
                "deleted_at": None,
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


def fetch(connection: Connection, space: str, ids: Collection[int]) -> dict[int, Note]:
    """The notes with these ids that exist, by id."""
    wanted = list(ids)
    found: dict[int, Note] = {}
    for start in range(0, len(wanted), MOST_VARIABLES):
        found |= _fetch(connection, space, wanted[start : start + MOST_VARIABLES])
    return found


def _fetch(connection: Connection, space: str, ids: Sequence[int]) -> dict[int, Note]:
    found_topics: dict[int, list[str]] = defaultdict(list)
    for row in connection.execute(
        select(topics.c.note_id, topics.c.topic)
        .where(topics.c.space == space, topics.c.note_id.in_(ids))
        .order_by(topics.c.note_id, topics.c.position)
    ):
        found_topics[row.note_id].append(row.topic)
    superseders: dict[int, list[int]] = defaultdict(list)
    for row in connection.execute(
        select(supersessions.c.old_id, supersessions.c.new_id)
        .where(supersessions.c.space == space, supersessions.c.old_id.in_(ids))
        .order_by(supersessions.c.created_at, supersessions.c.new_id)
    ):
        superseders[row.old_id].append(row.new_id)
    found = {}
    for row in connection.execute(
        select(notes).where(notes.c.space == space, notes.c.id.in_(ids), notes.c.deleted_at.is_(None))
    ):
        found[row.id] = Note(
            id=row.id,
            uid=row.uid,
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
            superseded_by=tuple(superseders[row.id]),
        )
    return found


def standing(connection: Connection, space: str, ids: Collection[int]) -> dict[int, tuple[datetime, bool]]:
    """When each note was made and whether something supersedes it: what a total order needs, without the texts."""
    rows = connection.execute(
        select(notes.c.id, notes.c.created_at, stale().label("stale")).where(
            notes.c.space == space, notes.c.id.in_(ids), notes.c.deleted_at.is_(None)
        )
    )
    return {row.id: (row.created_at, bool(row.stale)) for row in rows}


def allowed(connection: Connection, filters: Filters, ids: Collection[int]) -> set[int]:
    """Those of the notes that pass the filters."""
    return set(connection.execute(select(notes.c.id).where(matching(filters), notes.c.id.in_(ids))).scalars())


def searchable(connection: Connection, space: str, ids: Collection[int]) -> dict[int, tuple[str, str, str]]:
    """Title, topics and body as keyword search reads them, by note id."""
    rows = connection.execute(select(keywords).where(keywords.c.space == space, keywords.c.note_id.in_(ids)))
    return {row.note_id: (row.title, row.topics, row.body) for row in rows}


def fetch_passages(connection: Connection, space: str, ids: Collection[int]) -> dict[int, Passage]:
    """Passages by id."""
    rows = connection.execute(
        select(passages.c.id, passages.c.note_id, passages.c.start, passages.c.end).where(
            passages.c.space == space, passages.c.id.in_(ids)
        )
    )
    return {row.id: Passage(row.id, row.note_id, row.start, row.end) for row in rows}


def passages_of(connection: Connection, space: str, note_ids: Collection[int]) -> dict[int, list[Passage]]:
    """The passages of each note, in order."""
    found: dict[int, list[Passage]] = defaultdict(list)
    for row in connection.execute(
        select(passages.c.id, passages.c.note_id, passages.c.start, passages.c.end)
        .where(passages.c.space == space, passages.c.note_id.in_(note_ids))
        .order_by(passages.c.note_id, passages.c.start)
    ):
        found[row.note_id].append(Passage(row.id, row.note_id, row.start, row.end))
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


def listing(
    connection: Connection, filters: Filters, *, current_only: bool = False, limit: int | None = None
) -> list[Note]:
    """Notes that pass the filters, newest first."""
    condition = matching(filters)
    if current_only:
        condition &= ~stale()
    statement = select(notes.c.id).where(condition).order_by(notes.c.created_at.desc(), notes.c.id.desc()).limit(limit)
    ids = list(connection.execute(statement).scalars())
    found = fetch(connection, filters.space, ids)
    return [found[number] for number in ids]


def find_title(connection: Connection, space: str, words: str) -> int | None:
    """The newest note whose title has exactly these search words."""
    if not words:
        return None
    return connection.execute(
        select(func.max(notes.c.id))
        .join(keywords, (keywords.c.space == notes.c.space) & (keywords.c.note_id == notes.c.id))
        .where(in_space(space), keywords.c.title == f" {words} ")
    ).scalar()


def set_pinned(connection: Connection, space: str, note_id: int, pinned: bool) -> None:
    """Pin or unpin a note."""
    connection.execute(update(notes).where(notes.c.space == space, notes.c.id == note_id).values(pinned=pinned))
