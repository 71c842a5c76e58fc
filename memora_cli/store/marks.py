"""Small numbers that a space keeps for itself: how far a long task has come, and the floors of a model."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, delete, insert, select

from memora_cli.store.schema import counters
from memora_cli.values import Floors

LINKED = "linked"
MILLION = 1_000_000


def read(connection: Connection, space: str, name: str) -> int | None:
    """The number of that name, None when there is none."""
    here = (counters.c.space == space) & (counters.c.name == name)
    value: int | None = connection.execute(select(counters.c.value).where(here)).scalar()
    return value


def put(connection: Connection, space: str, values: Mapping[str, int | None]) -> None:
    """Set numbers by their names; None takes one away."""
    connection.execute(delete(counters).where(counters.c.space == space, counters.c.name.in_(values)))
    rows = [{"space": space, "name": name, "value": value} for name, value in values.items() if value is not None]
    if rows:
        connection.execute(insert(counters), rows)


def floors(connection: Connection, space: str, model: str) -> Floors | None:
    """The floors that were estimated for a model from the notes of the space."""
    found = [read(connection, space, name) for name in _floor_names(model)]
    semantic, entry, link = (None if value is None else value / MILLION for value in found)
    if semantic is None or entry is None or link is None:
        return None
    return Floors(semantic, entry, link, "estimated")


def put_floors(connection: Connection, space: str, model: str, value: Floors | None) -> None:
    """Keep the floors that were estimated for a model, or forget them."""
    numbers = (None, None, None) if value is None else (value.semantic, value.entry, value.link)
    scaled = (None if number is None else round(number * MILLION) for number in numbers)
    put(connection, space, dict(zip(_floor_names(model), scaled, strict=True)))


def _floor_names(model: str) -> tuple[str, str, str]:
    return f"semantic floor {model}", f"entry floor {model}", f"link floor {model}"
