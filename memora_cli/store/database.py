"""Opens a database, whichever kind its address names, and runs transactions on it."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sqlalchemy import ColumnElement, Connection, Engine
from sqlalchemy.exc import DBAPIError

from memora_cli.errors import Usage

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray


class IndexUnavailable(Exception):  # a state that a search survives, not a failure
    """An index cannot be read; the message says why."""


class Index(Protocol):
    """What differs between databases: how words and vectors are indexed and looked up.

    `where` is a condition over `schema.notes` that names the space. Lookups raise `IndexUnavailable` when the index is
    missing.
    """

    keyword: str
    vectors: str
    most_nearest: int

    def create(self, connection: Connection) -> None:
        """Make the keyword index on a new database, where the driver can."""

    def rebuild(self, connection: Connection, space: str, model: str) -> None:
        """Make the indexes anew from the words and vectors that are stored."""

    def frequency(self, connection: Connection, space: str, word: str, cap: int) -> int:
        """How many notes of the space hold the word, counted up to `cap`; 0 without an index."""

    def match(
        self, connection: Connection, words: Sequence[str], where: ColumnElement[bool], limit: int
    ) -> list[tuple[int, float]]:
        """`(note id, score)` of notes holding any of the words, best first; higher is better."""

    def index_vectors(
        self, connection: Connection, space: str, model: str, rows: Sequence[tuple[int, bytes]], dimension: int
    ) -> None:
        """Add `(passage id, float32 bytes)`, which are stored already, to the index of that space and model."""

    def drop_vectors(self, connection: Connection, space: str, model: str) -> bool:
        """Drop the vector index of that space and model; whether that could be done."""

    def remove_vectors(self, connection: Connection, space: str, models: Sequence[str], ids: Sequence[int]) -> None:
        """Take passages out of the indexes of those models."""

    def scrub(self, engine: Engine) -> bool:
        """Leave no byte in the database of what was deleted; False when others hold on to some of it."""

    def nearest(
        self,
        connection: Connection,
        space: str,
        model: str,
        vector: NDArray[numpy.float32],
        where: ColumnElement[bool] | None,
        limit: int,
    ) -> list[tuple[int, int, float]]:
        """`(passage id, note id, cosine)` of the nearest passages, nearest first; None is all of the space.

        `limit` is at most `most_nearest`.
        """


@dataclass(frozen=True, slots=True)
class Database:
    """An open database: reading and writing are transactions, everything else goes through `index`."""

    address: str
    engine: Engine
    index: Index
    translate: Callable[[DBAPIError], Exception]

    def read(self) -> AbstractContextManager[Connection]:
        """One read snapshot."""
        return self._transaction(write=False)

    def write(self) -> AbstractContextManager[Connection]:
        """One write transaction: all of it is committed, or none."""
        return self._transaction(write=True)

    @contextmanager
    def _transaction(self, *, write: bool) -> Iterator[Connection]:
        try:
            with self.engine.connect().execution_options(memora_write=write) as connection, connection.begin():
                yield connection
        except DBAPIError as error:
            translated = self.translate(error)
            if translated is error:
                raise
            raise translated from error

    def size(self) -> int:
        """Bytes the database takes on disk."""
        return sum(
            file.stat().st_size for suffix in ("", "-wal", "-shm") if (file := Path(self.address + suffix)).exists()
        )

    def copies(self) -> list[Path]:
        """The backups that upgrades left beside it."""
        path = Path(self.address)
        return sorted(path.parent.glob(f"{glob.escape(path.name)}.schema-*"))

    def scrub(self) -> bool:
        """Leave no byte in the database of what was deleted; False when others hold on to some of it."""
        return self.index.scrub(self.engine)

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()


def open_database(address: str) -> Database:
    """Open the database at a path or URL, creating it when it is not there.

    Raises `DatabaseDamaged` for a file that is none of memora's, damaged, or newer than the program (left untouched),
    and `DatabaseBusy` where it cannot be created or written.
    """
    scheme, separator, _ = address.partition("://")
    match scheme if separator else "sqlite":
        case "sqlite":
            from memora_cli.store import sqlite

            return sqlite.open_database(address)
        case _:
            raise Usage(f'no database is known by "{scheme}://": give a file path or sqlite:///PATH')


def location(address: str) -> Path:
    """The file of a database at a path or URL. Raises `Usage` for a database that is no file."""
    from memora_cli.store import sqlite

    if "://" in address and not address.startswith("sqlite:"):
        raise Usage(f"{address} is no file: its own tools back it up")
    return sqlite.path_of(address)
