"""The commands that count what notes are about: topics, entities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from memora_cli.cli.app import app
from memora_cli.cli.filters import Since, Until, read_filters
from memora_cli.cli.forms import EntityFormat, Form, Jsonl, TopicFormat, one_form
from memora_cli.cli.options import (
    AsJson,
    Current,
    Pinned,
    Space,
    TopicFilter,
    TypeFilter,
    configure,
    now,
    week_start,
)

if TYPE_CHECKING:
    from memora_cli.values import Tally

Most = Annotated[int, typer.Option("-n", "--limit", metavar="N", min=0, help="How many; 0 is all.")]


@app.command(epilog="Example: memora topics --since 2024")
def topics(
    context: typer.Context,
    limit: Most = 0,
    kind: TypeFilter = None,
    topic: TopicFilter = None,
    since: Since = None,
    until: Until = None,
    pinned: Pinned = False,
    current: Current = False,
    space: Space = None,
    as_json: AsJson = False,
    jsonl: Jsonl = False,
    template: TopicFormat = None,
) -> None:
    """Count the notes of each topic, commonest first. With --topic: the topics that stand beside it."""
    form = one_form(as_json=as_json, jsonl=jsonl, template=template)
    filters = {"kind": kind, "topic": topic, "since": since, "until": until, "pinned": pinned}
    _print(_tallies(context, "topics", space, filters, current, limit), "topics", form, template)


@app.command(epilog="Example: memora entities --topic work -n 10")
def entities(
    context: typer.Context,
    limit: Most = 0,
    kind: TypeFilter = None,
    topic: TopicFilter = None,
    since: Since = None,
    until: Until = None,
    pinned: Pinned = False,
    current: Current = False,
    space: Space = None,
    as_json: AsJson = False,
    jsonl: Jsonl = False,
    template: EntityFormat = None,
) -> None:
    """Count the notes that mention each name, commonest first."""
    form = one_form(as_json=as_json, jsonl=jsonl, template=template)
    filters = {"kind": kind, "topic": topic, "since": since, "until": until, "pinned": pinned}
    _print(_tallies(context, "entities", space, filters, current, limit), "entities", form, template)


def _tallies(
    context: typer.Context, what: str, space: str | None, given: dict[str, Any], current: bool, limit: int
) -> list[Tally]:
    from memora_cli.memory import Memory

    config = configure(context, space)
    with Memory(config) as memory:
        filters = read_filters(memory.space, now(None, week_start(config)), week_start=week_start(config), **given)
        found = (memory.topics if what == "topics" else memory.entities)(filters, current_only=current)
    return found[:limit] if limit else found


def _print(values: list[Tally], what: str, form: Form, template: str | None) -> None:
    from memora_cli.render import shapes
    from memora_cli.render.terminal import console, say

    if form == "people":
        from memora_cli.render.notes import print_tallies
        from memora_cli.render.pager import paged

        screen = console()
        with paged(screen):
            print_tallies(values, what, screen)
        return
    records = shapes.tallies(values, "topic" if what == "topics" else "name")
    if template is not None:
        from memora_cli.render.template import print_records

        print_records(records, template)
    elif form == "json":
        say(shapes.dumps({"version": shapes.VERSION, what: records}))
    else:
        for record in records:
            say(shapes.dumps(record))
