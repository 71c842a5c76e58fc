"""Reads what a damaged SQLite file still holds, past its indexes, into a new file without what hangs loose."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table

from memora_cli.errors import DatabaseBusy, DatabaseDamaged
from memora_cli.store import schema, sqlite_file

CHUNK = 1000  # rows that are copied at once
DERIVED = ("keywords", "passages", "vectors")
"""Tables that can be made anew from the notes: what cannot be read of them is left."""

LOOSE = {
    "passages without a note": ("passages", "note_id", "notes", "id"),
    "topics without a note": ("topics", "note_id", "notes", "id"),
    "mentions without a note": ("mentions", "note_id", "notes", "id"),
    "mentions without their name": ("mentions", "entity_id", "entities", "id"),
    "aliases without their name": ("aliases", "entity_id", "entities", "id"),
    "times without a note": ("mentioned_times", "note_id", "notes", "id"),
    "expected links without a note": ("pending_links", "note_id", "notes", "id"),
    "links without their source": ("links", "source_id", "notes", "id"),
    "links without their target": ("links", "target_id", "notes", "id"),
    "supersessions without their old note": ("supersessions", "old_id", "notes", "id"),
    "supersessions without their new note": ("supersessions", "new_id", "notes", "id"),
    "vectors without a passage": ("vectors", "passage_id", "passages", "id"),
}
"""What is deleted: the rows of a table whose column names no row of the other. Passages come before their vectors."""

NUMBERED = {"note": ("notes", "id"), "passage": ("passages", "id"), "change": ("changes", "id")}
"""The counters, and the column whose greatest number each must have reached."""


def replace(path: Path, write: Callable[[Any], Path]) -> None:
    """Put in the place of a file the one that `write` makes of it.

    `write` reads through the connection that it is given, and no other may write meanwhile. Programs that have the file
    open see the new content. Raises `DatabaseBusy` and `DatabaseDamaged`.
    """
    try:
        with closing(sqlite_file.connect(path)) as held:
            while True:
                held.execute("BEGIN IMMEDIATE")
                draft = write(held)
                before = held.execute("PRAGMA data_version").fetchone()[0]
                held.execute("ROLLBACK")
                if held.execute("PRAGMA data_version").fetchone()[0] == before:  # nobody has written since
                    break
            with closing(sqlite_file.connect(draft)) as origin:
                origin.backup(held)
            held.execute("PRAGMA journal_mode=WAL")
        path.chmod(0o600)
    except sqlite_file.errors() as error:
        raise sqlite_file.translated(error, path) from error


def keep(path: Path, kept: Path) -> None:
    """Copy the file byte by byte, with its log, whatever is wrong in it; only its owner may read the copies."""
    try:
        for suffix in ("", "-wal"):
            source, target = path.with_name(path.name + suffix), kept.with_name(kept.name + suffix)
            if source.exists():
                target.touch(mode=0o600, exist_ok=False)
                shutil.copyfile(source, target)
    except OSError as error:
        raise DatabaseBusy(f"{kept} cannot be written ({error.strerror or error}); nothing was changed") from error


def read_into(connection: Connection, source: Any) -> list[str]:
    """Copy every row that can be read; what could not. Raises `DatabaseDamaged` where that is not from the notes."""
    lost = []
    for table in schema.metadata.sorted_tables:
        if table.name == "keywords":
            continue
        try:
            for rows in _rows(source, table):
                _insert(connection, table, rows)
        except sqlite_file.errors() as error:
            if table.name not in DERIVED:
                raise DatabaseDamaged(
                    f"{table.name} cannot be read to the end ({error}), and cannot be made from anything else; nothing "
                    "was changed: memora restore-backup FILE brings a sound copy back"
                ) from error
            lost.append(f"some {table.name} could not be read")
    return lost


def _rows(source: Any, table: Table) -> Iterator[list[tuple[Any, ...]]]:
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    found = source.execute(f"SELECT {names} FROM {table.name} NOT INDEXED")
    while rows := found.fetchmany(CHUNK):
        yield rows


def _insert(connection: Connection, table: Table, rows: list[tuple[Any, ...]]) -> None:
    """Rows as the driver gave them, so that no value is read and written in another form."""
    marks = ", ".join("?" for _ in table.columns)
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    action = "OR IGNORE" if table.name in DERIVED else ""
    connection.exec_driver_sql(f"INSERT {action} INTO {table.name} ({names}) VALUES ({marks})", rows)


def drop_loose(connection: Connection) -> list[str]:
    """Delete the rows whose other half is missing; how many of each kind."""
    dropped = []
    for what, (table, key, other, other_key) in LOOSE.items():
        count = connection.exec_driver_sql(
            f"DELETE FROM {table} WHERE NOT EXISTS (SELECT 1 FROM {other} "
            f"WHERE {other}.space = {table}.space AND {other}.{other_key} = {table}.{key})"
        ).rowcount
        if count:
            dropped.append(f"{count} {what} removed")
    return dropped


def settle_counters(connection: Connection) -> None:
    """Let every counter have reached the greatest number that was given out, and no mark of an index stay."""
    connection.exec_driver_sql("DELETE FROM counters WHERE name LIKE 'unindexed %'")
    for name, (table, key) in NUMBERED.items():
        connection.exec_driver_sql(
            f"INSERT INTO counters (space, name, value) SELECT '', ?, max({key}) FROM {table} HAVING max({key}) > 0 "
            "ON CONFLICT DO UPDATE SET value = max(value, excluded.value)",
            (name,),
        )
