"""A note as exported files hold it, whole: the same keys as a line of JSON and as front matter of Markdown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

from memora_cli.memory import fields
from memora_cli.text.words import normalise
from memora_cli.values import KINDS, Note

_UID = re.compile(r"[0-9a-f]{32}")
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
    folded title)` of links that wait for their target, `file_hash` what its file held, `said` the `(name, origin)` by
    which it mentions what an alias means, `since` when this text replaced another. With `past`, the number of a text
    that the note had until `note.forgotten_at`.
    """

    note: Note
    dated: bool = True
    entities: tuple[str, ...] = ()
    bonds: tuple[Bond, ...] = ()
    pending: tuple[tuple[str, str], ...] = ()
    file_hash: str = ""
    said: tuple[tuple[str, str], ...] = ()
    since: datetime | None = None
    past: int = 0


def to_line(record: Record) -> dict[str, Any]:
    """The keys of an exported note; all times in UTC. A past text and a forgotten note stand within a record."""
    until = fields.stamp(record.note.forgotten_at)
    if record.past:
        return {"record": "past", "number": record.past, "until": until, "note": _to_note(record)}
    if until:
        return {"record": "forgotten", "at": until, "note": _to_note(record)}
    return _to_note(record)


def _to_note(record: Record) -> dict[str, Any]:
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
        "created_at": fields.stamp(note.created_at),
        "dated": record.dated,
        "occurred_start": fields.stamp(note.occurred_start),
        "occurred_end": fields.stamp(note.occurred_end),
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
            {"id": bond.id, "uid": bond.uid, "at": fields.stamp(bond.at)}
            for bond in record.bonds
            if bond.relation == "supersedes"
        ],
        "said": [{"name": name, "origin": origin} for name, origin in record.said],
        "since": fields.stamp(record.since),
    }


def is_record(line: Mapping[str, Any]) -> bool:
    """Whether the keys are those of a note that memora exported, and not just of any note."""
    return isinstance(uid := line.get("uid"), str) and bool(_UID.fullmatch(uid)) and "id" in line


def from_record(line: Mapping[str, Any]) -> Record:
    """The past text or forgotten note of `to_line`. ValueError names the key."""
    key = "until" if line["record"] == "past" else "at"
    until, held = fields.needed_moment(line.get(key), key), line.get("note")
    if not isinstance(held, dict) or not is_record(held):
        raise ValueError('"note" is an exported note')
    record = from_line(held)
    past = fields.whole(line.get("number"), "number") if line["record"] == "past" else 0
    return replace(record, note=replace(record.note, forgotten_at=until), past=past)


def from_line(line: Mapping[str, Any]) -> Record:
    """The note of `to_line`; numbers and truth may be texts, as in front matter. ValueError names the key."""
    kind = fields.text(line, "kind") or "world"
    if kind not in KINDS:
        raise ValueError(f'"kind" is one of {", ".join(KINDS)}, not "{kind}"')
    created_at = fields.needed_moment(line.get("created_at"), "created_at")
    note = Note(
        id=fields.whole(line.get("id"), "id"),
        uid=fields.text(line, "uid"),
        space=normalise(fields.text(line, "space")) or "default",
        title=fields.text(line, "title"),
        body=fields.text(line, "text"),
        topics=fields.texts(line, "topics"),
        kind=kind,
        context=fields.text(line, "context"),
        created_at=created_at,
        occurred_start=fields.moment(line.get("occurred_start"), "occurred_start"),
        occurred_end=fields.moment(line.get("occurred_end"), "occurred_end"),
        pinned=fields.truth(line.get("pinned", False), "pinned"),
        source=fields.text(line, "source"),
        tokens=0,
    )
    links = tuple(
        Bond(
            fields.whole(item.get("id"), "links"),
            fields.text(item, "uid"),
            fields.text(item, "relation"),
            fields.number(item.get("weight", 1.0), "links"),
            fields.text(item, "origin") or "derived",
        )
        for item in fields.objects(line, "links")
    )
    supersedes = tuple(
        Bond(
            fields.whole(item.get("id"), "supersedes"),
            fields.text(item, "uid"),
            "supersedes",
            at=fields.moment(item.get("at"), "supersedes"),
        )
        for item in fields.objects(line, "supersedes")
    )
    pending = tuple(
        (fields.text(item, "relation"), fields.text(item, "title")) for item in fields.objects(line, "pending")
    )
    return Record(
        note,
        fields.truth(line.get("dated", True), "dated"),
        fields.texts(line, "entities"),
        links + supersedes,
        pending,
        fields.text(line, "file_hash"),
        tuple((fields.text(item, "name"), fields.text(item, "origin")) for item in fields.objects(line, "said")),
        fields.moment(line.get("since"), "since"),
    )
