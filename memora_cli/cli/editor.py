"""Lets a person write a text in their editor."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memora_cli import screen
from memora_cli.errors import Usage

USUAL = ("editor", "nano", "vim", "vi")


def at_terminal() -> bool:
    """Whether somebody sits there to write in an editor."""
    return sys.stdin.isatty() and sys.stdout.isatty()


@contextmanager
def written(text: str = "") -> Iterator[str]:
    """What a person makes of a text in `$VISUAL` or `$EDITOR`.

    When the body of the `with` fails, what was written stays in a file that standard error names. Raises `Usage`
    without an editor, or where it failed.
    """
    from memora_cli.memory.importing import decode
    from memora_cli.render.terminal import warn

    handle, name = tempfile.mkstemp(prefix="memora-", suffix=".md")
    path = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8", "replace"))
        edit(path)
        made = decode(path.read_bytes())
        try:
            yield made
        except BaseException:
            if made.strip() and made.strip() != text.strip():
                warn(f"memora: what you wrote is kept in {path}")
                path = Path(os.devnull)
            raise
    finally:
        if path != Path(os.devnull):
            path.unlink(missing_ok=True)


def edit(path: Path) -> None:
    """Let a person change a file in `$VISUAL` or `$EDITOR`. Raises `Usage` without an editor, or where it failed."""
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or next(filter(shutil.which, USUAL), "")
    if not command:
        raise Usage("there is no editor: set VISUAL or EDITOR to the command of yours")
    try:
        ended = screen.here.edit([*shlex.split(command), str(path)])
    except (OSError, ValueError) as error:
        raise Usage(f"the editor {command} cannot be started: {error}; set VISUAL or EDITOR") from error
    if ended:
        raise Usage(f"the editor {command} ended with {ended}: nothing was changed")
