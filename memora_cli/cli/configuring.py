"""The command that shows and changes settings: config, with list, get, set, unset, path and edit."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from memora_cli.cli.app import app
from memora_cli.cli.options import AsJson, configure
from memora_cli.errors import BadSetting

if TYPE_CHECKING:
    pass

settings = typer.Typer(rich_markup_mode=None)
app.add_typer(settings, name="config")

Key = Annotated[str, typer.Argument(metavar="KEY", help="A setting, as limit or weights.graph.")]


@settings.callback(invoke_without_command=True, epilog="Example: memora config set half_life_days 365")
def config(context: typer.Context, as_json: AsJson = False) -> None:
    """Show every setting and where its value came from; with a command, read or change one."""
    if context.invoked_subcommand is None:
        list_(context, as_json)


@settings.command("list", epilog="Example: memora config list --json")
def list_(context: typer.Context, as_json: AsJson = False) -> None:
    """Show every setting and where its value came from."""
    from memora_cli.config import config_path
    from memora_cli.render.terminal import console, safe, say, show, table

    settled = configure(context)
    if as_json:
        from memora_cli.render.shapes import VERSION, dumps

        values = {
            key: {"value": _shown(key, item.value), "origin": item.origin} for key, item in settled.origins.items()
        }
        say(dumps({"version": VERSION, "file": str(config_path()), "settings": values}))
        return
    grid = table("setting", "value", "from", caption=f"file: {config_path()}")
    for key, item in settled.origins.items():
        grid.add_row(key, safe(_said(_shown(key, item.value))), safe(item.origin))
    show(grid, console(), bare=True)


@settings.command("get", epilog="Example: memora config get limit")
def get(context: typer.Context, key: Key, as_json: AsJson = False) -> None:
    """Print the value that holds now; an empty line when there is none."""
    from memora_cli.config import known
    from memora_cli.render.terminal import plain, say

    item = configure(context).origins[known(key, "config get")]
    value = _shown(key, item.value)
    if as_json:
        from memora_cli.render.shapes import VERSION, dumps

        say(dumps({"version": VERSION, "key": key, "value": value, "origin": item.origin}))
    else:
        say(plain([_said(value)]))


@settings.command(
    "set",
    epilog="Example: memora config set weights.graph 0.5",
    context_settings={"ignore_unknown_options": True},  # a value may be a number below zero
)
def set_(key: Key, value: Annotated[str, typer.Argument(metavar="VALUE", help="The new value.")]) -> None:
    """Set a value in config.toml; its comments and order stay."""
    from memora_cli.config import config_path
    from memora_cli.config_file import assign

    _tell(assign(config_path(), key, value))
    _tell_variable(key)


@settings.command("unset", epilog="Example: memora config unset weights.graph")
def unset(key: Key) -> None:
    """Take a value out of config.toml, so that the default holds again."""
    from memora_cli.config import config_path
    from memora_cli.config_file import remove

    _tell(remove(config_path(), key))
    _tell_variable(key)


@settings.command("path", epilog="Example: memora config path")
def path() -> None:
    """Print where config.toml is, or would be."""
    from memora_cli.config import config_path
    from memora_cli.render.terminal import say

    say(str(config_path()))


@settings.command("edit", epilog="Example: memora config edit")
def edit() -> None:
    """Open config.toml in $VISUAL or $EDITOR, and check it before it counts."""
    from memora_cli.cli import editor
    from memora_cli.config import config_path
    from memora_cli.config_file import beside, problem, put
    from memora_cli.render.terminal import warn

    file = config_path()
    draft = beside(file, file.read_bytes().decode("utf-8", "replace") if file.exists() else _template())
    try:
        while True:
            editor.edit(draft)
            wrong = problem(draft).replace(str(draft), str(file))
            if not wrong:
                put(draft, file)
                return
            if not sys.stdin.isatty():
                raise BadSetting(f"the file stays as it was: {wrong}")
            warn(f"memora: {wrong}")
            if not typer.confirm("Edit it again? Otherwise the file stays as it was", default=True, err=True):
                raise BadSetting("the file stays as it was")
    finally:
        draft.unlink(missing_ok=True)


def _template() -> str:
    """What a new file begins with: every setting as a comment, with its default."""
    from memora_cli.config import OPENING, SEARCHING, STRATEGIES, config_path, load

    origins = load(environment={}, path=config_path()).origins
    lines = ["# memora's settings. Take the # away from a line to set it; memora config shows what holds."]
    for key in (*OPENING, *SEARCHING):
        value = origins[key].value
        lines.append(f"# {key} =" if value is None else f"# {key} = {_toml(value)}")
    lines += ["", "# [weights]", *(f"# {name} = {_toml(origins[f'weights.{name}'].value)}" for name in STRATEGIES)]
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


def _shown(key: str, value: object) -> object:
    """A setting's value for people: an address without the password in it."""
    from memora_cli.config import masked

    return masked(value) if key == "db" and isinstance(value, str) else value


def _said(value: object) -> str:
    """A value as config.toml has it: true and false in small letters, none as nothing."""
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _tell(still_wrong: str) -> None:
    if still_wrong:
        from memora_cli.render.terminal import warn

        warn(f"memora: done, but this is wrong too: {still_wrong}")


def _tell_variable(key: str) -> None:
    """Say so where a variable of the environment goes over the file."""
    from memora_cli.config import variable

    if os.environ.get(name := variable(key)):
        from memora_cli.render.terminal import warn

        warn(f"memora: as long as {name} is set, it goes over the file")
