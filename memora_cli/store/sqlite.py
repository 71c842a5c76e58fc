"""SQLite: the file, whose it is, its pragmas, and what its errors mean."""

from __future__ import annotations

import errno
import glob
import importlib.util
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any
from urllib.parse import quote

from sqlalchemy import (
    Connection,
    Engine,
    create_engine,
    event,
)
from sqlalchemy.exc import DBAPIError, DisconnectionError
from sqlalchemy.pool import NullPool, QueuePool

from memora_cli.errors import DatabaseBusy, DatabaseDamaged, Usage
from memora_cli.store import engines, remembered, schema, sqlite_plans
from memora_cli.store.database import Database
from memora_cli.store.migrations import backup, migrate
from memora_cli.store.sqlite_index import SqliteIndex
from memora_cli.store.turns import Turn

APPLICATION_ID = 0x6D656D6F  # "memo", so that `file` and memora itself know the file
BUSY_MILLISECONDS = 30_000
HEADER = 100  # bytes that every database file has

PRAGMAS = (
    f"PRAGMA busy_timeout={BUSY_MILLISECONDS}",
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA foreign_keys=ON",
    "PRAGMA recursive_triggers=ON",
    "PRAGMA secure_delete=ON",
    "PRAGMA trusted_schema=OFF",
    "PRAGMA cell_size_check=ON",
    "PRAGMA cache_size=-32768",  # kibibytes
)


KEPT = MappingProxyType({"poolclass": QueuePool, "pool_size": 1, "max_overflow": -1})


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


@dataclass(frozen=True, slots=True)
class SqliteDatabase(Database):
    """A database in a file; its address is the file's path."""

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One write transaction, when its turn has come."""
        turn = Turn(Path(self.address).parent, BUSY_MILLISECONDS / 1000)
        try:
            with Database.write(self) as connection:
                yield connection
        finally:
            turn.end()

    @property
    def driver(self) -> str:
        """The module, and the version of its SQLite."""
        module = driver()
        return f"{module.__name__} {module.sqlite_version}"

    def size(self) -> int:
        """Bytes of the file and of what SQLite keeps beside it."""
        return sum(
            file.stat().st_size for suffix in ("", "-wal", "-shm") if (file := Path(self.address + suffix)).exists()
        )

    def copies(self) -> list[Path]:
        """The backups that upgrades left beside the file."""
        path = Path(self.address)
        return sorted(path.parent.glob(f"{glob.escape(path.name)}.schema-*"))

    def damage(self) -> str:
        """What SQLite's own check finds first, an index that differs from its table included."""
        try:
            with closing(self.engine.raw_connection()) as connection:
                found = str(connection.cursor().execute("PRAGMA integrity_check(1)").fetchone()[0])
        except driver().Error as error:
            return str(error)
        return "" if found == "ok" else found

    def scrub(self) -> str:
        """Write the file anew without holes, then empty the log: both may still hold deleted text."""
        connection = self.engine.raw_connection()
        try:
            connection.execute("VACUUM")
            busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        finally:
            connection.close()
        if not busy:
            return ""
        return "another process reads the database, so its log may hold them until it ends; purge again then"


def open_database(address: str) -> Database:
    """Open the file; see `database.open_database`."""
    path = path_of(address)
    readable_only = _inspect(path)
    key = None if readable_only else path.absolute()
    engine = engines.obtain(key, lambda: _engine(path, readable_only))
    database = SqliteDatabase(str(path), engine, SqliteIndex(), lambda error: _translate(error, path))
    if not readable_only:
        _create(database, path)
    return database


def _engine(path: Path, readable_only: bool) -> Engine:
    module = driver()
    # One connection stays open, with the pages it has read; others come and go. What may only be read may be replaced.
    kept: Mapping[str, Any] = {"poolclass": NullPool} if readable_only else KEPT
    engine = create_engine("sqlite://", module=module, creator=lambda: _connect(module, path, readable_only), **kept)

    @event.listens_for(engine, "connect")
    def configure(connection: Any, record: Any) -> None:
        record.info["file"] = _identity(path)
        connection.isolation_level = None
        load_extension(connection)
        for pragma in PRAGMAS:
            if not (readable_only and "journal_mode" in pragma):
                connection.execute(pragma)

    @event.listens_for(engine, "checkout")
    def check(_connection: Any, record: Any, _proxy: Any) -> None:
        if record.info["file"] != _identity(path):
            raise DisconnectionError("another file has taken its place")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        if connection.get_execution_options().get("memora_write", False):
            remembered.forget(connection)
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            connection.exec_driver_sql("BEGIN")
            remembered.begin(connection)

    return engine


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file the path leads to; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def path_of(address: str) -> Path:
    """The file of a path or a sqlite:/// URL. Raises `Usage`."""
    if address.startswith("sqlite:") and not address.startswith("sqlite:///"):
        raise Usage(f"{address} names no file: give a path, or sqlite:///PATH")
    try:
        return Path(address.removeprefix("sqlite:///")).expanduser()
    except RuntimeError as error:
        raise Usage(f"{address} cannot be found: {error}") from error


def _connect(module: ModuleType, path: Path, readable_only: bool) -> Any:
    """A connection; to what may not be written one that takes no lock, unless a writer left a log beside it."""
    if not readable_only:
        return module.connect(str(path), timeout=0, check_same_thread=False)
    mode = "mode=ro" if path.with_name(path.name + "-wal").exists() else "mode=ro&immutable=1"
    return module.connect(f"file:{quote(str(path.absolute()))}?{mode}", timeout=0, uri=True, check_same_thread=False)


def _inspect(path: Path) -> bool:
    """Whether the file may only be read. Refuses what is no file of memora's before anything is written to it."""
    try:
        if path.is_dir():
            raise DatabaseDamaged(f"{path} is a folder, not a memora database: give a file with --db")
        if path.exists() and not path.is_file():
            raise DatabaseDamaged(f"{path} is no file: give a file with --db")
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        size = path.stat().st_size if path.exists() else 0
    except OSError as error:
        raise DatabaseBusy(f"{path} cannot be opened: {error.strerror or error}") from error
    if size == 0:
        return False
    if not os.access(path, os.R_OK):
        raise DatabaseBusy(f"{path} cannot be opened: {os.strerror(errno.EACCES)}")
    if size < HEADER:
        raise DatabaseDamaged(f"{path} is no memora database; it was left as it is: give another file with --db")
    application, version = _header(path)
    if application == 0:
        # A database that is just being made has its schema in the log yet, so the file alone does not tell.
        application, version = _look_inside(path)
    if application != APPLICATION_ID:
        raise DatabaseDamaged(
            f"{path} is another program's database; it was left as it is: give another file with --db"
        )
    if version > schema.VERSION:
        raise DatabaseDamaged(
            f"{path} has schema version {version} and this memora knows {schema.VERSION}; it was left as it is: "
            "upgrade memora-cli"
        )
    readable_only = not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))
    if readable_only and 0 < version < schema.VERSION:
        raise DatabaseBusy(
            f"{path} has the older schema version {version} and is read-only: open it once where it may be written, "
            "so that it is brought up to date"
        )
    return readable_only


def _header(path: Path) -> tuple[int, int]:
    """Application id and schema version that the file itself holds, read without a lock and without its log.

    Through SQLite: had this process opened and closed the file, it would lose the locks of its other connections.
    """
    module = driver()
    try:
        with closing(module.connect(f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1", uri=True)) as connection:
            return (
                int(connection.execute("PRAGMA application_id").fetchone()[0]),
                int(connection.execute("PRAGMA user_version").fetchone()[0]),
            )
    except module.DatabaseError:  # no database, or one that grows just now: read with a lock it tells
        return 0, 0


def _look_inside(path: Path) -> tuple[int, int]:
    """Application id and schema version, read through a connection that cannot write; an empty database is ours."""
    module = driver()
    try:
        with closing(module.connect(f"file:{quote(str(path.absolute()))}?mode=ro", timeout=0, uri=True)) as connection:
            connection.execute(f"PRAGMA busy_timeout={BUSY_MILLISECONDS}")
            application = int(connection.execute("PRAGMA application_id").fetchone()[0])
            version = int(connection.execute("PRAGMA user_version").fetchone()[0])
            tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    except (module.Error, sqlite3.Error) as error:
        raise DatabaseDamaged(
            f"{path} is no memora database, or is damaged ({error}); it was left as it is: give another file with --db"
        ) from error
    return (APPLICATION_ID, 0) if not (application or version or tables) else (application, version)


def load_extension(connection: Any) -> None:
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


def _create(database: Database, path: Path) -> None:
    """Make the tables on an empty file, or bring older ones up to date; whoever comes second finds it done."""
    with database.read() as connection:
        if connection.exec_driver_sql("PRAGMA user_version").scalar_one() == schema.VERSION:
            return
    with database.write() as connection:
        version = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
        if version >= schema.VERSION:
            return
        if version:
            backup(driver(), path, version)
            migrate(connection, version)
            sqlite_plans.state(connection)
            connection.exec_driver_sql(f"PRAGMA user_version={schema.VERSION}")
            return
        if connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar_one():
            raise DatabaseDamaged(
                f"{database.address} is no memora database; it was left as it is: give another file with --db"
            )
        schema.metadata.create_all(connection)
        database.index.create(connection)
        sqlite_plans.state(connection)
        connection.exec_driver_sql(f"PRAGMA application_id={APPLICATION_ID}")
        connection.exec_driver_sql(f"PRAGMA user_version={schema.VERSION}")
    os.chmod(database.address, 0o600)  # noqa: PTH101  # a path string, and SQLite makes its own files like it


def _translate(error: DBAPIError, path: Path) -> Exception:
    """The error a user can act on that a driver's error means, or the error itself."""
    message = str(error.orig)

    def says(*words: str) -> bool:
        return any(word in message for word in words)

    if says("locked", "busy"):
        return DatabaseBusy(f"{path} is busy: another process held it for {BUSY_MILLISECONDS // 1000} s; try again")
    if says("readonly", "read-only"):
        return DatabaseBusy(f"{path} is read-only: notes can be searched but not changed")
    if says("unable to open", "I/O error"):
        return DatabaseBusy(f"{path} cannot be used ({message}): check the disk, and that the folder may be written to")
    if says("is full"):
        return DatabaseBusy(f"{path} cannot grow, the disk is full: nothing of this change was written")
    if says("no such table", "no such column"):
        return DatabaseDamaged(f"{path} lacks a part ({message}): memora reindex makes indexes anew")
    if says("malformed", "not a database", "corrupt", "Could not decode"):
        return DatabaseDamaged(f"{path} is damaged ({message}): make a copy of it before anything else")
    return error
