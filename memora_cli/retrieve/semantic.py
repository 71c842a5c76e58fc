"""The semantic strategy: the notes whose passages are nearest to the query by cosine."""

from __future__ import annotations

from sqlalchemy import ColumnElement

from memora_cli.retrieve.source import Found, Source, rank
from memora_cli.store import vectors
from memora_cli.store.database import IndexUnavailable
from memora_cli.values import Degraded, RankedList

PASSAGES_PER_NOTE = 4  # how many neighbours are asked for each note wanted, as a long note has several


def semantic(source: Source) -> RankedList:
    """Nearest first; a note's score is its best passage's cosine, in [floor, 1]."""
    if source.understood.embedding is None:
        return RankedList("semantic", skipped="the query has no embedding")
    best, degraded = nearest_notes(source, source.scopes(), source.settings.strategy_limit)
    found = [
        Found(note_id, cosine, f"cosine {cosine:.3f}", passage_id)
        for note_id, (passage_id, cosine) in best.items()
        if cosine >= source.settings.semantic_floor
    ]
    return RankedList("semantic", rank(source, found), degraded=degraded)


def nearest_notes(
    source: Source, scopes: tuple[ColumnElement[bool], ...], limit: int
) -> tuple[dict[int, tuple[int, float]], tuple[Degraded, ...]]:
    """By note id: its passage nearest to the query and that cosine; from the index, else by an exact scan."""
    import numpy

    vector = numpy.asarray(source.understood.embedding, dtype="<f4")
    best: dict[int, tuple[int, float]] = {}
    degraded: dict[Degraded, None] = {}
    for scope in scopes:
        wanted = limit * PASSAGES_PER_NOTE
        try:
            rows = source.database.index.nearest(source.connection, source.model, vector, scope, wanted)
        except IndexUnavailable as error:
            if not vectors.any_of(source.connection, source.space, source.model):
                return {}, ()
            degraded[Degraded("vectors", f"{error}; every stored vector was compared instead")] = None
            rows = vectors.scan(source.connection, source.model, vector, scope, wanted)
        for passage_id, note_id, cosine in rows:
            if note_id not in best or cosine > best[note_id][1]:
                best[note_id] = (passage_id, cosine)
    return best, tuple(degraded)
