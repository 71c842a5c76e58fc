"""The commands that write single notes: add, pin, unpin, supersede."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memora_cli.cli.app import app
from memora_cli.cli.options import (
    AsJson,
    At,
    Ids,
    Space,
    checked_kind,
    configure,
    file_text,
    note_id,
    now,
    open_memory,
    standard_input,
    week_start,
)
from memora_cli.errors import EmptyNote, Usage

if TYPE_CHECKING:
    from memora_cli.memory import Added
    from memora_cli.values import Window

STATED_WITHIN = 2000  # characters at the start of a text in which it may state its own date

Title = Annotated[str, typer.Option("--title", metavar="TITLE", help="A title; it counts most in keyword search.")]
Topics = Annotated[list[str] | None, typer.Option("--topic", metavar="TOPIC", help="A topic; may be repeated.")]
KindOf = Annotated[
    str, typer.Option("--type", metavar="TYPE", help="world (a fact), agent (what you did) or opinion (a belief).")
]
Occurred = Annotated[
    str | None, typer.Option("--occurred", metavar="WHEN", help='When it happened: a date, or "last spring".')
]
NoDate = Annotated[bool, typer.Option("--no-date", help="Do not take a date that the text states about itself.")]
NoEmbed = Annotated[bool, typer.Option("--no-embed", help="Add without vectors; memora reindex makes them later.")]
Force = Annotated[bool, typer.Option("--force", help="Add it even if the same text is there.")]


@app.command(epilog='Example: memora add "Alice works at Google" --topic people --pin')
def add(
    context: typer.Context,
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="The note; - reads standard input.")] = None,
    title: Title = "",
    topic: Topics = None,
    kind: KindOf = "world",
    about: Annotated[
        str, typer.Option("--context", metavar="TEXT", help="Where the note comes from or belongs to.")
    ] = "",
    at: At = None,
    occurred: Occurred = None,
    entity: Annotated[
        list[str] | None, typer.Option("--entity", metavar="NAME", help="A name the note is about; may be repeated.")
    ] = None,
    pin: Annotated[bool, typer.Option("--pin", help="Pin the note.")] = False,
    supersedes: Annotated[
        list[int] | None,
        typer.Option(
            "--supersedes", metavar="ID", parser=note_id, help="A note that this one replaces; may be repeated."
        ),
    ] = None,
    file: Annotated[Path | None, typer.Option("--file", metavar="PATH", help="A file whose text is the note.")] = None,
    no_date: NoDate = False,
    space: Space = None,
    no_embed: NoEmbed = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Add a note and print its id. The same text twice is one note: its id is printed again.

    Without a text, on a terminal, it is written in $VISUAL or $EDITOR.
    """
    from memora_cli.memory import Memory
    from memora_cli.values import Draft

    config = configure(context, space)
    present = now(at, week_start(config))
    with _given(text, file) as body:
        happened = _happened(body, occurred, present, week_start(config), stated=not no_date)
        draft = Draft(
            body=body,
            title=title,
            topics=tuple(topic or ()),
            kind=checked_kind(kind) or "world",
            context=about,
            created_at=present if at else None,
            occurred=happened,
            entities=tuple(entity or ()),
            pinned=pin,
            supersedes=tuple(supersedes or ()),
        )
        if not draft.body.strip():
            raise EmptyNote
        with Memory(config) as memory:
            added = memory.add(draft, present, embed=not no_embed, force=force)
            if pin and not added.created:
                memory.pin([added.id], present, pinned=True)
    _print_added(added, as_json=as_json, also="; it is pinned now" if pin else "")


@contextmanager
def _given(text: str | None, file: Path | None) -> Iterator[str]:
    """The text of a note: the one given, standard input for a dash, a file, or what is written in an editor."""
    if text is not None and file is not None:
        raise Usage("give the text of the note or --file, not both")
    if file is not None:
        yield file_text(file)
    elif text is not None:
        yield standard_input() if text == "-" else text
    else:
        from memora_cli.cli.editor import at_terminal, written

        if not at_terminal():
            raise EmptyNote
        with written() as made:
            yield made


def _happened(text: str, occurred: str | None, at: datetime, week_start: int, *, stated: bool) -> Window | None:
    """When a note happened: as it was given, else the date that the text states about itself, told to the user."""
    if occurred is not None:
        from memora_cli.text.moments import read_window

        return read_window(occurred, at, week_start=week_start)
    if not stated:
        return None
    from memora_cli.text.stated_dates import stated_date

    window = stated_date(text[:STATED_WITHIN], at, week_start=week_start)
    if window is not None:
        from memora_cli.render.terminal import warn
        from memora_cli.render.times import spoken

        warn(f"memora: it happened {spoken(window)}, as the text says (--no-date leaves that out)")
    return window


def _print_added(added: Added, *, as_json: bool, also: str = "") -> None:
    """The id; what else was done to a note that was there already is told with `also`."""
    from memora_cli.render.terminal import say, warn

    if not added.created:
        warn(f"memora: note {added.id} holds this text already; nothing was added (--force adds it again){also}")
    if added.waits:
        warn(f"memora: note {added.id} is kept but has no vectors yet: {added.waits}; then run memora reindex")
    if as_json:
        _print_json(added)
    else:
        say(str(added.id))


def _print_json(added: Added) -> None:
    from memora_cli.render.shapes import added as shape
    from memora_cli.render.shapes import dumps
    from memora_cli.render.terminal import say

    say(dumps(shape(added)))


@app.command(epilog="Example: memora pin 12 15")
def pin(context: typer.Context, ids: Ids, at: At = None, space: Space = None) -> None:
    """Pin notes: they get a bonus in every search."""
    with open_memory(context, space) as memory:
        memory.pin(ids, now(at, week_start(memory.config)), pinned=True)


@app.command(epilog="Example: memora unpin 12")
def unpin(context: typer.Context, ids: Ids, at: At = None, space: Space = None) -> None:
    """Take the pins off notes."""
    with open_memory(context, space) as memory:
        memory.pin(ids, now(at, week_start(memory.config)), pinned=False)


@app.command(epilog='Example: memora supersede 5 --with "I drink tea now"')
def supersede(
    context: typer.Context,
    old: Annotated[int, typer.Argument(metavar="OLD", parser=note_id, help="The note that no longer holds.")],
    new: Annotated[
        int | None, typer.Argument(metavar="NEW", parser=note_id, help="The note that holds instead.")
    ] = None,
    text: Annotated[str | None, typer.Option("--with", metavar="TEXT", help="A new note instead; - reads it.")] = None,
    topic: Annotated[
        list[str] | None, typer.Option("--topic", metavar="TOPIC", help="A topic of the new note; else those of OLD.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="world, agent or opinion; else what OLD is.")
    ] = None,
    at: At = None,
    no_date: NoDate = False,
    space: Space = None,
    no_embed: NoEmbed = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Let a note replace another, which stays but comes last."""
    if (new is None) == (text is None):
        raise Usage("name the note that replaces it, or give its text: memora supersede OLD NEW, or OLD --with TEXT")
    if new is not None and (topic or kind or no_date or force):
        raise Usage("--topic, --type, --no-date and --force are for a new note: give its text with --with")
    from memora_cli.memory import Added, Memory
    from memora_cli.values import Draft

    config = configure(context, space)
    present = now(at, week_start(config))
    with Memory(config) as memory:
        if new is not None:
            memory.supersede(old, new, present)
            if as_json:
                _print_json(Added(new, created=False))
            return
        body = standard_input() if text == "-" else text or ""
        replaced = memory.view([old])[0].note
        draft = Draft(
            body=body,
            topics=tuple(topic) if topic else replaced.topics,
            kind=checked_kind(kind) or replaced.kind,
            created_at=present if at else None,
            occurred=_happened(body, None, present, week_start(config), stated=not no_date),
            supersedes=(old,),
        )
        _print_added(memory.add(draft, present, embed=not no_embed, force=force), as_json=as_json)
