"""Edits notes: the text that was is kept, and of the indexes only what changed is made anew."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection

from memora_cli.errors import DatabaseBusy
from memora_cli.memory.connecting import derived_causes, entities_of, is_dated, mention_times, nearest_links
from memora_cli.memory.linking import Linking, refer
from memora_cli.memory.writing import Prepared, prepare, require, row_of
from memora_cli.models import Embedder
from memora_cli.rank.read import passage_text
from memora_cli.store import changes, graph, notes, past, rewriting, vectors
from memora_cli.store.database import Database
from memora_cli.text.entities import wiki_links
from memora_cli.text.words import search_text
from memora_cli.values import Draft, Note, Window

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

ATTEMPTS = 5  # at an edit of what others edit meanwhile

Revise = Callable[[Draft], Draft]
Rows = Mapping[str, "NDArray[numpy.float32]"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Plan:
    """An edit that is worked out: the note as it is, what it is to be, and the fields that differ, before and after.

    `known` are vectors that its texts have or had, by the text that was embedded and the model; `file_hash` is of the
    file that it is imported from again, if it is.
    """

    note: Note
    old: Draft
    new: Prepared
    before: dict[str, Any]
    after: dict[str, Any]
    known: Mapping[tuple[str, str], bytes]
    file_hash: str = ""

    def missing(self, model: str) -> list[str]:
        """The texts that have no vector of the model yet."""
        return [text for text in dict.fromkeys(self.new.texts) if (text, model) not in self.known]


@dataclass(frozen=True, slots=True)
class Edited:
    """What became of an edit: whether it changed the note, and why the new text has no vectors yet, if it has none."""

    id: int
    changed: bool
    waits: str = ""


def edit(
    database: Database,
    space: str,
    note_id: int,
    revise: Revise,
    at: datetime,
    embedder: Embedder | None,
    week: int,
    file_hash: str = "",
    change: changes.Batch | None = None,
) -> bool:
    """Give a note another text; whether that changed anything. See `plan` for the errors.

    It is kept as a change of its own, or as part of `change`.
    """

    def plans(connection: Connection) -> list[Plan]:
        return [plan(connection, space, note_id, revise, file_hash)]

    def act(connection: Connection, planned: Sequence[Plan], rows: Rows) -> bool:
        model = embedder.id if embedder else ""
        entries = apply(database, connection, space, planned[0], rows, model, at, week)
        changes.record(connection, space, entries, at, change)
        return bool(entries)

    return with_vectors(database, embedder, plans, act)


def plan(connection: Connection, space: str, note_id: int, revise: Revise, file_hash: str = "") -> Plan:
    """Work out an edit. Raises `NoSuchNote`, and what `prepare` raises of the new text."""
    found = notes.in_trash(connection, space, [note_id]) or require(connection, space, [note_id])
    note = found[note_id]
    old = _draft(connection, note)
    new = prepare(revise(old))
    was, now = fields(old), fields(new.draft)
    turned = [name for name in was if was[name] != now[name]]
    known = vectors.of_texts(connection, space, note_id, passage_text)
    before, after = ({name: values[name] for name in turned} for values in (was, now))
    return Plan(note, old, new, before, after, known, file_hash)


def with_vectors(
    database: Database,
    embedder: Embedder | None,
    plan_all: Callable[[Connection], Sequence[Plan]],
    act: Callable[[Connection, Sequence[Plan], Rows], T],
) -> T:
    """Plan, embed what has no vector, plan again in the transaction that writes, and act.

    What others changed meanwhile is planned anew; other writers need not wait for a model.
    """
    rows: dict[str, NDArray[numpy.float32]] = {}
    for _ in range(ATTEMPTS):
        if embedder:
            with database.read() as connection:
                texts = _missing(plan_all(connection), embedder, rows)
            if texts:
                rows |= dict(zip(texts, embedder.embed(texts), strict=True))
        with database.write() as connection:
            plans = plan_all(connection)
            if not embedder or not _missing(plans, embedder, rows):
                return act(connection, plans, rows)
    raise DatabaseBusy(f"{database.address}: others change the same note over and over; try again")


def _missing(plans: Sequence[Plan], embedder: Embedder, rows: Rows) -> list[str]:
    texts = dict.fromkeys(text for one in plans for text in one.missing(embedder.id))
    return [text for text in texts if text not in rows]


def apply(
    database: Database, connection: Connection, space: str, plan: Plan, rows: Rows, model: str, at: datetime, week: int
) -> list[changes.Entry]:
    """Carry an edit out; what it changed. `rows` are vectors of that model by text, `week` the user's first weekday."""
    note_id, draft = plan.note.id, plan.new.draft
    if plan.file_hash:
        rewriting.set_file_hash(connection, space, note_id, plan.file_hash)
    if not plan.before:
        return []
    past.archive(connection, space, note_id, at)
    rewriting.rewrite(connection, row_of(plan.new, plan.note, at), at)
    turned = set(plan.before)
    if turned & {"title", "body"}:
        fresh = _change_passages(database, connection, space, plan, rows, model)
        if fresh:
            graph.unlink_derived(connection, space, note_id, "semantic")
            graph.link(connection, space, nearest_links(database, connection, space, model, [note_id]))
    if turned & {"title", "body", "topics", "entities"} and entities_of(plan.old) != entities_of(draft):
        graph.unmention(connection, space, note_id)
        graph.mention(connection, space, {note_id: entities_of(draft)})
    if turned & {"title", "body", "created_at"}:
        mention_times(connection, space, note_id, draft, draft.created_at or at, at.tzinfo, week)
    if turned & {"created_at", "occurred_start", "occurred_end", "dated"}:
        graph.unlink_derived(connection, space, note_id, "temporal")
        if is_dated(draft):
            moment = _event(draft) or at
            graph.link(connection, space, graph.near_in_time(connection, space, note_id, moment))
    if "body" in turned:
        graph.unlink_derived(connection, space, note_id, "causes")
        graph.link(connection, space, derived_causes(connection, space, note_id, draft))
        if not plan.file_hash:  # an import makes the references of all its files at its end
            said, was = wiki_links(draft.body), wiki_links(plan.old.body)
            if said or was:
                refer(connection, space, [Linking(note_id, draft.source, (), said, was)])
    if "title" in turned and draft.title:
        graph.resolve_pending(connection, space, note_id, [search_text(draft.title)])
    return [changes.Entry("edit", note_id, before=plan.before, after=plan.after)]


def _change_passages(
    database: Database, connection: Connection, space: str, plan: Plan, rows: Rows, model: str
) -> bool:
    """Let passages whose text stays keep their vectors, and replace the others; whether vectors came or went."""
    note = plan.note
    stored: dict[str, list[notes.Passage]] = defaultdict(list)
    for passage in notes.passages_of(connection, space, [note.id])[note.id]:
        stored[passage_text(note.title, note.body[passage.start : passage.end])].append(passage)
    moved: dict[int, tuple[int, int]] = {}
    fresh: list[tuple[tuple[int, int], str]] = []
    for span, text in zip(plan.new.passages, plan.new.texts, strict=True):
        if stored[text]:
            passage = stored[text].pop(0)
            if (passage.start, passage.end) != span:
                moved[passage.id] = span
        else:
            fresh.append((span, text))
    gone = [passage.id for passages in stored.values() for passage in passages]
    rewriting.move_passages(connection, space, moved)
    if gone:
        vectors.remove(database, connection, space, gone)
        rewriting.remove_passages(connection, space, gone)
    numbers = rewriting.add_passages(connection, space, note.id, [span for span, _ in fresh])
    known = {
        (number, name): blob
        for number, (_, text) in zip(numbers, fresh, strict=True)
        for (said, name), blob in plan.known.items()
        if said == text
    }
    vectors.insert_known(database, connection, space, known)
    new = [
        (number, rows[text])
        for number, (_, text) in zip(numbers, fresh, strict=True)
        if (number, model) not in known and text in rows
    ]
    if new:
        import numpy

        vectors.write(database, connection, space, model, [n for n, _ in new], numpy.stack([row for _, row in new]))
    return bool(gone or fresh)


def fields(draft: Draft) -> dict[str, Any]:
    """What an edit may change, as JSON takes it."""

    def stamp(moment: datetime | None) -> str | None:
        return moment.astimezone(UTC).isoformat() if moment else None

    return {
        "title": draft.title,
        "body": draft.body,
        "topics": list(draft.topics),
        "kind": draft.kind,
        "context": draft.context,
        "created_at": stamp(draft.created_at),
        "occurred_start": stamp(draft.occurred.start) if draft.occurred else None,
        "occurred_end": stamp(draft.occurred.end) if draft.occurred else None,
        "dated": is_dated(draft),
        "entities": sorted(draft.entities),
    }


def with_fields(draft: Draft, values: Mapping[str, Any]) -> Draft:
    """The draft with those of its `fields` set."""
    said = {**fields(draft), **values}

    def moment(name: str) -> datetime | None:
        return datetime.fromisoformat(said[name]) if said[name] else None

    start, end = moment("occurred_start"), moment("occurred_end")
    return replace(
        draft,
        title=said["title"],
        body=said["body"],
        topics=tuple(said["topics"]),
        kind=said["kind"],
        context=said["context"],
        created_at=moment("created_at"),
        occurred=Window(start, end, "") if start or end else None,
        dated=said["dated"],
        entities=tuple(said["entities"]),
    )


def _draft(connection: Connection, note: Note) -> Draft:
    """A stored note as what was said of it."""
    occurred = None
    if note.occurred_start or note.occurred_end:
        occurred = Window(note.occurred_start, note.occurred_end, "")
    return Draft(
        body=note.body,
        title=note.title,
        topics=note.topics,
        kind=note.kind,
        context=note.context,
        created_at=note.created_at,
        occurred=occurred,
        entities=tuple(graph.explicit_names(connection, note.space, note.id)),
        pinned=note.pinned,
        source=note.source,
        dated=notes.is_dated(connection, note.space, note.id),
    )


def _event(draft: Draft) -> datetime | None:
    return (draft.occurred.start or draft.occurred.end if draft.occurred else None) or draft.created_at
