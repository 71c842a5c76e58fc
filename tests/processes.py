"""Runs memora in processes that are real but start fast, so that hundreds can be killed: forks of one that has loaded.

What is killed is the program itself, from its entry point on, with the real models and a real file.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections.abc import Mapping
from multiprocessing.process import BaseProcess
from pathlib import Path

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    [
        *("memora_cli.cli.app", "memora_cli.memory", "memora_cli.memory.intake", "memora_cli.models.embed"),
        *("onnxruntime", "tokenizers", "numpy", "tiktoken", "sqlalchemy", "pysqlite3"),
    ]
)


def start(arguments: list[object], folder: Path, environment: Mapping[str, str]) -> BaseProcess:
    """`memora ARGUMENTS` in a new process, whose output goes to `out`, `err` and `acknowledged` in the folder.

    `acknowledged` gets the id of every imported note as soon as the import has told of it, unbuffered.
    """
    for name in ("out", "err", "acknowledged"):
        (folder / name).write_bytes(b"")
    (folder / "begun").unlink(missing_ok=True)
    process = CONTEXT.Process(target=_run, args=([str(one) for one in arguments], str(folder), dict(environment)))
    main = sys.modules["__main__"]
    spec, file = main.__spec__, main.__dict__.pop("__file__", None)
    main.__spec__ = None  # the child would run the test runner's own start once more, which takes longer than a note
    try:
        process.start()
    finally:
        main.__spec__ = spec
        if file:
            main.__file__ = file
    return process


def begun(process: BaseProcess, folder: Path) -> float:
    """Wait until the program of `start` begins; when that was."""
    while not (folder / "begun").exists() and process.is_alive():
        time.sleep(0.0005)
    return time.monotonic()


def _run(arguments: list[str], folder: str, environment: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for name, number in (("out", 1), ("err", 2)):
        os.dup2(os.open(Path(folder, name), os.O_WRONLY | os.O_APPEND), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115  # streams, open to the end
        for number, mode in ((0, "r"), (1, "w"), (2, "w"))
    )
    from memora_cli.cli import importing

    log = os.open(Path(folder, "acknowledged"), os.O_WRONLY | os.O_APPEND)
    count = importing.Report.count

    def acknowledge(self: importing.Report, taken: object) -> None:
        count(self, taken)  # type: ignore[arg-type]
        os.write(log, f"{taken.outcome.id}\t{taken.item.name}\n".encode())  # type: ignore[attr-defined]

    importing.Report.count = acknowledge  # type: ignore[method-assign, assignment]
    from memora_cli.cli import main

    sys.argv = ["memora", *arguments]
    Path(folder, "begun").touch()
    try:
        main()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
