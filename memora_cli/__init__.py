"""memora: a command-line memory for personal notes."""

__version__ = "0.1.0"
