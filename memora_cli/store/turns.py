"""Lets the writers of one file take turns, nearly in the order in which they came.

SQLite lets in whoever asks at the right time, and lets those who have waited longest ask least often: of a hundred
writers some would be refused. A turn is an advisory lock on the folder, so that no file is left beside the database.
(Not on the database: a process that closes a file loses SQLite's locks on it.) It only puts writers in order: what
keeps them apart are SQLite's own locks, also where there are no turns.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


class Turn:
    """The turn of one writer: waited for until it comes, or `patience` seconds; then it is just tried."""

    def __init__(self, folder: Path, patience: float) -> None:
        self._over = Event()
        if fcntl is None:
            return
        came = Event()
        # Nothing but a thread can wait for such a lock no longer than it likes.
        Thread(target=self._hold, args=(folder, came), daemon=True).start()
        try:
            came.wait(patience)
        except BaseException:  # an interrupt
            self.end()
            raise

    def end(self) -> None:
        """Let the next writer in; a turn that has not come yet is given up."""
        self._over.set()

    def _hold(self, folder: Path, came: Event) -> None:
        handle = None
        with suppress(OSError):  # a folder that cannot be opened, a file system without such locks
            handle = os.open(folder, os.O_RDONLY)
            fcntl.flock(handle, fcntl.LOCK_EX)
        came.set()
        if handle is None:
            return
        self._over.wait()
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_UN)  # closing lets nobody in while a fork has the handle too
        os.close(handle)
