"""SQLite's indexes: FTS5 for words and sqlite-vec for vectors."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlalchemy import (
    ColumnElement,
    Connection,
    column,
    delete,
    func,
    insert,
    select,
    table,
    text,
)
from sqlalchemy.exc import DBAPIError, OperationalError

from memora_cli.store import schema, signs, sqlite_plans, sqlite_words
from memora_cli.store.database import IndexUnavailable
from memora_cli.store.remembered import remembered
from memora_cli.store.sqlite_vectors import held, nearest_by_product, nearest_by_signs, owners_of
from memora_cli.store.sqlite_words import quoted

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

KEYWORD_TABLE = """CREATE VIRTUAL TABLE keywords_fts USING fts5(
  title, topics, body, content='keywords', content_rowid='note_id',
  tokenize="porter unicode61 remove_diacritics 2 categories 'L* N* M* Co'")"""
CHUNK = 1024  # vectors that vec0 makes room for at once
SCANNED = 20_000  # vectors that are all compared, by vec0; of more the nearest are looked for by their signs first
SECURE_DELETE_SINCE = (3, 42, 0)
KEYWORD_TRIGGERS = (
    """CREATE TRIGGER keywords_insert AFTER INSERT ON keywords BEGIN
         INSERT INTO keywords_fts(rowid, title, topics, body) VALUES (new.note_id, new.title, new.topics, new.body);
       END""",
    """CREATE TRIGGER keywords_delete AFTER DELETE ON keywords BEGIN
         INSERT INTO keywords_fts(keywords_fts, rowid, title, topics, body)
         VALUES ('delete', old.note_id, old.title, old.topics, old.body);
       END""",
    """CREATE TRIGGER keywords_update AFTER UPDATE OF title, topics, body ON keywords BEGIN
         INSERT INTO keywords_fts(keywords_fts, rowid, title, topics, body)
         VALUES ('delete', old.note_id, old.title, old.topics, old.body);
         INSERT INTO keywords_fts(rowid, title, topics, body) VALUES (new.note_id, new.title, new.topics, new.body);
       END""",
)


def _vector_table(space: str, model: str) -> str:
    """Each model has a table of its own in each space, so that vectors of two never meet."""
    return "vectors_" + hashlib.sha256(f"{space}\0{model}".encode()).hexdigest()[:16]


class SqliteIndex:
    """FTS5 and sqlite-vec behind the `Index` protocol."""

    keyword = "fts5"
    vectors = "sqlite-vec"
    passages_per_note = 2  # more cost more, and where they are of too few notes they are asked for again
    most_nearest = 4096  # sqlite-vec answers no larger k

    def create(self, connection: Connection) -> None:
        """Make the FTS5 table and the triggers that keep it; without FTS5 words are searched with LIKE."""
        try:
            connection.exec_driver_sql(KEYWORD_TABLE)
        except DBAPIError as error:
            if "no such module" in str(error.orig):
                return
            raise
        if tuple(connection.dialect.dbapi.sqlite_version_info) >= SECURE_DELETE_SINCE:  # type: ignore[union-attr]  # a live connection has a driver
            connection.exec_driver_sql("INSERT INTO keywords_fts(keywords_fts, rank) VALUES('secure-delete', 1)")
        for statement in KEYWORD_TRIGGERS:
            connection.exec_driver_sql(statement)

    def rebuild(self, connection: Connection, space: str, model: str) -> None:
        """Make FTS5 table, triggers and vec0 table anew from `keywords` and `vectors`."""
        for name in ("keywords_insert", "keywords_delete", "keywords_update"):
            connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {name}")
        connection.exec_driver_sql("DROP TABLE IF EXISTS keywords_fts")
        self.create(connection)
        if _table_exists(connection, "keywords_fts"):
            connection.exec_driver_sql("INSERT INTO keywords_fts(keywords_fts) VALUES('rebuild')")
        self._refill(connection, space, model)
        sqlite_plans.state(connection)

    def _refill(self, connection: Connection, space: str, model: str) -> None:
        """Make a vec0 table anew from the stored vectors."""
        if not self.drop_vectors(connection, space, model):
            return
        dimension = connection.execute(
            select(schema.vectors.c.dimension)
            .where(schema.vectors.c.space == space, schema.vectors.c.model == model)
            .limit(1)
        ).scalar()
        if dimension and held(connection, space, model) > SCANNED:
            signs.fill(connection, space, model)
        elif dimension:
            _fill_vectors(connection, _vector_table(space, model), space, model, dimension)

    def frequency(self, connection: Connection, space: str, word: str, cap: int) -> int:
        """How many notes of the space hold the word, counted up to `cap`; 0 without an index."""
        return remembered(
            connection, ("frequency", space, word, cap), lambda: self._frequency(connection, space, word, cap)
        )

    def _frequency(self, connection: Connection, space: str, word: str, cap: int) -> int:
        index, notes = table("keywords_fts", column("rowid")), schema.notes
        held = (
            select(notes.c.id)
            .select_from(index.join(notes, notes.c.id == index.c.rowid))
            .where(text("keywords_fts MATCH :match"), notes.c.space == space, notes.c.deleted_at.is_(None))
            .limit(cap)
            .subquery()
        )
        try:
            return int(
                connection.execute(select(func.count()).select_from(held), {"match": quoted([word])}).scalar_one()
            )
        except DBAPIError:
            return 0

    def match(
        self,
        connection: Connection,
        space: str,  # noqa: ARG002  # `where` names it, and FTS5 weighs words by the whole file
        words: Sequence[str],
        where: ColumnElement[bool],
        limit: int,
    ) -> list[tuple[int, float]]:
        """By bm25, negated so that higher is better; where it would take long, without the commonest of the words."""
        try:
            return sqlite_words.match(connection, words, where, limit)
        except DBAPIError as error:
            raise IndexUnavailable(f"the keyword index cannot be read ({error.orig})") from error

    def index_vectors(
        self, connection: Connection, space: str, model: str, rows: Sequence[tuple[int, bytes]], dimension: int
    ) -> None:
        """Add to the vec0 table; without the extension the vectors are only stored, and scanned until a rebuild."""
        name = _vector_table(space, model)
        if signs.hold(connection, space, model):
            signs.add(connection, space, model, rows)
            return
        try:
            if _table_exists(connection, name):
                connection.exec_driver_sql(f"INSERT INTO {name}(passage_id, embedding) VALUES (?, ?)", list(rows))
                slots = connection.exec_driver_sql(f"SELECT count(*) FROM {name}_chunks").scalar_one() * CHUNK
                if slots > SCANNED and held(connection, space, model) > SCANNED:
                    self._refill(connection, space, model)
            elif held(connection, space, model) > SCANNED:
                signs.fill(connection, space, model)
            else:
                _fill_vectors(connection, name, space, model, dimension)
        except OperationalError as error:
            if "no such module" not in str(error.orig):
                raise
            _mark_unindexed(connection, name)

    def remove_vectors(self, connection: Connection, space: str, models: Sequence[str], ids: Sequence[int]) -> None:
        """Delete from the vec0 tables; one that has become mostly holes is made anew, as vec0 fills none again."""
        for model in models:
            name = _vector_table(space, model)
            if ids and signs.hold(connection, space, model):
                signs.remove(connection, space, model, ids)
                continue
            if not ids or not _table_exists(connection, name):
                continue
            try:
                connection.exec_driver_sql(f"DELETE FROM {name} WHERE passage_id = ?", [(number,) for number in ids])
            except OperationalError as error:
                if "no such module" not in str(error.orig):
                    raise
                _mark_unindexed(connection, name)
                continue
            live = connection.exec_driver_sql(f"SELECT count(*) FROM {name}_rowids").scalar_one()
            slots = connection.exec_driver_sql(f"SELECT coalesce(sum(size), 0) FROM {name}_chunks").scalar_one()
            if slots > CHUNK and live < slots / 2:
                self._refill(connection, space, model)

    def lacks(self, connection: Connection, space: str, model: str) -> list[str]:  # noqa: ARG002  # the protocol's
        """Nothing that reading the whole file does not find."""
        return []

    def drifted(self, connection: Connection) -> list[str]:
        """What the indexes hold that the tables behind them do not, or lack of it; SQLite itself checks the words."""
        found = []
        if not _table_exists(connection, "keywords_fts"):
            found.append("there is no keyword index")
        held = select(schema.vectors.c.space, schema.vectors.c.model).distinct()
        for space, model in connection.execute(held).all():
            name = _vector_table(space, model)
            if signs.hold(connection, space, model):
                if wrong := signs.differences(connection, space, model):
                    found.append(f"the vector index of space {space} differs from its vectors in {wrong} places")
                continue
            if not _table_exists(connection, name):
                found.append(f"there is no vector index for space {space}")
                continue
            try:
                wrong = connection.exec_driver_sql(
                    "SELECT count(*) FROM vectors JOIN passages ON passages.space = vectors.space AND id = passage_id "
                    f"AND note_id > 0 LEFT JOIN {name} USING (passage_id) "
                    "WHERE vectors.space = ? AND model = ? AND embedding IS NOT vector",
                    (space, model),
                ).scalar_one()
                extra = connection.exec_driver_sql(
                    f"SELECT count(*) FROM {name}_rowids WHERE rowid NOT IN (SELECT passage_id FROM vectors "
                    "JOIN passages ON passages.space = vectors.space AND id = passage_id AND note_id > 0 "
                    "WHERE vectors.space = ? AND model = ?)",
                    (space, model),
                ).scalar_one()
            except DBAPIError as error:
                if "no such module" not in str(error.orig):
                    found.append(f"the vector index of space {space} cannot be read ({error.orig})")
                continue
            if wrong + extra:
                found.append(f"the vector index of space {space} differs from {wrong + extra} of its vectors")
        return found

    def slow(self, connection: Connection, space: str, model: str) -> str:  # noqa: ARG002  # the protocol's signature
        """Never: vec0 compares every vector, and is made for it."""
        return ""

    def drop_vectors(self, connection: Connection, space: str, model: str) -> bool:
        """Drop the vec0 table and the signs; False where the extension that could is missing."""
        name = _vector_table(space, model)
        signs.drop(connection, space, model)
        try:
            connection.exec_driver_sql(f"DROP TABLE IF EXISTS {name}")
        except DBAPIError as error:
            if "no such module" in str(error.orig):
                return False
            raise
        connection.execute(delete(schema.counters).where(*_unindexed(name)))
        return True

    def nearest(
        self,
        connection: Connection,
        space: str,
        model: str,
        vector: NDArray[numpy.float32],
        where: ColumnElement[bool] | None,
        limit: int,
    ) -> list[tuple[int, int, float]]:
        """By vec0, cosine is 1 − its distance; where there are very many, by signs and then exactly."""
        name = _vector_table(space, model)
        if signs.hold(connection, space, model):
            loaded = signs.load(connection, space, model)
            return nearest_by_signs(connection, loaded, space, model, vector, where, limit)
        index = table(name, column("passage_id"), column("distance"))
        passages, notes = schema.passages, schema.notes
        statement = (
            select(index.c.passage_id, index.c.distance)
            .where(text("embedding MATCH :vector AND k = :k"))
            .order_by(index.c.distance)
        )
        if where is not None:
            allowed = (
                select(passages.c.id)
                .join(notes, (notes.c.space == passages.c.space) & (notes.c.id == passages.c.note_id))
                .where(where)
            )
            statement = statement.where(index.c.passage_id.in_(allowed))
        try:
            if connection.execute(select(schema.counters.c.name).where(*_unindexed(name))).first():
                raise IndexUnavailable("some vectors are not in the index, memora reindex puts them there")
            rows = connection.execute(statement, {"vector": vector.tobytes(), "k": limit}).all()
        except DBAPIError as error:
            raise IndexUnavailable(f"the vector index cannot be read ({error.orig})") from error
        found = {row.passage_id: 1.0 - row.distance for row in rows}
        owners = owners_of(connection, passages.c.space == space, list(found))
        return [(passage, owners[passage], cosine) for passage, cosine in found.items() if passage in owners]

    def nearest_many(
        self, connection: Connection, space: str, model: str, matrix: NDArray[numpy.float32], limit: int
    ) -> list[list[tuple[int, int, float]]]:
        """By signs, or by one product with all stored vectors, which is far less than a look-up for each row."""
        if signs.hold(connection, space, model):
            loaded = signs.load(connection, space, model)
            return [nearest_by_signs(connection, loaded, space, model, row, None, limit) for row in matrix]
        return nearest_by_product(connection, space, model, matrix, limit)

    def vectors_by(self, connection: Connection, space: str, model: str) -> str:
        """By vec0, or by signs."""
        return "signs" if signs.hold(connection, space, model) else self.vectors


def _unindexed(name: str) -> tuple[ColumnElement[bool], ...]:
    """The mark that some vectors were stored while their vec0 table could not be written."""
    return schema.counters.c.space == "", schema.counters.c.name == f"unindexed {name}"


def _mark_unindexed(connection: Connection, name: str) -> None:
    if not connection.execute(select(schema.counters.c.name).where(*_unindexed(name))).first():
        connection.execute(insert(schema.counters).values(space="", name=f"unindexed {name}", value=1))


def _table_exists(connection: Connection, name: str) -> bool:
    rows = connection.exec_driver_sql("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,))
    return rows.first() is not None


def _fill_vectors(connection: Connection, name: str, space: str, model: str, dimension: int) -> None:
    """Make a vec0 table with every stored vector of its space and model; those of past texts are only stored."""
    connection.exec_driver_sql(
        f"CREATE VIRTUAL TABLE {name} USING vec0("
        f"passage_id INTEGER PRIMARY KEY, embedding float[{dimension}] distance_metric=cosine)"
    )
    connection.exec_driver_sql(
        f"INSERT INTO {name}(passage_id, embedding) SELECT passage_id, vector FROM vectors "
        "JOIN passages ON passages.space = vectors.space AND passages.id = passage_id AND note_id > 0 "
        "WHERE vectors.space = ? AND model = ? AND dimension = ?",
        (space, model, dimension),
    )
