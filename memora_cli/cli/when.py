"""The command that tells what a time expression was taken to mean."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memora_cli.cli.app import app
from memora_cli.cli.options import AsJson, At, configure, now, week_start
from memora_cli.errors import EmptyQuery, MemoraError

if TYPE_CHECKING:
    from memora_cli.text.times import TimeParser


@app.command(epilog='Example: memora when "the week before last"')
def when(
    context: typer.Context,
    text: Annotated[list[str], typer.Argument(metavar="TEXT", help="A question; - reads JSON lines of text and at.")],
    at: At = None,
    as_json: AsJson = False,
) -> None:
    """Tell which span of time a text names. Shows its ends, its grain, and the words it came from."""
    from memora_cli.memory import time_parser
    from memora_cli.text.words import normalise

    config = configure(context)
    parser = time_parser(config)
    if text == ["-"]:
        _answer_lines(parser, at, week_start(config))
        return
    words = normalise(" ".join(text))
    if not words.strip():
        raise EmptyQuery
    from memora_cli.render.terminal import console, say
    from memora_cli.render.times import print_reading, reading

    windows = parser.read(words, present := now(at, week_start(config)))
    if as_json:
        from memora_cli.render.shapes import dumps

        say(dumps(reading(words, present, windows)))
    else:
        print_reading(windows, present, console())


def _answer_lines(parser: TimeParser, at: str | None, week_start: int) -> None:
    """One JSON answer for each JSON line, in order; a line that cannot be read answers with its error."""
    import json

    from memora_cli.render.shapes import dumps
    from memora_cli.render.terminal import say
    from memora_cli.render.times import reading

    failed = False
    for line in sys.stdin.buffer:
        if not line.strip():
            continue
        try:
            asked: Any = json.loads(line)
            text, moment = asked["text"], asked.get("at") or at
            present = now(moment, week_start)
            say(dumps(reading(text, present, parser.read(text, present))))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, MemoraError) as error:
            failed = True
            say(dumps({"start": None, "end": None, "error": f"{type(error).__name__}: {error}"}))
    if failed:
        raise typer.Exit(MemoraError.exit_code)
