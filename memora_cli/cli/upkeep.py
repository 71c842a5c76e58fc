"""The commands that look after the memory: reindex, config."""

from __future__ import annotations

from contextlib import nullcontext

import typer

from memora_cli.cli.app import app
from memora_cli.cli.options import AsJson, Space, configure, open_memory


@app.command(epilog="Example: memora reindex")
def reindex(context: typer.Context, space: Space = None) -> None:
    """Make the vectors that notes lack, and the indexes anew. May be stopped and resumed.

    After a change of the model the vectors of the one before answer until all notes have new ones.
    """
    from itertools import groupby

    from memora_cli.render.progress import bar
    from memora_cli.render.terminal import console, say

    done = {"vectors": 0, "links": 0}
    shown = console(stderr=True)
    with open_memory(context, space) as memory:
        for (step, of), batches in groupby(memory.reindex(), key=lambda batch: (batch.step, batch.of)):
            with bar(shown, of, step) if shown.is_terminal else nullcontext() as advance:
                for batch in batches:
                    done[step] += batch.notes
                    if advance:
                        advance(batch.notes)
    say(f"{done['vectors']} notes got vectors" + (f", {done['links']} were linked anew" if done["links"] else ""))


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
