"""The command that looks after the memory: reindex."""

from __future__ import annotations

import typer

from memora_cli.cli.app import app
from memora_cli.cli.options import Space, open_memory


@app.command(epilog="Example: memora reindex")
def reindex(context: typer.Context, space: Space = None) -> None:
    """Make the vectors that notes lack, and the indexes anew. May be stopped and resumed."""
    from memora_cli.render.terminal import say

    with open_memory(context, space) as memory:
        done = sum(memory.reindex())
    say(f"{done} notes got vectors")
