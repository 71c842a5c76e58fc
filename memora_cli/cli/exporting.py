"""The command that writes notes out whole: export."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memora_cli.cli.app import app
from memora_cli.cli.options import (
    AsJson,
    Current,
    Pinned,
    Space,
    TopicFilter,
    TypeFilter,
    checked_kind,
    configure,
    now,
    week_start,
)
from memora_cli.errors import Usage

if TYPE_CHECKING:
    from memora_cli.memory.kept import Kept
    from memora_cli.memory.lines import Record

STANDARD_OUTPUT = Path("-")


@app.command("export", epilog="Example: memora export notes.jsonl")
def export(
    context: typer.Context,
    path: Annotated[
        Path | None,
        typer.Argument(metavar="PATH", help="A .jsonl file, or a folder for Markdown; - prints JSON lines."),
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="FOLDER", help="Write Markdown files to this folder.")
    ] = None,
    topic: TopicFilter = None,
    kind: TypeFilter = None,
    since: Annotated[str | None, typer.Option("--since", metavar="TIME", help="Only what happened since.")] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="Only what happened until.")] = None,
    pinned: Pinned = False,
    current: Current = False,
    space: Space = None,
    all_spaces: Annotated[bool, typer.Option("--all-spaces", help="The notes of every space.")] = False,
    no_history: Annotated[
        bool, typer.Option("--no-history", help="The notes alone: no changes, past texts, aliases or trash.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over an existing file, or changed files.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write notes to JSON lines or a folder of Markdown; import reads both back to the same notes.

    JSON lines without a filter hold all of the memory: its history, aliases and trash too.
    """
    from memora_cli.memory import Memory
    from memora_cli.text.moments import read_window
    from memora_cli.text.words import topic as normalise_topic
    from memora_cli.values import Filters

    if (path is None) == (markdown is None):
        raise Usage("say where to: memora export FILE.jsonl, memora export FOLDER, or - for standard output")
    if all_spaces and space is not None:
        raise Usage("--space and --all-spaces exclude each other")
    target, as_lines = (markdown, False) if markdown else (path, _is_lines(path or STANDARD_OUTPUT))
    config = configure(context, space)
    first_day, present = week_start(config), now()
    first = read_window(since, present, week_start=first_day) if since else None
    last = read_window(until, present, week_start=first_day) if until else None
    with Memory(config) as memory:
        filters = Filters(
            space=memory.space,
            kind=checked_kind(kind),
            topics=tuple(normalise_topic(name) for name in topic or ()),
            since=(first.start or first.end) if first else None,
            until=(last.end or last.start) if last else None,
            pinned=pinned,
        )
        exported = memory.export(filters, current_only=current, every_space=all_spaces)
        lines: Iterator[Record | Kept] = exported
        if not (no_history or current or filters != Filters(space=memory.space)):
            lines = memory.archive(every_space=all_spaces)
        if target == STANDARD_OUTPUT:
            _print(lines)
        elif as_lines and target:
            _to_file(lines, target, force=force, as_json=as_json)
        elif target:
            _to_folder(exported, target, force=force, as_json=as_json)


def _is_lines(path: Path) -> bool:
    """Whether the path means JSON lines rather than a folder. Raises `Usage` for another kind of file."""
    from memora_cli.memory.importing import LINES

    if path == STANDARD_OUTPUT or path.suffix.lower() in LINES:
        return True
    if path.suffix.lower() in {".json", ".md", ".markdown", ".txt", ".csv", ".zip"} and not path.is_dir():
        raise Usage(f"{path} is neither a .jsonl file nor a folder; --markdown {path} makes a folder of that name")
    return False


def _print(exported: Iterator[Record | Kept]) -> None:
    from memora_cli.memory.exporting import line_of
    from memora_cli.render.shapes import dumps
    from memora_cli.render.terminal import say

    for record in exported:
        say(dumps(line_of(record)))


def _to_file(exported: Iterator[Record | Kept], path: Path, *, force: bool, as_json: bool) -> None:
    from memora_cli.memory.exporting import line_of, private
    from memora_cli.render.shapes import dumps

    if path.exists() and not force:
        raise Usage(f"{path} is there already; --force writes over it")
    written = history = 0
    with private(path) as file:
        for record in exported:
            line = line_of(record)
            file.write(dumps(line).encode() + b"\n")
            written += "record" not in line
            history += line.get("record", "memory") not in ("memory", "names")
    _report(path, written, 0, (), history=history, as_json=as_json)


def _to_folder(exported: Iterator[Record], path: Path, *, force: bool, as_json: bool) -> None:
    from memora_cli.memory.exporting import write_folder

    done = write_folder(path, exported, force=force)
    _report(path, done.written, done.unchanged, done.stray, as_json=as_json)


def _report(
    path: Path, written: int, unchanged: int, stray: tuple[str, ...], *, as_json: bool, history: int = 0
) -> None:
    from memora_cli.cli.importing import history as told
    from memora_cli.render.terminal import say, warn

    for name in stray:
        warn(f"memora: {name} in {path} is of a note that was not exported; it was left as it is")
    if as_json:
        from memora_cli.render.shapes import VERSION, dumps

        counts = {"written": written, "unchanged": unchanged, "stray": list(stray), "history": history}
        say(dumps({"version": VERSION, "path": str(path), **counts}))
    else:
        say(f"{written} written, {unchanged} unchanged{told(history)}")
