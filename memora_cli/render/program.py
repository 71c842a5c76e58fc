"""The program as documents read it: its commands, options and settings, with their flags, defaults and ranges."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

from memora_cli.config import BACKENDS, FUSIONS, NUMBERS, WEEK_STARTS, load
from memora_cli.render.reference import MEANINGS


class Parameter(Protocol):
    """What the manual reads of an option or argument, whichever version of Typer made it."""

    name: str
    opts: Sequence[str]
    secondary_opts: Sequence[str]
    metavar: str | None
    help: str | None
    default: Any
    required: bool
    nargs: int
    multiple: bool
    hidden: bool
    is_flag: bool
    param_type_name: str


class Command(Protocol):
    """What the manual reads of a command."""

    name: str
    help: str | None
    epilog: str | None
    params: Sequence[Parameter]


class Program(Command, Protocol):
    """The whole program: global options and commands by name, in the order of `--help`."""

    commands: Mapping[str, Command]


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting as documents show it: its flags ("" without one), environment variable, default and range."""

    key: str
    flags: str
    variable: str
    default: str
    values: str
    meaning: str


def settings(program: Program) -> tuple[Setting, ...]:
    """Every setting in the order of the configuration, with the flags that the program has for it."""
    flags = {
        parameter.name: ", ".join((*parameter.opts, *parameter.secondary_opts))
        for command in (program, program.commands["search"])
        for parameter in command.params
        if parameter.param_type_name == "option"
    }
    origins = load(environment={}, path=Path(os.devnull)).origins
    return tuple(
        Setting(
            key=key,
            flags=flags.get(key) or flags.get(key.removesuffix("_only"), ""),
            variable="MEMORA_" + key.replace(".", "_").upper(),
            default="memora.db in the data folder" if key == "db" else _value(origins[key].value),
            values=_values(key, origins[key].value),
            meaning=meaning,
        )
        for key, meaning in MEANINGS.items()
    )


def _value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _values(key: str, default: object) -> str:
    if isinstance(default, bool):
        return "true, false"
    low, high = NUMBERS.get(key, (0.0, 1000.0) if key.startswith("weights.") else (None, None))
    if low is not None and high is not None:
        return f"{low:g} to {high:,.0f}" if high >= 1000 else f"{low:g} to {high:g}"
    choices = {
        "backend": ", ".join(BACKENDS),
        "fusion": ", ".join(FUSIONS),
        "week_start": f"{WEEK_STARTS[0]} to {WEEK_STARTS[-1]}",
    }
    return choices.get(key, "")


def commands(group: Program, before: str = "") -> Iterator[tuple[str, Command]]:
    """Every command by its whole name, in the order of `--help`; a group stands before what is in it."""
    for name, command in group.commands.items():
        yield before + name, command
        if hasattr(command, "commands"):
            yield from commands(cast(Program, command), f"{before}{name} ")
