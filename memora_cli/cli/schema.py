"""The command that prints the JSON Schema of what commands print: schema."""

from __future__ import annotations

from typing import Annotated

import typer

from memora_cli.cli.app import app
from memora_cli.errors import Usage


@app.command("schema", epilog="Example: memora schema search")
def schema(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND", help="A command with JSON output; without one they are listed."),
    ] = None,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="The schema of a line that it prints with --jsonl.")] = False,
) -> None:
    """Print the JSON Schema of what a command prints with --json."""
    import json

    from memora_cli.render.schemas import SCHEMAS, document
    from memora_cli.render.terminal import say

    if not command:
        for name in SCHEMAS:
            say(name)
        return
    name = " ".join(command) + (" --jsonl" if jsonl else "")
    if name not in SCHEMAS:
        raise Usage(f"there is no JSON output of {name!r}: memora schema lists them")
    say(json.dumps(document(name), indent=2))
