"""What needs the user's own terminal: the pager and the editor."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence


class Terminal:
    """The terminal that this process has."""

    def page(self, command: Sequence[str], text: str) -> bool:
        """Show a text through a pager; whether that ran. It may be left early, and answers interrupts itself."""
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, env={"LESS": "FRX", **os.environ}, text=True, encoding="utf-8"
            )
        except OSError:
            return False
        before = signal.signal(signal.SIGINT, lambda *_: None)
        try:
            with contextlib.suppress(BrokenPipeError):
                process.communicate(text)
        finally:
            signal.signal(signal.SIGINT, before)
        return True

    def edit(self, command: Sequence[str]) -> int:
        """Run an editor; its exit code. Raises `OSError`."""
        return subprocess.run(command, check=False).returncode


here = Terminal()
"""The terminal in use; a worker puts in its place that of the command it answers."""
