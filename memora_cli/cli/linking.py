"""The commands that connect notes and names: link, unlink, alias."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memora_cli.cli.app import app
from memora_cli.cli.completing import entities, note_ids, one_of
from memora_cli.cli.options import AsJson, At, Space, note_id, open_memory, present_of
from memora_cli.errors import Usage

if TYPE_CHECKING:
    from memora_cli.values import Relation

RELATIONS = ("causes", "caused-by", "enables", "prevents")


@app.command(epilog="Example: memora link 12 causes 15")
def link(
    context: typer.Context,
    one: Annotated[
        int, typer.Argument(metavar="ID", parser=note_id, autocompletion=note_ids, help="The note that does it.")
    ],
    relation: Annotated[
        str,
        typer.Argument(
            metavar="RELATION", autocompletion=one_of(*RELATIONS), help="causes, caused-by, enables or prevents."
        ),
    ],
    other: Annotated[
        int, typer.Argument(metavar="ID", parser=note_id, autocompletion=note_ids, help="The note that it does it to.")
    ],
    at: At = None,
    space: Space = None,
) -> None:
    """Link two notes by cause; searches follow such a link both ways, and twice as far as others."""
    with open_memory(context, space) as memory:
        memory.link(one, _relation(relation), other, present_of(memory, at))


@app.command(epilog="Example: memora unlink 12 causes 15")
def unlink(
    context: typer.Context,
    one: Annotated[
        int, typer.Argument(metavar="ID", parser=note_id, autocompletion=note_ids, help="One of the notes.")
    ],
    words: Annotated[
        list[str], typer.Argument(metavar="[RELATION] ID", help="The other note; before it, which of several links.")
    ],
    at: At = None,
    space: Space = None,
) -> None:
    """Take away the links by cause between two notes, or one of them."""
    if len(words) > 2:
        raise Usage("name two notes: memora unlink ID ID, or ID RELATION ID for one of several links")

    relation = _relation(words[0]) if len(words) == 2 else None
    with open_memory(context, space) as memory:
        memory.unlink(one, note_id(words[-1]), relation, present_of(memory, at))


def _relation(text: str) -> Relation:
    from typing import cast

    if text not in RELATIONS:
        raise Usage(f"a relation is one of {', '.join(RELATIONS)}, not {text!r}")
    return cast("Relation", text)


@app.command(epilog='Example: memora alias "Robert Miller" Bob')
def alias(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", autocompletion=entities, help="The name that is shown.")
    ] = None,
    other: Annotated[
        str | None, typer.Argument(metavar="OTHER", autocompletion=entities, help="Another name for the same.")
    ] = None,
    remove: Annotated[
        str | None, typer.Option("--remove", metavar="OTHER", help="Let this name mean something of its own again.")
    ] = None,
    at: At = None,
    space: Space = None,
    as_json: AsJson = False,
) -> None:
    """Let two names mean the same: notes with either are found by both. Without names, list the aliases."""
    if remove is not None and name is not None:
        raise Usage("--remove takes the one name that is no alias any more: memora alias --remove OTHER")
    from memora_cli.render.terminal import console, say

    with open_memory(context, space) as memory:
        if remove is not None:
            memory.unalias(remove, present_of(memory, at))
            return
        if name is not None and other is not None:
            memory.alias(name, other, present_of(memory, at))
            return
        found = memory.aliases(name)
    if as_json:
        from memora_cli.render import shapes

        say(shapes.dumps(shapes.aliases(found)))
        return
    from memora_cli.render.history import print_aliases

    print_aliases(found, console())
