"""Progress on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def bar(console: Console, total: int | None, unit: str = "notes") -> Iterator[Callable[..., None]]:
    """A bar that the yielded function moves on by some, else one, with the rate and the time that remains."""
    columns = (
        TextColumn(unit),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(unit, total=total, rate="")

        def advance(steps: int = 1) -> None:
            progress.advance(task, steps)
            speed = progress.tasks[0].finished_speed or progress.tasks[0].speed
            progress.update(task, rate=f"{speed:.0f}/s" if speed else "")

        yield advance
