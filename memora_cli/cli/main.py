"""The entry point of a command: one place turns errors and signals into exit codes."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from memora_cli.cli.interrupts import obey_interrupts
from memora_cli.cli.streams import drop_output, settle_streams
from memora_cli.errors import INTERRUPTED, DatabaseDamaged, MemoraError, Usage


def main() -> None:
    """Run the command line of this process and exit."""
    os.umask(0o077)
    obey_interrupts()
    settle_streams()
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command line on the streams as they are; its exit code.

    An unknown error keeps its traceback: it is a bug.
    """
    import typer

    from memora_cli.cli.app import app
    from memora_cli.cli.completing import answer, is_completing
    from memora_cli.cli.usage import CallRefused, is_bare, refusal

    if is_completing():
        answer(program())
        return 0
    try:
        try:
            return program()(args=list(arguments), prog_name="memora", standalone_mode=False) or 0
        finally:
            sys.stdout.flush()
    except DatabaseDamaged as error:
        more = "" if "memora doctor" in str(error) else "; memora doctor tells more"
        return _failed(f"{error}{more}", error.exit_code)
    except MemoraError as error:
        return _failed(str(error), error.exit_code)
    except CallRefused as error:
        if is_bare(error):
            error.show(sys.stderr)  # type: ignore[attr-defined]  # Typer's, see `CallRefused`
            return Usage.exit_code
        return _failed(refusal(error, arguments, app), Usage.exit_code)
    except typer.Abort:
        return _failed("stopped, nothing was changed", INTERRUPTED)
    except BrokenPipeError:  # the reader has gone: say nothing
        drop_output()
        return 0
    except OSError as error:
        drop_output()
        return _failed(
            f"{error.filename or 'input or output failed'}: {error.strerror or error}", MemoraError.exit_code
        )


@functools.cache
def program() -> Callable[..., Any]:
    """The command line as Typer makes it of the declarations, which takes a while."""
    import typer

    from memora_cli.cli.app import app

    return typer.main.get_command(app)


def _failed(reason: str, code: int) -> int:
    with contextlib.suppress(OSError):
        sys.stderr.write(f"memora: {reason}\n")
    return code
