"""The commands that ask: search and explain."""

from __future__ import annotations

from typing import Annotated

import typer

from memora_cli.cli.app import app
from memora_cli.cli.asking import Asked, asking
from memora_cli.cli.options import AsJson


@app.command(epilog='Example: memora search "What did Alice do last spring?"')
@asking
def search(
    asked: Asked,
    as_json: AsJson = False,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="Print one JSON result a line.")] = False,
    ids: Annotated[bool, typer.Option("--ids", help="Print ids only.")] = False,
    exit_status: Annotated[bool, typer.Option("-e", "--exit-status", help="Exit with 1 on no result.")] = False,
) -> None:
    """Find notes: by meaning, words, connections and time at once."""
    from memora_cli.render.notes import print_remarks, print_results
    from memora_cli.render.terminal import console, say

    trace = asked.memory.search(asked.query)
    if ids:
        for candidate in trace.results:
            say(str(candidate.note.id))
        print_remarks(trace)
    elif as_json or jsonl:
        from memora_cli.render import shapes

        if as_json:
            say(shapes.dumps(shapes.search(trace)))
        else:
            for result in shapes.results(trace):
                say(shapes.dumps(result))
            print_remarks(trace)
    else:
        print_results(trace, console())
    if exit_status and not trace.results:
        raise typer.Exit(1)


@app.command(epilog='Example: memora explain "Alice\'s job" --note 5')
@asking
def explain(
    asked: Asked,
    note: Annotated[int | None, typer.Option("--note", metavar="ID", help="Explain one note, found or not.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Show all rows of all tables.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show every number of a search, from ranks to what was cut."""
    from memora_cli.render import shapes
    from memora_cli.render.terminal import console, say

    trace = asked.memory.search(asked.query)
    if note is None:
        if as_json:
            say(shapes.dumps(shapes.explain(trace)))
        else:
            from memora_cli.render.explain import print_explanation

            print_explanation(trace, console(), every=every)
        return
    account = asked.memory.account(trace, note)
    if as_json:
        say(shapes.dumps(shapes.explain(trace) | {"note": shapes.account(account)}))
    else:
        from memora_cli.render.account import print_account

        print_account(account, trace, console())
