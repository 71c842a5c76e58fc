"""The commands that ask: search and explain."""

from __future__ import annotations

from typing import Annotated

import typer

from memora_cli.cli import completing
from memora_cli.cli.app import app
from memora_cli.cli.asking import Answer, asking
from memora_cli.cli.forms import ResultFormat
from memora_cli.cli.options import note_id
from memora_cli.errors import Usage


@app.command(epilog='Example: memora search "What did Alice do last spring?"')
@asking
def search(
    answer: Answer,
    template: ResultFormat = None,
    opened: Annotated[bool, typer.Option("--open", help="Open the best result in the editor.")] = False,
) -> None:
    """Find notes: by meaning, words, connections and time at once."""
    from memora_cli.render import shapes
    from memora_cli.render.results import print_ids, print_remarks, print_results
    from memora_cli.render.terminal import console, say

    if answer.form != "people" and (opened or template is not None):
        raise Usage(f"one form at a time: --{answer.form} or {'--open' if opened else '--format'}")
    trace = answer.trace
    if opened and trace.results:
        from memora_cli.cli.opening import open_note

        open_note(answer.memory, trace.results[0].note.id, trace.query.at)
        return
    match answer.form:
        case "json":
            say(shapes.dumps(shapes.search(trace)))
            return
        case "jsonl":
            for result in shapes.results(trace):
                say(shapes.dumps(result))
        case "ids":
            print_ids(trace)
        case _ if template is not None:
            from memora_cli.render.template import print_records

            records = zip(shapes.results(trace), trace.results, strict=True)
            print_records((shapes.named(record, found.note) for record, found in records), template)
        case _:
            print_results(trace, console())
    print_remarks(trace)
    if not trace.results and answer.form == "people":
        from memora_cli.render.hints import print_hints

        print_hints(trace, answer.memory.near_miss(trace))


@app.command(epilog='Example: memora explain "Alice\'s job" --note 5')
@asking
def explain(
    answer: Answer,
    note: Annotated[
        int | None,
        typer.Option(
            "--note",
            metavar="ID",
            parser=note_id,
            autocompletion=completing.note_ids,
            help="Explain one note, found or not.",
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Show all rows of all tables.")] = False,
) -> None:
    """Show every number of a search, from ranks to what was cut. As JSON lines: the scores of a note a line."""
    from memora_cli.render import explained, shapes
    from memora_cli.render.results import print_ids, print_remarks
    from memora_cli.render.terminal import console, say

    trace = answer.trace
    account = None if note is None else answer.memory.account(trace, note)
    match answer.form:
        case "json":
            say(shapes.dumps(explained.explain(trace) | ({"note": explained.account(account)} if account else {})))
        case "jsonl":
            for record in [explained.account(account)] if account else explained.explain(trace)["scores"]:
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
