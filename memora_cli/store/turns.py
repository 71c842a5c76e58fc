"""Lets the writers of one file take turns in the order in which they came.

SQLite lets in whoever asks at the right time: of a hundred writers some would wait longer than anybody waits. A turn is
an advisory lock on the folder, so that no file is left beside the database; without such locks SQLite's own do.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


class Turn:
    """The turn of one writer: waited for until it comes, or `patience` seconds; then it is just tried."""

    def __init__(self, folder: Path, patience: float) -> None:
        self._handle: int | None = None
        if fcntl is None:
            return
        with suppress(OSError):  # a folder that cannot be opened, a file system without such locks
            self._handle = os.open(folder, os.O_RDONLY)
            try:
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._wait(self._handle, patience)

    def _wait(self, handle: int, patience: float) -> None:
        state = threading.Lock()
        over = threading.Event()
        given_up: list[bool] = []

        def wait() -> None:
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_EX)
            with state:
                if given_up:
                    os.close(handle)
            over.set()

        threading.Thread(target=wait, daemon=True).start()
        try:
            came = over.wait(patience)
        except BaseException:  # an interrupt
            came = False
            raise
        finally:
            with state:
                if not over.is_set() and not came:
                    given_up.append(True)
                    self._handle = None

    def end(self) -> None:
        """Let the next writer in."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
