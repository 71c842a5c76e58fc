"""Opens a note in the user's editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memora_cli.errors import Usage

if TYPE_CHECKING:
    from memora_cli.memory import Memory
    from memora_cli.values import Note


def open_note(memory: Memory, note: Note, at: datetime) -> None:
    """Let the user read and change the text of a note. Raises `Usage` without an editor."""
    changed = _edited(note.body)
    if changed.strip() != note.body.strip():
        _save(memory, note, changed, at)


def _edited(text: str) -> str:
    """The text as the user leaves it in `$VISUAL` or `$EDITOR`."""
    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "")
    if not command:
        raise Usage("no editor is known: set VISUAL or EDITOR")
    with tempfile.TemporaryDirectory(prefix="memora-") as folder:
        file = Path(folder) / "note.md"
        file.write_text(text, encoding="utf-8")
        try:
            ended = subprocess.run([*command, str(file)], check=False)
        except OSError as error:
            raise Usage(f"the editor {command[0]} cannot be started: {error.strerror}") from error
        return file.read_text(encoding="utf-8") if ended.returncode == 0 else text


def _save(memory: Memory, note: Note, text: str, at: datetime) -> None:
    """SEAM: `Memory.edit` takes the place of this refusal."""
    raise Usage(f"note {note.id} was changed in the editor, but this memora cannot save it yet")
