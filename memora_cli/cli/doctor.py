"""The command that checks everything memora stands on: doctor."""

from __future__ import annotations

import typer

from memora_cli.cli.app import app
from memora_cli.cli.options import AsJson

STYLES = {"ok": "green", "warning": "yellow", "broken": "bold red"}


@app.command("doctor", epilog="Example: memora doctor")
def doctor(context: typer.Context, as_json: AsJson = False) -> None:
    """Check Python, SQLite, models, database and files, and say what mends what is wrong."""
    from memora_cli.memory.checking import examine, exit_code
    from memora_cli.render.terminal import console, safe, say, show, table

    found = list(examine({"db": context.obj}))
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
