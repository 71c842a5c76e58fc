"""PostgreSQL's indexes: a tsvector with a GIN index for words, and pgvector with HNSW indexes for vectors."""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    MetaData,
    Select,
    Table,
    Text,
    cast,
    column,
    delete,
    func,
    insert,
    literal,
    literal_column,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import TEXT
from sqlalchemy.exc import DBAPIError

from memora_cli.store import schema
from memora_cli.store.database import IndexUnavailable

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

OLDEST_VECTOR = (0, 8, 4)  # older pgvector may leave rows out of a filtered answer
MOST_DIMENSIONS = 2000  # of a vector that an HNSW index takes
EXACT_BELOW = 5000  # passages that are put in exact order faster than an index finds most of them
MANY = 4 * EXACT_BELOW  # rows at the last ANALYZE from which on a space is taken to be large without being counted
SEARCH_WIDTH = 100  # neighbours that HNSW looks at before it widens
# For this transaction, in the statement that looks at the index: another way to the server costs as much as a search.
SEARCHING = (
    "set_config('hnsw.iterative_scan', 'relaxed_order', true), "
    "set_config('plan_cache_mode', 'force_custom_plan', true), "
    f"set_config('hnsw.ef_search', '{SEARCH_WIDTH}', true)"
)
BATCH = 1000  # vectors that are decoded at once
K1, B = 1.2, 0.75  # bm25's saturation and its share of a note's length, as FTS5 has them
LEAST_WEIGHT = 1e-6  # of a word that half the notes hold, as FTS5 has it
NO_DOCUMENT = "the keyword index is missing, the owner's memora reindex makes it anew"
KIND_OF_TOKEN = (
    "asciiword, word, numword, asciihword, hword, numhword, hword_asciipart, hword_part, hword_numpart, email, "
    "protocol, url, host, url_path, file, sfloat, float, int, uint, version, tag, entity"
)
# A tsvector is at most 1 MB, and takes up to twice the bytes of its text: of a longer text the beginning is indexed.
WORDS = """CASE WHEN octet_length(body) <= 500000 THEN body
  WHEN octet_length(body) = length(body) THEN left(body, 500000) ELSE left(body, 160000) END"""
KEYWORDS = (
    # The stems of FTS5, and no stop words: what a question leaves out is for memora to say.
    "CREATE TEXT SEARCH DICTIONARY memora_stems (TEMPLATE = snowball, Language = porter)",
    'CREATE TEXT SEARCH CONFIGURATION memora (PARSER = "default")',
    f"ALTER TEXT SEARCH CONFIGURATION memora ADD MAPPING FOR {KIND_OF_TOKEN} WITH memora_stems",
)
DOCUMENT = f"""ALTER TABLE keywords
  ADD COLUMN IF NOT EXISTS document tsvector GENERATED ALWAYS AS (
    setweight(to_tsvector('memora', title), 'A') || setweight(to_tsvector('memora', topics), 'B')
    || setweight(to_tsvector('memora', {WORDS}), 'D')) STORED,
  ADD COLUMN IF NOT EXISTS size integer GENERATED ALWAYS AS (
    length(title || topics || body) - length(replace(title || topics || body, ' ', ''))) STORED"""
DOCUMENT_INDEX = "CREATE INDEX IF NOT EXISTS keywords_document ON keywords USING gin (document)"
SIZE_INDEX = "CREATE INDEX IF NOT EXISTS keywords_size ON keywords (space, size)"
WEIGHTS = "'{0.1, 0.1, 0.5, 1.0}'"  # of body, nothing, topics and title: 1, 5 and 10 as in FTS5, tenfold below


def _vector(dimension: int | None = None) -> Any:
    from pgvector.sqlalchemy import VECTOR

    return VECTOR(dimension)


def _hnsw(model: str) -> str:
    """Each model has an index of its own, as its vectors have their own length."""
    return "embeddings_" + hashlib.sha256(model.encode()).hexdigest()[:16]


@functools.cache  # statements are compiled once for each table
def _embeddings() -> Table:
    """The vectors of today's passages as pgvector has them; made anew from `schema.vectors` at any time."""
    from sqlalchemy import Index

    return Table(
        PostgresIndex.vector_table,
        MetaData(),
        Column("space", TEXT(collation="C"), primary_key=True),
        Column("passage_id", BigInteger, primary_key=True, autoincrement=False),
        Column("model", TEXT(collation="C"), primary_key=True),
        Column("note_id", BigInteger, nullable=False),
        Column("embedding", _vector(), nullable=False),
        Index("embeddings_note", "space", "note_id"),
    )


class PostgresIndex:
    """tsvector and pgvector behind the `Index` protocol."""

    keyword = "tsvector"
    vectors = "pgvector"
    passages_per_note = 1  # more cost more here, and asking again is cheap
    most_nearest = 4096
    vector_table = "embeddings"

    @staticmethod
    def extension(connection: Connection) -> str | None:
        """The version of pgvector in this database, None where it is not."""
        return connection.exec_driver_sql("SELECT extversion FROM pg_extension WHERE extname = 'vector'").scalar()

    def create(self, connection: Connection) -> None:
        """Make the generated column with its index, and the table of vectors where the server has pgvector."""
        for statement in (*KEYWORDS, DOCUMENT, DOCUMENT_INDEX, SIZE_INDEX):
            connection.exec_driver_sql(statement)
        self._create_vectors(connection)

    def _create_vectors(self, connection: Connection) -> None:
        try:
            with connection.begin_nested():
                connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS vector")
        except DBAPIError:  # the server has none, or the role may not: every vector is compared then
            pass
        if not _outdated(self.extension(connection)):
            _embeddings().create(connection, checkfirst=True)

    def rebuild(self, connection: Connection, space: str, model: str) -> None:
        """Make the indexes anew where the role owns the tables, and the vectors of the space and model."""
        if _owner(connection, "keywords"):
            connection.exec_driver_sql("DROP INDEX IF EXISTS keywords_document, keywords_size")
            for statement in (DOCUMENT, DOCUMENT_INDEX, SIZE_INDEX):
                connection.exec_driver_sql(statement)
            self._create_vectors(connection)
        if _state(connection, space, model).absent:
            return
        if _owner(connection, self.vector_table):
            connection.exec_driver_sql(f"DROP INDEX IF EXISTS {_hnsw(model)}")
        self.drop_vectors(connection, space, model)
        stored = schema.vectors
        here = (stored.c.space == space) & (stored.c.model == model)
        last, dimension = 0, 0
        while True:
            rows = connection.execute(
                select(stored.c.passage_id, stored.c.vector, stored.c.dimension)
                .where(here, stored.c.passage_id > last)
                .order_by(stored.c.passage_id)
                .limit(BATCH)
            ).all()
            if not rows:
                break
            last, dimension = rows[-1].passage_id, rows[-1].dimension
            self._insert(connection, space, model, [(row.passage_id, row.vector) for row in rows])
        if dimension:
            _create_hnsw(connection, model, dimension)

    def frequency(self, connection: Connection, space: str, word: str, cap: int) -> int:
        """How many notes of the space hold the word, counted up to `cap`; 0 without an index."""
        keywords, notes = schema.keywords, schema.notes
        held = (
            select(notes.c.id)
            .join(keywords, (keywords.c.space == notes.c.space) & (keywords.c.note_id == notes.c.id))
            .where(keywords.c.space == space, notes.c.space == space, notes.c.deleted_at.is_(None), _holds([word]))
            .limit(cap)
            .subquery()
        )
        try:
            with connection.begin_nested():
                return int(connection.execute(select(func.count()).select_from(held)).scalar_one())
        except DBAPIError as error:
            if error.connection_invalidated:
                raise
            return 0

    def match(
        self, connection: Connection, space: str, words: Sequence[str], where: ColumnElement[bool], limit: int
    ) -> list[tuple[int, float]]:
        """By bm25, with `ts_rank_cd` of each word for how often and where a note holds it: alone it knows no rarity."""
        if not _document_there(connection):
            raise IndexUnavailable(NO_DOCUMENT)
        keywords, notes = schema.keywords, schema.notes
        size: ColumnElement[float] = column("size", is_literal=True)
        here = keywords.c.space == space
        held = [
            select(func.count()).select_from(keywords).where(here, _holds([word])).scalar_subquery().label(f"w{at}")
            for at, word in enumerate(words)
        ]
        whole = select(func.count().label("notes"), func.avg(size).label("mean")).select_from(keywords).where(here)
        score: Any = literal(0.0)
        try:
            with connection.begin_nested():
                total, mean = connection.execute(whole).one()
                counts = connection.execute(select(*held)).one()
                length = K1 * (1 - B + B * size / float(mean or 1))
                for word, count in zip(words, counts, strict=True):
                    weight = max(math.log((total - count + 0.5) / (count + 0.5)), LEAST_WEIGHT)
                    often = 10.0 * func.ts_rank_cd(text(WEIGHTS), column("document", is_literal=True), _query([word]))
                    score = score + weight * (K1 + 1) * often / (often + length)
                rows = connection.execute(
                    select(notes.c.number, score.label("score"))
                    .join(keywords, (keywords.c.space == notes.c.space) & (keywords.c.note_id == notes.c.id))
                    .where(here, _holds(words), where)
                    .order_by(text("score DESC"), notes.c.created_at.desc(), notes.c.number)
                    .limit(limit)
                ).all()
        except DBAPIError as error:
            if error.connection_invalidated:
                raise
            raise IndexUnavailable(f"the keyword index cannot be read ({error.orig})") from error
        return [(row.number, float(row.score)) for row in rows]

    def index_vectors(
        self, connection: Connection, space: str, model: str, rows: Sequence[tuple[int, bytes]], dimension: int
    ) -> None:
        """Add to pgvector's table; without the extension the vectors are only stored, and scanned until a rebuild."""
        state = _state(connection, space, model)
        if state.why:
            if not state.marked:
                row = {"space": space, "name": f"unindexed {model}", "value": 1}
                connection.execute(insert(schema.counters).values(row))
            return
        self._insert(connection, space, model, rows)
        if not state.hnsw:
            _create_hnsw(connection, model, dimension)

    def _insert(self, connection: Connection, space: str, model: str, rows: Sequence[tuple[int, bytes]]) -> None:
        """Those of today's passages: past texts are in no index."""
        import numpy

        if not rows:
            return
        passages, embeddings = schema.passages, _embeddings()
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
            connection.execute(insert(embeddings), values)

    def remove_vectors(self, connection: Connection, space: str, models: Sequence[str], ids: Sequence[int]) -> None:
        """Delete from pgvector's table."""
        if not ids or not models or not _table_there(connection):
            return
        embeddings = _embeddings()
        connection.execute(
            delete(embeddings).where(
                embeddings.c.space == space, embeddings.c.model.in_(models), embeddings.c.passage_id.in_(ids)
            )
        )

    def drop_vectors(self, connection: Connection, space: str, model: str) -> bool:
        """Delete them from pgvector's table; the HNSW index stays, as other spaces may use it."""
        if not _table_there(connection):
            return False
        embeddings = _embeddings()
        connection.execute(delete(embeddings).where(embeddings.c.space == space, embeddings.c.model == model))
        connection.execute(delete(schema.counters).where(*_unindexed(space, model)))
        return True

    def lacks(self, connection: Connection, space: str, model: str) -> list[str]:
        """The keyword index, pgvector, its table, or the HNSW index of the model."""
        words = "" if _document_there(connection) else NO_DOCUMENT
        vectors = _state(connection, space, model).why if model else ""
        return [reason for reason in (words, vectors or self.slow(connection, space, model)) if reason]

    def drifted(self, connection: Connection) -> list[str]:  # noqa: ARG002  # the protocol's signature
        """Nothing: the server's own triggers and keys hold them together."""
        return []

    def nearest_many(
        self, connection: Connection, space: str, model: str, matrix: NDArray[numpy.float32], limit: int
    ) -> list[list[tuple[int, int, float]]]:
        """One look-up for each row."""
        return [self.nearest(connection, space, model, row, None, limit) for row in matrix]

    def vectors_by(self, connection: Connection, space: str, model: str) -> str:  # noqa: ARG002  # the protocol's
        """By pgvector."""
        return self.vectors

    def slow(self, connection: Connection, space: str, model: str) -> str:
        """Without an HNSW index the server compares every vector."""
        state = _state(connection, space, model)
        stored = schema.vectors
        here = (stored.c.space == space) & (stored.c.model == model)
        length = select(stored.c.dimension).where(here).limit(1)
        dimension = 0 if state.why or state.hnsw else connection.execute(length).scalar() or 0
        if not dimension:
            return ""
        if dimension > MOST_DIMENSIONS:
            return f"HNSW takes {MOST_DIMENSIONS} dimensions, this model has {dimension}; every vector was compared"
        return "there is no HNSW index for this model, the owner's memora reindex makes it; every vector was compared"

    def nearest(
        self,
        connection: Connection,
        space: str,
        model: str,
        vector: NDArray[numpy.float32],
        where: ColumnElement[bool] | None,
        limit: int,
    ) -> list[tuple[int, int, float]]:
        """By HNSW; in exact order where few passages come into question, or where the index gives too few."""
        embeddings = _embeddings()
        here = (embeddings.c.space == space) & (embeddings.c.model == model)
        if where is not None:
            here &= embeddings.c.note_id.in_(select(schema.notes.c.id).where(where))
        columns = select(embeddings.c.passage_id, embeddings.c.note_id)
        state = _state(connection, space, model)
        if state.why:
            raise IndexUnavailable(state.why)
        rows: Sequence[Any] = ()
        many = where is None and state.rows > MANY
        if state.hnsw and not many:
            some: Select[Any] = select(literal_column("1")).select_from(embeddings).where(here).limit(EXACT_BELOW + 1)
            many = connection.execute(select(func.count()).select_from(some.subquery())).scalar_one() > EXACT_BELOW
        if state.hnsw and many:
            indexed = cast(embeddings.c.embedding, _vector(len(vector))).cosine_distance(vector)
            near = columns.add_columns(indexed.label("distance")).where(here)
            rows = connection.execute(near.order_by("distance").limit(limit)).all()
        if len(rows) < limit:  # an expression that no index has: the exact order
            distance = embeddings.c.embedding.cosine_distance(vector)
            exact = columns.add_columns(distance.label("distance")).where(here)
            rows = connection.execute(exact.order_by("distance").limit(limit)).all()
        ordered = sorted(rows, key=lambda row: (row.distance, row.passage_id))
        return [(row.passage_id, row.note_id, 1.0 - row.distance) for row in ordered]


class _State:
    """What of the vector index is not there: `absent` parts, or a mark of gaps; `why` it cannot be used."""

    def __init__(self, version: str | None, rows: float | None, hnsw: bool, marked: bool) -> None:
        self.hnsw, self.marked, self.rows = hnsw, marked, rows or 0
        self.absent = _outdated(version)
        if not self.absent and rows is None:
            self.absent = "the table of vectors is missing, the owner's memora reindex makes it"
        self.why = self.absent or (
            "some vectors are not in the index, memora reindex puts them there" if marked else ""
        )


def _state(connection: Connection, space: str, model: str) -> _State:
    name = _hnsw(model)
    row = connection.exec_driver_sql(
        "SELECT (SELECT extversion FROM pg_extension WHERE extname = 'vector'), "
        "(SELECT reltuples FROM pg_class WHERE oid = to_regclass('embeddings')), "
        "EXISTS (SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) AND indisvalid), "
        f"EXISTS (SELECT 1 FROM counters WHERE space = %s AND name = %s), {SEARCHING}",
        (name, space, f"unindexed {model}"),
    ).one()
    return _State(row[0], row[1], row[2], row[3])


def _outdated(version: str | None) -> str:
    """Why this pgvector cannot be used; empty when it can."""
    if version is None:
        return "the database has no pgvector, its administrator runs CREATE EXTENSION vector, then memora reindex"
    if tuple(int(part) for part in version.split(".") if part.isdigit()) < OLDEST_VECTOR:
        wanted = ".".join(map(str, OLDEST_VECTOR))
        return f"pgvector {version} is older than {wanted}, ALTER EXTENSION vector UPDATE brings a newer one"
    return ""


def _unindexed(space: str, model: str) -> tuple[ColumnElement[bool], ...]:
    """The mark that some vectors were stored while they could not be indexed."""
    return schema.counters.c.space == space, schema.counters.c.name == f"unindexed {model}"


def _document_there(connection: Connection) -> bool:
    return bool(connection.exec_driver_sql("SELECT to_regclass('keywords_document')").scalar())


def _table_there(connection: Connection) -> bool:
    return bool(connection.exec_driver_sql("SELECT to_regclass('embeddings')").scalar())


def _owner(connection: Connection, table: str) -> bool:
    """Whether the role may change the table and its indexes."""
    rows = connection.exec_driver_sql(
        "SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass(%s)", (table,)
    )
    return bool(rows.scalar())


def _create_hnsw(connection: Connection, model: str, dimension: int) -> None:
    """An index over the vectors of one model; none for a role that may not, nor for more dimensions than it takes."""
    if dimension > MOST_DIMENSIONS or not _owner(connection, PostgresIndex.vector_table):
        return
    said = literal(model, Text).compile(dialect=connection.dialect, compile_kwargs={"literal_binds": True})
    connection.exec_driver_sql(
        f"CREATE INDEX IF NOT EXISTS {_hnsw(model)} ON embeddings USING hnsw "
        f"((embedding::vector({dimension})) vector_cosine_ops) WHERE model = {said}".replace("%", "%%")
    )


def _query(words: Sequence[str]) -> ColumnElement[Any]:
    """A tsquery that matches any of the words, whatever they hold."""
    quoted = ("'" + word.replace("\0", " ").replace("\\", "\\\\").replace("'", "''") + "'" for word in words)
    return func.to_tsquery(text("'memora'"), " | ".join(quoted))


def _holds(words: Sequence[str]) -> ColumnElement[bool]:
    return column("document", is_literal=True).op("@@", is_comparison=True)(_query(words))
