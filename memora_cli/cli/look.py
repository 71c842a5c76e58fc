"""The commands that look at notes: show, list, graph, stats."""

from __future__ import annotations

from typing import Annotated

import typer

from memora_cli.cli import completing
from memora_cli.cli.app import app
from memora_cli.cli.filters import Since, Until, read_filters
from memora_cli.cli.forms import IdsOnly, Jsonl, NoteFormat, one_form
from memora_cli.cli.options import (
    AsJson,
    Current,
    Ids,
    Pinned,
    Space,
    TopicFilter,
    TypeFilter,
    configure,
    note_id,
    now,
    open_memory,
    week_start,
)
from memora_cli.errors import Usage

MOST = 2**63 - 1  # a limit beyond what a database counts is none


@app.command(epilog="Example: memora show 12")
def show(
    context: typer.Context,
    ids: Ids,
    raw: Annotated[bool, typer.Option("--raw", help="Show the text as it was typed, not as Markdown.")] = False,
    space: Space = None,
    as_json: AsJson = False,
    jsonl: Jsonl = False,
    template: NoteFormat = None,
) -> None:
    """Show notes whole, with all that is connected to them."""
    from memora_cli.render.terminal import console, say

    form = one_form(as_json=as_json, jsonl=jsonl, template=template)
    with open_memory(context, space) as memory:
        views = memory.view(ids)
    zone = now().tzinfo
    if form == "people":
        from memora_cli.render.notes import print_view
        from memora_cli.render.pager import paged

        screen = console()
        with paged(screen):
            for value in views:
                print_view(value, zone, screen, raw=raw)
        return
    from memora_cli.render import shapes

    if template is not None:
        from memora_cli.render.template import print_records

        print_records((shapes.named(shapes.view(value, zone), value.note) for value in views), template)
    elif form == "json":
        say(shapes.dumps({"version": shapes.VERSION, "notes": [shapes.view(value, zone) for value in views]}))
    else:
        for value in views:
            say(shapes.dumps(shapes.view(value, zone)))


@app.command("list", epilog="Example: memora list --topic people --sort title -n 0")
def list_(
    context: typer.Context,
    limit: Annotated[int, typer.Option("-n", "--limit", metavar="N", min=0, help="How many; 0 is all.")] = 20,
    order: Annotated[
        str,
        typer.Option(
            "--sort",
            metavar="KEY",
            autocompletion=completing.one_of("created", "occurred", "title", "id", "length"),
            help="By created, occurred, title, id or length.",
        ),
    ] = "created",
    reverse: Annotated[bool, typer.Option("-r", "--reverse", help="The other way round.")] = False,
    topic: TopicFilter = None,
    kind: TypeFilter = None,
    since: Since = None,
    until: Until = None,
    pinned: Pinned = False,
    current: Current = False,
    forgotten: Annotated[bool, typer.Option("--forgotten", help="What is in the trash, last forgotten first.")] = False,
    space: Space = None,
    as_json: AsJson = False,
    jsonl: Jsonl = False,
    ids: IdsOnly = False,
    template: NoteFormat = None,
) -> None:
    """List notes, newest first. By title they stand from A to Z, by length the longest first."""
    from memora_cli.memory import Memory
    from memora_cli.render.terminal import console, say
    from memora_cli.values import ORDERS, Filters

    form = one_form(as_json=as_json, jsonl=jsonl, ids=ids, template=template)
    key = next((known for known in ORDERS if known == order), None)
    if key is None:
        raise Usage(f"--sort is one of {', '.join(ORDERS)}, not {order!r}")
    config = configure(context, space)
    present = now(None, week_start(config))
    with Memory(config) as memory:
        filters = read_filters(
            memory.space,
            present,
            kind=kind,
            topic=topic,
            since=since,
            until=until,
            pinned=pinned,
            week_start=week_start(config),
        )
        most = limit if 0 < limit <= MOST else None
        if not forgotten:
            found = memory.notes(filters, current_only=current, limit=most, order=key, reverse=reverse)
        elif current or filters != Filters(space=filters.space):
            raise Usage("--forgotten lists the trash, which has no filters: leave them out")
        else:
            found = memory.forgotten()[:most]
    if form == "people" and forgotten:
        from memora_cli.render.history import print_trash

        print_trash(found, present.tzinfo, console())
    elif form == "people":
        from memora_cli.render.notes import print_list
        from memora_cli.render.pager import paged

        screen = console()
        with paged(screen):
            filtered = current or filters != Filters(space=filters.space)
            print_list(found, present.tzinfo, screen, order=key, filtered=filtered)
    elif form == "ids":
        for note in found:
            say(str(note.id))
    elif template is not None:
        from memora_cli.render import shapes
        from memora_cli.render.template import print_records

        print_records((shapes.named(shapes.note(note, present.tzinfo), note) for note in found), template)
    else:
        from memora_cli.render import shapes

        if form == "json":
            say(shapes.dumps((shapes.trash if forgotten else shapes.listing)(found, present.tzinfo)))
        else:
            for note in found:
                say(shapes.dumps(shapes.note(note, present.tzinfo)))


@app.command(epilog="Example: memora graph 12 --depth 2")
def graph(
    context: typer.Context,
    number: Annotated[
        int,
        typer.Argument(
            metavar="ID", parser=note_id, autocompletion=completing.note_ids, help="The note to start from."
        ),
    ],
    depth: Annotated[int, typer.Option("--depth", metavar="STEPS", min=1, max=10, help="How far to go.")] = 1,
    limit: Annotated[
        int, typer.Option("-n", "--limit", metavar="N", min=0, help="Neighbours of a kind from each note; 0 is all.")
    ] = 10,
    as_dot: Annotated[bool, typer.Option("--dot", help="Print a drawing for Graphviz.")] = False,
    space: Space = None,
    as_json: AsJson = False,
) -> None:
    """Show the notes around a note as a tree, by kind of connection, with weights."""
    from memora_cli.render.terminal import console, say

    if as_dot and as_json:
        raise Usage("one form at a time: --json or --dot")
    with open_memory(context, space) as memory:
        value = memory.neighbourhood(number, depth, limit or None)
    if as_json:
        from memora_cli.render.shapes import dumps, neighbourhood

        say(dumps(neighbourhood(value)))
    elif as_dot:
        from memora_cli.render.graph import dot

        for line in dot(value):
            say(line)
    else:
        from memora_cli.render.graph import print_graph
        from memora_cli.render.pager import paged

        screen = console()
        with paged(screen):
            print_graph(value, screen)


@app.command(epilog="Example: memora stats")
def stats(context: typer.Context, space: Space = None, as_json: AsJson = False) -> None:
    """Show how much the memory holds, and what it runs on."""
    from memora_cli.render.terminal import console, say

    with open_memory(context, space) as memory:
        value = memory.statistics(now())
    if as_json:
        from memora_cli.render.shapes import dumps, statistics

        say(dumps(statistics(value)))
        return
    from memora_cli.render.statistics import print_statistics

    print_statistics(value, console())
