"""Writes notes: one transaction for the text, passages, vectors, words, entities and links of a batch."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from memora_cli.errors import EmptyNote, NoSuchNote, NoteTooLong, SupersessionRefused
from memora_cli.memory.connecting import connect, entities_of, is_dated, nearest
from memora_cli.memory.linking import Linking, refer
from memora_cli.models import Embedder
from memora_cli.rank.read import passage_text
from memora_cli.store import changes, graph, notes, sources, supersessions, vectors
from memora_cli.store.database import Database
from memora_cli.text.entities import wiki_links
from memora_cli.text.passages import split
from memora_cli.text.tokens import count_tokens
from memora_cli.text.words import normalise, search_text
from memora_cli.text.words import topic as normalise_topic
from memora_cli.values import Draft, Note

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

BATCH = 64  # notes that are written, or given vectors, in one transaction
STEP = 64  # passages that are embedded before it is looked whether anybody waits for them
SIZE_CAP = 1_000_000  # bytes; PostgreSQL takes no larger search vector


@dataclass(frozen=True, slots=True)
class Added:
    """What became of a draft: the id of its note, and whether it is new.

    `updated` says that the note has the newer text of its file now; `waits` why it has no vectors yet, empty when it
    has. `outdated` are the notes that it seems to update.
    """

    id: int
    created: bool
    updated: bool = False
    waits: str = ""
    outdated: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A draft, checked and cut into passages; `texts` are the passages as a model reads them."""

    draft: Draft
    content_hash: str
    passages: tuple[tuple[int, int], ...]
    texts: tuple[str, ...]
    tokens: int
    file_hash: str = ""


@dataclass(frozen=True, slots=True)
class Ready:
    """What writing a batch needs of a model: the embedder, why there is none, and the vectors by place in the batch."""

    embedder: Embedder | None
    waits: str
    rows: Mapping[int, NDArray[numpy.float32]]


def prepare(draft: Draft) -> Prepared:
    """Everything about a note that needs no database. Raises `EmptyNote` and `NoteTooLong`."""
    body, title = normalise(draft.body).strip("\n"), " ".join(normalise(draft.title).split())
    if not body.strip():
        raise EmptyNote
    size = len(body.encode()) + len(title.encode()) + len(draft.context.encode("utf-8", "replace"))
    if size > SIZE_CAP:
        raise NoteTooLong(size, SIZE_CAP)
    spans = tuple((span.start, span.end) for span in split(body))
    topics = tuple(dict.fromkeys(found for found in map(normalise_topic, draft.topics) if found))
    draft = replace(
        draft,
        body=body,
        title=title,
        topics=topics,
        context=normalise(draft.context),
        entities=tuple(map(normalise, draft.entities)),
        source=normalise(draft.source),
    )
    return Prepared(
        draft=draft,
        content_hash=hashlib.sha256(body.strip().encode()).hexdigest(),
        passages=spans,
        texts=tuple(passage_text(title, body[start:end]) for start, end in spans),
        tokens=count_tokens(body),
        file_hash=_file_hash(draft) if draft.revises else "",
    )


def _file_hash(draft: Draft) -> str:
    """What a file says, without the times that are only observed of it."""
    occurred = (draft.occurred.start, draft.occurred.end) if draft.occurred else ()
    created = draft.created_at if draft.dated else None
    said = (draft.title, draft.body, draft.topics, draft.kind, draft.context, draft.pinned, created, occurred)
    return hashlib.sha256(repr(said).encode("utf-8", "replace")).hexdigest()


def same_as(connection: Connection, space: str, prepared: Prepared) -> Added | None:
    """The note that already holds this text, or that came from the same file; whether the file has changed since."""
    draft = prepared.draft
    if not draft.revises:
        same = sources.find_text(connection, space, prepared.content_hash, draft.source)
        return None if same is None else Added(same, created=False)
    newest = sources.newest(connection, space, draft.source)
    if newest is None:
        return None
    note_id, content_hash, file_hash = newest
    unchanged = file_hash == prepared.file_hash if file_hash else content_hash == prepared.content_hash
    return Added(note_id, created=False, updated=not unchanged)


class _Known:
    """Tells which texts may be there already, so that the database is asked about these only."""

    def __init__(self, connection: Connection, space: str, batch: Sequence[Prepared]) -> None:
        hashes = {prepared.content_hash for prepared in batch if not prepared.draft.revises}
        origins = {prepared.draft.source for prepared in batch if prepared.draft.revises}
        self._hashes, self._sources = sources.known(connection, space, hashes, origins)

    def may_hold(self, prepared: Prepared) -> bool:
        """Whether a note may hold this text, or come from this file."""
        if prepared.draft.revises:
            return prepared.draft.source in self._sources
        return prepared.content_hash in self._hashes

    def add(self, prepared: Prepared) -> None:
        """From now on there is a note of it."""
        self._hashes.add(prepared.content_hash)
        self._sources.add(prepared.draft.source)


def embed_fresh(
    database: Database,
    space: str,
    batch: Sequence[Prepared],
    embedder: Embedder,
    left: Callable[[], bool],
    *,
    force: bool = False,
) -> dict[int, NDArray[numpy.float32]]:
    """The vectors of those of a batch that are not there yet, by their place in it; nothing is written.

    Raises `CancelledError` soon after `left` says that nobody waits for them: an interrupt waits for this.
    """
    import numpy

    with database.read() as connection:
        known = _Known(connection, space, batch)
        fresh = [
            place
            for place, prepared in enumerate(batch)
            if force or not known.may_hold(prepared) or same_as(connection, space, prepared) is None
        ]
    texts = [text for place in fresh for text in batch[place].texts]
    parts = []
    for start in range(0, len(texts), STEP):
        if left():
            raise CancelledError
        parts.append(embedder.embed(texts[start : start + STEP]))
    matrix = numpy.concatenate(parts) if parts else embedder.embed([])
    rows, start = {}, 0
    for place in fresh:
        rows[place] = matrix[start : start + len(batch[place].texts)]
        start += len(batch[place].texts)
    return rows


def write(
    database: Database,
    space: str,
    batch: Sequence[Prepared],
    at: datetime,
    ready: Ready,
    *,
    force: bool = False,
    week_start: int = 0,
    change: changes.Batch | None = None,
) -> list[Added]:
    """Write a batch in one transaction; texts that are there already are reported instead, and so are changed files.

    It is kept as a change of its own, or as part of `change`. The vectors are `ready`, so that other writers need not
    wait for a model. Raises `NoSuchNote` and `SupersessionRefused`.
    """
    rows = ready.rows
    with database.write() as connection:
        known = _Known(connection, space, batch)
        results: dict[int, Added] = {}
        written: dict[int, Prepared] = {}
        waiting: list[int] = []
        passages: list[int] = []
        meant: dict[int, NDArray[numpy.float32]] = {}
        entries: list[changes.Entry] = []

        def insert() -> None:
            numbers = notes.next_ids(connection, "note", len(waiting)) if waiting else ()
            drafted = [
                row_of(batch[place], None, at, number=number, space=space)
                for number, place in zip(numbers, waiting, strict=True)
            ]
            cut = notes.write(connection, drafted) if drafted else []
            placed = dict(zip(numbers, waiting, strict=True))
            passages.extend(passage for passage, note_id in cut if placed[note_id] in rows)
            for note_id, place in placed.items():
                results[place] = Added(note_id, created=True)
                written[note_id] = batch[place]
                entries.append(changes.Entry("add", note_id))
                if place in rows:
                    meant[note_id] = rows[place]
            waiting.clear()

        for place, prepared in enumerate(batch):
            if not force and known.may_hold(prepared):
                insert()
                same = same_as(connection, space, prepared)
                if same is not None:
                    results[place] = same
                    entries += _supersede_with_known(connection, space, prepared.draft.supersedes, same.id, at)
                    continue
            waiting.append(place)
            known.add(prepared)
            if prepared.draft.supersedes:
                insert()
                entries += supersede(connection, space, prepared.draft.supersedes, results[place].id, at)
        insert()
        links: list[graph.Link] = []
        if meant and ready.embedder:
            vectors.write(database, connection, space, ready.embedder.id, passages, _stacked(meant))
            links += nearest(database, connection, space, ready.embedder.id, meant)
        graph.mention(connection, space, {note_id: entities_of(one.draft) for note_id, one in written.items()})
        drafts = {note_id: prepared.draft for note_id, prepared in written.items()}
        links += connect(connection, space, drafts, at, week_start)
        graph.link(connection, space, links)
        if change is None:  # an import knows more names, and makes the references of all its notes at its end
            pages = [Linking(note_id, draft.source, (), wiki_links(draft.body)) for note_id, draft in drafts.items()]
            refer(connection, space, [page for page in pages if page.targets])
        changes.record(connection, space, entries, at, change)
    return [results[place] for place in range(len(batch))]


def _stacked(rows: Mapping[int, NDArray[numpy.float32]]) -> NDArray[numpy.float32]:
    """All rows, one below the other."""
    import numpy

    return numpy.concatenate(list(rows.values()))


def _supersede_with_known(
    connection: Connection, space: str, old_ids: Sequence[int], same: int, at: datetime
) -> list[changes.Entry]:
    """Let the note that holds a text already replace others; the refusal says what would add the text anew."""
    try:
        return supersede(connection, space, old_ids, same, at)
    except SupersessionRefused as refusal:
        raise SupersessionRefused(f"{refusal}; note {same} holds this text, and --force adds it once more") from None


def supersede(
    connection: Connection, space: str, old_ids: Sequence[int], new_id: int, at: datetime, *, trash: bool = False
) -> list[changes.Entry]:
    """Let one note replace others, and with `trash` those in the trash too; what that changed.

    Raises `NoSuchNote`, and `SupersessionRefused` for a note that would replace itself, directly or in a circle.
    """
    entries: list[changes.Entry] = []
    if not old_ids:
        return entries
    forgotten = notes.in_trash(connection, space, [*old_ids, new_id]) if trash else {}
    require(connection, space, [number for number in (*old_ids, new_id) if number not in forgotten])
    following = supersessions.successors(connection, space, [new_id], trash=True)
    later = {number for successors in following.values() for number in successors}
    for old in old_ids:
        if old == new_id:
            raise SupersessionRefused(f"note {old} cannot supersede itself: name another note")
        if old in later:
            raise SupersessionRefused(
                f"note {new_id} is itself superseded by note {old}, perhaps through others: that would be a circle"
            )
        if supersessions.supersede(connection, space, old, new_id, at):
            entries.append(changes.Entry("supersede", old, new_id))
    return entries


def require(connection: Connection, space: str, ids: Sequence[int], as_of: datetime | None = None) -> dict[int, Note]:
    """The notes with these ids, or as they were at a moment. Raises `NoSuchNote`."""
    found = notes.fetch(connection, space, ids, as_of)
    for note_id in ids:
        if note_id not in found:
            raise NoSuchNote(note_id, space, forgotten=bool(notes.in_trash(connection, space, [note_id])))
    return found


def row_of(prepared: Prepared, stored: Note | None, at: datetime, *, number: int = 0, space: str = "") -> notes.Row:
    """The row of a note that is new, or of a stored one with another text."""
    draft = prepared.draft
    note = Note(
        id=stored.id if stored else number,
        uid=stored.uid if stored else uuid.uuid4().hex,
        space=stored.space if stored else space,
        title=draft.title,
        body=draft.body,
        topics=draft.topics,
        kind=draft.kind,
        context=draft.context,
        created_at=draft.created_at or at,
        occurred_start=draft.occurred.start if draft.occurred else None,
        occurred_end=draft.occurred.end if draft.occurred else None,
        pinned=draft.pinned,
        source=draft.source,
        tokens=prepared.tokens,
    )
    words = (search_text(draft.title), search_text(" ".join(draft.topics)), search_text(draft.body))
    return notes.Row(note, prepared.content_hash, is_dated(draft), prepared.passages, words, prepared.file_hash)
