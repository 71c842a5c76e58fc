"""The command that adds many notes at once: import."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memora_cli.cli.app import app
from memora_cli.cli.options import AsJson, At, Space, configure, now, week_start
from memora_cli.errors import MemoraError

if TYPE_CHECKING:
    from memora_cli.memory.importing import Item
    from memora_cli.memory.intake import Gone, Taken

STANDARD_INPUT = Path("-")


@app.command("import", epilog="Example: memora import ~/notes")
def import_(
    context: typer.Context,
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="A folder of Markdown, a .md or .jsonl file; - reads JSON lines.")
    ],
    at: At = None,
    no_embed: Annotated[
        bool, typer.Option("--no-embed", help="Import without vectors; memora reindex makes them later.")
    ] = False,
    space: Space = None,
    as_json: AsJson = False,
) -> None:
    """Add many notes. Importing the same twice adds nothing; a changed file updates its note."""
    from memora_cli.memory import Memory
    from memora_cli.memory.importing import capped, read, read_lines
    from memora_cli.render.terminal import say, warn

    config = configure(context, space)
    present = now(at, week_start(config))
    if path == STANDARD_INPUT:
        items = read_lines(sys.stdin.buffer, "-", present, week_start(config))
    else:
        items = read(path, present, week_start(config))
    report = Report()
    with Memory(config) as memory, _progress(path) as advance:
        intake = memory.intake(present, embed=not no_embed, into=space)
        for taken in intake.take(report.readable(capped(items), advance)):
            report.count(taken)
            advance()
        report.unrelated += intake.unrelated
        report.waits = report.waits or intake.waits
        if path != STANDARD_INPUT and path.is_dir():
            report.gone = memory.gone(path, report.seen)
    for line in report.remarks():
        warn(f"memora: {line}")
    if as_json:
        from memora_cli.render.shapes import VERSION, dumps

        say(dumps({"version": VERSION, **report.shape()}))
    else:
        say(report.summary())
    if report.failed:
        raise typer.Exit(MemoraError.exit_code)


@dataclass
class Report:
    """What an import did, gathered as it goes."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    history: int = 0
    waiting: int = 0
    waits: str = ""
    left: list[Item] = field(default_factory=list)
    unread: list[tuple[str, str, str]] = field(default_factory=list)
    unrelated: list[str] = field(default_factory=list)
    gone: list[Gone] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    @property
    def failed(self) -> list[Item]:
        """What was left out and should not have been."""
        return [item for item in self.left if not item.harmless]

    def readable(self, items: Iterator[Item], advance: Callable[[], None]) -> Iterator[Item]:
        """The items that can be taken in; the others are left out."""
        for item in items:
            self.seen.add(item.path)
            if item.page:
                self.unread += [(item.name, key, value) for key, value in item.page.unread]
            if item.problem:
                self.left.append(item)
                advance()
            else:
                yield item

    def count(self, taken: Taken) -> None:
        """Count what became of an item."""
        outcome = taken.outcome
        if isinstance(outcome, MemoraError):
            self.left.append(replace(taken.item, draft=None, record=None, kept=None, problem=str(outcome)))
            return
        if taken.item.beside:
            self.history += outcome.created
            return
        self.added += outcome.created
        self.updated += outcome.updated
        self.unchanged += not (outcome.created or outcome.updated)
        self.waiting += bool(outcome.waits)
        self.waits = self.waits or outcome.waits

    def remarks(self) -> Iterator[str]:
        """What the user should know, a line each."""
        for name, key, value in self.unread:
            yield f"{name}: {key} was not understood and is left out: {value}"
        for item in self.left:
            yield f"{item.name} was left out: {item.problem}"
        for reason in self.unrelated:
            yield f"a relation was left out: {reason}"
        for file in self.gone:
            yield f"{file.name} is gone; its note {file.note_id} stays"
        if self.gone:
            ids = " ".join(str(file.note_id) for file in self.gone)
            yield f"to forget what is gone: memora forget {ids}"
        if self.waits:
            count = f"{self.waiting} of these" if self.waiting else "these"
            yield f"no vectors yet for {count} notes: {self.waits}; then run memora reindex"

    def summary(self) -> str:
        """The counts on one line."""
        return (
            f"{self.added} added, {self.updated} updated, {self.unchanged} unchanged, {len(self.gone)} gone, "
            f"{len(self.left)} left out{history(self.history)}"
        )

    def shape(self) -> dict[str, Any]:
        """The counts and names for JSON."""
        return {
            "added": self.added,
            "updated": self.updated,
            "unchanged": self.unchanged,
            "gone": [{"name": file.name, "id": file.note_id} for file in self.gone],
            "failed": _named(self.failed),
            "skipped": _named([item for item in self.left if item.harmless]),
            "unread": [{"name": name, "key": key, "value": value} for name, key, value in self.unread],
            "unrelated": self.unrelated,
            "history": self.history,
        }


def history(lines: int) -> str:
    """How many lines are no notes: changes, past texts, aliases, the trash; nothing is said of none."""
    return f", {lines} of history" if lines else ""


def _named(items: list[Item]) -> list[dict[str, str]]:
    return [{"name": item.name, "reason": item.problem} for item in items]


def _progress(path: Path) -> AbstractContextManager[Callable[..., None]]:
    """A bar that moves on by one item; the items are counted only where it is seen."""
    from memora_cli.memory.importing import count
    from memora_cli.render.progress import bar
    from memora_cli.render.terminal import console

    shown = console(stderr=True)
    return bar(shown, count(path) if shown.is_terminal and path != STANDARD_INPUT else None)
