"""Opens a database, whichever kind its address names, and runs transactions on it."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sqlalchemy import ColumnElement, Connection, Engine
from sqlalchemy.exc import DBAPIError, PendingRollbackError

from memora_cli.config import masked
from memora_cli.errors import DatabaseBusy, DatabaseDamaged, Usage
from memora_cli.store import engines

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

# It would print a traceback for an interrupt that strikes while a connection is closed; what matters is raised as well.
logging.getLogger("sqlalchemy.pool").addHandler(logging.NullHandler())


class IndexUnavailable(Exception):  # a state that a search survives, not a failure
    """An index cannot be read; the message says why."""


class Index(Protocol):
    """What differs between databases: how words and vectors are indexed and looked up.

    `passages_per_note` is how many neighbours are asked for first for each note wanted, as a long note has several.
    `where` is a condition over `schema.notes` that names the space. Lookups raise `IndexUnavailable` when the index is
    missing.
    """

    keyword: str
    vectors: str
    most_nearest: int
    passages_per_note: int

    def create(self, connection: Connection) -> None:
        """Make the keyword index on a new database, where the driver can."""

    def rebuild(self, connection: Connection, space: str, model: str) -> None:
        """Make the indexes anew from the words and vectors that are stored."""

    def frequency(self, connection: Connection, space: str, word: str, cap: int) -> int:
        """How many notes of the space hold the word, counted up to `cap`; 0 without an index."""

    def match(
        self, connection: Connection, space: str, words: Sequence[str], where: ColumnElement[bool], limit: int
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

    def lacks(self, connection: Connection, space: str, model: str) -> list[str]:
        """What of the indexes of the space and model is not there, each with what brings it; `doctor` tells it."""

    def drifted(self, connection: Connection) -> list[str]:
        """Where the indexes of any space say something else than the tables behind them, a line each."""

    def nearest_many(
        self, connection: Connection, space: str, model: str, matrix: NDArray[numpy.float32], limit: int
    ) -> list[list[tuple[int, int, float]]]:
        """What `nearest` gives of all of the space, for each row of the matrix."""

    def vectors_by(self, connection: Connection, space: str, model: str) -> str:
        """What looks up the vectors of that space and model, for people."""

    def slow(self, connection: Connection, space: str, model: str) -> str:
        """Why `nearest` must compare every vector although it could be asked; empty when it need not."""

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
class Database(ABC):
    """An open database: reading and writing are transactions, words and vectors are looked up through `index`.

    `address` is for people: it holds no password.
    """

    address: str
    engine: Engine
    index: Index
    translate: Callable[[DBAPIError], Exception]

    def read(self) -> AbstractContextManager[Connection]:
        """One read snapshot."""
        return self._transaction(write=False)

    def write(self) -> AbstractContextManager[Connection]:
        """One write transaction: all of it is committed, or none. Writers come one after another."""
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
        except PendingRollbackError as error:  # asked again after the connection was lost
            raise DatabaseBusy(
                f"{self.address}: the connection was lost; nothing of this change was written"
            ) from error
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            # In a damaged database anything may be missing, or something else than it should be; else it is a bug.
            if found := self.damage():
                raise DatabaseDamaged(f"{self.address} is damaged ({found})") from error
            raise

    @property
    @abstractmethod
    def driver(self) -> str:
        """The driver and what it speaks to, with their versions."""

    @abstractmethod
    def size(self) -> int:
        """Bytes the database takes on disk."""

    @abstractmethod
    def copies(self) -> list[Path]:
        """The backups that upgrades left beside it."""

    def damage(self) -> str:
        """The first thing that is wrong in the file as such, empty for none, or where the server sees to that."""
        return ""

    @abstractmethod
    def scrub(self) -> str:
        """Leave no byte in the database of what was deleted; where some of it may still be, empty for nowhere."""

    def close(self) -> None:
        """Let go of all connections."""
        engines.release(self.engine)


def open_database(address: str) -> Database:
    """Open the database at a path or URL, creating it when it is not there.

    Raises `DatabaseDamaged` for a file that is none of memora's, damaged, or newer than the program (left untouched),
    and `DatabaseBusy` where it cannot be reached, created or written.
    """
    scheme, separator, _ = address.partition("://")
    match scheme if separator else "sqlite":
        case "sqlite":
            from memora_cli.store import sqlite

            return sqlite.open_database(address)
        case "postgresql" | "postgresql+psycopg" | "postgres":
            from memora_cli.store import postgres

            return postgres.open_database(address)
        case _:
            raise Usage(
                f'no database is known by "{scheme}://": give a file path, sqlite:///PATH or '
                "postgresql+psycopg://USER@HOST/NAME"
            )


def is_file(address: str) -> bool:
    """Whether the database at a path or URL is a file of this machine."""
    return "://" not in address or address.startswith("sqlite:")


def location(address: str) -> Path:
    """The file of a database at a path or URL. Raises `Usage` for a database that is no file."""
    from memora_cli.store import sqlite

    if not is_file(address):
        raise Usage(
            f"{masked(address)} is no file: pg_dump and pg_restore copy a PostgreSQL database whole, "
            "and memora export writes its notes to a file that any memora imports"
        )
    return sqlite.path_of(address)
