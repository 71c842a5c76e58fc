"""Opens a note in the user's editor, and keeps what they make of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from memora_cli.errors import ChangedMeanwhile, EmptyNote, Usage
from memora_cli.values import Draft

if TYPE_CHECKING:
    from memora_cli.memory import Memory


def open_note(memory: Memory, note_id: int, at: datetime) -> None:
    """Let the user read and change the text of a note. Raises `Usage` without a terminal.

    Raises `NoSuchNote`, and `ChangedMeanwhile` when the text is another by the time that it was written.
    """
    from memora_cli.cli.editor import at_terminal, written
    from memora_cli.render.terminal import warn

    if not at_terminal():
        raise Usage("--open needs a terminal for the editor: memora show prints the note")
    body = memory.view([note_id])[0].note.body

    def revise(draft: Draft) -> Draft:
        if draft.body != body:
            raise ChangedMeanwhile(note_id)
        return replace(draft, body=made)

    with written(body + "\n") as made:
        if not made.strip():
            raise EmptyNote
        edited = memory.edit(note_id, revise, at)
    if edited.changed:
        warn(f"memora: note {note_id} is changed; memora undo takes that back")
    if edited.waits:
        warn(f"memora: its new text has no vectors yet: {edited.waits}; run memora reindex")
