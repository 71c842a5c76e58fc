"""The commands for the process in the background: worker, with status, start and stop."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memora_cli import wire
from memora_cli.cli.app import app
from memora_cli.cli.options import AsJson
from memora_cli.errors import Usage

if TYPE_CHECKING:
    from datetime import datetime

worker = typer.Typer(rich_markup_mode=None)
app.add_typer(worker, name="worker")

SECONDS = 5.0
START_SECONDS = 30.0
MEGABYTE = 1_000_000


@worker.callback(invoke_without_command=True, epilog="Example: memora worker")
def overview(context: typer.Context, as_json: AsJson = False) -> None:
    """Tell of the process in the background that answers commands at once; with a command, start or stop it."""
    if context.invoked_subcommand is None:
        status(as_json)


@worker.command(epilog="Example: memora worker status --json")
def status(as_json: AsJson = False) -> None:
    """Tell whether a worker runs, since when, what it did, and how much memory it takes."""
    from memora_cli.cli.options import now
    from memora_cli.render.shapes import VERSION, dumps
    from memora_cli.render.terminal import console, pairs, say, show

    found = _ask("status")
    since = _moment(found["since"]) if found else None
    if as_json:
        keys = ("pid", "commands", "memory", "idle_minutes")
        told = {key: found[key] if found else None for key in keys}
        say(dumps({"version": VERSION, "running": bool(found), "since": since and since.isoformat(), **told}))
    elif found and since:
        facts = {
            "worker": f"process {found['pid']}",
            "since": f"{since.astimezone(now().tzinfo):%Y-%m-%d %H:%M:%S}",
            "commands": str(found["commands"]),
            "memory": f"{found['memory'] / MEGABYTE:.0f} MB",
            "ends": f"after {found['idle_minutes']:g} minutes without a command",
        }
        show(pairs(facts), console())
    else:
        say("no worker runs; the next search starts one")


@worker.command(epilog="Example: memora worker start")
def start(
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until it answers.")] = True,
) -> None:
    """Start a worker, also when the setting worker is false; its models are loaded when this command ends."""
    from memora_cli.render.terminal import say

    if wire.address() is None:
        raise Usage("no worker can run here: there is no folder for its socket that only you may enter")
    found = _ask("status")
    if not found:
        wire.start()
        until = time.monotonic() + START_SECONDS
        while wait and not found and time.monotonic() < until:
            time.sleep(0.05)
            found = _ask("status")
        if wait and not found:
            raise Usage(f"the worker does not answer after {START_SECONDS:g} s: see {wire.folder()}/worker.log")
    if found:
        say(str(found["pid"]))


@worker.command(epilog="Example: memora worker stop")
def stop() -> None:
    """End the worker, when it has answered what it was asked; commands then do their work themselves."""
    from memora_cli.render.terminal import say

    path, found = wire.address(), _ask("stop")
    until = time.monotonic() + START_SECONDS
    while found and path and time.monotonic() < until and _ask("status"):
        time.sleep(0.05)
    say(f"stopped process {found['pid']}" if found else "no worker runs")


def _ask(what: str) -> dict[str, Any] | None:
    """What the worker says to a question, None where there is none."""
    path = wire.address()
    connection = wire.connect(path, SECONDS) if path else None
    if connection is None:
        return None
    try:
        wire.send(connection, {"ask": what})
        return wire.receive(connection)
    except wire.Lost:
        return None
    finally:
        connection.close()


def _moment(seconds: float) -> datetime:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(round(seconds), UTC)
