"""The whole of a search on one screen: understand, retrieve, fuse, complete, rerank, update, adjust, clamp, cut."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from memora_cli.models import Embedder, Reranker
from memora_cli.rank.adjust import adjust
from memora_cli.rank.clamp import clamp
from memora_cli.rank.complete import complete, heads
from memora_cli.rank.cut import cut
from memora_cli.rank.fuse import fuse
from memora_cli.rank.read import best_passage, dated
from memora_cli.rank.rerank import rerank, share
from memora_cli.rank.update import update
from memora_cli.retrieve.graph import graph
from memora_cli.retrieve.keyword import keyword, telling
from memora_cli.retrieve.semantic import semantic
from memora_cli.retrieve.source import Source
from memora_cli.retrieve.temporal import temporal
from memora_cli.retrieve.understand import understand
from memora_cli.store import notes, supersessions, vectors
from memora_cli.store.database import Database
from memora_cli.text.times import TimeParser
from memora_cli.values import Backend, Candidate, Degraded, Filters, Floors, Note, Query, RankedList, Step, Trace

STRATEGIES: tuple[Callable[[Source], RankedList], ...] = (semantic, keyword, graph, temporal)
"""In the order they run; a later one may read an earlier one's list."""


def search(
    query: Query,
    database: Database,
    embedder: Callable[[Connection], Embedder],
    floors: Callable[[Connection, str], Floors],
    reranker: Callable[[], Reranker],
    time_parser: Callable[[], TimeParser],
    shorten: Callable[[str, int], tuple[str, int]],
) -> Trace:
    """Run one query. Models are loaded by their functions when first needed; a part that fails is named in the trace.

    The embedder is the one whose vectors the snapshot holds, and `floors` are those of the model with that id.

    Raises `EmptyQuery`.
    """
    clock = _Clock()
    with database.read() as connection:
        with clock("understand"):
            understood, model = understand(query, database, connection, lambda: embedder(connection), time_parser)
        least = floors(connection, model)
        lists: tuple[RankedList, ...] = ()
        for strategy in STRATEGIES:
            with clock(strategy.__name__):
                lists += (_run(strategy, Source(database, connection, query, understood, model, lists, least)),)
        with clock("read"):
            found = notes.fetch(
                connection,
                query.filters.space,
                {hit.note_id for ranked in lists for hit in ranked.hits},
                query.filters.as_of,
            )
        with clock("fuse"):
            fused = fuse(lists, found, query.settings)
        with clock("complete"):
            completed = complete(fused, *_chains(connection, query.filters, fused))
        with clock("rerank"):
            top = _with_passages(connection, query, completed, understood.words)
            logits, reranked_by, degraded = _read(query, top, reranker)
            reranked = rerank(top, logits, share(query.settings.rerank_weight, understood.question))
        with clock("update"):
            asked = query.settings.updates and understood.question
            updated = update(reranked, telling(understood.words)) if asked else reranked
        with clock("adjust"):
            adjusted = adjust(updated, query.at, query.settings)
        with clock("clamp"):
            clamped = clamp(adjusted)
        with clock("cut"):
            kept = cut(clamped, query.settings, shorten)
        waiting = _waiting(connection, query.filters.space, model)
    steps = (
        Step("fuse", fused),
        Step("complete", completed),
        Step("rerank", reranked, degraded),
        Step("update", updated),
        Step("adjust", adjusted),
        Step("clamp", clamped),
        Step("cut", kept, _unread(query, kept)),
    )
    found_by = {ranked.strategy: ranked.backend for ranked in lists}
    backend = Backend(found_by["keyword"] or "none", found_by["semantic"] or "none", model or None, reranked_by)
    return Trace(query, understood, lists, steps, backend, tuple(clock.milliseconds.items()), waiting, floors=least)


class _Clock:
    """Measures named stages in milliseconds."""

    def __init__(self) -> None:
        self.milliseconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.milliseconds[stage] = (time.perf_counter() - start) * 1000.0


def _run(strategy: Callable[[Source], RankedList], source: Source) -> RankedList:
    """What the strategy returns; a table it cannot read is named, and the others go on."""
    try:
        with source.connection.begin_nested():  # else the failure of a statement ends PostgreSQL's transaction
            return strategy(source)
    except DBAPIError as error:
        if error.connection_invalidated:
            raise
        name = strategy.__name__
        return RankedList(name, skipped="it failed", degraded=(Degraded(name, str(error.orig)),))


def _waiting(connection: Connection, space: str, model: str) -> int:
    """How many notes have no vector of the model yet; 0 when that cannot be told."""
    try:
        with connection.begin_nested():
            return vectors.waiting(connection, space, model) if model else 0
    except DBAPIError as error:
        if error.connection_invalidated:
            raise
        return 0


def _chains(
    connection: Connection, filters: Filters, candidates: tuple[Candidate, ...]
) -> tuple[Mapping[int, tuple[int, ...]], Mapping[int, Note]]:
    """The supersessions above the stale candidates, and the heads: a correction is shown whatever the filters."""
    stale = [candidate.note.id for candidate in candidates if candidate.note.superseded_by]
    if not stale:
        return {}, {}
    successors = supersessions.successors(connection, filters.space, stale, filters.as_of)
    ends = {head for number in stale for head in heads(number, successors)}
    return successors, notes.fetch(connection, filters.space, ends, filters.as_of)


def _with_passages(
    connection: Connection, query: Query, candidates: tuple[Candidate, ...], words: tuple[str, ...]
) -> tuple[Candidate, ...]:
    """The candidates with their best passage: the nearest one, else the one with the most words of the query."""
    space = query.filters.space
    nearest = {
        candidate.note.id: hit.passage_id
        for candidate in candidates
        for hit in candidate.hits.values()
        if hit.passage_id is not None
    }
    known: dict[int, notes.Passage] = {}
    others: dict[int, list[notes.Passage]] = {}
    try:
        with connection.begin_nested():
            known = notes.fetch_passages(connection, space, set(nearest.values()))
            without = {candidate.note.id for candidate in candidates if candidate.note.id not in nearest}
            others = notes.passages_of(connection, space, without, query.filters.as_of)
    except DBAPIError as error:  # without passages a note is read from its start
        if error.connection_invalidated:
            raise
    result = []
    for candidate in candidates:
        body = candidate.note.body
        if candidate.note.id in nearest and nearest[candidate.note.id] in known:
            span = known[nearest[candidate.note.id]]
            passage = body[span.start : span.end]
        else:
            texts = [body[span.start : span.end] for span in others.get(candidate.note.id, ())] or [body]
            passage = texts[best_passage(texts, words)]
        result.append(candidate.with_(passage=passage))
    return tuple(result)


def _read(
    query: Query, candidates: tuple[Candidate, ...], reranker: Callable[[], Reranker]
) -> tuple[dict[int, float], str | None, tuple[Degraded, ...]]:
    """The cross-encoder's logit of each top candidate by note id, the model's id, and what went wrong."""
    current_first = sorted(candidates, key=lambda candidate: bool(candidate.note.superseded_by))
    top = current_first[: query.settings.rerank_top]
    if not query.settings.rerank or not top or not query.text.strip():
        return {}, None, ()
    try:
        model = reranker()
        texts = [dated(candidate.note, candidate.passage, query.at.tzinfo) for candidate in top]
        scores = model.score(query.text, texts, query.settings.rerank_seconds)
    except Exception as error:  # whatever the model does, the fused order still stands
        reason = f"{str(error) or type(error).__name__}; the order is the fused one"
        return {}, None, (Degraded("reranker", reason),)
    logits = {candidate.note.id: float(score) for candidate, score in zip(top, scores, strict=True) if score == score}
    if len(logits) == len(top):
        return logits, model.id, ()
    reason = f"{len(logits)} of {len(top)} candidates were read in {query.settings.rerank_seconds:g} s"
    return logits, model.id, (Degraded("reranker", f"{reason}; the others keep their fused scores"),)


def _unread(query: Query, candidates: tuple[Candidate, ...]) -> tuple[Degraded, ...]:
    """A least score that could not be applied is named."""
    if query.settings.min_score is None or not candidates or any(candidate.reranking for candidate in candidates):
        return ()
    return (Degraded("min-score", "nothing was read by the cross-encoder, so nothing was left out by its score"),)
