"""The standard streams as the command line needs them: always there, in UTF-8, and harmless to a terminal."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import Any, TextIO, cast


class Legible:
    """Standard error that shows control and bidirectional characters, whichever library quotes them in a message."""

    def __init__(self, stream: TextIO) -> None:
        self.unguarded = stream

    def write(self, text: str) -> int:
        """Write the text in visible form."""
        from memora_cli.text.display import visible

        return self.unguarded.write(visible(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unguarded, name)


def settle_streams() -> None:
    """Give closed streams somewhere to lead, and let no character fail to be written under any locale."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115  # open to the end
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    sys.stderr = cast(TextIO, Legible(sys.stderr))


def drop_output() -> None:
    """Let the interpreter find nothing that it would fail to flush."""
    with contextlib.suppress(io.UnsupportedOperation):  # it is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
