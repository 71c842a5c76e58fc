"""Runs a command as if this process were the one that asked for it."""

from __future__ import annotations

import io
import os
import sys
import time
import traceback
from collections.abc import Sequence
from typing import TextIO, cast

from memora_cli import screen, wire
from memora_cli.worker.request import Input, NeedsClient, Remote, Request, Stream


def run_request(request: Request) -> int:
    """Run its command as if this process were the one that asked."""
    from memora_cli.cli.main import run
    from memora_cli.cli.streams import Legible

    before = wire.environment()
    streams = sys.stdin, sys.stdout, sys.stderr, sys.argv
    try:
        os.chdir(request.folder)
    except OSError as error:
        raise NeedsClient(f"its folder: {error}") from error
    try:
        _enter(request.environment, request.size)
        sys.stdin = io.TextIOWrapper(io.BufferedReader(Input(request)), "utf-8")
        sys.stdout = cast(TextIO, Stream(request, 1))
        sys.stderr = cast(TextIO, Legible(cast(TextIO, Stream(request, 2))))
        sys.argv = ["memora", *request.arguments]
        screen.here = Remote(request)
        try:
            return run(request.arguments)
        except Exception:  # a bug, which is shown as it would be without a worker
            request.say(2, traceback.format_exc())
            return 1
    finally:
        sys.stdin, sys.stdout, sys.stderr, sys.argv = streams
        screen.here = screen.Terminal()
        _enter(before, None)
        os.chdir("/")


def _enter(environment: dict[str, str], size: Sequence[int] | None) -> None:
    """Put the asker's environment in the place of this one's, and the size of its terminal."""
    for name in wire.environment():
        del os.environ[name]
    os.environ.update({name: value for name, value in environment.items() if wire.concerns(name)})
    for name, value in zip(("COLUMNS", "LINES"), size or (), strict=False):
        os.environ.setdefault(name, str(value))
    time.tzset()
