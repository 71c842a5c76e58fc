"""Makes an interrupt (Ctrl-C) end the program with its exit code and without a traceback, wherever it strikes."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import TYPE_CHECKING

from memora_cli.errors import INTERRUPTED

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

AGAIN = 0.01  # seconds after an interrupt that got lost


def obey_interrupts() -> None:
    """Let an interrupt be an exception that ends the program, so that all that is open is closed."""
    signal.signal(signal.SIGINT, _interrupted)
    sys.unraisablehook = _unraisable


def _interrupted(_signal: int, _frame: FrameType | None) -> None:
    sys.exit(INTERRUPTED)


def _unraisable(lost: UnraisableHookArgs) -> None:
    """Interrupt once more when Python drops the exception, as it does in the callbacks of its garbage collector."""
    if not isinstance(lost.exc_value, SystemExit):
        sys.__unraisablehook__(lost)
        return
    from threading import Timer

    again = Timer(AGAIN, os.kill, (os.getpid(), signal.SIGINT))
    again.daemon = True
    again.start()
