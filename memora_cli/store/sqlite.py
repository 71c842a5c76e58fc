"""SQLite: the file, its pragmas, FTS5 for words and sqlite-vec for vectors."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    column,
    create_engine,
    event,
    literal_column,
    select,
    table,
    text,
)
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.pool import NullPool

from memora_cli.errors import DatabaseBusy, DatabaseDamaged
from memora_cli.store import schema
from memora_cli.store.database import Database, IndexUnavailable

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

APPLICATION_ID = 0x6D656D6F  # "memo", so that `file` and memora itself know the file
BUSY_MILLISECONDS = 30_000
NEAREST_CAP = 4096  # sqlite-vec answers no larger k

PRAGMAS = (
    f"PRAGMA busy_timeout={BUSY_MILLISECONDS}",
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA foreign_keys=ON",
    "PRAGMA recursive_triggers=ON",
    "PRAGMA secure_delete=ON",
    "PRAGMA trusted_schema=OFF",
    "PRAGMA cell_size_check=ON",
)

KEYWORD_INDEX = (
    """CREATE VIRTUAL TABLE keywords_fts USING fts5(
         title, topics, body, content='keywords', content_rowid='note_id',
         tokenize="porter unicode61 remove_diacritics 2 categories 'L* N* M* Co'")""",
    "INSERT INTO keywords_fts(keywords_fts, rank) VALUES('secure-delete', 1)",
    "INSERT INTO keywords_fts(keywords_fts, rank) VALUES('rank', 'bm25(10.0, 5.0, 1.0)')",
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


def driver() -> ModuleType:
    """The SQLite driver: pysqlite3, else the standard module."""
    try:
        import pysqlite3
    except ImportError:
        return sqlite3
    module: ModuleType = pysqlite3
    return module


def vector_extension() -> str | None:
    """The path of the vec0 extension, found without importing its package (which would import numpy)."""
    spec = importlib.util.find_spec("sqlite_vec")
    if spec is None or spec.origin is None:
        return None
    return str(Path(spec.origin).parent / "vec0")


def open_database(address: str) -> Database:
    """Open the file; see `database.open_database`."""
    path = Path(address.removeprefix("sqlite:///")).expanduser()
    _inspect(path)
    module = driver()
    engine = create_engine(
        "sqlite://", module=module, creator=lambda: module.connect(str(path), timeout=0), poolclass=NullPool
    )

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        _load_extension(connection)
        for pragma in PRAGMAS:
            connection.execute(pragma)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writing = connection.get_execution_options().get("memora_write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    database = Database(str(path), engine, SqliteIndex(), lambda error: _translate(error, path))
    _create(database)
    return database


def _inspect(path: Path) -> None:
    """Refuse what is no file of memora's before anything is written to it."""
    try:
        if path.is_dir():
            raise DatabaseDamaged(f"{path} is a folder, not a memora database: give a file with --db")
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.exists():
            with path.open("rb") as file:
                header = file.read(100)
        else:
            header = b""
    except OSError as error:
        raise DatabaseBusy(f"{path} cannot be opened: {error.strerror or error}") from error
    if not header:
        return
    if not header.startswith(b"SQLite format 3\0") or len(header) < 100:
        raise DatabaseDamaged(f"{path} is no memora database; it was left as it is: give another file with --db")
    version, application = int.from_bytes(header[60:64], "big"), int.from_bytes(header[68:72], "big")
    if application not in (0, APPLICATION_ID):
        raise DatabaseDamaged(
            f"{path} is another program's database; it was left as it is: give another file with --db"
        )
    if application == APPLICATION_ID and version > schema.VERSION:
        raise DatabaseDamaged(
            f"{path} has schema version {version} and this memora knows {schema.VERSION}; it was left as it is: "
            "upgrade memora-cli"
        )


def _load_extension(connection: Any) -> None:
    """Load vec0 where the driver can, then switch extension loading off again; without it vectors are scanned."""
    extension = vector_extension()
    if extension is None or not hasattr(connection, "enable_load_extension"):
        return
    connection.enable_load_extension(True)
    try:
        connection.load_extension(extension)
    except Exception as error:
        if not isinstance(error, (sqlite3.Error, driver().Error)):
            raise
    finally:
        connection.enable_load_extension(False)


def _create(database: Database) -> None:
    """Make the tables on an empty file; whoever comes second finds them made."""
    with database.read() as connection:
        if connection.exec_driver_sql("PRAGMA user_version").scalar_one() == schema.VERSION:
            return
    with database.write() as connection:
        version = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
        if version == schema.VERSION:
            return
        if connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar_one():
            raise DatabaseDamaged(
                f"{database.address} is no memora database; it was left as it is: give another file with --db"
            )
        schema.metadata.create_all(connection)
        database.index.create(connection)
        connection.exec_driver_sql(f"PRAGMA application_id={APPLICATION_ID}")
        connection.exec_driver_sql(f"PRAGMA user_version={schema.VERSION}")
    os.chmod(database.address, 0o600)  # noqa: PTH101  # a path string, and SQLite makes its own files like it


def _translate(error: DBAPIError, path: Path) -> Exception:
    """The error a user can act on that a driver's error means, or the error itself."""
    message = str(error.orig)
    if "locked" in message or "busy" in message:
        return DatabaseBusy(f"{path} is busy: another process held it for {BUSY_MILLISECONDS // 1000} s; try again")
    if "readonly" in message or "read-only" in message:
        return DatabaseBusy(f"{path} is read-only: notes can be searched but not changed")
    if "unable to open" in message:
        return DatabaseBusy(f"{path} cannot be opened: check that the folder exists and may be written to")
    if "full" in message:
        return DatabaseBusy(f"{path} cannot grow, the disk is full: nothing of this change was written")
    if "malformed" in message or "not a database" in message:
        return DatabaseDamaged(f'{path} is damaged ({message}): make a copy, then run "memora doctor"')
    return error


def _vector_table(model: str) -> str:
    """Each model has a table of its own, so that vectors of two models never meet."""
    return "vectors_" + hashlib.sha256(model.encode()).hexdigest()[:12]


class SqliteIndex:
    """FTS5 and sqlite-vec behind the `Index` protocol."""

    keyword = "fts5"
    vectors = "sqlite-vec"

    def create(self, connection: Connection) -> None:
        """Make the FTS5 table and the triggers that keep it."""
        for statement in KEYWORD_INDEX:
            connection.exec_driver_sql(statement)

    def frequency(self, connection: Connection, word: str, cap: int) -> int:
        """How many notes hold the word, counted up to `cap`; 0 without an index."""
        try:
            return int(
                connection.execute(
                    text(
                        "SELECT count(*) FROM (SELECT 1 FROM keywords_fts WHERE keywords_fts MATCH :match LIMIT :cap)"
                    ),
                    {"match": _quoted([word]), "cap": cap},
                ).scalar_one()
            )
        except OperationalError:
            return 0

    def match(
        self, connection: Connection, words: Sequence[str], where: ColumnElement[bool], limit: int
    ) -> list[tuple[int, float]]:
        """By bm25, negated so that higher is better."""
        index = table("keywords_fts", column("rowid"))
        notes = schema.notes
        score: ColumnElement[float] = literal_column("bm25(keywords_fts, 10.0, 5.0, 1.0)")
        statement = (
            select(notes.c.id, score.label("score"))
            .select_from(index.join(notes, notes.c.id == index.c.rowid))
            .where(text("keywords_fts MATCH :match"), where)
            .order_by(score, notes.c.created_at.desc(), notes.c.id)
            .limit(limit)
        )
        try:
            rows = connection.execute(statement, {"match": _quoted(words)}).all()
        except DBAPIError as error:
            raise IndexUnavailable(f"the keyword index cannot be read ({error.orig})") from error
        return [(row.id, -row.score) for row in rows]

    def index_vectors(
        self, connection: Connection, model: str, rows: Sequence[tuple[int, bytes]], dimension: int
    ) -> None:
        """Add to the vec0 table; without the extension the vectors are only stored, and scanned."""
        name = _vector_table(model)
        try:
            connection.exec_driver_sql(
                f"CREATE VIRTUAL TABLE IF NOT EXISTS {name} USING vec0("
                f"passage_id INTEGER PRIMARY KEY, embedding float[{dimension}] distance_metric=cosine)"
            )
            connection.exec_driver_sql(f"INSERT INTO {name}(passage_id, embedding) VALUES (?, ?)", list(rows))
        except OperationalError as error:
            if "no such module" not in str(error.orig):
                raise

    def nearest(
        self,
        connection: Connection,
        model: str,
        vector: NDArray[numpy.float32],
        where: ColumnElement[bool] | None,
        limit: int,
    ) -> list[tuple[int, int, float]]:
        """By vec0; cosine is 1 − its distance."""
        index = table(_vector_table(model), column("passage_id"), column("distance"))
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
            rows = connection.execute(statement, {"vector": vector.tobytes(), "k": min(limit, NEAREST_CAP)}).all()
        except DBAPIError as error:
            raise IndexUnavailable(f"the vector index cannot be read ({error.orig})") from error
        found = {row.passage_id: 1.0 - row.distance for row in rows}
        held = connection.execute(select(passages.c.id, passages.c.note_id).where(passages.c.id.in_(found)))
        owners = {row.id: row.note_id for row in held}
        return [(passage, owners[passage], cosine) for passage, cosine in found.items() if passage in owners]


def _quoted(words: Sequence[str]) -> str:
    """An FTS5 expression that matches any of the words, whatever they hold."""
    return " OR ".join('"' + word.replace("\0", " ").replace('"', '""') + '"' for word in words)
