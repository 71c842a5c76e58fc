"""The options that say in which form a command prints its records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

import typer

from memora_cli.errors import Usage

Form = Literal["json", "jsonl", "ids", "format", "people"]

Jsonl = Annotated[bool, typer.Option("--jsonl", help="Print one JSON object a line.")]
IdsOnly = Annotated[bool, typer.Option("--ids", help="Print ids only.")]


def _readable(shape: str) -> Callable[[str | None], str | None]:
    """A check of templates, before anything else is done, against the keys of a JSON shape."""

    def check(template: str | None) -> str | None:
        if template is not None:
            from memora_cli.render.reference import NAME, SHAPES
            from memora_cli.render.template import read_template

            read_template(template, dict.fromkeys((*SHAPES[shape], *((NAME,) if "id" in SHAPES[shape] else ()))))
        return template

    return check


def _format(shape: str, example: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(
        "--format",
        metavar="TEMPLATE",
        callback=_readable(shape),
        help=f"Print each by a template of its JSON keys, as '{example}'.",
    )
    return option


NOTE, RESULT, TOPIC, ENTITY = (
    "a note (a line of list --jsonl)",
    "a result (a line of search --jsonl)",
    "a topic (a line of topics --jsonl)",
    "an entity (a line of entities --jsonl)",
)
NoteFormat = Annotated[str | None, _format(NOTE, r"{id}\t{name}")]
ResultFormat = Annotated[str | None, _format(RESULT, r"{id}\t{score:.3f}\t{name}")]
TopicFormat = Annotated[str | None, _format(TOPIC, r"{notes}\t{topic}")]
EntityFormat = Annotated[str | None, _format(ENTITY, r"{notes}\t{name}")]


def one_form(*, as_json: bool = False, jsonl: bool = False, ids: bool = False, template: str | None = None) -> Form:
    """The form that was asked for. Raises `Usage` for more than one."""
    asked: dict[Form, bool] = {"json": as_json, "jsonl": jsonl, "ids": ids, "format": template is not None}
    chosen = [form for form, wanted in asked.items() if wanted]
    if len(chosen) > 1:
        raise Usage(f"one form at a time: --{' or --'.join(chosen)}")
    return chosen[0] if chosen else "people"
