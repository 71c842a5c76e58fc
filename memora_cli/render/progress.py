"""Progress on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


@contextmanager
def stages(console: Console) -> Iterator[Callable[[str, int, int], None]]:
    """A bar for one stage after the other; the yielded function is told of a stage, what is done and how much there is.

    What is downloaded is counted in bytes, all else in parts.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[said]}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=None, said="")

        def report(stage: str, done: int, total: int) -> None:
            said = f"{done / 1e6:,.1f} of {total / 1e6:,.1f} MB" if stage == "download" else f"{done} of {total}"
            progress.update(task, description=stage, completed=done, total=total or None, said=said)

        yield report


@contextmanager
def bar(console: Console, total: int | None, unit: str = "notes") -> Iterator[Callable[..., None]]:
    """A bar that the yielded function moves on by some, else one, with the rate and the time that remains.

    Without a terminal nothing is shown.
    """
    if not console.is_terminal:
        yield lambda _steps=1: None
        return
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
