"""The Typer application: global options, and the commands from their files."""

from __future__ import annotations

from typing import Annotated

import typer

from memora_cli import __version__

app = typer.Typer(
    name="memora",
    help="A memory for your notes: add them, pin them, supersede them, and ask in plain words.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"memora {__version__}")
        raise typer.Exit


@app.callback()
def settle(
    context: typer.Context,
    db: Annotated[
        str | None,
        typer.Option("--db", metavar="PATH", help="The database file; else MEMORA_DB, config.toml, your data folder."),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """A memory for your notes: add them, pin them, supersede them, and ask in plain words."""
    del version
    context.obj = db


# Each file adds its commands to the app, in the order of --help.
# isort: off
from memora_cli.cli import (  # noqa: E402
    capture,  # noqa: F401
    search,  # noqa: F401
    look,  # noqa: F401
    tally,  # noqa: F401
    when,  # noqa: F401
    change,  # noqa: F401
    linking,  # noqa: F401
    importing,  # noqa: F401
    exporting,  # noqa: F401
    backups,  # noqa: F401
    evaluating,  # noqa: F401
    upkeep,  # noqa: F401
    models,  # noqa: F401
    working,  # noqa: F401
    configuring,  # noqa: F401
    doctor,  # noqa: F401
    schema,  # noqa: F401
)
