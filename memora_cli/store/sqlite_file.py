"""A SQLite file as a whole: copied while it is in use, checked, and overwritten in one step."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from memora_cli.errors import DatabaseBusy, DatabaseDamaged
from memora_cli.store.sqlite import APPLICATION_ID, BUSY_MILLISECONDS, driver

MOST_PROBLEMS = 5  # of a damaged file that are told


def copy(source: Path, target: Path) -> None:
    """A copy of the file as it is at one moment, whoever writes to it; only its owner may read it.

    The copy takes its place when it is whole, or not at all. Raises `DatabaseBusy`, and `DatabaseDamaged` for a file
    that cannot be copied.
    """
    draft = target.with_name(f".{target.name[:80]}.{os.getpid()}.part")
    try:
        remove(draft)
        draft.touch(mode=0o600)  # SQLite fills an empty file, and keeps its mode
        with closing(connect(source)) as connection:
            connection.execute("VACUUM INTO ?", (str(draft),))
        check(draft)
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        draft.replace(target)
    except errors() as error:
        raise translated(error, source) from error
    except OSError as error:
        raise DatabaseBusy(f"{target} cannot be written: {error.strerror or error}") from error
    finally:
        remove(draft)


def check(path: Path) -> None:
    """Read the whole file. Raises `DatabaseDamaged` for what is broken in it."""
    try:
        with closing(connect(path)) as connection:
            found = problems(connection)
    except errors() as error:
        raise DatabaseDamaged(f"{path} cannot be read ({error})") from error
    if found:
        raise DatabaseDamaged(f"{path} is damaged: {'; '.join(found)}")


def problems(connection: Any) -> list[str]:
    """What SQLite finds broken in the file of a driver's connection, and in its keyword index."""
    rows = connection.execute(f"PRAGMA integrity_check({MOST_PROBLEMS})").fetchall()
    found = [str(row[0]) for row in rows if row[0] != "ok"]
    if found:
        return found
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'keywords_fts'").fetchone():
        try:  # "ok" above also of an index that has drifted from its table
            connection.execute("INSERT INTO keywords_fts(keywords_fts, rank) VALUES('integrity-check', 1)")
        except errors() as error:
            if "no such module" not in str(error):
                found.append(f"the keyword index differs from the notes ({error})")
    return found


def version(path: Path) -> int:
    """The schema version of a memora database. Raises `DatabaseDamaged` for a file that is none."""
    try:
        with closing(connect(path)) as connection:
            application = connection.execute("PRAGMA application_id").fetchone()[0]
            number = connection.execute("PRAGMA user_version").fetchone()[0]
    except errors() as error:
        raise DatabaseDamaged(f"{path} is no database that can be read ({error})") from error
    if application != APPLICATION_ID:
        raise DatabaseDamaged(f"{path} is no memora database")
    return int(number)


def overwrite(target: Path, source: Path, kept: Path) -> None:
    """Put the content of one file into the other in one transaction, after a copy of what was there, which is kept.

    Programs that have the target open see the new content. Raises `DatabaseBusy`.
    """
    try:
        with closing(connect(source)) as origin, closing(connect(target, create=True)) as connection:
            if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                while True:  # until nobody has written between the copy and now
                    before = connection.execute("PRAGMA data_version").fetchone()[0]
                    copy(target, kept)
                    if connection.execute("PRAGMA data_version").fetchone()[0] == before:
                        break
            origin.backup(connection)
            connection.execute("PRAGMA journal_mode=WAL")
        target.chmod(0o600)
    except errors() as error:
        raise translated(error, target) from error


def beside(path: Path, deed: str, at: datetime) -> Path:
    """A free name for the file as it was before a deed."""
    name = f"{path.name}.before-{deed}-{at:%Y%m%dT%H%M%S}"
    names = (path.with_name(name + suffix) for suffix in ("", *(f".{number}" for number in range(1, 1000))))
    return next(one for one in names if not one.exists())


def remove(path: Path) -> None:
    """Delete a file that was not finished, and what SQLite left beside it; nothing is said when that fails."""
    for suffix in ("", "-journal", "-wal", "-shm"):
        with suppress(OSError):
            path.with_name(path.name + suffix).unlink()


def set_aside(path: Path, kept: Path) -> None:
    """Move a file that cannot be read, and what SQLite left beside it, out of the way."""
    for suffix in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).replace(kept.with_name(kept.name + suffix))


def connect(path: Path, *, create: bool = False) -> Any:
    """The file through the driver, in autocommit mode; read-only where it may not be written."""
    mode = "rwc" if create else "rw" if os.access(path, os.W_OK) else "ro"
    connection = driver().connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None)
    connection.execute(f"PRAGMA busy_timeout={BUSY_MILLISECONDS}")
    return connection


def errors() -> tuple[type[Exception], ...]:
    """What the driver raises."""
    return (driver().Error, sqlite3.Error)


def translated(error: Exception, path: Path) -> Exception:
    """The error a user can act on that a driver's error about a whole file means."""
    if any(word in str(error) for word in ("locked", "busy", "full", "readonly", "read-only", "unable to open")):
        return DatabaseBusy(f"{path} cannot be copied or written ({error}); nothing was changed")
    return DatabaseDamaged(f"{path} cannot be copied ({error}): memora doctor tells more")
