"""PostgreSQL behind the `Index` protocol: a tsvector with a GIN index for words; vectors are `postgres_vectors`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    column,
    delete,
    func,
    insert,
    literal,
    select,
    text,
)
from sqlalchemy.exc import DBAPIError

from memora_cli.store import postgres_vectors, schema
from memora_cli.store.database import IndexUnavailable

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

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


class PostgresIndex:
    """tsvector and pgvector behind the `Index` protocol."""

    keyword = "tsvector"
    vectors = "pgvector"
    passages_per_note = 1  # more cost more here, and asking again is cheap
    most_nearest = 4096

    def create(self, connection: Connection) -> None:
        """Make the generated column with its index, and the table of vectors where the server has pgvector."""
        for statement in (*KEYWORDS, DOCUMENT, DOCUMENT_INDEX, SIZE_INDEX):
            connection.exec_driver_sql(statement)
        postgres_vectors.create(connection)

    def rebuild(self, connection: Connection, space: str, model: str) -> None:
        """Make the indexes anew where the role owns the tables, and the vectors of the space and model."""
        if postgres_vectors.owns(connection, "keywords"):
            connection.exec_driver_sql("DROP INDEX IF EXISTS keywords_document, keywords_size")
            for statement in (DOCUMENT, DOCUMENT_INDEX, SIZE_INDEX):
                connection.exec_driver_sql(statement)
            postgres_vectors.create(connection)
        if postgres_vectors.state(connection, space, model).absent:
            return
        if postgres_vectors.owns(connection, postgres_vectors.TABLE):
            connection.exec_driver_sql(f"DROP INDEX IF EXISTS {postgres_vectors.hnsw(model)}")
        self.drop_vectors(connection, space, model)
        stored = schema.vectors
        here = (stored.c.space == space) & (stored.c.model == model)
        last, dimension = 0, 0
        while True:
            rows = connection.execute(
                select(stored.c.passage_id, stored.c.vector, stored.c.dimension)
                .where(here, stored.c.passage_id > last)
                .order_by(stored.c.passage_id)
                .limit(postgres_vectors.BATCH)
            ).all()
            if not rows:
                break
            last, dimension = rows[-1].passage_id, rows[-1].dimension
            postgres_vectors.add(connection, space, model, [(row.passage_id, row.vector) for row in rows])
        if dimension:
            postgres_vectors.create_hnsw(connection, model, dimension)

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
        state = postgres_vectors.state(connection, space, model)
        if state.why:
            if not state.marked:
                row = {"space": space, "name": f"unindexed {model}", "value": 1}
                connection.execute(insert(schema.counters).values(row))
            return
        postgres_vectors.add(connection, space, model, rows)
        if not state.hnsw:
            postgres_vectors.create_hnsw(connection, model, dimension)

    def remove_vectors(self, connection: Connection, space: str, models: Sequence[str], ids: Sequence[int]) -> None:
        """Delete from pgvector's table."""
        if not ids or not models or not postgres_vectors.is_there(connection):
            return
        embeddings = postgres_vectors.embeddings()
        connection.execute(
            delete(embeddings).where(
                embeddings.c.space == space, embeddings.c.model.in_(models), embeddings.c.passage_id.in_(ids)
            )
        )

    def drop_vectors(self, connection: Connection, space: str, model: str) -> bool:
        """Delete them from pgvector's table; the HNSW index stays, as other spaces may use it."""
        if not postgres_vectors.is_there(connection):
            return False
        embeddings = postgres_vectors.embeddings()
        connection.execute(delete(embeddings).where(embeddings.c.space == space, embeddings.c.model == model))
        connection.execute(delete(schema.counters).where(*postgres_vectors.unindexed(space, model)))
        return True

    def lacks(self, connection: Connection, space: str, model: str) -> list[str]:
        """The keyword index, pgvector, its table, or the HNSW index of the model."""
        words = "" if _document_there(connection) else NO_DOCUMENT
        vectors = postgres_vectors.state(connection, space, model).why if model else ""
        return [reason for reason in (words, vectors or self.slow(connection, space, model)) if reason]

    def drifted(self, connection: Connection) -> list[str]:
        """Vectors that pgvector's table lacks, or holds otherwise; the server makes the words' column by itself."""
        return postgres_vectors.drifted(connection)

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
        state = postgres_vectors.state(connection, space, model)
        stored = schema.vectors
        here = (stored.c.space == space) & (stored.c.model == model)
        length = select(stored.c.dimension).where(here).limit(1)
        dimension = 0 if state.why or state.hnsw else connection.execute(length).scalar() or 0
        if not dimension:
            return ""
        most = postgres_vectors.MOST_DIMENSIONS
        if dimension > most:
            return f"HNSW takes {most} dimensions, this model has {dimension}; every vector was compared"
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
        return postgres_vectors.nearest(connection, space, model, vector, where, limit)


def _document_there(connection: Connection) -> bool:
    return bool(connection.exec_driver_sql("SELECT to_regclass('keywords_document')").scalar())


def _query(words: Sequence[str]) -> ColumnElement[Any]:
    """A tsquery that matches any of the words, whatever they hold."""
    quoted = ("'" + word.replace("\0", " ").replace("\\", "\\\\").replace("'", "''") + "'" for word in words)
    return func.to_tsquery(text("'memora'"), " | ".join(quoted))


def _holds(words: Sequence[str]) -> ColumnElement[bool]:
    return column("document", is_literal=True).op("@@", is_comparison=True)(_query(words))
