"""A note as exported files hold it, whole: the same keys as a line of JSON and as front matter of Markdown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from memora_cli.text.words import normalise
from memora_cli.values import KINDS, Note

_UID = re.compile(r"[0-9a-f]{32}")
LARGEST_ID = 2**63 - 1
FRONT_MATTER: Mapping[str, str] = MappingProxyType({"created": "created_at", "tags": "topics"})
"""The keys that front matter has by the names of other programs, and what a line calls them."""


@dataclass(frozen=True, slots=True)
class Bond:
    """A link to another note, or a supersession of one (`relation` "supersedes"): which, and since when or how much."""

    id: int
    uid: str
    relation: str
    weight: float = 1.0
    origin: str = "derived"
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """A note with all that is not found in its text.

    `entities` are the names that were given with it, `bonds` its links and supersessions, `pending` the `(relation,
    folded title)` of links that wait for their target, `file_hash` what its file held.
    """

    note: Note
    dated: bool = True
    entities: tuple[str, ...] = ()
    bonds: tuple[Bond, ...] = ()
    pending: tuple[tuple[str, str], ...] = ()
    file_hash: str = ""


def to_line(record: Record) -> dict[str, Any]:
    """The keys of an exported note; all times in UTC."""
    note = record.note
    return {
        "id": note.id,
        "uid": note.uid,
        "space": note.space,
        "title": note.title,
        "text": note.body,
        "topics": list(note.topics),
        "kind": note.kind,
        "context": note.context,
        "created_at": _stamp(note.created_at),
        "dated": record.dated,
        "occurred_start": _stamp(note.occurred_start),
        "occurred_end": _stamp(note.occurred_end),
        "pinned": note.pinned,
        "source": note.source,
        "file_hash": record.file_hash,
        "entities": list(record.entities),
        "links": [
            {"id": bond.id, "uid": bond.uid, "relation": bond.relation, "weight": bond.weight, "origin": bond.origin}
            for bond in record.bonds
            if bond.relation != "supersedes"
        ],
        "pending": [{"relation": relation, "title": title} for relation, title in record.pending],
        "supersedes": [
            {"id": bond.id, "uid": bond.uid, "at": _stamp(bond.at)}
            for bond in record.bonds
            if bond.relation == "supersedes"
        ],
    }


def is_record(line: Mapping[str, Any]) -> bool:
    """Whether the keys are those of a note that memora exported, and not just of any note."""
    return isinstance(uid := line.get("uid"), str) and bool(_UID.fullmatch(uid)) and "id" in line


def from_line(line: Mapping[str, Any]) -> Record:
    """The note of `to_line`; numbers and truth may be texts, as in front matter. ValueError names the key."""
    kind = _text(line, "kind") or "world"
    if kind not in KINDS:
        raise ValueError(f'"kind" is one of {", ".join(KINDS)}, not "{kind}"')
    created_at = _moment(line.get("created_at"), "created_at")
    if created_at is None:
        raise ValueError('"created_at" is missing')
    note = Note(
        id=_whole(line.get("id"), "id"),
        uid=_text(line, "uid"),
        space=normalise(_text(line, "space")) or "default",
        title=_text(line, "title"),
        body=_text(line, "text"),
        topics=_texts(line, "topics"),
        kind=kind,
        context=_text(line, "context"),
        created_at=created_at,
        occurred_start=_moment(line.get("occurred_start"), "occurred_start"),
        occurred_end=_moment(line.get("occurred_end"), "occurred_end"),
        pinned=_truth(line.get("pinned", False), "pinned"),
        source=_text(line, "source"),
        tokens=0,
    )
    links = tuple(
        Bond(
            _whole(item.get("id"), "links"),
            _text(item, "uid"),
            _text(item, "relation"),
            _number(item.get("weight", 1.0), "links"),
            _text(item, "origin") or "derived",
        )
        for item in _objects(line, "links")
    )
    supersedes = tuple(
        Bond(
            _whole(item.get("id"), "supersedes"),
            _text(item, "uid"),
            "supersedes",
            at=_moment(item.get("at"), "supersedes"),
        )
        for item in _objects(line, "supersedes")
    )
    pending = tuple((_text(item, "relation"), _text(item, "title")) for item in _objects(line, "pending"))
    return Record(
        note,
        _truth(line.get("dated", True), "dated"),
        _texts(line, "entities"),
        links + supersedes,
        pending,
        _text(line, "file_hash"),
    )


def _stamp(moment: datetime | None) -> str | None:
    return moment.astimezone(UTC).isoformat() if moment else None


def _text(line: Mapping[str, Any], key: str) -> str:
    value = line.get(key, "")
    if not isinstance(value, str):
        raise ValueError(f'"{key}" is a text')
    return value


def _texts(line: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = line.get(key) or []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f'"{key}" is a list of texts')
    return tuple(value)


def _objects(line: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    value = line.get(key) or []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ValueError(f'"{key}" is a list of objects')
    return value


def _whole(value: Any, key: str) -> int:
    try:
        number = int(value)
    except (TypeError, ValueError):
        raise ValueError(f'"{key}" holds no id') from None
    if isinstance(value, bool) or not 1 <= number <= LARGEST_ID:
        raise ValueError(f'"{key}" holds no id')
    return number


def _number(value: Any, key: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f'a weight in "{key}" is a number') from None
    if not 0.0 <= number <= 1.0:
        raise ValueError(f'a weight in "{key}" is between 0 and 1')
    return number


def _truth(value: Any, key: str) -> bool:
    if value in (True, "true"):
        return True
    if value in (False, "false"):
        return False
    raise ValueError(f'"{key}" is true or false')


def _moment(value: Any, key: str) -> datetime | None:
    if value in (None, "", "null"):
        return None
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            raise ValueError
        return moment.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f'"{key}" is a time with offset, as 2024-05-03T08:00:00+00:00') from None
