"""Changes of notes that are there: pins, the trash, links, and taking the last change back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection

from memora_cli.errors import NoSuchNote, Usage
from memora_cli.memory import naming
from memora_cli.memory.editing import Plan, Revise, Rows, apply, plan, with_fields, with_vectors
from memora_cli.memory.writing import require
from memora_cli.models import Embedder
from memora_cli.store import changes, graph, notes, past, purging, supersessions
from memora_cli.store.database import Database
from memora_cli.values import Change, Draft, Note

Entries = list[changes.Entry]


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo took back, in the order it was made; `purged` are notes that were purged since, which stay gone."""

    changes: tuple[Change, ...]
    purged: tuple[int, ...] = ()


def pin(connection: Connection, space: str, ids: Sequence[int], *, pinned: bool) -> Entries:
    """Pin or unpin notes; what that changed. Raises `NoSuchNote`."""
    found = require(connection, space, ids)
    turned = [note_id for note_id in dict.fromkeys(ids) if found[note_id].pinned != pinned]
    for note_id in turned:
        notes.set_pinned(connection, space, note_id, pinned)
    return [changes.Entry("pin" if pinned else "unpin", note_id) for note_id in turned]


def newer_file(file: Draft) -> Revise:
    """An edit that gives a note what its file says now; a date that is only observed changes nothing."""

    def revise(old: Draft) -> Draft:
        created_at = file.created_at if file.dated else old.created_at
        return replace(
            file, created_at=created_at, dated=file.dated or old.dated, entities=old.entities, pinned=old.pinned
        )

    return revise


def forget(connection: Connection, space: str, ids: Sequence[int], at: datetime) -> Entries:
    """Move notes to the trash; what that changed. Raises `NoSuchNote`.

    What a note in the middle of a chain replaced is replaced by what replaces that note.
    """
    require(connection, space, ids)
    entries: Entries = []
    for note_id in dict.fromkeys(ids):
        entries += bridge(connection, space, note_id, at)
        notes.set_forgotten(connection, space, note_id, at)
        entries.append(changes.Entry("forget", note_id))
    return entries


def bridge(connection: Connection, space: str, note_id: int, at: datetime) -> Entries:
    """Join the two ends of a chain around a note that leaves it."""
    older = supersessions.predecessors(connection, space, [note_id]).get(note_id, ())
    newer = supersessions.successors(connection, space, [note_id]).get(note_id, ())
    return [
        changes.Entry("supersede", old, new)
        for old in older
        for new in newer
        if supersessions.supersede(connection, space, old, new, at)
    ]


def restore(connection: Connection, space: str, ids: Sequence[int], at: datetime) -> Entries:
    """Take notes out of the trash; what that changed. Raises `NoSuchNote` for one that is not in it."""
    found = notes.in_trash(connection, space, ids)
    entries: Entries = []
    for note_id in dict.fromkeys(ids):
        if note_id not in found:
            if notes.fetch(connection, space, [note_id]):
                continue
            raise NoSuchNote(note_id, space)
        past.archive(connection, space, note_id, found[note_id].forgotten_at or at)
        notes.set_forgotten(connection, space, note_id, None, since=at)
        entries.append(changes.Entry("restore", note_id))
    return entries


def purgeable(connection: Connection, space: str, ids: Sequence[int] | None) -> list[Note]:
    """The notes with these ids, in the trash or not; None is all of the trash. Raises `NoSuchNote`."""
    trash = notes.in_trash(connection, space, ids)
    if ids is None:
        return list(trash.values())
    found = trash | require(connection, space, [note_id for note_id in ids if note_id not in trash])
    return [found[note_id] for note_id in dict.fromkeys(ids)]


def purge(database: Database, connection: Connection, space: str, ids: Sequence[int], at: datetime) -> None:
    """Delete notes for good. Raises `NoSuchNote`."""
    purgeable(connection, space, ids)
    bridged = [entry for note_id in ids for entry in bridge(connection, space, note_id, at)]
    purging.purge(database, connection, space, ids)
    kept = [entry for entry in bridged if entry.note_id not in ids and entry.other_id not in ids]
    changes.record(connection, space, kept + [changes.Entry("purge", note_id) for note_id in dict.fromkeys(ids)], at)


def link(connection: Connection, space: str, wanted: graph.Link) -> Entries:
    """Link two notes by cause; what that changed. Raises `NoSuchNote` and `Usage`."""
    require(connection, space, [wanted.source, wanted.target])
    if wanted.source == wanted.target:
        raise Usage(f"note {wanted.source} cannot be linked to itself: name two notes")
    new = wanted.stored()
    held = _held(connection, space, new)
    if held == new:
        return []
    graph.link(connection, space, [new])
    return [changes.Entry("link", new.source, new.target, _fields(held) if held else None, _fields(new))]


def unlink(connection: Connection, space: str, one: int, other: int, relation: str | None) -> Entries:
    """Take away the links by cause between two notes, or that one; what that changed.

    Raises `NoSuchNote`, and `Usage` where there is none.
    """
    require(connection, space, [one, other])
    held = [
        found
        for source, target in ((one, other), (other, one))
        for found in graph.links_between(connection, space, source, target)
        if found.relation in graph.CAUSAL
    ]
    if relation is not None:
        meant = graph.Link(one, other, relation, 1.0).stored()
        held = [found for found in held if (found.source, found.relation) == (meant.source, meant.relation)]
    if not held:
        said = f'"{relation}" from note {one} to note {other}' if relation else f"by cause of notes {one} and {other}"
        raise Usage(f"there is no link {said}: memora show {one} lists its links")
    graph.unlink(connection, space, held)
    return [changes.Entry("unlink", found.source, found.target, _fields(found)) for found in held]


def undo(database: Database, space: str, at: datetime, embedder: Embedder | None, week: int) -> Undone | None:
    """Take the last change back that was not taken back yet, with all that was made together; None without one."""

    def plans(connection: Connection) -> list[Plan]:
        batch = changes.last(connection, space)
        made = changes.of_batch(connection, space, batch) if batch is not None else []
        return [_plan_back(connection, space, change) for change in reversed(made) if change.action == "edit"]

    def act(connection: Connection, planned: Sequence[Plan], rows: Rows) -> Undone | None:
        batch = changes.last(connection, space)
        if batch is None:
            return None
        made = changes.of_batch(connection, space, batch)
        edits = iter(planned)
        entries: Entries = []
        for change in reversed(made):
            if change.action == "edit":
                model = embedder.id if embedder else ""
                entries += apply(database, connection, space, next(edits), rows, model, at, week)
            else:
                entries += _take_back(connection, space, change, at)
        # Also when nothing was left to take back, so that the next undo takes the one before.
        entries = entries or [changes.Entry(made[-1].action, made[-1].note_id, made[-1].other_id)]
        changes.record(connection, space, entries, at, undoes=batch)
        return Undone(tuple(made), tuple(changes.purged_since(connection, space, batch)))

    return with_vectors(database, embedder, plans, act)


def _plan_back(connection: Connection, space: str, change: Change) -> Plan:
    def revise(draft: Draft) -> Draft:
        return with_fields(draft, change.before)

    return plan(connection, space, change.note_id or 0, revise)


def _take_back(connection: Connection, space: str, change: Change, at: datetime) -> Entries:
    """Take one change back; what that changed."""
    note_id, other_id = change.note_id or 0, change.other_id or 0
    match change.action:
        case "add" | "restore":
            # Without a bridge around it: the chain is to be what it was before.
            notes.set_forgotten(connection, space, note_id, at)
            return [changes.Entry("forget", note_id)]
        case "forget":
            return restore(connection, space, [note_id], at)
        case "pin" | "unpin":
            notes.set_pinned(connection, space, note_id, change.action == "unpin")
            return [changes.Entry("unpin" if change.action == "pin" else "pin", note_id)]
        case "supersede":
            supersessions.unsupersede(connection, space, note_id, other_id, at)
            return [changes.Entry("unsupersede", note_id, other_id)]
        case "link" | "unlink":
            was, now = (_link(note_id, other_id, values) for values in (change.before, change.after))
            graph.unlink(connection, space, [now] if now else [])
            graph.link(connection, space, [was] if was else [])
            return [
                changes.Entry("link" if was else "unlink", note_id, other_id, dict(change.after), dict(change.before))
            ]
        case "alias":
            return naming.part(connection, space, change.after["other"], change.after.get("carried", ()))
        case "unalias":
            return naming.join(connection, space, change.before["name"], change.before["other"], at)
        case _:
            return []


def _held(connection: Connection, space: str, wanted: graph.Link) -> graph.Link | None:
    links = graph.links_between(connection, space, wanted.source, wanted.target)
    return next((found for found in links if found.relation == wanted.relation), None)


def _fields(link: graph.Link) -> dict[str, object]:
    return {"relation": link.relation, "weight": link.weight, "origin": link.origin}


def _link(source: int, target: int, values: object) -> graph.Link | None:
    if not isinstance(values, dict) or not values:
        return None
    return graph.Link(source, target, values["relation"], values["weight"], values["origin"])
