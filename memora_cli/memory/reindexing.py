"""Makes the vectors that notes lack and the indexes anew; another model takes over when it has all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sqlalchemy import Connection

from memora_cli.errors import ModelUnusable
from memora_cli.memory.writing import BATCH, alike, insert_vectors
from memora_cli.models import EMBEDDER, Embedder, load_embedder
from memora_cli.models.floors import carry_over
from memora_cli.rank.read import passage_text
from memora_cli.store import graph, marks, notes, vectors
from memora_cli.store.database import Database
from memora_cli.values import Floors

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

LEAST_NOTES = 20  # fewer say nothing about how a model spreads its cosines
MOST_NOTES = 200  # their 19,900 pairs are enough to know the share of a floor


@dataclass(frozen=True, slots=True)
class Batch:
    """What one transaction of a reindex did: notes that got vectors, or links; `of` is how many had to at its start."""

    step: Literal["vectors", "links"]
    notes: int
    of: int


def reindex(
    database: Database, space: str, embedder: Embedder, floors: Callable[[Connection, str], Floors]
) -> Iterator[Batch]:
    """Make the indexes anew, the vectors that notes lack, and floors and links by them; every batch is committed.

    While vectors of other models are there, these go on answering: the new ones are put beside them, and when no note
    lacks one, a single transaction takes the others away. A reindex that was stopped goes on where it was.
    `floors` are those of a model with that id.
    """
    with database.write() as connection:
        database.index.rebuild(connection, space, embedder.id)
        waiting = vectors.waiting(connection, space, embedder.id)
    while True:
        yield from _embed(database, space, embedder, floors, waiting)
        estimated = _estimate(database, space, embedder, floors)
        with database.write() as connection:
            if not vectors.waiting(connection, space, embedder.id):
                _take_over(database, connection, space, embedder.id, estimated)
                break
    yield from _link(database, space, embedder.id, floors)


def _embed(
    database: Database, space: str, embedder: Embedder, floors: Callable[[Connection, str], Floors], waiting: int
) -> Iterator[Batch]:
    while True:
        with database.read() as connection:
            ids = vectors.lacking(connection, space, embedder.id, BATCH)
            alone = not [model for model in vectors.models(connection, space) if model != embedder.id]
            least = floors(connection, embedder.id)
        if not ids:
            return
        done = embed_waiting(database, space, embedder, ids, least.link if alone else None)
        yield Batch("vectors", done, waiting)


def embed_waiting(
    database: Database, space: str, embedder: Embedder, note_ids: Sequence[int], link_floor: float | None
) -> int:
    """Give these notes the vectors they lack, and links unless `link_floor` is None; how many notes got any."""
    with database.read() as connection:
        found = notes.fetch(connection, space, note_ids)
        spans = notes.passages_of(connection, space, list(found))
    texts = [
        passage_text(note.title, note.body[span.start : span.end]) for note in found.values() for span in spans[note.id]
    ]
    matrix = embedder.embed(texts)
    with database.write() as connection:
        waiting = set(vectors.lacking(connection, space, embedder.id, len(note_ids) + 1)) & set(found)
        start = 0
        for note in found.values():
            rows = matrix[start : start + len(spans[note.id])]
            start += len(rows)
            if note.id not in waiting:
                continue
            if link_floor is None:
                passages = [span.id for span in spans[note.id]]
                vectors.write(database, connection, space, embedder.id, passages, rows)
            else:
                links = insert_vectors(database, connection, space, embedder.id, note.id, rows, link_floor)
                graph.link(connection, space, links)
    return len(waiting)


def _take_over(database: Database, connection: Connection, space: str, model: str, estimated: Floors | None) -> None:
    """Let a model that has vectors for all notes answer alone; links that others made are to be made again."""
    others = [other for other in vectors.models(connection, space) if other != model]
    for other in others:
        vectors.drop(database, connection, space, other)
        marks.put_floors(connection, space, other, None)
    if estimated is not None:
        marks.put_floors(connection, space, model, estimated)
    if others:
        graph.unlink_all(connection, space, "semantic")
        marks.put(connection, space, {marks.LINKED: 0})


def _link(database: Database, space: str, model: str, floors: Callable[[Connection, str], Floors]) -> Iterator[Batch]:
    """Link notes that mean nearly the same, batch by batch from the mark that says how far this has come."""
    of = None
    while True:
        with database.write() as connection:
            linked = marks.read(connection, space, marks.LINKED)
            if linked is None:
                return
            ids = notes.after(connection, space, linked, BATCH)
            of = notes.count_after(connection, space, linked) if of is None else of
            link_floor = floors(connection, model).link
            for note_id, matrix in _matrices(connection, space, model, ids).items():
                graph.link(connection, space, alike(database, connection, space, model, note_id, matrix, link_floor))
            marks.put(connection, space, {marks.LINKED: ids[-1] if ids else None})
        yield Batch("links", len(ids), of)


def _matrices(
    connection: Connection, space: str, model: str, note_ids: Sequence[int]
) -> dict[int, NDArray[numpy.float32]]:
    """The stored vectors of each note that has any."""
    import numpy

    spans = notes.passages_of(connection, space, note_ids)
    stored = vectors.read(connection, space, model, [span.id for held in spans.values() for span in held])
    found = {}
    for note_id, held in spans.items():
        rows = [numpy.frombuffer(stored[span.id], "<f4") for span in held if span.id in stored]
        if rows:
            found[note_id] = numpy.array(rows, numpy.float32)
    return found


def _estimate(
    database: Database, space: str, embedder: Embedder, floors: Callable[[Connection, str], Floors]
) -> Floors | None:
    """Floors carried over from the bundled embedder on notes spread over the space; None for chosen ones or few notes.

    Vectors of the bundled embedder are taken where the space has them, and made where it has not.
    """
    with database.read() as connection:
        if floors(connection, embedder.id).origin == "chosen":
            return None
        ids = notes.spread(connection, space, MOST_NOTES)
        ours = _matrices(connection, space, embedder.id, ids)
        if len(ours) < LEAST_NOTES:
            return None
        try:
            known = load_embedder(EMBEDDER)
        except ModelUnusable:
            return None
        theirs = _matrices(connection, space, known.id, list(ours))
        missing = notes.fetch(connection, space, [note_id for note_id in ours if note_id not in theirs])
        spans = notes.passages_of(connection, space, list(missing))
    import numpy

    texts = [
        passage_text(note.title, note.body[spans[note.id][0].start : spans[note.id][0].end])
        for note in missing.values()
    ]
    made = dict(zip(missing, known.embed(texts), strict=True))
    both = [note_id for note_id in ours if note_id in theirs or note_id in made]
    first = [theirs[note_id][0] if note_id in theirs else made[note_id] for note_id in both]
    return carry_over(numpy.array(first), Floors(), numpy.array([ours[note_id][0] for note_id in both]))
