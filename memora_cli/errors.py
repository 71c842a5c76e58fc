"""The errors a user can act on: one class each, with the exit code the command line ends with."""

from __future__ import annotations


class MemoraError(Exception):
    """Something a user can act on: the message says what happened and what to do."""

    exit_code = 1
    meaning = "done in part: something was left out, or nothing matched with -e"


class Usage(MemoraError):
    """The call cannot be carried out as it was written."""

    exit_code = 2
    meaning = "the call was not understood, or asks for what is not allowed"


class EmptyQuery(Usage):
    """A search without a word in it."""

    def __init__(self) -> None:
        super().__init__("empty query: give at least one word or number to search for")


class EmptyNote(Usage):
    """A note without text."""

    def __init__(self) -> None:
        super().__init__("empty note: give some text, or - to read it from standard input")


class NoteTooLong(Usage):
    """A note over the size that every database takes."""

    def __init__(self, size: int, cap: int) -> None:
        super().__init__(f"the note has {size:,} bytes and the cap is {cap:,}: split it into several notes")


class SupersessionRefused(Usage):
    """A supersession that would make a note replace itself, directly or in a circle."""


class BadSetting(Usage):
    """A setting that is unknown, of the wrong type or out of range."""


class UnreadableTime(Usage):
    """A time that could not be understood."""

    def __init__(self, text: str) -> None:
        super().__init__(f'no time understood in "{text}": try 2024-05-03, "last spring" or "3 days ago"')


class NoSuchNote(MemoraError):
    """An id that no note has."""

    exit_code = 3
    meaning = "there is no note with that id"

    def __init__(self, note_id: int, space: str, *, forgotten: bool = False) -> None:
        if forgotten:
            super().__init__(f'note {note_id} is in the trash: "memora restore {note_id}" takes it out')
        else:
            super().__init__(f'there is no note {note_id} in space "{space}": "memora list" shows the ids')
        self.note_id = note_id


class DatabaseBusy(MemoraError):
    """The database was busy for longer than the timeout, cannot be reached, or cannot be written to."""

    exit_code = 4
    meaning = "the database is busy, full, cannot be reached, or may not be written"


class ChangedMeanwhile(DatabaseBusy):
    """Somebody else changed a note while a person wrote a new text for it."""

    def __init__(self, note_id: int) -> None:
        super().__init__(
            f"note {note_id} was changed by somebody else while you wrote, and stays as they left it: "
            f'"memora show {note_id}" prints it, "memora history {note_id}" what they changed'
        )


class DatabaseDamaged(MemoraError):
    """The file is no memora database, is damaged, or was written by a newer memora."""

    exit_code = 5
    meaning = "the database is damaged, is none of memora's, or is newer than the program"


class ModelUnusable(MemoraError):
    """A model is missing or cannot be used."""

    exit_code = 6
    meaning = "a model is missing or unusable"


INTERRUPTED = 130

EXIT_CODES: dict[int, str] = {
    0: "done; finding nothing is also 0",
    **{
        error.exit_code: error.meaning
        for error in (MemoraError, Usage, NoSuchNote, DatabaseBusy, DatabaseDamaged, ModelUnusable)
    },
    INTERRUPTED: "interrupted",
}
"""Every exit code and what it means, as the man page lists them."""
