"""The commands that ask: search and explain."""

from __future__ import annotations

from typing import Annotated

import typer

from memora_cli.cli.app import app
from memora_cli.cli.asking import Answer, asking
from memora_cli.cli.options import note_id


@app.command(epilog='Example: memora search "What did Alice do last spring?"')
@asking
def search(answer: Answer) -> None:
    """Find notes: by meaning, words, connections and time at once."""
    from memora_cli.render import shapes
    from memora_cli.render.notes import print_ids, print_remarks, print_results
    from memora_cli.render.terminal import console, say

    trace = answer.trace
    match answer.form:
        case "json":
            say(shapes.dumps(shapes.search(trace)))
            return
        case "jsonl":
            for result in shapes.results(trace):
                say(shapes.dumps(result))
        case "ids":
            print_ids(trace)
        case _:
            print_results(trace, console())
    print_remarks(trace)


@app.command(epilog='Example: memora explain "Alice\'s job" --note 5')
@asking
def explain(
    answer: Answer,
    note: Annotated[
        int | None, typer.Option("--note", metavar="ID", parser=note_id, help="Explain one note, found or not.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Show all rows of all tables.")] = False,
) -> None:
    """Show every number of a search, from ranks to what was cut. As JSON lines: the scores of a note a line."""
    from memora_cli.render import shapes
    from memora_cli.render.notes import print_ids, print_remarks
    from memora_cli.render.terminal import console, say

    trace = answer.trace
    account = None if note is None else answer.memory.account(trace, note)
    match answer.form:
        case "json":
            say(shapes.dumps(shapes.explain(trace) | ({"note": shapes.account(account)} if account else {})))
        case "jsonl":
            for record in [shapes.account(account)] if account else shapes.explain(trace)["scores"]:
                say(shapes.dumps(record))
            print_remarks(trace)
        case "ids":
            print_ids(trace)
            print_remarks(trace)
        case _ if account:
            from memora_cli.render.account import print_account

            print_account(account, trace, console())
        case _:
            from memora_cli.render.explain import print_explanation

            print_explanation(trace, console(), every=every)
