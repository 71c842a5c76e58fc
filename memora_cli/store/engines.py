"""Keeps engines with their open connections from one command to the next, in a process that answers many."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable

from sqlalchemy import Engine

MOST = 4

_kept: OrderedDict[Hashable, Engine] | None = None


def keep() -> None:
    """From now on a closed database leaves its engine for the next who opens the same."""
    global _kept  # what a process is for, said once when it starts
    _kept = OrderedDict()


def obtain(key: Hashable, make: Callable[[], Engine]) -> Engine:
    """The engine that is open for this key, else a new one, which is not kept without a key."""
    if _kept is None or key is None:
        return make()
    engine = _kept.pop(key, None) or make()
    _kept[key] = engine
    while len(_kept) > MOST:
        _kept.popitem(last=False)[1].dispose()
    return engine


def release(engine: Engine) -> None:
    """Close the connections of an engine that is not kept."""
    if _kept is None or engine not in _kept.values():
        engine.dispose()


def close() -> None:
    """Close all that are kept."""
    for engine in (_kept or {}).values():
        engine.dispose()
    if _kept:
        _kept.clear()
