"""The pager: what is longer than the screen is shown a screen at a time, on a terminal only."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from rich.console import Console

from memora_cli import screen
from memora_cli.render.terminal import on_terminal


@contextmanager
def paged(console: Console) -> Iterator[None]:
    """Collect what is printed on the console, and show it through `$PAGER` if it is longer than the screen.

    Without a terminal at both ends nobody could press its keys, so nothing is paged.
    """
    command = pager(os.environ) if on_terminal() and sys.stdin.isatty() else []
    if not command:
        yield
        return
    with console.capture() as capture:
        yield
    text = capture.get()
    if text.count("\n") < console.height or not screen.here.page(command, text):
        sys.stdout.write(text)


def pager(environment: Mapping[str, str]) -> list[str]:
    """The pager and its arguments: `$PAGER`, else less where there is one; empty for none. Less keeps colours."""
    named = environment.get("PAGER", "less" if shutil.which("less") else "")
    try:
        command = shlex.split(named)
    except ValueError:
        return []
    if not command or command == ["cat"] or environment.get("TERM") == "dumb":
        return []
    if os.path.basename(command[0]) == "less":  # noqa: PTH119  # a command, not a path to open
        command.append("-R")
    return command
