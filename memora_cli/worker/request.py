"""A command that somebody waits for: what they gave, their streams and terminal, and what it says to them."""

from __future__ import annotations

import io
import queue
import select
import signal
import socket
import threading
from collections.abc import Sequence
from typing import Any

from memora_cli import screen, wire

ALIVE_SECONDS = 1.0


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
        self.said += [{"out": [stream, piece]} for piece in wire.pieces(text)]

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
        self._request.said += [{"page": [list(command), piece]} for piece in wire.pieces(text)]
        return True

    def edit(self, command: Sequence[str]) -> int:
        """Leave the whole command to it."""
        raise NeedsClient(f"an editor: {command[0]}")
