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
import io
import os
import queue
import select
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO, cast

from memora_cli import screen, wire
from memora_cli.errors import INTERRUPTED

ALIVE_SECONDS = 1.0
MOST_CONNECTIONS = 256
FIRST_FRAME_SECONDS = 5.0


class NeedsClient(BaseException):
    """The command wants what only the process that asked can do; the message says what."""


class Request:
    """A command that somebody waits for: what they gave, and what it says to them."""

    def __init__(self, connection: socket.socket, given: dict[str, Any]) -> None:
        self.connection = connection
        self.arguments: list[str] = given["arguments"]
        self.folder: str = given["folder"]
        self.environment: dict[str, str] = given["environment"]
        self.terminals: list[bool] = given["terminals"]
        self.size: list[int] | None = given["size"]
        self.ended = threading.Event()
        self.cancelled = False
        self.said: list[dict[str, Any]] = []
        self._input: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._sending = threading.Lock()

    def say(self, stream: int, text: str) -> None:
        """Keep what the command writes until it ends, so that it can still be done elsewhere."""
        for start in range(0, len(text), wire.MOST_TEXT):
            self.said.append({"out": [stream, text[start : start + wire.MOST_TEXT]]})

    def send(self, message: dict[str, Any]) -> None:
        """Tell the process that asked; once it has gone, its command is cancelled."""
        with self._sending:
            try:
                wire.send(self.connection, message)
            except wire.Lost:
                self.cancelled = True

    def read_input(self) -> bytes:
        """All of its standard input. Raises `NeedsClient` where that is a terminal, or is long."""
        if self.terminals[0]:
            raise NeedsClient("somebody writes at a terminal")
        self.send({"stdin": True})
        parts = []
        while part := self._input.get():
            parts.append(part)
        if part is None:
            raise NeedsClient("a long input")
        return "".join(parts).encode("latin-1")

    def watch(self) -> None:
        """Wait for its end, pass its input on, and cancel it when the process that asked has gone."""
        while not self.ended.is_set() and not self.cancelled:
            try:
                if select.select([self.connection], [], [], ALIVE_SECONDS)[0]:
                    message = wire.receive(self.connection)
                    self._input.put(message.get("stdin"))
                else:
                    self.send({"alive": True})
            except (wire.Lost, OSError, ValueError):  # ValueError: it was closed as the command has ended
                self.cancelled = True
        if self.cancelled and not self.ended.is_set():
            self._input.put(None)
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


class Stream(io.TextIOBase):
    """Standard output or error of a command."""

    def __init__(self, request: Request, number: int) -> None:
        self._request, self._number = request, number

    def write(self, text: str) -> int:
        """Keep the text; what UTF-8 cannot say is written as it is everywhere in memora."""
        self._request.say(self._number, text.encode("utf-8", "backslashreplace").decode("utf-8"))
        return len(text)

    def isatty(self) -> bool:
        """Whether the process that asked has a terminal there."""
        return self._request.terminals[self._number]

    encoding = "utf-8"


class Input(io.RawIOBase):
    """Standard input of a command, fetched when it is first read."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._bytes: io.BytesIO | None = None

    def readable(self) -> bool:
        """It is."""
        return True

    def isatty(self) -> bool:
        """Whether the process that asked has a terminal there."""
        return self._request.terminals[0]

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer."""
        if self._bytes is None:
            self._bytes = io.BytesIO(self._request.read_input())
        return self._bytes.readinto(buffer)


class Remote(screen.Terminal):
    """The terminal of the process that asked: it runs its pager itself, and does itself what takes an editor."""

    def __init__(self, request: Request) -> None:
        self._request = request

    def page(self, command: Sequence[str], text: str) -> bool:
        """Have it page the text when the command has ended."""
        for start in range(0, len(text), wire.MOST_TEXT):
            self._request.said.append({"page": [list(command), text[start : start + wire.MOST_TEXT]]})
        return True

    def edit(self, command: Sequence[str]) -> int:
        """Leave the whole command to it."""
        raise NeedsClient(f"an editor: {command[0]}")


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
        from memora_cli.cli.interrupts import obey_interrupts

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
            code = _run(request)
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


def _run(request: Request) -> int:
    """Run its command as if this process were the one that asked."""
    from memora_cli.cli.main import run
    from memora_cli.cli.streams import Legible

    before = wire.environment()
    streams = sys.stdin, sys.stdout, sys.stderr, sys.argv
    try:
        os.chdir(request.folder)
    except OSError as error:
        raise NeedsClient(f"its folder: {error}") from error
    try:
        _enter(request.environment, request.size)
        sys.stdin = io.TextIOWrapper(io.BufferedReader(Input(request)), "utf-8")
        sys.stdout = cast(TextIO, Stream(request, 1))
        sys.stderr = cast(TextIO, Legible(cast(TextIO, Stream(request, 2))))
        sys.argv = ["memora", *request.arguments]
        screen.here = Remote(request)
        try:
            return run(request.arguments)
        except Exception:  # a bug, which is shown as it would be without a worker
            request.say(2, traceback.format_exc())
            return 1
    finally:
        sys.stdin, sys.stdout, sys.stderr, sys.argv = streams
        screen.here = screen.Terminal()
        _enter(before, None)
        os.chdir("/")


def _enter(environment: dict[str, str], size: Sequence[int] | None) -> None:
    """Put the asker's environment in the place of this one's, and the size of its terminal."""
    for name in wire.environment():
        del os.environ[name]
    os.environ.update({name: value for name, value in environment.items() if wire.concerns(name)})
    for name, value in zip(("COLUMNS", "LINES"), size or (), strict=False):
        os.environ.setdefault(name, str(value))
    time.tzset()


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


def _is_alone(path: str) -> bool:
    """Whether no other worker lives or starts at this place; the lock is held until the process ends."""
    import fcntl

    handle = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _warm() -> float:
    """Load what commands need, and tell how many minutes to wait for one."""
    from memora_cli.cli.main import program
    from memora_cli.config import load, models_folder
    from memora_cli.errors import MemoraError
    from memora_cli.models import load_embedder, load_reranker
    from memora_cli.store import engines

    engines.keep()
    program()
    config = load()
    with contextlib.suppress(MemoraError):  # each command says itself what is wrong with its models
        load_embedder(config.embedder, (models_folder(),)).embed(["ready"])
    with contextlib.suppress(MemoraError):
        if config.settings.rerank:
            load_reranker(config.reranker, (models_folder(),)).score("ready", ["ready"])
    import memora_cli.cli.asking
    import memora_cli.memory
    import memora_cli.render.results
    import memora_cli.render.shapes  # noqa: F401  # loaded, not used

    return config.worker_idle


def main() -> None:
    """Be the worker of this installation, if there is none."""
    os.umask(0o077)
    path = wire.address()
    if path is None or not _is_alone(path):
        return
    Worker(path, _warm()).run()


if __name__ == "__main__":
    main()
