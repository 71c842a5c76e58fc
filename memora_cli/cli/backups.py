"""The commands that copy the database and put a copy in its place: backup, restore-backup."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from memora_cli.cli.app import app
from memora_cli.cli.options import AsJson, configure, now
from memora_cli.errors import Usage

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


@app.command("backup", epilog="Example: memora backup memora-backup.db")
def backup(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The file to make.")],
    force: Annotated[bool, typer.Option("--force", help="Write over an existing file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Copy the database to a file, whoever writes to it meanwhile, and check the copy."""
    from memora_cli.memory import Memory
    from memora_cli.memory.backup import back_up
    from memora_cli.render.terminal import say
    from memora_cli.store.database import location

    config = configure(context)
    location(config.db)  # refuses what is no file before it is opened
    with Memory(config) as memory:
        made = back_up(memory.database.address, path, force=force)
    if as_json:
        from memora_cli.render.shapes import VERSION, dumps

        say(dumps({"version": VERSION, "path": str(made.path), "bytes": made.bytes}))
    else:
        say(f"{made.path} has {made.bytes:,} bytes and is whole")


@app.command("restore-backup", epilog="Example: memora restore-backup memora-backup.db")
def restore_backup(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A file that memora backup made.")],
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Put a backup in the place of the database; what was there is kept beside it under another name."""
    from memora_cli.memory.backup import examine, restore
    from memora_cli.render.terminal import say
    from memora_cli.store.database import location

    database = location(configure(context).db)
    examine(path)
    if not yes and database.exists():
        if not sys.stdin.isatty():
            raise Usage(f"this replaces every note in {database} with those of {path}: say --yes")
        if not typer.confirm(f"Replace every note in {database} with those of {path}?", err=True):
            raise Usage("nothing was changed")
    done = restore(database, path, now())
    if as_json:
        from memora_cli.render.shapes import VERSION, dumps

        kept = str(done.kept) if done.kept else None
        say(dumps({"version": VERSION, "path": str(done.path), "kept": kept}))
    else:
        say(f"{done.path} holds the notes of {path}" + (f"; the earlier ones are in {done.kept}" if done.kept else ""))
