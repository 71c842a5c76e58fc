"""The libraries of the `models` extra: whether they are here, kept quiet, and their errors in one line."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import NoReturn

from memora_cli.errors import ModelUnusable

NEEDED = ("torch", "sentence_transformers", "onnx", "huggingface_hub")
BRING = "pip install 'memora-cli[models]'"

Report = Callable[[str, int, int], None]
"""Told of a step, how much of it is done, and how much there is: bytes of a download, else parts."""


def silent(step: str, done: int, total: int) -> None:
    """A report that nobody reads."""
    del step, done, total


def require_extra() -> None:
    """Raises ModelUnusable with the command that helps when a library of the extra is missing; imports none of them."""
    for name in NEEDED:
        try:
            missing = find_spec(name) is None
        except ValueError:  # it is blocked
            missing = True
        if missing:
            raise ModelUnusable(
                f"to import a model memora needs {', '.join(NEEDED)}, and there is no {name}: {BRING} brings them"
            )


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the libraries' advice, warnings and progress bars off the terminal for a while."""
    from transformers.utils import logging as transformers_logging

    verbosity, bars = transformers_logging.get_verbosity(), transformers_logging.is_progress_bar_enabled()
    transformers_logging.set_verbosity(logging.CRITICAL)
    transformers_logging.disable_progress_bar()
    try:
        with warnings.catch_warnings(), _quiet_logger("sentence_transformers"), _quiet_logger("torch"):
            warnings.simplefilter("ignore")
            yield
    finally:
        transformers_logging.set_verbosity(verbosity)
        if bars:
            transformers_logging.enable_progress_bar()


@contextmanager
def _quiet_logger(name: str) -> Iterator[None]:
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def first_line(error: BaseException) -> str:
    """What an error says, without what it goes on to explain."""
    return next(iter(str(error).strip().splitlines()), "") or type(error).__name__


def refuse(name: str, what: str, remedy: str, cause: BaseException | None = None) -> NoReturn:
    """Raise ModelUnusable: which model, what is wrong with it, what to do."""
    raise ModelUnusable(f"model {name}: {what}; {remedy}") from cause
