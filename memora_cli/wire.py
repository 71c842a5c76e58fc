"""The way between a command and the worker: where its socket is, whose it is, and frames of JSON on it.

Every command passes here, so little is imported.
"""

from __future__ import annotations

import json
import os
import socket
import stat
import sys
import zlib

from memora_cli import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

PACKAGE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120  # pathlib costs more than all this
MOST_BYTES = 8 << 20
"""Bytes of one frame."""

MOST_TEXT = 1 << 20
"""Characters of output or input in one frame: JSON writes one of them in up to six bytes."""

LONGEST_PATH = 100  # of a socket: 104 bytes on macOS, 108 on Linux

SETTINGS = ("MEMORA_", "LC_", "XDG_", "PG", "TTY_", "_MEMORA_", "COMP_", "_TYPER_")
SINGLE = (
    *("HOME", "USER", "PATH", "TZ", "TZDIR", "LANG", "LANGUAGE", "TERM", "COLORTERM", "NO_COLOR", "FORCE_COLOR"),
    *("COLUMNS", "LINES", "PAGER", "LESS", "VISUAL", "EDITOR"),
)


PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from memora_cli.worker.__main__ import main; main()"
"""What a worker runs: the program of the folder that it is given, which is the one that starts it."""


class Lost(Exception):
    """The other side is gone, silent, or says what is no frame; the message says which."""


def environment() -> dict[str, str]:
    """What of the environment a command depends on."""
    return {name: value for name, value in os.environ.items() if concerns(name)}


def concerns(name: str) -> bool:
    """Whether a command depends on this variable."""
    return name in SINGLE or name.startswith(SETTINGS)


def build() -> str:
    """What this installation of the program is: a worker of another answers none of its commands."""
    changed = os.stat(os.path.join(PACKAGE, "__init__.py")).st_mtime_ns  # noqa: PTH116, PTH118  # as above
    return f"{__version__} {sys.executable} {PACKAGE} {changed}"


def folder() -> str | None:
    """The folder of sockets, which only this user may enter; None where there is none to trust."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    base = os.environ.get("TMPDIR") or "/tmp"  # what is below is checked to be the user's own
    path = f"{runtime}/memora" if os.path.isabs(runtime) else f"{base}/memora-{os.geteuid()}"  # noqa: PTH117
    try:
        os.makedirs(path, 0o700, exist_ok=True)  # noqa: PTH103
        found = os.lstat(path)
    except OSError:
        return None
    mine = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077
    return path if mine else None


def address() -> str | None:
    """The socket of the worker of this installation; None where none can be."""
    if not hasattr(socket, "AF_UNIX"):
        return None
    place = folder()
    path = f"{place}/{__version__}-{zlib.crc32(build().encode('utf-8', 'surrogateescape')):08x}.sock"
    return path if place and len(os.fsencode(path)) <= LONGEST_PATH else None


def is_own(connection: socket.socket) -> bool:
    """Whether the process at the other end is the same user's; no where the system does not tell."""
    if hasattr(socket, "SO_PEERCRED"):  # Linux: struct ucred of pid, uid, gid
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    elif sys.platform == "darwin":  # struct xucred of version, uid, groups
        credentials = connection.getsockopt(0, 1, 76)
    else:
        return False
    return int.from_bytes(credentials[4:8], sys.byteorder) == os.geteuid()


def connect(path: str, seconds: float) -> socket.socket | None:
    """A connection to the user's own worker; None where nobody listens."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(seconds)
        connection.connect(path)
        if is_own(connection):
            return connection
    except OSError:
        pass
    connection.close()
    return None


def pieces(text: str) -> Iterator[str]:
    """A text in parts that each fit into a frame; none of an empty one."""
    return (text[start : start + MOST_TEXT] for start in range(0, len(text), MOST_TEXT))


def send(connection: socket.socket, message: dict[str, Any]) -> None:
    """Write one frame: four bytes of length, then an object as JSON. Raises `Lost`."""
    body = json.dumps(message).encode("ascii")
    if len(body) > MOST_BYTES:
        raise Lost(f"a frame of {len(body)} bytes")
    try:
        connection.sendall(len(body).to_bytes(4, "big") + body)
    except OSError as error:
        raise Lost(str(error)) from error


def receive(connection: socket.socket) -> dict[str, Any]:
    """Read one frame. Raises `Lost` at the end of the connection, after its timeout, and for what is no frame."""
    length = int.from_bytes(_read(connection, 4), "big")
    if length > MOST_BYTES:
        raise Lost(f"a frame of {length} bytes")
    try:
        message = json.loads(_read(connection, length))
    except ValueError as error:
        raise Lost("a frame that is no JSON") from error
    if not isinstance(message, dict):
        raise Lost("a frame that is no object")
    return message


def _read(connection: socket.socket, length: int) -> bytes:
    body = bytearray()
    while len(body) < length:
        try:
            part = connection.recv(min(length - len(body), 1 << 20))
        except OSError as error:
            raise Lost(str(error)) from error
        if not part:
            raise Lost("the connection ended")
        body += part
    return bytes(body)


def start() -> None:
    """Begin a worker, which goes on when this process has ended; a file beside its socket says what goes wrong."""
    import subprocess

    place = folder()
    if place is None:
        return
    log = os.open(f"{place}/worker.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        subprocess.Popen(
            [sys.executable, "-P", "-c", PROGRAM, os.path.dirname(PACKAGE)],  # noqa: PTH120  # as above
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,
        )
    finally:
        os.close(log)
