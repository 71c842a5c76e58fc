"""What a time expression was taken to mean: for people and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from rich.console import Console

from memora_cli.render.shapes import VERSION, Shape, window
from memora_cli.render.terminal import safe, show, table, warn
from memora_cli.text.dates import choose_window
from memora_cli.values import Window


def reading(text: str, at: datetime, windows: Sequence[Window]) -> Shape:
    """The window that a search would take, flat, and all that were found."""
    chosen = window(choose_window(tuple(windows))) or {"start": None, "end": None, "text": None, "grain": None}
    return {
        "version": VERSION,
        "query": text,
        "at": at.isoformat(),
        **chosen,
        "windows": [window(value) for value in windows],
    }


def print_reading(windows: Sequence[Window], at: datetime, console: Console) -> None:
    """The spans found, the one a search takes marked; both ends are days that belong to it."""
    if not windows:
        warn("memora: no time in it")
        return
    chosen = choose_window(tuple(windows))
    several = ("taken",) if len(windows) > 1 else ()
    grid = table("from", "to", "grain", "words", *several, caption=f"asked at {at:%A %Y-%m-%d %H:%M %z}")
    for value in windows:
        taken = ("yes" if value == chosen else "no",) if several else ()
        grid.add_row(*_ends(value), value.grain, safe(value.text), *taken)
    show(grid, console, bare=True)


def spoken(value: Window) -> str:
    """A span in a few words: its day, or its first and last day."""
    first, last = _ends(value)
    return f"on {first}" if first == last else f"from {first} to {last}"


def _ends(value: Window) -> tuple[str, str]:
    """First and last day; with the time of day where the span does not begin and end at midnight."""
    whole = all(
        moment is None or moment.hour == moment.minute == moment.second == 0 for moment in (value.start, value.end)
    )
    form = "%a %Y-%m-%d" if whole else "%a %Y-%m-%d %H:%M"
    last = value.end - timedelta(days=1) if value.end and whole else value.end
    return f"{value.start:{form}}" if value.start else "…", f"{last:{form}}" if last else "…"
