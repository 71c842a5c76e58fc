"""Reads the values of exported lines; a ValueError names the key that holds something else."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

LARGEST_ID = 2**63 - 1


def stamp(moment: datetime | None) -> str | None:
    """A time in UTC."""
    return moment.astimezone(UTC).isoformat() if moment else None


def text(line: Mapping[str, Any], key: str) -> str:
    """The text under a key, empty without one."""
    value = line.get(key, "")
    if not isinstance(value, str):
        raise ValueError(f'"{key}" is a text')
    return value


def texts(line: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """The texts under a key."""
    value = line.get(key) or []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f'"{key}" is a list of texts')
    return tuple(value)


def objects(line: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """The objects under a key."""
    value = line.get(key) or []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ValueError(f'"{key}" is a list of objects')
    return value


def whole(value: Any, key: str) -> int:
    """An id, or another number above 0."""
    try:
        found = int(value)
    except (TypeError, ValueError):
        raise ValueError(f'"{key}" holds no id') from None
    if isinstance(value, bool) or not 1 <= found <= LARGEST_ID:
        raise ValueError(f'"{key}" holds no id')
    return found


def number(value: Any, key: str) -> float:
    """A weight between 0 and 1."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        raise ValueError(f'a weight in "{key}" is a number') from None
    if not 0.0 <= found <= 1.0:
        raise ValueError(f'a weight in "{key}" is between 0 and 1')
    return found


def truth(value: Any, key: str) -> bool:
    """True or false."""
    if value in (True, "true"):
        return True
    if value in (False, "false"):
        return False
    raise ValueError(f'"{key}" is true or false')


def moment(value: Any, key: str) -> datetime | None:
    """A time, or None."""
    if value in (None, "", "null"):
        return None
    try:
        found = datetime.fromisoformat(value)
        if found.tzinfo is None:
            raise ValueError
        return found.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f'"{key}" is a time with offset, as 2024-05-03T08:00:00+00:00') from None


def needed_moment(value: Any, key: str) -> datetime:
    """A time that may not be missing."""
    found = moment(value, key)
    if found is None:
        raise ValueError(f'"{key}" is missing')
    return found
