"""The command that checks everything memora stands on: doctor."""

from __future__ import annotations

from typing import Annotated

import typer

from memora_cli.cli.app import app
from memora_cli.cli.options import AsJson, configure, now

STYLES = {"ok": "green", "warning": "yellow", "broken": "bold red"}


@app.command("doctor", epilog="Example: memora doctor --repair")
def doctor(
    context: typer.Context,
    repair: Annotated[
        bool, typer.Option("--repair", help="Heal the database from its notes; the file as it was is kept beside it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check Python, SQLite, models, database and files, and say what mends what is wrong."""
    from memora_cli.memory.checking import Check, examine, exit_code, is_repairable
    from memora_cli.render.terminal import console, safe, say, show, table

    flags = {"db": context.obj}
    found = list(examine(flags))
    if repair and is_repairable(found):
        from memora_cli.memory.repairing import repair as heal

        healed = heal(configure(context), now())
        said = "; ".join((*healed.done, f"the file as it was is {healed.kept}"))
        found = [*examine(flags), Check("repair", "ok", said)]
    elif repair:
        found.append(Check("repair", "ok", "there is nothing to repair"))
    if as_json:
        from memora_cli.render.shapes import VERSION, dumps

        checks = [
            {"name": one.name, "state": one.state, "detail": one.detail, "remedy": one.remedy or None} for one in found
        ]
        say(dumps({"version": VERSION, "checks": checks}))
    else:
        grid = table(("state", "fixed"), ("check", "fixed"), ("found", "wide"), ("mended by", "wide"))
        for one in found:
            grid.add_row(safe(one.state, STYLES[one.state]), one.name, safe(one.detail), safe(one.remedy))
        show(grid, console(), bare=True)
    if code := exit_code(found):
        raise typer.Exit(code)
