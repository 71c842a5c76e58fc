"""Opens a note in the user's editor, and keeps what they make of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from memora_cli.errors import EmptyNote, Usage

if TYPE_CHECKING:
    from memora_cli.memory import Memory


def open_note(memory: Memory, note_id: int, at: datetime) -> None:
    """Let the user read and change the text of a note. Raises `NoSuchNote`, and `Usage` without a terminal."""
    from memora_cli.cli.editor import at_terminal, written
    from memora_cli.render.terminal import warn

    if not at_terminal():
        raise Usage("--open needs a terminal for the editor: memora show prints the note")
    body = memory.view([note_id])[0].note.body
    with written(body + "\n") as made:
        if not made.strip():
            raise EmptyNote
        edited = memory.edit(note_id, lambda draft: replace(draft, body=made), at)
    if edited.changed:
        warn(f"memora: note {note_id} is changed; memora undo takes that back")
    if edited.waits:
        warn(f"memora: its new text has no vectors yet: {edited.waits}; run memora reindex")
