"""Brings the tables of an older schema up to date, of a file after a backup of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from types import MappingProxyType, ModuleType

from sqlalchemy import Connection

from memora_cli.errors import DatabaseBusy

POSTGRESQL: Mapping[str, str] = MappingProxyType(
    {"DATETIME": "TIMESTAMP", "INTEGER": "BIGINT", "TEXT": 'TEXT COLLATE "C"'}
)
"""What PostgreSQL calls the types that the steps name as SQLite does."""


def migrate(connection: Connection, version: int) -> None:
    """Take the tables from that schema version to the newest, step by step, in the caller's transaction."""
    for number in sorted(MIGRATIONS):
        if number > version:
            MIGRATIONS[number](connection)


def backup(driver: ModuleType, path: Path, version: int) -> Path:
    """A consistent copy of the file beside it, readable for its owner only, whose name tells its schema version.

    It is read by a connection of its own, so that the caller may hold the write lock meanwhile: nothing is written in
    between. Raises `DatabaseBusy` where it cannot be made.
    """
    names = (
        path.with_name(f"{path.name}.schema-{version}{suffix}") for suffix in ("", *(f".{n}" for n in range(1, 100)))
    )
    target = next((name for name in names if not name.exists()), path.with_name(f"{path.name}.backup"))
    try:
        target.touch(mode=0o600, exist_ok=False)  # SQLite fills an empty file, and keeps its mode
        with closing(driver.connect(str(path))) as connection:
            connection.execute("VACUUM INTO ?", (str(target),))
    except FileExistsError as error:
        raise DatabaseBusy(
            f"{target} is in the way of a backup: move the old backups away; nothing was changed"
        ) from error
    except (OSError, driver.Error) as error:
        for suffix in ("", "-journal"):
            path.with_name(target.name + suffix).unlink(missing_ok=True)
        raise DatabaseBusy(
            f"{path} has the older schema version {version}, and the backup that comes before an upgrade could not be "
            f"made ({error}): nothing was changed"
        ) from error
    return target


def _keep_changes(connection: Connection) -> None:
    """Schema 2: every change is kept, past texts stay searchable, names have aliases."""
    for statement in (
        "ALTER TABLE notes ADD COLUMN number INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE notes ADD COLUMN file_hash TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE notes ADD COLUMN since DATETIME",
        "UPDATE notes SET number = id",
        "CREATE INDEX notes_alive ON notes (space, id, number, deleted_at, since, created_at)",
        "CREATE INDEX notes_number ON notes (space, number, id, deleted_at, since, created_at)",
        "CREATE INDEX notes_deleted ON notes (space, deleted_at)",
        "ALTER TABLE mentions ADD COLUMN said TEXT",
        "ALTER TABLE links ADD COLUMN origin TEXT NOT NULL DEFAULT 'derived'",
        """CREATE TABLE past_supersessions (
             space TEXT NOT NULL, old_id INTEGER NOT NULL, new_id INTEGER NOT NULL, created_at DATETIME NOT NULL,
             ended_at DATETIME NOT NULL, PRIMARY KEY (space, old_id, new_id, created_at))""",
        """CREATE TABLE aliases (
             space TEXT NOT NULL, "key" TEXT NOT NULL, name TEXT NOT NULL, entity_id INTEGER NOT NULL,
             created_at DATETIME NOT NULL, PRIMARY KEY (space, "key"))""",
        "CREATE INDEX aliases_entity ON aliases (space, entity_id)",
        """CREATE TABLE changes (
             space TEXT NOT NULL, id INTEGER NOT NULL, batch INTEGER NOT NULL, note_id INTEGER, other_id INTEGER,
             at DATETIME NOT NULL, action TEXT NOT NULL, "before" TEXT, "after" TEXT, undoes INTEGER,
             PRIMARY KEY (space, id))""",
        "CREATE INDEX changes_note ON changes (space, note_id, id)",
        "CREATE INDEX changes_other ON changes (space, other_id)",
        "CREATE INDEX changes_batch ON changes (space, batch)",
        "CREATE INDEX changes_undoes ON changes (space, undoes)",
        # What is known of the time before: when notes were made and replaced. Batch 0 is not taken back by undo.
        """INSERT INTO changes (space, id, batch, note_id, other_id, at, action)
           SELECT space, row_number() OVER (ORDER BY moment, place, note_id), 0, note_id, other_id, moment, action
           FROM (
             SELECT space, id AS note_id, NULL AS other_id, created_at AS moment, 0 AS place, 'add' AS action FROM notes
             UNION ALL
             SELECT space, old_id, new_id, created_at, 1, 'supersede' FROM supersessions) AS known""",
        """INSERT INTO counters (space, name, value)
           SELECT '', 'change', count(*) FROM changes HAVING count(*) > 0""",
    ):
        if connection.dialect.name == "postgresql":
            for word, theirs in POSTGRESQL.items():
                statement = re.sub(rf"\b{word}\b", theirs, statement)
        connection.exec_driver_sql(statement)


MIGRATIONS: Mapping[int, Callable[[Connection], None]] = MappingProxyType({2: _keep_changes})
"""By the version that each leads to; a step is never changed once it was released."""
