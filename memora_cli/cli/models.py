"""The commands for models: models, with list, import, use, remove and verify."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memora_cli.cli.app import app
from memora_cli.cli.options import AsJson, configure, open_memory
from memora_cli.errors import ModelUnusable, Usage

if TYPE_CHECKING:
    from memora_cli.models.folder import ModelFolder

models = typer.Typer(rich_markup_mode=None)
app.add_typer(models, name="models")

Name = Annotated[str, typer.Argument(metavar="NAME", help="A model, as models list names it.")]
PRECISIONS = ("fp32", "fp16", "int8")


@models.callback(invoke_without_command=True, epilog="Example: memora models import BAAI/bge-small-en-v1.5")
def overview(context: typer.Context, as_json: AsJson = False) -> None:
    """List the models that are here; with a command, bring in, choose, verify or remove one."""
    if context.invoked_subcommand is None:
        list_(context, as_json)


@models.command("list", epilog="Example: memora models list --json")
def list_(context: typer.Context, as_json: AsJson = False) -> None:
    """List the models that are here: those that were imported, then those that come with memora."""
    from memora_cli.config import models_folder
    from memora_cli.models.folder import read_folder
    from memora_cli.models.installing import installed
    from memora_cli.render.models import print_models
    from memora_cli.render.terminal import console, say, warn

    found, broken = [], []
    for path in installed(models_folder()).values():
        try:
            found.append(read_folder(path))
        except ModelUnusable as error:
            broken.append(str(error))
    used = _used(context)
    if as_json:
        from memora_cli.render.shapes import dumps, models

        say(dumps(models(found, used)))
    else:
        print_models(found, used, console())
    for reason in broken:
        warn(f"memora: {reason}")


@models.command("import", epilog="Example: memora models import BAAI/bge-small-en-v1.5 --use")
def import_(
    context: typer.Context,
    what: Annotated[
        str, typer.Argument(metavar="MODEL", help="A folder, a .tar.gz of one, or a name on the Hugging Face hub.")
    ],
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help="What to call it here.")] = None,
    precision: Annotated[
        str | None,
        typer.Option(
            "--precision",
            metavar="P",
            help="fp32, fp16 or int8; unset, the smallest whose results agree with the original.",
        ),
    ] = None,
    revision: Annotated[
        str | None, typer.Option("--revision", metavar="REV", help="A branch, tag or commit on the hub.")
    ] = None,
    sha256: Annotated[
        str | None,
        typer.Option("--sha256", metavar="HEX", help="The hash that the .tar.gz, or the weights, must have."),
    ] = None,
    query_prefix: Annotated[
        str | None,
        typer.Option("--query-prefix", metavar="TEXT", help="Stands before a query; else as the model says."),
    ] = None,
    passage_prefix: Annotated[
        str | None,
        typer.Option("--passage-prefix", metavar="TEXT", help="Stands before a note; else as the model says."),
    ] = None,
    max_length: Annotated[
        int | None, typer.Option("--max-length", metavar="N", min=8, help="A shorter window, in tokens.")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Take the place of an installed model.")] = False,
    use: Annotated[bool, typer.Option("--use", help="Use it from now on, as models use does.")] = False,
    as_json: AsJson = False,
) -> None:
    """Bring in a SentenceTransformer or CrossEncoder. Shows how well it agrees with the original, then installs it."""
    from memora_cli.config import models_folder
    from memora_cli.models.description import Asked
    from memora_cli.models.extra import silent
    from memora_cli.models.installing import Wish, import_model
    from memora_cli.render.models import print_model
    from memora_cli.render.progress import stages
    from memora_cli.render.shapes import VERSION, dumps, model
    from memora_cli.render.terminal import console, say, warn

    if precision is not None and precision not in PRECISIONS:
        raise Usage(f"--precision is one of {', '.join(PRECISIONS)}, not {precision!r}")
    asked = Asked(max_length, query_prefix, passage_prefix)
    wish = Wish(what, name, revision, sha256, precision, asked, replace)  # type: ignore[arg-type]  # checked above
    shown = console(stderr=True)

    with ExitStack() as bars:
        report = bars.enter_context(stages(shown)) if shown.is_terminal else silent

        def show(made: ModelFolder) -> None:
            bars.close()  # the bar would stand in the midst of it
            if not as_json:
                print_model(made, console())

        made = import_model(wish, models_folder(), show, report, lambda text: warn(f"memora: {text}"))
    if as_json:
        say(dumps({"version": VERSION, **model(made, _used(context))}))
    else:
        say(f"installed as {made.name}" + ("" if use else f"; memora models use {made.name} takes it into use"))
    if use:
        _use(context, made.name, made)


@models.command("use", epilog="Example: memora models use BAAI/bge-small-en-v1.5")
def use(context: typer.Context, name: Name) -> None:
    """Use a model from now on: writes the setting embedder or reranker, whichever it is.

    After a change of the embedder the vectors of the one before answer until memora reindex is done.
    """
    from memora_cli.config import models_folder
    from memora_cli.models import find_model
    from memora_cli.models.folder import read_folder
    from memora_cli.models.installing import run

    path = find_model(name, (models_folder(),))
    run(path)
    _use(context, str(path) if Path(name).expanduser().is_absolute() else name, read_folder(path))


@models.command("remove", epilog="Example: memora models remove BAAI/bge-small-en-v1.5")
def remove(
    context: typer.Context,
    name: Name,
    force: Annotated[bool, typer.Option("--force", help="Even when notes are searched with it.")] = False,
) -> None:
    """Delete an imported model. One that is in use, or whose vectors still answer, is kept."""
    from memora_cli.config import models_folder
    from memora_cli.models.folder import read_folder
    from memora_cli.models.installing import remove as take_away
    from memora_cli.render.terminal import say

    path = models_folder() / name
    if not force and path in _used(context):
        raise Usage(f"model {name} is in use: choose another with memora models use, or give --force")
    if not force and (path / "config.json").is_file() and (model := read_folder(path)).kind == "embedder":
        with open_memory(context) as memory:
            spaces = memory.answered_by(model.id)
        if spaces:
            where = ", ".join(spaces)
            raise Usage(f"model {name} still answers in space {where}: memora reindex changes that, or give --force")
    take_away(name, models_folder())
    say(f"removed {name}")


@models.command("verify", epilog="Example: memora models verify")
def verify(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Models, as models list names them; else all.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare the files of models with their hashes, load them and run them. Exit code 6 when one fails."""
    from memora_cli.config import models_folder
    from memora_cli.models import find_model
    from memora_cli.models.installing import check, installed
    from memora_cli.render.terminal import console, safe, say, show, table

    place = models_folder()
    results: dict[str, str] = {}
    for name in names or installed(place):
        try:
            check(find_model(name, (place,)))
            results[name] = ""
        except ModelUnusable as error:
            results[name] = str(error)
    if as_json:
        from memora_cli.render.shapes import VERSION, dumps

        states = [{"name": name, "ok": not wrong, "reason": wrong or None} for name, wrong in results.items()]
        say(dumps({"version": VERSION, "models": states}))
    else:
        grid = table("model", ("state", "wide"))
        for name, wrong in results.items():
            grid.add_row(safe(name), safe(wrong or "whole, and it runs"))
        show(grid, console(), bare=True)
    if any(results.values()):
        raise typer.Exit(ModelUnusable.exit_code)


def _used(context: typer.Context) -> set[Path]:
    """The folders of the models that the settings name."""
    from memora_cli.config import models_folder
    from memora_cli.models import find_model

    config = configure(context)
    found = set()
    for name in (config.embedder, config.reranker):
        with suppress(ModelUnusable):
            found.add(find_model(name, (models_folder(),)))
    return found


def _use(context: typer.Context, name: str, model: ModelFolder) -> None:
    """Write the setting, and say how many notes wait for a new embedder's vectors."""
    from memora_cli.cli.configuring import set_
    from memora_cli.render.terminal import say, warn

    set_(model.kind, name)
    say(f"{model.kind}\t{name}")
    if model.kind != "embedder":
        return
    with open_memory(context) as memory:
        waiting, answering = memory.waiting(), memory.answering()
    if waiting:
        notes = "1 note waits" if waiting == 1 else f"{waiting:,} notes wait"
        then = "words alone find them" if answering == model.id else f"{answering} answers"
        warn(f"memora: {notes} for vectors of {name}: run memora reindex; until then {then}")
