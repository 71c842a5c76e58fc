"""The entry point: one place turns errors and signals into exit codes."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

from memora_cli.errors import INTERRUPTED, MemoraError


def main() -> None:
    """Run the command line and exit. An unknown error keeps its traceback: it is a bug."""
    os.umask(0o077)
    signal.signal(signal.SIGINT, _interrupted)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Under LC_ALL=C the output is still UTF-8, and no character can fail to be written.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    from memora_cli.cli.app import app

    try:
        app()
    except MemoraError as error:
        from memora_cli.text.display import visible

        sys.stderr.write(visible(f"memora: {error}") + "\n")
        sys.exit(error.exit_code)
    except BrokenPipeError:
        _leave_pipe()
    finally:
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            _leave_pipe()


def _interrupted(_signal: int, _frame: FrameType | None) -> None:
    sys.exit(INTERRUPTED)


def _leave_pipe() -> None:
    """The reader has gone: say nothing, and let the interpreter find nothing to flush."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(0)
