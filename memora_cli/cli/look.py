"""The commands that look at notes: show, list, stats."""

from __future__ import annotations

from typing import Annotated

import typer

from memora_cli.cli.app import app
from memora_cli.cli.options import (
    AsJson,
    Current,
    Ids,
    Pinned,
    Space,
    TopicFilter,
    TypeFilter,
    checked_kind,
    now,
    open_memory,
)

MOST = 2**63 - 1  # a limit beyond what a database counts is none


@app.command(epilog="Example: memora show 12")
def show(context: typer.Context, ids: Ids, space: Space = None, as_json: AsJson = False) -> None:
    """Show notes whole, with all that is connected to them."""
    from memora_cli.render.terminal import console, say

    with open_memory(context, space) as memory:
        views = memory.view(ids)
    zone = now().tzinfo
    if as_json:
        from memora_cli.render.shapes import VERSION, dumps, view

        say(dumps({"version": VERSION, "notes": [view(value, zone) for value in views]}))
        return
    from memora_cli.render.notes import print_view

    for value in views:
        print_view(value, zone, console())


@app.command("list", epilog="Example: memora list --topic people -n 0")
def list_(
    context: typer.Context,
    limit: Annotated[int, typer.Option("-n", "--limit", metavar="N", min=0, help="How many; 0 is all.")] = 20,
    topic: TopicFilter = None,
    kind: TypeFilter = None,
    pinned: Pinned = False,
    current: Current = False,
    space: Space = None,
    as_json: AsJson = False,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="Print one JSON note a line.")] = False,
    ids: Annotated[bool, typer.Option("--ids", help="Print ids only.")] = False,
) -> None:
    """List notes, newest first."""
    from memora_cli.render.terminal import console, say
    from memora_cli.text.words import topic as normalise_topic
    from memora_cli.values import Filters

    topics = tuple(normalise_topic(name) for name in topic or ())
    with open_memory(context, space) as memory:
        filters = Filters(space=memory.space, kind=checked_kind(kind), topics=topics, pinned=pinned)
        found = memory.notes(filters, current_only=current, limit=limit if 0 < limit <= MOST else None)
    zone = now().tzinfo
    if ids:
        for note in found:
            say(str(note.id))
    elif as_json or jsonl:
        from memora_cli.render import shapes

        if as_json:
            say(shapes.dumps(shapes.listing(found, zone)))
        else:
            for note in found:
                say(shapes.dumps(shapes.note(note, zone)))
    else:
        from memora_cli.render.notes import print_list

        print_list(found, zone, console())


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
    from memora_cli.render.notes import print_statistics

    print_statistics(value, console())
