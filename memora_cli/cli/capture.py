"""The commands that write notes: add, pin, unpin, supersede, import."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memora_cli.cli.app import app
from memora_cli.cli.options import AsJson, At, Ids, Space, checked_kind, configure, now, open_memory, standard_input
from memora_cli.errors import EmptyNote, MemoraError, Usage

if TYPE_CHECKING:
    from memora_cli.memory import Added
    from memora_cli.memory.importing import Item
    from memora_cli.values import Draft, Window

STATED_WITHIN = 2000  # characters at the start of a text in which it may state its own date

Title = Annotated[str, typer.Option("--title", metavar="TITLE", help="A title; it counts most in keyword search.")]
Topics = Annotated[list[str] | None, typer.Option("--topic", metavar="TOPIC", help="A topic; may be repeated.")]
KindOf = Annotated[
    str, typer.Option("--type", metavar="TYPE", help="world (a fact), agent (what you did) or opinion (a belief).")
]
Occurred = Annotated[
    str | None, typer.Option("--occurred", metavar="WHEN", help='When it happened: a date, or "last spring".')
]
NoEmbed = Annotated[bool, typer.Option("--no-embed", help="Add without vectors; memora reindex makes them later.")]


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
        typer.Option("--supersedes", metavar="ID", help="A note that this one replaces; may be repeated."),
    ] = None,
    no_date: Annotated[
        bool, typer.Option("--no-date", help="Do not take a date that the text states about itself.")
    ] = False,
    space: Space = None,
    no_embed: NoEmbed = False,
    force: Annotated[bool, typer.Option("--force", help="Add it even if the same text is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Add a note and print its id. The same text twice is one note: its id is printed again."""
    if text is None:
        raise EmptyNote
    from memora_cli.memory import Memory
    from memora_cli.values import Draft

    config = configure(context, space)
    present = now(at)
    body = standard_input() if text == "-" else text
    happened = _happened(body, occurred, present, config.week_start, stated=not no_date)
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
    _print_added(added, as_json=as_json)


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


def _print_added(added: Added, *, as_json: bool) -> None:
    from memora_cli.render.terminal import say, warn

    if not added.created:
        warn(f"memora: note {added.id} holds this text already; nothing was added (--force adds it again)")
    if added.waits:
        warn(f"memora: note {added.id} is kept but has no vectors yet: {added.waits}; then run memora reindex")
    if as_json:
        from memora_cli.render.shapes import added as shape
        from memora_cli.render.shapes import dumps

        say(dumps(shape(added)))
    else:
        say(str(added.id))


@app.command(epilog="Example: memora pin 12 15")
def pin(context: typer.Context, ids: Ids, space: Space = None) -> None:
    """Pin notes: they get a bonus in every search."""
    with open_memory(context, space) as memory:
        memory.pin(ids, pinned=True)


@app.command(epilog="Example: memora unpin 12")
def unpin(context: typer.Context, ids: Ids, space: Space = None) -> None:
    """Take the pins off notes."""
    with open_memory(context, space) as memory:
        memory.pin(ids, pinned=False)


@app.command(epilog='Example: memora supersede 5 --with "I drink tea now"')
def supersede(
    context: typer.Context,
    old: Annotated[int, typer.Argument(metavar="OLD", help="The note that no longer holds.")],
    new: Annotated[int | None, typer.Argument(metavar="NEW", help="The note that holds instead.")] = None,
    text: Annotated[str | None, typer.Option("--with", metavar="TEXT", help="A new note instead; - reads it.")] = None,
    at: At = None,
    space: Space = None,
    no_embed: NoEmbed = False,
    as_json: AsJson = False,
) -> None:
    """Let a note replace another, which stays but comes last."""
    if (new is None) == (text is None):
        raise Usage("name the note that replaces it, or give its text: memora supersede OLD NEW, or OLD --with TEXT")
    from memora_cli.values import Draft

    present = now(at)
    with open_memory(context, space) as memory:
        if text is not None:
            body = standard_input() if text == "-" else text
            draft = Draft(body=body, supersedes=(old,), created_at=present if at else None)
            _print_added(memory.add(draft, present, embed=not no_embed), as_json=as_json)
        elif new is not None:
            memory.supersede(old, new, present)


@app.command("import", epilog="Example: memora import ~/notes")
def import_(
    context: typer.Context,
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="A folder of Markdown, a .md or .jsonl file; - reads JSON lines.")
    ],
    at: At = None,
    space: Space = None,
    as_json: AsJson = False,
) -> None:
    """Add many notes. Importing the same twice adds nothing; a changed file supersedes its older text."""
    from memora_cli.memory.importing import count, read, read_lines
    from memora_cli.render.terminal import console, say, warn

    present = now(at)
    if str(path) == "-":
        items, total = read_lines(sys.stdin.buffer, "-", present), None
    else:
        items, total = read(path, present), count(path) if path.exists() else None
    problems: list[tuple[str, str]] = []
    tally = {"added": 0, "unchanged": 0, "replaced": 0}
    with open_memory(context, space) as memory, _progress(console(stderr=True), total) as advance:
        for name, outcome in memory.import_all(_drafts(items, problems), present):
            if isinstance(outcome, MemoraError):
                problems.append((name, str(outcome)))
            else:
                tally["added"] += outcome.created
                tally["unchanged"] += not outcome.created
                tally["replaced"] += outcome.replaces is not None
            advance()
    for name, reason in problems:
        warn(f"memora: {name} was left out: {reason}")
    if as_json:
        from memora_cli.render.shapes import VERSION, dumps

        failed = [{"name": name, "reason": reason} for name, reason in problems]
        say(dumps({"version": VERSION, **tally, "failed": failed}))
    else:
        replaced = f", {tally['replaced']} of them newer texts of known files" if tally["replaced"] else ""
        say(f"{tally['added']} added{replaced}, {tally['unchanged']} unchanged, {len(problems)} left out")
    if problems:
        raise typer.Exit(MemoraError.exit_code)


def _drafts(items: Iterator[Item], problems: list[tuple[str, str]]) -> Iterator[tuple[str, Draft]]:
    for item in items:
        if item.draft is None:
            problems.append((item.name, item.problem))
        else:
            yield item.name, item.draft


def _progress(console: Any, total: int | None) -> AbstractContextManager[Any]:
    """A function that moves a progress bar on by one; without a terminal it shows nothing."""
    if not console.is_terminal:
        return nullcontext(lambda: None)
    from memora_cli.render.progress import bar

    return bar(console, total)
