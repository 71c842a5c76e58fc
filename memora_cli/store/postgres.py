"""PostgreSQL: the address, whose database it is, what a transaction begins with, and what its errors mean."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, insert, make_url, select, update
from sqlalchemy.exc import ArgumentError, DBAPIError

from memora_cli.config import masked
from memora_cli.errors import DatabaseBusy, DatabaseDamaged, MemoraError, Usage
from memora_cli.store import engines, postgres_vectors, schema
from memora_cli.store.database import Database
from memora_cli.store.migrations import migrate
from memora_cli.store.postgres_index import PostgresIndex

BUSY_SECONDS = 30
CONNECT_SECONDS = 10
CREATION_LOCK = 0x6D656D6F  # held while the tables are made; "memo"
WRITING_LOCK = 0x6D656D77  # held by the one who writes; "memw"
SCHEMA_VERSION = "schema version"  # the counter that tells it

# `SET LOCAL`, never a session's setting: a connection may be a pooler's, or one of several that Citus opens.
READING = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY; SET LOCAL jit = off"
# Writers come one after another, as on SQLite, in the order in which they asked, which a row's lock would not keep;
# each statement after the lock sees all that was written before.
WRITING = (
    f"SET LOCAL lock_timeout = '{BUSY_SECONDS}s'; SET LOCAL jit = off; SELECT pg_advisory_xact_lock({WRITING_LOCK})"
)


@dataclass(frozen=True, slots=True)
class PostgresDatabase(Database):
    """A database on a server, which several people may use at once."""

    @property
    def driver(self) -> str:
        """The driver, the server and its vector extension."""
        import psycopg

        with self.read() as connection:
            server = connection.exec_driver_sql("SHOW server_version").scalar_one()
            vector = postgres_vectors.version(connection)
        return f"psycopg {psycopg.__version__}, PostgreSQL {server}" + (f", pgvector {vector}" if vector else "")

    def size(self) -> int:
        """Bytes of the tables and their indexes."""
        names = [*schema.metadata.tables, postgres_vectors.TABLE]
        with self.read() as connection:
            rows = connection.exec_driver_sql(
                "SELECT coalesce(sum(pg_total_relation_size(to_regclass(name))), 0) FROM unnest(%s::text[]) AS name",
                (names,),
            )
            return int(rows.scalar_one())

    def copies(self) -> list[Path]:
        """None that memora made."""
        return []

    def scrub(self) -> str:
        """Let the server clear the rows away; it keeps more copies of them than memora can reach."""
        try:
            connection = self.engine.raw_connection()
            try:
                connection.rollback()
                connection.driver_connection.autocommit = True  # type: ignore[union-attr]  # psycopg's
                connection.cursor().execute("VACUUM " + ", ".join(schema.metadata.tables))
            finally:
                connection.invalidate()
        except self.engine.dialect.loaded_dbapi.Error as error:
            return f"the server could not clear the rows away ({_said(error)}); its owner runs VACUUM"
        return (
            "no search or export finds them; the server's own log, its replicas and its backups hold them until they "
            "are replaced"
        )


def open_database(address: str) -> PostgresDatabase:
    """Open a database on a server, making its tables when there are none; see `database.open_database`."""
    said = masked(address)
    # Who is asking is in the environment too: libpq reads it, and the home folder, when it connects.
    given = sorted((name, value) for name, value in os.environ.items() if name.startswith("PG") or name == "HOME")
    engine = engines.obtain((address, *given), lambda: _engine(_url(address)))
    index = PostgresIndex()
    database = PostgresDatabase(said, engine, index, lambda error: _translate(error, said))
    try:
        _create(engine, index, said)
    except DBAPIError as error:
        raise database.translate(error) from error
    return database


def _engine(url: URL) -> Engine:
    options: dict[str, Any] = {"fallback_application_name": "memora", "client_encoding": "utf8"}
    if "connect_timeout" not in url.query:
        options["connect_timeout"] = CONNECT_SECONDS
    # Never prepared on the server: a generic plan takes no vector index, and a pooler may hand out another connection.
    options["prepare_threshold"] = None
    engine = create_engine(url, connect_args=options, pool_pre_ping=True, hide_parameters=True)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writing = connection.get_execution_options().get("memora_write")
        if writing is not None:
            seen = connection.info.get(postgres_vectors.SEEN)
            connection.exec_driver_sql(WRITING if writing else READING + (postgres_vectors.LATER if seen else ""))

    return engine


def _url(address: str) -> URL:
    """The address for SQLAlchemy. Raises `Usage`."""
    if find_spec("psycopg") is None or find_spec("pgvector") is None:
        raise Usage('PostgreSQL needs its driver: pip install "memora-cli[postgres]"')
    try:
        return make_url(address).set(drivername="postgresql+psycopg")
    except (ArgumentError, ValueError):
        raise Usage(
            f"{masked(address)} is no address: it has the form postgresql+psycopg://USER@HOST:PORT/NAME"
        ) from None


def _version(connection: Connection, address: str) -> int | None:
    """The schema version, None where there are no tables. Refuses what is none of memora's, and what is newer."""
    # From a table, as the server looks at what others made since this transaction began when it opens one.
    there = connection.exec_driver_sql(
        "SELECT to_regclass('counters'), to_regclass('notes') FROM pg_class WHERE oid = 'pg_class'::regclass"
    ).one()
    if there == (None, None):
        return None
    counters = schema.counters
    asked = select(counters.c.value).where(counters.c.space == "", counters.c.name == SCHEMA_VERSION)
    version = connection.execute(asked).scalar() if None not in there else None
    if version is None:
        raise DatabaseDamaged(
            f"{address} holds another program's tables; they were left as they are: give another database with --db"
        )
    if version > schema.VERSION:
        raise DatabaseDamaged(
            f"{address} has schema version {version} and this memora knows {schema.VERSION}; it was left as it is: "
            "upgrade memora-cli"
        )
    return int(version)


def _create(engine: Engine, index: PostgresIndex, address: str) -> None:
    """Make the tables in an empty database, or bring older ones up to date; whoever comes second finds it done."""
    with engine.connect() as connection:
        version = _version(connection, address)
    if version == schema.VERSION:
        return
    try:
        with engine.begin() as connection:
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({CREATION_LOCK})")
            version = _version(connection, address)
            if version is None:
                encoding = connection.exec_driver_sql("SHOW server_encoding").scalar_one()
                if encoding != "UTF8":
                    raise DatabaseDamaged(f"{address} has the encoding {encoding}: make a database with UTF8")
                schema.metadata.create_all(connection)
                index.create(connection)
                row = {"space": "", "name": SCHEMA_VERSION, "value": schema.VERSION}
                connection.execute(insert(schema.counters).values(row))
            elif version < schema.VERSION:
                migrate(connection, version)
                here = (schema.counters.c.space == "") & (schema.counters.c.name == SCHEMA_VERSION)
                connection.execute(update(schema.counters).where(here).values(value=schema.VERSION))
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) in ("42501", "25006"):
            state = "has no tables of memora's" if version is None else f"has the older schema version {version}"
            raise DatabaseBusy(
                f"{address} {state}, and may not be changed ({_said(error.orig)}): its owner opens it once, "
                "with memora stats"
            ) from error
        raise


def _translate(error: DBAPIError, address: str) -> Exception:
    """The error a user can act on that the server's error means, or the error itself."""
    said, state = _said(error.orig), getattr(error.orig, "sqlstate", None) or ""
    meanings: tuple[tuple[tuple[str, ...], Callable[[], Exception]], ...] = (
        (("55P03", "40001", "40P01"), lambda: DatabaseBusy(f"{address} is busy: others write to it; try again")),
        (
            ("25006",),
            lambda: DatabaseBusy(f"{address} is read-only, as a replica is: notes can be searched but not changed"),
        ),
        (("42501",), lambda: DatabaseBusy(f"{address}: your role may not do this ({said})")),
        (
            ("53",),
            lambda: DatabaseBusy(f"{address} has no room or too many users ({said}): nothing of this was written"),
        ),
        (("42P01", "42703", "3F000"), lambda: DatabaseDamaged(f"{address} lacks a part ({said})")),
        (("XX001", "XX002"), lambda: DatabaseDamaged(f"{address} is damaged ({said})")),
        (("54000",), lambda: _too_long(address)),
        (("28", "3D000"), lambda: DatabaseBusy(f"{address} does not let you in ({said})")),
    )
    for states, translated in meanings:
        if state.startswith(states):
            return translated()
    if _unreached(error):
        return DatabaseBusy(f"{address} cannot be reached ({said})")
    if error.connection_invalidated or state.startswith(("08", "57P")):
        return DatabaseBusy(f"{address}: the connection was lost ({said}); nothing of this change was written")
    return error


def _too_long(address: str) -> MemoraError:
    return Usage(
        f"{address}: a name in it is longer than an index of PostgreSQL takes, 2,704 bytes; nothing was written"
    )


def _unreached(error: DBAPIError) -> bool:
    """Whether no connection came about: the driver then tells no state, and no statement was sent."""
    return error.statement is None and not getattr(error.orig, "sqlstate", None)


def _said(error: BaseException | None) -> str:
    """What the driver says, on one line: of several attempts to connect the last."""
    lines = [line.strip(" -\t") for line in str(error).splitlines()]
    lines = [line for line in lines if line and not line.startswith(("LINE ", "^", "DETAIL", "Multiple connection"))]
    if not lines:
        return type(error).__name__
    fatal = [line for line in lines if "FATAL" in line or "failed" in line]
    return (fatal or lines)[-1 if fatal else 0].removeprefix("connection failed: ")
