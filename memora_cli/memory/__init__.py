"""A memory: an open database and models, and every use case, without a terminal."""

from memora_cli.memory.memory import Memory, NoteView, Statistics, time_parser
from memora_cli.memory.near_misses import NearMiss
from memora_cli.memory.neighbours import Neighbourhood
from memora_cli.memory.writing import Added

__all__ = ["Added", "Memory", "NearMiss", "Neighbourhood", "NoteView", "Statistics", "time_parser"]
