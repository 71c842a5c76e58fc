"""The way to standard output: a Rich console on a terminal, plain tab-separated lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, tzinfo

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from memora_cli.text.display import visible, visible_line

NARROW = 60  # columns below which notes stand in blocks, not in a table
INDENT = 2


def console(*, stderr: bool = False) -> Console:
    """A console that takes square brackets as text and honours NO_COLOR, TERM and the width."""
    # A progress bar does move the cursor, so it writes past the guard that the command line puts around standard error.
    file = getattr(sys.stderr, "unguarded", None) if stderr else None
    return Console(file=file, stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=False)


def on_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout.isatty()


def show(part: Table | Text, console: Console, *, bare: bool = False) -> None:
    """A table or a text: as Rich draws it on a terminal; elsewhere as tab-separated lines, whole.

    The lines are a table's title, headings, rows and caption; `bare` leaves all but the rows out.
    """
    if on_terminal():
        console.print(part)
    elif isinstance(part, Text):
        say(part.plain)
    else:
        headed = part.show_header and not bare
        if part.title and not bare:
            say(_words(part.title))
        if headed:
            say(plain(_words(column.header) for column in part.columns))
        for row in zip(*(column.cells for column in part.columns), strict=True):
            say(plain(map(_words, row)))
        if part.caption and not bare:
            say(plain([_words(part.caption)]))


def _words(cell: RenderableType) -> str:
    return cell.plain if isinstance(cell, Text) else str(cell)


def say(line: str) -> None:
    """One line on standard output, made safe for a terminal; JSON is ASCII and stays as it is."""
    sys.stdout.write(visible(line) + "\n")


def warn(message: str) -> None:
    """One line on standard error, made safe for a terminal."""
    sys.stderr.write(visible(message) + "\n")


def plain(columns: Iterable[object]) -> str:
    """Tab-separated columns on one line, safe for a terminal, never cut."""
    return "\t".join(visible_line(str(column)) for column in columns)


def safe(text: str, style: str = "") -> Text:
    """Untrusted text for a table: one line, visible controls, no markup."""
    return Text(visible_line(text), style=style)


def day(moment: datetime, zone: tzinfo | None) -> str:
    """The date in the user's zone."""
    return f"{moment.astimezone(zone):%Y-%m-%d}"


def table(*columns: str | tuple[str, str], title: str = "", caption: str = "") -> Table:
    """A table with light lines; a column is a heading, or a heading with its kind.

    Kinds: "right" and "fixed" are as wide as they need, "wide" and "name" share the room that is left; a name is cut
    to one line.
    """
    kinds = [column if isinstance(column, tuple) else (column, "") for column in columns]
    made = Table(
        title=Text(title) if title else None,
        title_justify="left",
        title_style="bold",
        caption=Text(caption) if caption else None,
        caption_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        header_style="bold",
        show_edge=False,
        expand=any(kind in {"name", "wide"} for _, kind in kinds),
    )
    for heading, kind in kinds:
        made.add_column(
            heading,
            justify="right" if kind == "right" else "left",
            no_wrap=kind in {"right", "fixed", "name"},
            ratio=1 if kind in {"name", "wide"} else None,
            overflow="ellipsis" if kind == "name" else "fold",
        )
    return made


def pairs(facts: Mapping[str, str | Sequence[str]]) -> Table:
    """Names and values below each other; a name without a value is left out, several values stand below each other."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in facts.items():
        for place, line in enumerate([value] if isinstance(value, str) else value):
            if line:
                grid.add_row(Text("" if place else name, style="dim"), safe(line))
    return grid


def blocks(records: Iterable[tuple[Text, Sequence[Text]]]) -> Table:
    """Records below each other for a narrow terminal: a heading, and lines below it that are set in."""
    grid = Table.grid()
    grid.add_column(overflow="fold")
    for heading, lines in records:
        grid.add_row(heading)
        for line in lines:
            grid.add_row(Padding(line, (0, 0, 0, INDENT)))
    return grid


def is_narrow(console: Console) -> bool:
    """Whether the terminal has no room for a table of notes."""
    return console.width < NARROW


def number(value: float, digits: int = 4) -> str:
    """A number with a fixed count of decimals, and no minus before zero."""
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0.0 else text


def ids(numbers: Sequence[int]) -> str:
    """Note ids as people write them."""
    return ", ".join(f"#{value}" for value in numbers)
