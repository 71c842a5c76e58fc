"""The semantic strategy: the notes whose passages are nearest to the query by cosine."""

from __future__ import annotations

from sqlalchemy import ColumnElement

from memora_cli.retrieve.source import Found, Source, rank
from memora_cli.store import conditions, counts, schema, vectors
from memora_cli.store.database import IndexUnavailable
from memora_cli.values import Degraded, RankedList

PAST_PASSAGES = 4  # of each note wanted that are looked at among past texts, as a long note has several


def semantic(source: Source) -> RankedList:
    """Nearest first; a note's score is its best passage's cosine, in [floor, 1]."""
    if source.understood.embedding is None:
        return RankedList("semantic", skipped="the query has no embedding")
    if not vectors.any_of(source.connection, source.space, source.model):
        if not counts.total(source.connection, source.space, source.as_of):
            return RankedList("semantic", skipped="there are no notes", backend="none")
        why = "no note has a vector of this model yet: run memora reindex"
        return RankedList("semantic", skipped=why, degraded=(Degraded("vectors", why),), backend="none")
    best: dict[int, tuple[int, float]] = {}
    degraded: dict[Degraded, None] = {}
    for scope in (None,) if source.unfiltered else source.scopes():
        try:
            best |= nearest_notes(source, scope, source.settings.strategy_limit, scan=False)
        except IndexUnavailable as error:
            degraded[Degraded("vectors", f"{error}; every stored vector was compared instead")] = None
            best |= nearest_notes(source, scope, source.settings.strategy_limit)
    index = source.database.index
    backend = "scan" if degraded else index.vectors_by(source.connection, source.space, source.model)
    if not degraded and (why := index.slow(source.connection, source.space, source.model)):
        degraded[Degraded("vectors", why)] = None
        backend = "scan"
    found = [
        Found(note_id, cosine, f"cosine {cosine:.3f}", passage_id)
        for note_id, (passage_id, cosine) in best.items()
        if cosine >= source.floors.semantic
    ]
    return RankedList("semantic", rank(source, found), degraded=tuple(degraded), backend=backend)


def nearest_notes(
    source: Source, scope: ColumnElement[bool] | None, limit: int, *, scan: bool = True
) -> dict[int, tuple[int, float]]:
    """By note id: its passage nearest to the query and that cosine, for at least the `limit` nearest notes.

    None is no scope but the space. Passages are asked of the index until they belong to enough notes. Where it cannot
    answer, every vector is compared when `scan` allows it, else IndexUnavailable is raised.
    """
    import numpy

    vector = numpy.asarray(source.understood.embedding, dtype="<f4")
    index = source.database.index
    wanted = min(limit * index.passages_per_note, index.most_nearest)
    past = _past(source, scope, limit)
    while True:
        try:
            rows = index.nearest(source.connection, source.space, source.model, vector, scope, wanted)
        except IndexUnavailable:
            if not scan:
                raise
            break
        # Nearest first, so that of a note's passages the first read backwards, its nearest, is what stays.
        best = {note_id: (passage_id, cosine) for passage_id, note_id, cosine in reversed(rows)}
        if len(best) >= limit or len(rows) < wanted:
            return best | past
        if wanted == index.most_nearest:
            break
        wanted = min(2 * wanted, index.most_nearest)
    within = conditions.in_space(source.space, source.as_of) if scope is None else scope
    rows = vectors.scan(source.connection, source.model, vector, within)
    return {note_id: (passage_id, cosine) for passage_id, note_id, cosine in reversed(rows)}


def _past(source: Source, scope: ColumnElement[bool] | None, limit: int) -> dict[int, tuple[int, float]]:
    """The nearest among the texts that notes had and have no more: these are in no index, all of them are compared."""
    import numpy

    if source.as_of is None or scope is None:
        return {}
    vector = numpy.asarray(source.understood.embedding, dtype="<f4")
    rows = vectors.scan(source.connection, source.model, vector, scope & (schema.notes.c.id < 0), limit * PAST_PASSAGES)
    return {note_id: (passage_id, cosine) for passage_id, note_id, cosine in reversed(rows)}
