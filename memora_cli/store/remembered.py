"""Keeps what was read of a file for as long as nobody writes to it: a warm process need not count or load it again."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from sqlalchemy import Connection

MOST = 4096  # things kept of one file
_KEPT, _VERSION = "remembered", "data version"

T = TypeVar("T")


def remembered(connection: Connection, key: Hashable, read: Callable[[], T]) -> T:
    """What `read` gives, or gave in an earlier read transaction on the same connection since the last write.

    Only read transactions on a file remember anything; everywhere else `read` is called.
    """
    kept: dict[Hashable, Any] | None = connection.info.get(_KEPT)
    if kept is None:
        return read()
    if key not in kept:
        if len(kept) >= MOST:
            kept.clear()
        kept[key] = read()
    value: T = kept[key]
    return value


def begin(connection: Connection) -> None:
    """Start a read transaction of SQLite: forget what another connection may have changed."""
    version = connection.exec_driver_sql("PRAGMA data_version").scalar_one()
    if _KEPT not in connection.info or connection.info.get(_VERSION) != version:
        connection.info[_KEPT] = {}
    connection.info[_VERSION] = version


def forget(connection: Connection) -> None:
    """Start a write transaction: SQLite does not count the changes of the connection itself."""
    connection.info.pop(_KEPT, None)
