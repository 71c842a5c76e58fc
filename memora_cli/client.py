"""The entry point: has a command done by the worker in the background, and does it here when that cannot be.

It imports next to nothing, so that an answer from the worker is there at once.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from typing import Any

FORWARDED = frozenset(
    (
        *("search", "explain", "show", "list", "graph", "stats", "topics", "entities", "history", "when"),
        *("add", "pin", "unpin", "supersede"),
    )
)
"""Commands that do the same when they are done twice: the worker may end in the midst of one."""

HERE = frozenset(("--help", "-h", "--version", "--open", "--force"))
"""Options with which a command is done here: it is quick, takes the terminal, or does more when done twice."""

CONNECT_SECONDS = 0.5
ACCEPT_SECONDS = 2.0
SILENT_SECONDS = 10.0  # the worker speaks every second
MOST_INPUT = 4 << 20  # a note has at most a megabyte
OFF = ("0", "false", "no", "off")


def main() -> None:
    """Run the command line of this process and exit."""
    absent = False
    if may_forward(sys.argv[1:]):
        from memora_cli import wire

        try:
            path = wire.address()
            connection = wire.connect(path, CONNECT_SECONDS) if path else None
            absent = bool(path) and connection is None
            if connection:
                try:
                    os._exit(_Call(connection).make())  # all is written, nothing waits to be tidied
                except (wire.Lost, OSError):  # OSError: no folder, no terminal where there should be one
                    connection.close()
        except KeyboardInterrupt:
            from memora_cli.errors import INTERRUPTED

            os._exit(INTERRUPTED)
    from memora_cli.cli.main import main as do_here

    try:
        do_here()
    finally:
        if absent:
            _start_worker()


def may_forward(arguments: list[str]) -> bool:
    """Whether the worker may do a command."""
    if os.environ.get("MEMORA_WORKER", "").lower() in OFF or os.name != "posix":
        return False
    if os.environ.get("_MEMORA_COMPLETE"):
        return os.environ["_MEMORA_COMPLETE"].startswith("complete")
    place = 0
    while place < len(arguments) and arguments[place].startswith("-"):
        place += 2 if arguments[place] == "--db" else 1
    command = arguments[place] if place < len(arguments) else ""
    if command not in FORWARDED or not HERE.isdisjoint(arguments):
        return False
    return not (command == "when" and "-" in arguments)  # it answers line by line


class _Call:
    """A command that is done by the worker."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.said: list[tuple[int, str]] = []
        self.pages: list[str] = []
        self.pager: list[str] = []

    def make(self) -> int:
        """Its exit code, once it has ended and what it said is written. Raises `wire.Lost`: do it here then."""
        from memora_cli import wire

        wire.send(self.connection, _asked())
        self.connection.settimeout(ACCEPT_SECONDS)
        code = None
        while code is None:
            message = wire.receive(self.connection)
            self.connection.settimeout(SILENT_SECONDS)
            if "refused" in message:
                raise wire.Lost(message["refused"])
            if "stdin" in message:
                self._send_input()
            elif "out" in message:
                self.said.append(tuple(message["out"]))
            elif "page" in message:
                self.pager = message["page"][0]
                self.pages.append(message["page"][1])
            code = message.get("exit")
        self.connection.close()
        self._write()
        return int(code)

    def _send_input(self) -> None:
        """Send all of standard input, and keep it for the case that the worker ends before it has answered."""
        import io

        from memora_cli import wire

        taken = sys.stdin.buffer.read(MOST_INPUT + 1) if sys.stdin else b""
        if len(taken) > MOST_INPUT:
            wire.send(self.connection, {"stdin": None})
            taken += sys.stdin.buffer.read()
        sys.stdin = io.TextIOWrapper(io.BytesIO(taken), "utf-8")
        if len(taken) > MOST_INPUT:
            return
        text = taken.decode("latin-1")
        for piece in wire.pieces(text):
            wire.send(self.connection, {"stdin": piece})
        wire.send(self.connection, {"stdin": ""})

    def _write(self) -> None:
        for stream, text in self.said:
            _put(stream, text.encode())
        if self.pages:
            from memora_cli.screen import Terminal

            text = "".join(self.pages)
            if not Terminal().page(self.pager, text):
                _put(1, text.encode())


def _asked() -> dict[str, Any]:
    from memora_cli import wire

    terminals = [os.isatty(number) for number in range(3)]
    return {
        "build": wire.build(),
        "arguments": sys.argv[1:],
        "folder": os.getcwd(),  # noqa: PTH109  # pathlib costs more than all this
        "environment": wire.environment(),
        "terminals": terminals,
        "size": list(os.get_terminal_size(terminals.index(True))) if any(terminals) else None,
    }


def _put(stream: int, text: bytes) -> None:
    """Write all of it; nothing that is closed on the other side is an error worth a word."""
    import errno

    while text:
        try:
            text = text[os.write(stream, text) :]
        except OSError as error:
            if error.errno == errno.EBADF:
                return
            if error.errno == errno.EPIPE:
                os._exit(0)
            if stream == 1:
                _put(2, f"memora: input or output failed: {error.strerror}\n".encode())
            os._exit(1)


def _start_worker() -> None:
    """Begin a worker for the commands that follow, unless the configuration wants none."""
    import contextlib

    with contextlib.suppress(Exception):  # the command is done, and said what there was to say
        from memora_cli import wire
        from memora_cli.config import load

        if load().worker:
            wire.start()
