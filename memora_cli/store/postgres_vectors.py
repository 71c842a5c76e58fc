"""pgvector: its table of vectors, the HNSW index of each model, what of them is there, and the nearest by them."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Index,
    MetaData,
    Select,
    Table,
    Text,
    cast,
    func,
    insert,
    literal,
    literal_column,
    select,
)
from sqlalchemy.dialects.postgresql import TEXT
from sqlalchemy.exc import DBAPIError

from memora_cli.store import schema
from memora_cli.store.database import IndexUnavailable

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

TABLE = "embeddings"
OLDEST = (0, 8, 4)  # an older pgvector may leave rows out of a filtered answer
MOST_DIMENSIONS = 2000  # of a vector that an HNSW index takes
EXACT_BELOW = 5000  # passages that are put in exact order faster than an index finds most of them
MANY = 4 * EXACT_BELOW  # rows at the last ANALYZE from which on a space is taken to be large without being counted
SEARCH_WIDTH = 100  # neighbours that HNSW looks at before it widens
BATCH = 1000  # vectors that are decoded at once
# For this transaction, in the statement that looks at the index: another way to the server costs as much as a search.
SEARCHING = (
    "set_config('hnsw.iterative_scan', 'relaxed_order', true), "
    "set_config('plan_cache_mode', 'force_custom_plan', true), "
    f"set_config('hnsw.ef_search', '{SEARCH_WIDTH}', true)"
)
STATE = (
    "SELECT (SELECT extversion FROM pg_extension WHERE extname = 'vector'), "
    f"(SELECT reltuples FROM pg_class WHERE oid = to_regclass('{TABLE}')), "
    "EXISTS (SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%(hnsw)s) AND indisvalid), "
    f"EXISTS (SELECT 1 FROM counters WHERE space = %(space)s AND name = %(mark)s), {SEARCHING}"
)
# Written by hand: to build and compile it takes as long as the server takes for its answer.
BY_INDEX = (
    "SELECT passage_id, note_id, embedding::vector({0}) <=> %(vector)s AS distance FROM embeddings "
    "WHERE space = %(space)s AND model = %(model)s {1} ORDER BY distance LIMIT %(limit)s"
)
ASKED = "vector index"  # keys in a connection's `info`: what was found in a snapshot
SEEN = "vector index of"  # the model whose index was there, for many rows, when this connection last looked
# Where the index was seen: without another look, but never past the mark that it has gaps.
UNMARKED = "AND NOT EXISTS (SELECT 1 FROM counters WHERE space = %(space)s AND name = %(mark)s)"
LATER = f"; SET LOCAL hnsw.iterative_scan = relaxed_order; SET LOCAL hnsw.ef_search = {SEARCH_WIDTH}"


def vector_type(dimension: int | None = None) -> Any:
    """The type of pgvector."""
    from pgvector.sqlalchemy import VECTOR

    return VECTOR(dimension)


@functools.cache  # statements are compiled once for each table
def embeddings() -> Table:
    """The vectors of today's passages as pgvector has them; made anew from `schema.vectors` at any time."""
    return Table(
        TABLE,
        MetaData(),
        Column("space", TEXT(collation="C"), primary_key=True),
        Column("passage_id", BigInteger, primary_key=True, autoincrement=False),
        Column("model", TEXT(collation="C"), primary_key=True),
        Column("note_id", BigInteger, nullable=False),
        Column("embedding", vector_type(), nullable=False),
        Index("embeddings_note", "space", "note_id"),
    )


class State:
    """What of the vector index is not there: `absent` parts, or a mark of gaps; `why` it cannot be used."""

    def __init__(self, version: str | None, rows: float | None, hnsw: bool, marked: bool) -> None:
        self.hnsw, self.marked, self.rows = hnsw, marked, rows or 0
        self.absent = outdated(version)
        if not self.absent and rows is None:
            self.absent = "the table of vectors is missing, the owner's memora reindex makes it"
        self.why = self.absent or (
            "some vectors are not in the index, memora reindex puts them there" if marked else ""
        )


def state(connection: Connection, space: str, model: str) -> State:
    """What is there for the space and model; asked once in a snapshot, which never changes."""
    snapshot = _is_snapshot(connection)
    asked = (connection.get_transaction(), space, model)
    if snapshot and (known := connection.info.get(ASKED)) and known[0] == asked:
        return known[1]  # type: ignore[no-any-return]  # `info` holds anything
    row = connection.exec_driver_sql(STATE, _names(space, model)).one()
    found = State(row[0], row[1], row[2], row[3])
    if snapshot:
        connection.info[ASKED] = (asked, found)
        connection.info[SEEN] = model if found.hnsw and not found.why and found.rows > MANY else None
    return found


def _is_snapshot(connection: Connection) -> bool:
    return connection.get_execution_options().get("memora_write") is False


def _names(space: str, model: str) -> dict[str, object]:
    return {"space": space, "model": model, "hnsw": hnsw(model), "mark": f"unindexed {model}"}


def version(connection: Connection) -> str | None:
    """The version of pgvector in this database, None where it is not."""
    return connection.exec_driver_sql("SELECT extversion FROM pg_extension WHERE extname = 'vector'").scalar()


def outdated(number: str | None) -> str:
    """Why a pgvector of this version cannot be used; empty when it can."""
    if number is None:
        return "the database has no pgvector, its administrator runs CREATE EXTENSION vector, then memora reindex"
    if tuple(int(part) for part in number.split(".") if part.isdigit()) < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        return f"pgvector {number} is older than {wanted}, ALTER EXTENSION vector UPDATE brings a newer one"
    return ""


def unindexed(space: str, model: str) -> tuple[ColumnElement[bool], ...]:
    """The mark that some vectors were stored while they could not be indexed."""
    return schema.counters.c.space == space, schema.counters.c.name == f"unindexed {model}"


def is_there(connection: Connection) -> bool:
    """Whether pgvector's table is."""
    return bool(connection.exec_driver_sql(f"SELECT to_regclass('{TABLE}')").scalar())


def owns(connection: Connection, table: str) -> bool:
    """Whether the role may change the table and its indexes."""
    rows = connection.exec_driver_sql(
        "SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass(%s)", (table,)
    )
    return bool(rows.scalar())


def create(connection: Connection) -> None:
    """Make the table where the server has pgvector."""
    try:
        with connection.begin_nested():
            connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS vector")
    except DBAPIError:  # the server has none, or the role may not: every vector is compared then
        pass
    if not outdated(version(connection)):
        embeddings().create(connection, checkfirst=True)


def hnsw(model: str) -> str:
    """The name of a model's index; each has one of its own, as its vectors have their own length."""
    return "embeddings_" + hashlib.sha256(model.encode()).hexdigest()[:16]


def create_hnsw(connection: Connection, model: str, dimension: int) -> None:
    """An index over the vectors of one model; none for a role that may not, nor for more dimensions than it takes."""
    if dimension > MOST_DIMENSIONS or not owns(connection, TABLE):
        return
    said = literal(model, Text).compile(dialect=connection.dialect, compile_kwargs={"literal_binds": True})
    connection.exec_driver_sql(
        f"CREATE INDEX IF NOT EXISTS {hnsw(model)} ON {TABLE} USING hnsw "
        f"((embedding::vector({dimension})) vector_cosine_ops) WHERE model = {said}".replace("%", "%%")
    )


def add(connection: Connection, space: str, model: str, rows: Sequence[tuple[int, bytes]]) -> None:
    """Add `(passage id, float32 bytes)` of today's passages: past texts are in no index."""
    import numpy

    if not rows:
        return
    passages = schema.passages
    ids = [number for number, _ in rows]
    owners = dict(
        connection.execute(
            select(passages.c.id, passages.c.note_id).where(
                passages.c.space == space, passages.c.id.in_(ids), passages.c.note_id > 0
            )
        ).all()
    )
    values = [
        {"space": space, "passage_id": number, "model": model, "note_id": owners[number], "embedding": vector}
        for number, blob in rows
        if number in owners
        for vector in [numpy.frombuffer(blob, "<f4")]
    ]
    if values:
        connection.execute(insert(embeddings()), values)


def nearest(
    connection: Connection,
    space: str,
    model: str,
    vector: NDArray[numpy.float32],
    where: ColumnElement[bool] | None,
    limit: int,
) -> list[tuple[int, int, float]]:
    """By HNSW; in exact order where few passages come into question, or where the index gives too few."""
    values = _names(space, model) | {"vector": str(vector.tolist()), "limit": limit}
    rows: Sequence[Any] = ()
    if where is None and connection.info.get(SEEN) == model and _is_snapshot(connection):
        rows = connection.exec_driver_sql(BY_INDEX.format(len(vector), UNMARKED), values).all()
        if len(rows) == limit:
            return _ordered(rows)
    here = state(connection, space, model)
    if here.why:
        raise IndexUnavailable(here.why)
    within = (embeddings().c.space == space) & (embeddings().c.model == model)
    if where is not None:
        within &= embeddings().c.note_id.in_(select(schema.notes.c.id).where(where))
    if here.hnsw and ((where is None and here.rows > MANY) or _are_many(connection, within)):
        if where is None:
            rows = connection.exec_driver_sql(BY_INDEX.format(len(vector), ""), values).all()
        else:
            rows = _in_order(
                connection, cast(embeddings().c.embedding, vector_type(len(vector))), vector, within, limit
            )
    if len(rows) < limit:  # an expression that no index has: the exact order
        rows = _in_order(connection, embeddings().c.embedding, vector, within, limit)
    return _ordered(rows)


def _ordered(rows: Sequence[Any]) -> list[tuple[int, int, float]]:
    """`(passage id, note id, cosine)` of rows with distances, nearest first."""
    nearest_first = sorted((distance, passage, note) for passage, note, distance in rows)
    return [(passage, note, 1.0 - distance) for distance, passage, note in nearest_first]


def _are_many(connection: Connection, within: ColumnElement[bool]) -> bool:
    some: Select[Any] = select(literal_column("1")).select_from(embeddings()).where(within).limit(EXACT_BELOW + 1)
    return bool(connection.execute(select(func.count()).select_from(some.subquery())).scalar_one() > EXACT_BELOW)


def _in_order(
    connection: Connection, column: Any, vector: NDArray[numpy.float32], within: ColumnElement[bool], limit: int
) -> Sequence[Any]:
    distance = column.cosine_distance(vector).label("distance")
    columns = select(embeddings().c.passage_id, embeddings().c.note_id, distance)
    return connection.execute(columns.where(within).order_by("distance").limit(limit)).all()


def drifted(connection: Connection) -> list[str]:
    """Where the table holds other vectors than are stored; those that are marked as not indexed have not drifted."""
    if not is_there(connection):
        return []
    stored, indexed = schema.vectors, embeddings()
    held = select(stored.c.space, stored.c.model).union(select(indexed.c.space, indexed.c.model))
    wrong: dict[str, int] = {}
    for space, model in connection.execute(held.order_by("space", "model")).all():
        if not state(connection, space, model).why:
            count = _differing(connection, space, model)
            wrong[space] = wrong.get(space, 0) + count
    return [
        f"the vector index of space {space} differs from {count} of its vectors"
        for space, count in wrong.items()
        if count
    ]


def _differing(connection: Connection, space: str, model: str) -> int:
    """How many vectors of today's passages the table lacks or holds otherwise, and how many it holds for nothing."""
    import numpy

    stored, passages, indexed = schema.vectors, schema.passages, embeddings()
    of_today = (passages.c.space == space) & (passages.c.id == stored.c.passage_id) & (passages.c.note_id > 0)
    same = (indexed.c.space == space) & (indexed.c.model == model) & (indexed.c.passage_id == stored.c.passage_id)
    here = (stored.c.space == space) & (stored.c.model == model)
    wrong, last = 0, 0
    both = (
        select(stored.c.passage_id, stored.c.vector, func.vector_send(indexed.c.embedding).label("sent"))
        .join(passages, of_today)
        .outerjoin(indexed, same)
        .where(here)
        .order_by(stored.c.passage_id)
        .limit(BATCH)
    )
    while rows := connection.execute(both.where(stored.c.passage_id > last)).all():
        last = rows[-1].passage_id
        for row in rows:  # pgvector sends its length and nothing in two bytes each, then the numbers, big end first
            sent = b"" if row.sent is None else numpy.frombuffer(row.sent[4:], ">f4").astype("<f4").tobytes()
            wrong += sent != row.vector
    known = (
        select(stored.c.passage_id).join(passages, of_today).where(here, stored.c.passage_id == indexed.c.passage_id)
    )
    loose = select(func.count()).where(indexed.c.space == space, indexed.c.model == model, ~known.exists())
    return wrong + int(connection.execute(loose).scalar_one())
