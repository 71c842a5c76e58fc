"""Lists of notes, single notes, and tallies for people: tables on a terminal, plain lines in a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, tzinfo

from rich.console import Console
from rich.text import Text

from memora_cli.memory import NoteView
from memora_cli.render.markdown import markdown
from memora_cli.render.terminal import (
    blocks,
    day,
    ids,
    is_narrow,
    on_terminal,
    pairs,
    plain,
    safe,
    say,
    show,
    table,
    warn,
)
from memora_cli.text.display import visible, visible_line
from memora_cli.values import Note, Order, Tally


def print_list(
    values: Sequence[Note], zone: tzinfo | None, console: Console, *, order: Order = "created", filtered: bool = False
) -> None:
    """Notes with the day that the order is about."""
    if not on_terminal():
        for note in values:
            say(plain((note.id, day(_moment(note, order), zone), ",".join(note.topics), note.name)))
    elif not values:
        warn(
            "memora: no note passes these filters"
            if filtered
            else "memora: no notes here yet: memora add TEXT makes one"
        )
    elif is_narrow(console):
        show(blocks((_heading(note, zone, order), [_name(note)]) for note in values), console)
    else:
        grid = table(("id", "right"), ("date", "fixed"), ("note", "wide"), "topics")
        for note in values:
            grid.add_row(
                f"#{note.id}", day(_moment(note, order), zone), _name(note, _marks(note)), safe(", ".join(note.topics))
            )
        show(grid, console)


def _moment(note: Note, order: Order) -> datetime:
    return (note.occurred_start or note.occurred_end or note.created_at) if order == "occurred" else note.created_at


def _heading(note: Note, zone: tzinfo | None, order: Order) -> Text:
    facts = [day(_moment(note, order), zone), visible_line(", ".join(note.topics)), _marks(note)]
    return Text.assemble((f"#{note.id}", "bold"), *(f"  {fact}" for fact in facts if fact))


def _name(note: Note, marks: str = "") -> Text:
    """The note's name on one line, cut to the width."""
    name = Text(visible_line(note.name), overflow="ellipsis", no_wrap=True, style="dim" if note.superseded_by else "")
    return name.append(f"  {marks}", style="italic") if marks else name


def _marks(note: Note) -> str:
    marks = ["pinned"] if note.pinned else []
    marks += [f"superseded by {ids(note.superseded_by)}"] if note.superseded_by else []
    return " · ".join(marks)


def print_view(view: NoteView, zone: tzinfo | None, console: Console, *, raw: bool = False) -> None:
    """One note whole, with what is connected to it; its text as Markdown on a terminal, unless `raw`."""
    note = view.note
    heading = f"#{note.id}" + (f"  {visible_line(note.title)}" if note.title else "")
    facts = {
        "created": f"{note.created_at.astimezone(zone):%Y-%m-%d %H:%M %z}",
        "happened": _span(note, zone),
        "kind": note.kind,
        "topics": ", ".join(note.topics),
        "context": note.context,
        "entities": ", ".join(view.entities),
        "pinned": "yes" if note.pinned else "",
        "supersedes": _named(view.supersedes, view.names),
        "superseded by": _named(note.superseded_by, view.names),
        "links": list(_links(view)),
        "source": note.source,
    }
    show(Text(heading, style="bold"), console)
    show(pairs(facts), console)
    if raw or not on_terminal():
        show(Text(f"\n{visible(note.body)}\n"), console)
    else:
        console.print("", markdown(note.body), "", sep="\n")


def _named(numbers: Sequence[int], names: Mapping[int, str]) -> list[str]:
    return [f"#{number}  {names.get(number, '')}" for number in numbers]


def _links(view: NoteView) -> Iterator[str]:
    for edge in view.links:
        yield f"{edge.relation} #{edge.target} ({edge.weight:.2f})  {view.names.get(edge.target, '')}"


def _span(note: Note, zone: tzinfo | None) -> str:
    if note.occurred_start is None:
        return f"until {day(note.occurred_end, zone)}" if note.occurred_end else ""
    if note.occurred_end is None:
        return f"since {day(note.occurred_start, zone)}"
    first, last = day(note.occurred_start, zone), day(max(note.occurred_start, note.occurred_end), zone)
    return first if first == last else f"{first} to before {last}"


def print_tallies(values: Sequence[Tally], what: str, console: Console) -> None:
    """Topics or entities with how many notes have them; in a pipe the count stands first, as uniq -c has it."""
    if not on_terminal():
        for tally in values:
            say(plain((tally.notes, tally.name)))
    elif not values:
        warn(f"memora: no {what} here")
    else:
        grid = table(("notes", "right"), what)
        for tally in values:
            grid.add_row(f"{tally.notes:,}", safe(tally.name))
        show(grid, console)
