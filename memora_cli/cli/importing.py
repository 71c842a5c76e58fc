"""The command that adds many notes at once: import."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memora_cli.cli.app import app
from memora_cli.cli.options import AsJson, At, Space, configure, now, week_start
from memora_cli.errors import MemoraError

if TYPE_CHECKING:
    from memora_cli.memory.importing import Item
    from memora_cli.values import Draft

STANDARD_INPUT = Path("-")


@app.command("import", epilog="Example: memora import ~/notes")
def import_(
    context: typer.Context,
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="A folder of Markdown, a .md or .jsonl file; - reads JSON lines.")
    ],
    at: At = None,
    space: Space = None,
    as_json: AsJson = False,
) -> None:
    """Add many notes. Importing the same twice adds nothing; a changed file updates its note."""
    from memora_cli.memory import Memory
    from memora_cli.memory.importing import read, read_lines
    from memora_cli.render.terminal import say, warn

    config = configure(context, space)
    present = now(at, week_start(config))
    if path == STANDARD_INPUT:
        items = read_lines(sys.stdin.buffer, "-", present, week_start(config))
    else:
        items = read(path, present, week_start(config))
    left: list[Item] = []
    tally = {"added": 0, "updated": 0, "unchanged": 0}
    waiting, waits = 0, ""
    with Memory(config) as memory, _progress(path) as advance:
        for name, outcome in memory.import_all(_drafts(items, left, advance), present):
            if isinstance(outcome, MemoraError):
                left.append(_refused(name, outcome))
            else:
                tally["added"] += outcome.created
                tally["updated"] += outcome.updated
                tally["unchanged"] += not (outcome.created or outcome.updated)
                waiting, waits = waiting + bool(outcome.waits), outcome.waits or waits
            advance()
    for item in left:
        warn(f"memora: {item.name} was left out: {item.problem}")
    if waiting:
        warn(f"memora: no vectors yet for {waiting} of these notes: {waits}; then run memora reindex")
    harmless, failed = ([item for item in left if item.harmless is kind] for kind in (True, False))
    if as_json:
        from memora_cli.render.shapes import VERSION, dumps

        say(dumps({"version": VERSION, **tally, "failed": _named(failed), "skipped": _named(harmless)}))
    else:
        updated = f", {tally['updated']} updated" if tally["updated"] else ""
        say(f"{tally['added']} added{updated}, {tally['unchanged']} unchanged, {len(left)} left out")
    if failed:
        raise typer.Exit(MemoraError.exit_code)


def _drafts(items: Iterator[Item], left: list[Item], advance: Callable[[], None]) -> Iterator[tuple[str, Draft]]:
    for item in items:
        if item.draft is None:
            left.append(item)
            advance()
        else:
            yield item.name, item.draft


def _refused(name: str, error: MemoraError) -> Item:
    from memora_cli.memory.importing import Item

    return Item(name, problem=str(error))


def _named(items: list[Item]) -> list[dict[str, str]]:
    return [{"name": item.name, "reason": item.problem} for item in items]


def _progress(path: Path) -> AbstractContextManager[Any]:
    """A function that moves a progress bar on by one item; without a terminal it shows nothing."""
    from memora_cli.render.terminal import console

    shown = console(stderr=True)
    if not shown.is_terminal:
        return nullcontext(lambda: None)
    from memora_cli.memory.importing import count
    from memora_cli.render.progress import bar

    return bar(shown, None if path == STANDARD_INPUT else count(path))
