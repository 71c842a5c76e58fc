"""Copies the database while it is in use, and puts a copy in its place."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memora_cli.errors import DatabaseDamaged, Usage
from memora_cli.store import schema, sqlite_file


@dataclass(frozen=True, slots=True)
class Backup:
    """A copy that was made and checked: its file and size in bytes."""

    path: Path
    bytes: int


@dataclass(frozen=True, slots=True)
class Restored:
    """A database that was put in place; `kept` is where the earlier one is, None when there was none."""

    path: Path
    kept: Path | None


def back_up(database: str, target: Path, *, force: bool) -> Backup:
    """A consistent copy of a database, checked from end to end. Raises `Usage` for a file that is there already."""
    if target.is_dir():
        raise Usage(f"{target} is a folder: name a file")
    if _same(Path(database), target):
        raise Usage(f"{target} is the database itself: name another file")
    if target.exists() and not force:
        raise Usage(f"{target} is there already; --force writes over it")
    sqlite_file.copy(Path(database), target)
    return Backup(target, target.stat().st_size)


def examine(source: Path) -> None:
    """Make sure that a file can be restored: a whole memora database that this program knows.

    Raises `Usage` for no file, and `DatabaseDamaged`.
    """
    if not source.is_file():
        raise Usage(f"there is no file {source}: name one that memora backup made")
    number = sqlite_file.version(source)
    if number > schema.VERSION:
        raise DatabaseDamaged(
            f"{source} has schema version {number} and this memora knows {schema.VERSION}; nothing was changed: "
            "upgrade memora-cli"
        )
    sqlite_file.check(source)


def restore(database: Path, source: Path, at: datetime) -> Restored:
    """Put the content of a backup in the place of the database, and keep a copy of what was there beside it.

    Raises what `examine` does, and `DatabaseBusy`; nothing is changed then.
    """
    examine(source)
    if _same(database, source):
        raise Usage(f"{source} is the database itself: name a backup")
    database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    there = database.exists() and database.stat().st_size > 0
    kept = _beside(database, at)
    if there and not _readable(database):
        sqlite_file.set_aside(database, kept)
    sqlite_file.overwrite(database, source, kept)
    return Restored(database, kept if there else None)


def _readable(database: Path) -> bool:
    try:
        sqlite_file.check(database)
    except DatabaseDamaged:
        return False
    return True


def _beside(database: Path, at: datetime) -> Path:
    name = f"{database.name}.before-restore-{at:%Y%m%dT%H%M%S}"
    names = (database.with_name(name + suffix) for suffix in ("", *(f".{number}" for number in range(1, 1000))))
    return next(path for path in names if not path.exists())


def _same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)
