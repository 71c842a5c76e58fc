"""The entry point: one place turns errors and signals into exit codes."""

from __future__ import annotations

import contextlib
import os
import sys

from memora_cli.cli.interrupts import obey_interrupts
from memora_cli.cli.streams import drop_output, settle_streams
from memora_cli.errors import INTERRUPTED, DatabaseDamaged, MemoraError, Usage


def main() -> None:
    """Run the command line and exit. An unknown error keeps its traceback: it is a bug."""
    os.umask(0o077)
    obey_interrupts()
    settle_streams()
    import typer

    from memora_cli.cli.app import app
    from memora_cli.cli.completing import answer, is_completing
    from memora_cli.cli.usage import CallRefused, is_bare, refusal

    if is_completing():
        answer(app)
        sys.exit(0)
    code = 0
    try:
        try:
            code = app(prog_name="memora", standalone_mode=False) or 0
        finally:
            sys.stdout.flush()
    except DatabaseDamaged as error:
        more = "" if "memora doctor" in str(error) else "; memora doctor tells more"
        _fail(f"{error}{more}", error.exit_code)
    except MemoraError as error:
        _fail(str(error), error.exit_code)
    except CallRefused as error:
        if is_bare(error):
            error.show(sys.stderr)  # type: ignore[attr-defined]  # Typer's, see `CallRefused`
            sys.exit(Usage.exit_code)
        _fail(refusal(error, sys.argv[1:], app), Usage.exit_code)
    except typer.Abort:
        _fail("stopped, nothing was changed", INTERRUPTED)
    except BrokenPipeError:  # the reader has gone: say nothing
        drop_output()
        sys.exit(0)
    except OSError as error:
        drop_output()
        _fail(f"{error.filename or 'input or output failed'}: {error.strerror or error}", MemoraError.exit_code)
    sys.exit(code)


def _fail(reason: str, code: int) -> None:
    with contextlib.suppress(OSError):
        sys.stderr.write(f"memora: {reason}\n")
    sys.exit(code)
