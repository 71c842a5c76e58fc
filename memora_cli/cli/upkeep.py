"""The command that looks after the memory: reindex."""

from __future__ import annotations

import typer

from memora_cli.cli.app import app
from memora_cli.cli.options import Space, open_memory


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
            with bar(shown, of, step) as advance:
                for batch in batches:
                    done[step] += batch.notes
                    advance(batch.notes)
    say(f"{done['vectors']} notes got vectors" + (f", {done['links']} were linked anew" if done["links"] else ""))
