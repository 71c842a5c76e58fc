"""Reads and writes notes, their passages, vectors and searchable words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, Connection, and_, delete, func, insert, or_, select, true, update

from memora_cli.store.database import Database
from memora_cli.store.schema import counters, keywords, notes, passages, supersessions, topics, vectors
from memora_cli.values import Filters, Note, Window

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Row:
    """A note ready to be written: its columns, topics, passages as offsets, and the words keyword search reads.

    `keywords` are title, topics and body as search text.
    """

    note: Note
    content_hash: str
    dated: bool
    passages: tuple[tuple[int, int], ...]
    keywords: tuple[str, str, str]


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
                "uid": note.uid,
                "title": note.title,
                "body": note.body,
                "kind": note.kind,
                "context": note.context,
                "created_at": note.created_at,
                "occurred_start": note.occurred_start,
                "occurred_end": note.occurred_end,
                "event_at": note.occurred_start or note.created_at,
                "dated": row.dated,
                "pinned": note.pinned,
                "source": note.source,
                "tokens": note.tokens,
                "content_hash": row.content_hash,
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


def write_vectors(
    database: Database,
    connection: Connection,
    space: str,
    model: str,
    passage_ids: Sequence[int],
    matrix: NDArray[numpy.float32],
) -> None:
    """Store vectors, one row for each passage, and index them.

    Raises ValueError for one that is not finite or not of unit length.
    """
    import numpy

    if not passage_ids:
        return
    matrix = numpy.ascontiguousarray(matrix, dtype="<f4")
    if matrix.shape[0] != len(passage_ids):
        raise ValueError("one vector for each passage")
    if not numpy.isfinite(matrix).all() or (abs(numpy.linalg.norm(matrix, axis=1) - 1.0) > 1e-3).any():
        raise ValueError("a vector that is not finite or not of unit length is never stored")
    pairs = [(number, row.tobytes()) for number, row in zip(passage_ids, matrix, strict=True)]
    connection.execute(
        insert(vectors),
        [
            {"space": space, "passage_id": number, "model": model, "dimension": matrix.shape[1], "vector": blob}
            for number, blob in pairs
        ],
    )
    database.index.index_vectors(connection, model, pairs, matrix.shape[1])


def scan_vectors(
    connection: Connection,
    model: str,
    vector: NDArray[numpy.float32],
    where: ColumnElement[bool],
    limit: int,
) -> list[tuple[int, int, float]]:
    """`(passage id, note id, cosine)` by comparing every stored vector: exact, and needs no index."""
    import numpy

    rows = connection.execute(
        select(passages.c.id, passages.c.note_id, vectors.c.vector)
        .join(passages, (passages.c.space == vectors.c.space) & (passages.c.id == vectors.c.passage_id))
        .join(notes, (notes.c.space == passages.c.space) & (notes.c.id == passages.c.note_id))
        .where(vectors.c.model == model, vectors.c.dimension == len(vector), where)
    ).all()
    if not rows:
        return []
    matrix = numpy.frombuffer(b"".join(row.vector for row in rows), dtype="<f4").reshape(len(rows), -1)
    cosines = matrix @ vector
    order = numpy.argsort(-cosines, kind="stable")[:limit]
    return [(rows[place].id, rows[place].note_id, float(cosines[place])) for place in order]


def fetch(connection: Connection, space: str, ids: Collection[int]) -> dict[int, Note]:
    """The notes with these ids that exist, by id."""
    if not ids:
        return {}
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


def matching(filters: Filters) -> ColumnElement[bool]:
    """The condition over `notes` that the filters mean."""
    conditions: list[ColumnElement[bool]] = [notes.c.space == filters.space, notes.c.deleted_at.is_(None)]
    if filters.kind:
        conditions.append(notes.c.kind == filters.kind)
    conditions += [
        select(topics.c.note_id)
        .where(topics.c.space == notes.c.space, topics.c.note_id == notes.c.id, topics.c.topic == topic)
        .exists()
        for topic in filters.topics
    ]
    conditions.append(meets(filters.since, filters.until))
    if filters.pinned:
        conditions.append(notes.c.pinned.is_(True))
    return and_(*conditions)


def meets(start: datetime | None, end: datetime | None) -> ColumnElement[bool]:
    """The condition over `notes` that its event (else creation) time meets the half-open range."""
    conditions: list[ColumnElement[bool]] = []
    if start:
        conditions.append(
            or_(notes.c.event_at >= start, and_(notes.c.occurred_end.is_not(None), notes.c.occurred_end > start))
        )
    if end:
        conditions.append(notes.c.event_at < end)
    return and_(true(), *conditions)


def in_space(space: str) -> ColumnElement[bool]:
    """The condition over `notes` that it is in the space."""
    return and_(notes.c.space == space, notes.c.deleted_at.is_(None))


def with_ids(space: str, ids: Collection[int]) -> ColumnElement[bool]:
    """The condition over `notes` that it is one of these."""
    return and_(in_space(space), notes.c.id.in_(ids))


def event_times(
    connection: Connection, where: ColumnElement[bool], limit: int, window: Window | None = None
) -> dict[int, tuple[datetime, datetime | None]]:
    """Event start (else creation) and end of up to `limit` notes: the newest, or the nearest on each side of it."""
    columns = select(notes.c.id, notes.c.event_at, notes.c.occurred_end)
    newest = (notes.c.event_at.desc(), notes.c.id.desc())
    statements = [columns.where(where).order_by(*newest).limit(limit)]
    if window:
        statements = []
        if window.start:
            before = columns.where(where, notes.c.event_at < window.start)
            statements.append(before.order_by(*newest).limit(limit))
        if window.end:
            after = columns.where(where, notes.c.event_at >= window.end)
            statements.append(after.order_by(notes.c.event_at, notes.c.id).limit(limit))
    return {
        row.id: (row.event_at, row.occurred_end) for statement in statements for row in connection.execute(statement)
    }


def stale() -> ColumnElement[bool]:
    """The condition over `notes` that something supersedes it."""
    return (
        select(supersessions.c.old_id)
        .where(supersessions.c.space == notes.c.space, supersessions.c.old_id == notes.c.id)
        .exists()
    )


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


def find_same(connection: Connection, space: str, content_hash: str, source: str) -> int | None:
    """The oldest note with that text; when it comes from a source, only one of the same source counts."""
    condition = (notes.c.space == space) & (notes.c.content_hash == content_hash) & notes.c.deleted_at.is_(None)
    if source:
        condition &= notes.c.source == source
    return connection.execute(select(func.min(notes.c.id)).where(condition)).scalar()


def find_source(connection: Connection, space: str, source: str) -> int | None:
    """The newest note that came from that source."""
    return connection.execute(
        select(func.max(notes.c.id)).where(
            notes.c.space == space, notes.c.source == source, notes.c.deleted_at.is_(None)
        )
    ).scalar()


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


def waiting(connection: Connection, space: str, model: str) -> int:
    """How many notes have a passage without a vector of that model."""
    lacking = ~(
        select(vectors.c.passage_id)
        .where(vectors.c.space == passages.c.space, vectors.c.passage_id == passages.c.id, vectors.c.model == model)
        .exists()
    )
    return int(
        connection.execute(
            select(func.count(func.distinct(passages.c.note_id))).where(passages.c.space == space, lacking)
        ).scalar_one()
    )


def has_vectors(connection: Connection, space: str, model: str) -> bool:
    """Whether any passage has a vector of that model."""
    here = (vectors.c.space == space) & (vectors.c.model == model)
    return connection.execute(select(vectors.c.passage_id).where(here).limit(1)).first() is not None


def lacking_vectors(connection: Connection, space: str, model: str, limit: int) -> list[int]:
    """Up to `limit` notes that have a passage without a vector of that model, oldest first."""
    has_vector = (
        select(vectors.c.passage_id)
        .where(vectors.c.space == passages.c.space, vectors.c.passage_id == passages.c.id, vectors.c.model == model)
        .exists()
    )
    statement = (
        select(passages.c.note_id).distinct().where(passages.c.space == space, ~has_vector).order_by(passages.c.note_id)
    )
    return list(connection.execute(statement.limit(limit)).scalars())


def total(connection: Connection, space: str) -> int:
    """How many notes the space holds."""
    return int(
        connection.execute(
            select(func.count()).select_from(notes).where(notes.c.space == space, notes.c.deleted_at.is_(None))
        ).scalar_one()
    )


def counts(connection: Connection, space: str) -> dict[str, int]:
    """How much of each thing the space holds."""
    alive = (notes.c.space == space) & notes.c.deleted_at.is_(None)

    def count(condition: ColumnElement[bool]) -> int:
        return int(connection.execute(select(func.count()).select_from(notes).where(condition)).scalar_one())

    return {
        "notes": count(alive),
        "pinned": count(alive & notes.c.pinned.is_(True)),
        "superseded": count(alive & stale()),
        "passages": int(
            connection.execute(select(func.count()).select_from(passages).where(passages.c.space == space)).scalar_one()
        ),
        "topics": int(
            connection.execute(
                select(func.count(func.distinct(topics.c.topic))).where(topics.c.space == space)
            ).scalar_one()
        ),
        "tokens": int(connection.execute(select(func.coalesce(func.sum(notes.c.tokens), 0)).where(alive)).scalar_one()),
    }


def months(connection: Connection, space: str) -> list[datetime]:
    """When each note of the space was made, for counting by month."""
    return list(
        connection.execute(
            select(notes.c.created_at)
            .where(notes.c.space == space, notes.c.deleted_at.is_(None))
            .order_by(notes.c.created_at)
        ).scalars()
    )


def drop_vectors(connection: Connection, space: str, model: str) -> None:
    """Forget the stored vectors of a model."""
    connection.execute(delete(vectors).where(vectors.c.space == space, vectors.c.model == model))
