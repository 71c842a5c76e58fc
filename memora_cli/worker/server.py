"""The worker: a process in the background that answers commands with its imports, models and databases warm.

Commands come over a Unix socket that only this user can reach (see `wire`) and run one after another, each with the
arguments, folder, environment and terminal of the process that asked. It ends itself after some minutes without one.

Frames to the worker: `{"build", "arguments", "folder", "environment", "terminals", "size"}` is a command, `{"stdin"}`
a part of its input, empty at the end and null for more than is taken; `{"ask": "status" | "stop"}`. Frames from it:
`{"accepted"}`, `{"alive"}` while nothing else is to be said, `{"stdin"}` when input is wanted, `{"out"}` pairs of
stream and text, `{"page"}` a pager and what to show, `{"exit"}` the code, and `{"refused"}` for what the asking process
has to do itself.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

from memora_cli import wire
from memora_cli.cli.interrupts import obey_interrupts
from memora_cli.errors import INTERRUPTED
from memora_cli.worker.request import NeedsClient, Request
from memora_cli.worker.running import run_request

MOST_CONNECTIONS = 256
FIRST_FRAME_SECONDS = 5.0


class Worker:
    """One process that answers commands in the order in which they come."""

    def __init__(self, path: str, idle_minutes: float) -> None:
        self.path = path
        self.idle_minutes = idle_minutes
        self.requests: queue.Queue[Request | None] = queue.Queue()
        self.current: Request | None = None
        self.began = time.time()
        self.served = 0
        self._built = wire.build()
        self._sources = _sources()
        self._connections = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._listening = self._listen()

    def _listen(self) -> socket.socket:
        """A socket that is there for others only once it listens; whoever died here left one in its place."""
        draft = f"{self.path}.{os.getpid()}"
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listening.bind(draft)
        Path(draft).chmod(0o600)
        listening.listen(MOST_CONNECTIONS)
        Path(draft).replace(self.path)
        return listening

    def run(self) -> None:
        """Answer until nobody has asked for some time, somebody stops it, or the program has changed."""
        obey_interrupts()
        signal.signal(signal.SIGINT, self._interrupt)  # which ends a command, not the worker
        signal.signal(signal.SIGTERM, lambda *_: self.requests.put(None))
        threading.Thread(target=self._accept, daemon=True).start()
        while True:
            try:
                request = self.requests.get(timeout=self.idle_minutes * 60)
            except queue.Empty:
                break
            if request is None:
                break
            current = _sources(self._sources) == self._sources
            if not current:
                request.said.append({"refused": "the program has changed"})
            elif not request.cancelled:
                with contextlib.suppress(SystemExit):  # an interrupt between two steps of the answer
                    self._answer(request)
            request.ended.set()
            for message in request.said:
                request.send(message)
            _hang_up(request.connection)
            if not current:
                break
        with contextlib.suppress(OSError):
            Path(self.path).unlink()
        self._listening.close()

    def _answer(self, request: Request) -> None:
        self.current = request
        self.served += 1
        said = request.said
        try:
            code = run_request(request)
        except NeedsClient as needed:
            said[:] = [{"refused": str(needed)}]
        except SystemExit as end:
            said.append({"exit": end.code if isinstance(end.code, int) else int(end.code is not None)})
        else:
            said.append({"exit": code})
        finally:
            self.current = None

    def _interrupt(self, *_: object) -> None:
        """End the command whose asker has gone; an interrupt that comes late finds another and leaves it alone."""
        if self.current is not None and self.current.cancelled:
            sys.exit(INTERRUPTED)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            if wire.is_own(connection) and self._connections.acquire(blocking=False):
                threading.Thread(target=self._meet, args=(connection,), daemon=True).start()
            else:
                connection.close()

    def _meet(self, connection: socket.socket) -> None:
        try:
            connection.settimeout(FIRST_FRAME_SECONDS)
            message = wire.receive(connection)
            match message.get("ask"):
                case "status":
                    wire.send(connection, self.status())
                case "stop":
                    wire.send(connection, {"pid": os.getpid()})
                    self.requests.put(None)
                case _ if message.get("build") != self._built:
                    wire.send(connection, {"refused": "another version"})
                case _:
                    self._take(Request(connection, message))
                    return
            connection.close()
        except (wire.Lost, KeyError, TypeError, IndexError):
            connection.close()
        finally:
            self._connections.release()

    def _take(self, request: Request) -> None:
        request.send({"accepted": True})
        self.requests.put(request)
        request.watch()

    def status(self) -> dict[str, Any]:
        """What it is, and how much memory it takes in bytes."""
        return {
            "pid": os.getpid(),
            "since": self.began,
            "commands": self.served,
            "memory": resident(),
            "idle_minutes": self.idle_minutes,
        }


def _hang_up(connection: socket.socket) -> None:
    """Wake whoever waits on the connection too."""
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()


def resident() -> int:
    """Bytes of memory that this process has now, its most where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _sources(known: dict[str, int] | None = None) -> dict[str, int]:
    """When the files of the program were last changed: those that are loaded, or those that were."""
    paths = known or [
        module.__file__
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] == "memora_cli" and getattr(module, "__file__", None)
    ]
    found = {}
    for path in paths:
        try:
            found[str(path)] = os.stat(str(path)).st_mtime_ns  # noqa: PTH116  # a hundred of them for each command
        except OSError:
            found[str(path)] = 0
    return found
