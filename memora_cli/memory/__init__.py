"""A memory: an open database and models, and every use case, without a terminal."""

from memora_cli.memory.changing import Undone
from memora_cli.memory.editing import Edited
from memora_cli.memory.history import Chain, History
from memora_cli.memory.memory import Memory, NoteView, Statistics, time_parser
from memora_cli.memory.writing import Added

__all__ = [
    "Added",
    "Chain",
    "Edited",
    "History",
    "Memory",
    "NoteView",
    "Statistics",
    "Undone",
    "time_parser",
]
