"""The commands that look after the memory: reindex, config."""

from __future__ import annotations

import typer

from memora_cli.cli.app import app
from memora_cli.cli.options import AsJson, Space, configure, open_memory


@app.command(epilog="Example: memora reindex")
def reindex(context: typer.Context, space: Space = None) -> None:
    """Make the vectors that notes lack, and the indexes anew. May be stopped and resumed."""
    from memora_cli.render.terminal import say

    with open_memory(context, space) as memory:
        done = sum(memory.reindex())
    say(f"{done} notes got vectors")


@app.command(epilog="Example: memora config")
def config(context: typer.Context, as_json: AsJson = False) -> None:
    """Show every setting and where its value came from."""
    from memora_cli.config import config_path
    from memora_cli.render.terminal import console, safe, say, show, table

    settled = configure(context)
    if as_json:
        from memora_cli.render.shapes import VERSION, dumps

        values = {key: {"value": item.value, "origin": item.origin} for key, item in settled.origins.items()}
        say(dumps({"version": VERSION, "file": str(config_path()), "settings": values}))
    else:
        grid = table("setting", "value", "from", caption=f"file: {config_path()}")
        for key, item in settled.origins.items():
            grid.add_row(key, safe("" if item.value is None else str(item.value)), safe(item.origin))
        show(grid, console(), bare=True)
