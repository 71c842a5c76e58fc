"""What several commands share: opening the memory, the clock, reading standard input, and common options."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memora_cli.cli import completing
from memora_cli.errors import Usage

LONGEST_ID = 4000  # digits that Python reads as a number

if TYPE_CHECKING:
    from memora_cli.config import Config
    from memora_cli.memory import Memory


def note_id(text: str) -> int:
    """The id that `12` or `#12` means. Raises `Usage`."""
    digits = text.strip().removeprefix("#")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > LONGEST_ID:
        raise Usage(f'"{text}" is no note id: give its number, as 12 or #12')
    return int(digits)


Space = Annotated[
    str | None,
    typer.Option(
        "--space",
        metavar="NAME",
        autocompletion=completing.spaces,
        help='The space to work in; "default" if not set.',
    ),
]
At = Annotated[str | None, typer.Option("--at", metavar="TIME", help="Take this as the present moment.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Ids = Annotated[
    list[int],
    typer.Argument(
        metavar="ID",
        parser=note_id,
        autocompletion=completing.note_ids,
        help="Note ids, as search and list show them: 12 or #12.",
    ),
]
TopicFilter = Annotated[
    list[str] | None,
    typer.Option(
        "--topic",
        metavar="TOPIC",
        autocompletion=completing.topics,
        help="Only notes with this topic; may be repeated.",
    ),
]
TypeFilter = Annotated[
    str | None,
    typer.Option(
        "--type",
        metavar="TYPE",
        autocompletion=completing.one_of("world", "agent", "opinion"),
        help="Only facts (world), deeds (agent) or beliefs (opinion).",
    ),
]
Pinned = Annotated[bool, typer.Option("--pinned", help="Only pinned notes.")]
Current = Annotated[bool, typer.Option("--current", help="Leave superseded notes out.")]

ELSEWHERE = {"db": "--db", "space": "--space", "embedder": "config.toml"}
"""What --set does not take, because it decides which notes and vectors there are; and where it is said instead."""


def configure(
    context: typer.Context,
    space: str | None = None,
    flags: Mapping[str, Any] | None = None,
    pairs: Mapping[str, Any] | None = None,
) -> Config:
    """The settings that flags, --set pairs, environment and configuration file give. Raises `BadSetting`."""
    from memora_cli.config import load

    return load({"db": context.obj, "space": space, **(flags or {})}, pairs=pairs)


def pairs(settings: Iterable[str]) -> dict[str, str]:
    """The settings of --set by key. Raises `Usage`."""
    found = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise Usage(f"--set takes KEY=VALUE, not {setting!r}")
        if (key := key.strip()) in ELSEWHERE:
            raise Usage(f"--set does not take {key}: that is for {ELSEWHERE[key]} to say")
        found[key] = value.strip()
    return found


def open_memory(context: typer.Context, space: str | None = None) -> Memory:
    """The memory that the settings name."""
    from memora_cli.memory import Memory

    return Memory(configure(context, space))


def week_start(config: Config) -> int:
    """The first day of the user's week, 0 for Monday to 6."""
    from memora_cli.text.weeks import first_weekday

    return first_weekday(config.week_start, config.locale)


def now(at: str | None = None, first_weekday: int = 0) -> datetime:
    """The present moment, or the one that was given, in the user's zone. Raises `UnreadableTime`."""
    present = datetime.now(_zone())
    if at is None:
        return present
    from memora_cli.text.moments import read_moment

    return read_moment(at, present, week_start=first_weekday).astimezone(present.tzinfo)


def present_of(memory: Memory, at: str | None) -> datetime:
    """Now, or the moment of `--at`, for an open memory."""
    return now(at, week_start(memory.config))


def _zone() -> tzinfo | None:
    """The user's zone by name; the system's offset, where its name is not known."""
    from zoneinfo import ZoneInfoNotFoundError

    from tzlocal import reload_localzone

    try:
        return reload_localzone()
    except (ZoneInfoNotFoundError, ValueError):
        return datetime.now().astimezone().tzinfo


def standard_input() -> str:
    """All of standard input as text; bytes that are no text keep U+FFFD."""
    from memora_cli.memory.importing import decode

    return decode(sys.stdin.buffer.read())


def file_text(path: Path) -> str:
    """All of a file as text, of standard input for a dash. Raises `Usage` where it cannot be read."""
    from memora_cli.memory.importing import decode

    if str(path) == "-":
        return standard_input()
    try:
        return decode(path.read_bytes())
    except OSError as error:
        raise Usage(f"{path} cannot be read: {error.strerror or error}") from error


def checked_kind(kind: str | None) -> str | None:
    """One of the kinds, or None. Raises `Usage`."""
    from memora_cli.values import KINDS

    if kind is not None and kind not in KINDS:
        raise Usage(f"--type is one of {', '.join(KINDS)}, not {kind!r}")
    return kind
