"""The command line: parse, call the memory, print. Nothing heavy is imported until a command runs."""

from memora_cli.cli.main import main

__all__ = ["main"]
