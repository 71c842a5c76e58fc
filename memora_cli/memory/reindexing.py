"""Makes the vectors that notes lack and the indexes anew; another model takes over when it has all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection

from memora_cli.errors import ModelUnusable
from memora_cli.memory.connecting import nearest_links
from memora_cli.memory.writing import BATCH
from memora_cli.models import EMBEDDER, Embedder, load_embedder
from memora_cli.models.floors import carry_over
from memora_cli.rank.read import passage_text
from memora_cli.store import graph, marks, notes, texts, vectors
from memora_cli.store.database import Database
from memora_cli.values import Floors

LEAST_NOTES = 20  # fewer say nothing about how a model spreads its cosines
MOST_NOTES = 200  # their 19,900 pairs are enough to know the share of a floor


@dataclass(frozen=True, slots=True)
class Batch:
    """What one transaction of a reindex did: notes that got vectors, or links; `of` is how many had to at its start."""

    step: Literal["vectors", "links"]
    notes: int
    of: int


def reindex(
    database: Database, space: str, embedder: Embedder, floors: Callable[[Connection], Floors]
) -> Iterator[Batch]:
    """Make the indexes anew, the vectors that notes lack, and floors and links by them; every batch is committed.

    While vectors of other models are there, these go on answering: the new ones are put beside them, and when no text
    lacks one, a single transaction takes the others away. A reindex that was stopped goes on where it was. `floors`
    are those that the embedder has so far.
    """
    with database.write() as connection:
        database.index.rebuild(connection, space, embedder.id)
        waiting = vectors.waiting(connection, space, embedder.id)
    while True:
        yield from _embed(database, space, embedder, waiting)
        estimated = _estimate(database, space, embedder, floors)
        with database.write() as connection:
            if not vectors.lacking(connection, space, embedder.id, 1, past=True):
                _take_over(database, connection, space, embedder.id, estimated)
                break
    yield from _link(database, space, embedder.id)


def _embed(database: Database, space: str, embedder: Embedder, waiting: int) -> Iterator[Batch]:
    while True:
        with database.read() as connection:
            ids = vectors.lacking(connection, space, embedder.id, BATCH, past=True)
        if not ids:
            return
        yield Batch("vectors", embed_waiting(database, space, embedder, ids), waiting)


def embed_waiting(database: Database, space: str, embedder: Embedder, note_ids: Sequence[int]) -> int:
    """Give these notes the vectors they lack, in one transaction; how many that are there got any.

    Links by meaning are made only when no other model answers: they are made anew when this one takes over.
    """
    with database.read() as connection:
        read = texts.of_notes(connection, space, note_ids)
    matrix = embedder.embed([passage_text(title, text) for held in read.values() for _, title, text in held])
    with database.write() as connection:
        now = texts.of_notes(connection, space, note_ids)
        alone = vectors.models(connection, space) in ([], [embedder.id])
        standing = notes.standing(connection, space, note_ids)
        start, done = 0, 0
        linked: list[int] = []
        for note_id, held in read.items():
            rows = matrix[start : start + len(held)]
            start += len(held)
            if now.get(note_id) != held:  # it was changed meanwhile, and is for the next batch
                continue
            known = vectors.of_passages(connection, space, embedder.id, [number for number, _, _ in held])
            fresh = [place for place, (number, _, _) in enumerate(held) if number not in known]
            if not fresh:
                continue
            numbers = [held[place][0] for place in fresh]
            vectors.write(database, connection, space, embedder.id, numbers, rows[fresh], indexed=note_id > 0)
            done += note_id in standing
            if alone and note_id in standing:
                linked.append(note_id)
        graph.link(connection, space, nearest_links(database, connection, space, embedder.id, linked))
    return done


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


def _link(database: Database, space: str, model: str) -> Iterator[Batch]:
    """Link notes that mean nearly the same, batch by batch from the mark that says how far this has come."""
    of = None
    while True:
        with database.write() as connection:
            linked = marks.read(connection, space, marks.LINKED)
            if linked is None:
                return
            ids = texts.after(connection, space, linked, BATCH)
            of = texts.count_after(connection, space, linked) if of is None else of
            graph.link(connection, space, nearest_links(database, connection, space, model, ids))
            marks.put(connection, space, {marks.LINKED: ids[-1] if ids else None})
        yield Batch("links", len(ids), of)


def _estimate(
    database: Database, space: str, embedder: Embedder, floors: Callable[[Connection], Floors]
) -> Floors | None:
    """Floors carried over from the bundled embedder on notes spread over the space; None for chosen ones or few notes.

    Vectors of the bundled embedder are taken where the space has them, and made where it has not.
    """
    import numpy

    with database.read() as connection:
        if floors(connection).origin == "chosen":
            return None
        read = texts.of_notes(connection, space, texts.spread(connection, space, MOST_NOTES))
        first = {held[0][0]: passage_text(*held[0][1:]) for held in read.values()}
        ours = vectors.of_passages(connection, space, embedder.id, list(first))
        if len(ours) < LEAST_NOTES:
            return None
        try:
            known = load_embedder(EMBEDDER)
        except ModelUnusable:
            return None
        theirs = vectors.of_passages(connection, space, known.id, list(ours))
    missing = [number for number in ours if number not in theirs]
    made = dict(zip(missing, known.embed([first[number] for number in missing]), strict=True))
    both = [made[number] if number in made else numpy.frombuffer(theirs[number], "<f4") for number in ours]
    unknown = numpy.array([numpy.frombuffer(blob, "<f4") for blob in ours.values()])
    return carry_over(numpy.array(both), Floors(), unknown)
