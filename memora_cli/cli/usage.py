"""A call that Typer refuses, said in memora's way: one line, and where to read on."""

from __future__ import annotations

import re
from collections.abc import Sequence

import typer

CallRefused: type[Exception] = typer.BadParameter.__mro__[1]
"""The base of all of Typer's usage errors, which Typer does not export."""

_OUT_OF_RANGE = re.compile(r"Invalid value for (?P<what>.+?): Input should be (?P<bound>[^,]+).*", re.DOTALL)


def refusal(error: Exception, words: Sequence[str], app: typer.Typer) -> str:
    """What is wrong with a call of these words, and the command whose help explains it."""
    reason = error.format_message()  # type: ignore[attr-defined]  # as above
    reason = " ".join(_OUT_OF_RANGE.sub(r"\g<what> should be \g<bound>", reason).split()).rstrip(".?")
    reason = reason[:1].lower() + reason[1:].replace(". Did you", ", did you").replace("(Possible", "(possible")
    context = getattr(error, "ctx", None)
    command = context.command_path if context else " ".join(["memora", *_command(words, app)])
    return f"{reason}; see {command} --help"


def is_bare(error: Exception) -> bool:
    """Whether nothing was wrong: a bare `memora`, which is answered with the help."""
    return type(error).__name__ == "NoArgsIsHelpError"


def _command(words: Sequence[str], app: typer.Typer) -> Sequence[str]:
    """The first word that is a command: an option without its value is refused before Typer says which it is."""
    group = typer.main.get_command(app)
    return [word for word in words if word in getattr(group, "commands", ())][:1]
