"""The commands that change notes that are there, tell what was changed, and take it back."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memora_cli.cli.app import app
from memora_cli.cli.completing import entities, forgotten_ids, note_ids, topics
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
    present_of,
    standard_input,
    week_start,
)
from memora_cli.errors import EmptyNote, Usage

if TYPE_CHECKING:
    from memora_cli.values import Draft

NOTHING = "none"  # what takes a value away

Id = Annotated[
    int,
    typer.Argument(
        metavar="ID", parser=note_id, autocompletion=note_ids, help="A note id, as search and list show it."
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


@app.command(epilog='Example: memora edit 12 --title "Boiler" --topic home')
def edit(
    context: typer.Context,
    number: Id,
    body: Annotated[
        str | None, typer.Option("--body", metavar="TEXT", help="The new text; - reads standard input.")
    ] = None,
    file: Annotated[Path | None, typer.Option("--file", metavar="PATH", help="A file that holds the new text.")] = None,
    title: Annotated[str | None, typer.Option("--title", metavar="TITLE", help='The new title; "" is none.')] = None,
    topic: Annotated[
        list[str] | None,
        typer.Option(
            "--topic",
            metavar="TOPIC",
            autocompletion=topics,
            help='The topics from now on; may be repeated; "" is none.',
        ),
    ] = None,
    kind: Annotated[str | None, typer.Option("--type", metavar="TYPE", help="world, agent or opinion.")] = None,
    about: Annotated[
        str | None, typer.Option("--context", metavar="TEXT", help='Where the note comes from; "" is nowhere.')
    ] = None,
    occurred: Annotated[
        str | None, typer.Option("--occurred", metavar="WHEN", help="When it happened; none takes that away.")
    ] = None,
    entity: Annotated[
        list[str] | None,
        typer.Option(
            "--entity",
            metavar="NAME",
            autocompletion=entities,
            help='Names it is about, beside those in the text; "" is none.',
        ),
    ] = None,
    at: At = None,
    space: Space = None,
    no_embed: Annotated[
        bool, typer.Option("--no-embed", help="Without vectors for what is new; memora reindex makes them later.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Change a note: by options, or without any its text in $VISUAL or $EDITOR. What it was is kept."""
    from dataclasses import replace

    from memora_cli.memory import Memory
    from memora_cli.render.terminal import say, warn

    config = configure(context, space)
    present = now(at, week_start(config))
    if body is not None and file is not None:
        raise Usage("give the new text with --body or --file, not both")
    fields: dict[str, Any] = {}
    if body is not None:
        fields["body"] = standard_input() if body == "-" else body
    elif file is not None:
        fields["body"] = file_text(file)
    if title is not None:
        fields["title"] = title
    if topic is not None:
        fields["topics"] = tuple(filter(None, topic))
    if kind is not None:
        fields["kind"] = checked_kind(kind)
    if about is not None:
        fields["context"] = about
    if entity is not None:
        fields["entities"] = tuple(filter(None, entity))
    if occurred is not None:
        fields["occurred"] = _occurred(occurred, present, week_start(config))

    def revise(draft: Draft) -> Draft:
        return replace(draft, **fields)

    with Memory(config) as memory:
        note = memory.view([number])[0].note
        writing: Any = nullcontext()
        if not fields:
            from memora_cli.cli.editor import at_terminal, written

            if not at_terminal():
                raise Usage("say what to change: --body, --title, --topic, --type, --context, --occurred or --entity")
            writing = written(note.body + "\n")
        with writing as made:
            if made is not None:
                fields["body"] = made
            if not str(fields.get("body", note.body)).strip():
                raise EmptyNote
            edited = memory.edit(number, revise, present, embed=not no_embed)
    if not edited.changed:
        warn(f"memora: note {number} is as it was")
    if edited.waits:
        warn(
            f"memora: note {number} is changed but its new text has no vectors yet: {edited.waits}; run memora reindex"
        )
    if as_json:
        from memora_cli.render.shapes import dumps
        from memora_cli.render.shapes import edited as shape

        say(dumps(shape(edited)))


def _occurred(text: str, present: Any, first_weekday: int) -> Any:
    if text.strip().lower() in ("", NOTHING):
        return None
    from memora_cli.text.moments import read_window

    return read_window(text, present, week_start=first_weekday)


@app.command(epilog="Example: memora forget 12 15")
def forget(context: typer.Context, ids: Ids, at: At = None, space: Space = None) -> None:
    """Move notes to the trash: they are gone from everything until restore takes them out."""
    from memora_cli.render.terminal import ids as named
    from memora_cli.render.terminal import warn

    with open_memory(context, space) as memory:
        memory.forget(ids, present_of(memory, at))
    warn(f"memora: in the trash: {named(ids)}; memora undo takes them out again, memora purge deletes them")


@app.command(epilog="Example: memora restore 12")
def restore(
    context: typer.Context,
    ids: Annotated[
        list[int] | None,
        typer.Argument(
            metavar="ID",
            parser=note_id,
            autocompletion=forgotten_ids,
            help="Notes in the trash; without any, the trash is listed.",
        ),
    ] = None,
    at: At = None,
    space: Space = None,
    as_json: AsJson = False,
) -> None:
    """Take notes out of the trash, or list what is in it."""
    with open_memory(context, space) as memory:
        present = present_of(memory, at)
        if ids:
            memory.restore(ids, present)
            return
        found = memory.forgotten()
    if as_json:
        from memora_cli.render.shapes import dumps, trash
        from memora_cli.render.terminal import say

        say(dumps(trash(found, present.tzinfo)))
        return
    from memora_cli.render.history import print_trash
    from memora_cli.render.terminal import console

    print_trash(found, present.tzinfo, console())


@app.command(epilog="Example: memora purge --all-forgotten")
def purge(
    context: typer.Context,
    ids: Annotated[
        list[int] | None,
        typer.Argument(
            metavar="ID", parser=note_id, autocompletion=note_ids, help="Notes to delete, in the trash or not."
        ),
    ] = None,
    all_forgotten: Annotated[bool, typer.Option("--all-forgotten", help="Delete all that is in the trash.")] = False,
    yes: Yes = False,
    space: Space = None,
) -> None:
    """Delete notes for good, with their history: no byte of them stays in the database. This cannot be undone."""
    from memora_cli.cli.editor import at_terminal
    from memora_cli.render.terminal import say, warn

    if bool(ids) == all_forgotten:
        raise Usage("name the notes to delete, or say --all-forgotten")
    if not yes and not at_terminal():
        raise Usage("purge deletes for good: say --yes where nobody can be asked")
    with open_memory(context, space) as memory:
        found = memory.purgeable(ids or None)
        if not found:
            warn("memora: the trash is empty")
            return
        if not yes:
            from memora_cli.text.display import visible_line

            for note in found:
                say(f"#{note.id}  {visible_line(note.name)}")
            what = "this note" if len(found) == 1 else f"these {len(found)} notes"
            if not typer.confirm(f"Delete {what} for good?", err=True):
                warn("memora: nothing was deleted")
                raise typer.Exit(1)
        remains = memory.purge([note.id for note in found], now())
        copies = memory.database.copies()
    count = "1 note" if len(found) == 1 else f"{len(found)} notes"
    warn(f"memora: {count} deleted for good")
    if remains:
        warn(f"memora: {remains}")
    for copy in copies:
        warn(f"memora: {copy} was made before an upgrade and may still hold them: delete it when you need it no more")


@app.command(epilog="Example: memora history 12")
def history(context: typer.Context, number: Id, space: Space = None, as_json: AsJson = False) -> None:
    """Show what was done to a note and when, and as a tree what replaced what."""
    from memora_cli.render.terminal import console, say

    with open_memory(context, space) as memory:
        value = memory.history(number)
    zone = now().tzinfo
    if as_json:
        from memora_cli.render import shapes

        say(shapes.dumps(shapes.history(value, zone)))
        return
    from memora_cli.render.history import print_history

    print_history(value, zone, console())


@app.command(epilog="Example: memora undo")
def undo(context: typer.Context, at: At = None, space: Space = None, as_json: AsJson = False) -> None:
    """Take the last change back, whichever command made it, and say what it was. Again, the one before.

    All notes of an import are one change. A note whose adding is taken back goes to the trash.
    """
    from memora_cli.render.terminal import say

    with open_memory(context, space) as memory:
        present = present_of(memory, at)
        value = memory.undo(present)
    if as_json:
        from memora_cli.render import shapes

        say(shapes.dumps(shapes.undone(value, present.tzinfo)))
        return
    from memora_cli.render.history import print_undone

    print_undone(value)
