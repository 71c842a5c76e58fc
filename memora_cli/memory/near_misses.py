"""Why a search found nothing: what its filters keep out, and what came nearest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from sqlalchemy import Connection

from memora_cli.store import listing
from memora_cli.text.words import fold
from memora_cli.values import Candidate, Filters, Query, Trace

LOWEST_COSINE = -1.0


@dataclass(frozen=True, slots=True)
class Loosened:
    """A search without one of its filters: how many notes it finds, and the best of them."""

    name: str
    value: Any
    found: int
    best: Candidate


@dataclass(frozen=True, slots=True)
class NearMiss:
    """What a search without a result came near to.

    `held` notes are in the space and `passing` of them pass the filters; `similar` are topics that look like an unknown
    one that was asked for. `below` is the best candidate that only --min-score cut, `stale` counts those that only
    --current cut, and `nearest` is the note nearest in meaning, under the floor.
    """

    held: int
    passing: int
    unknown: tuple[tuple[str, tuple[str, ...]], ...] = ()
    loosened: tuple[Loosened, ...] = ()
    below: Candidate | None = None
    stale: int = 0
    nearest: Candidate | None = None


def near_miss(connection: Connection, search: Callable[[Query], Trace], trace: Trace) -> NearMiss:
    """What the search came near to; `search` runs it again with other filters or floors."""
    query = trace.query
    space = Filters(space=query.filters.space)
    held = listing.count(connection, space)
    passing = listing.count(connection, query.filters)
    if not held or trace.candidates:
        read = [one for one in trace.candidates if one.cut == "min-score" and one.reranking]
        below = max(read, key=lambda one: one.reranking.sigmoid if one.reranking else 0.0, default=None)
        return NearMiss(held, passing, below=below, stale=sum(one.cut == "current" for one in trace.candidates))
    quick = replace(query, settings=replace(query.settings, rerank=False, min_score=None))
    if query.filters != space:
        known = {tally.name for tally in listing.topic_tallies(connection, space)}
        unknown = tuple((name, _similar(name, known)) for name in query.filters.topics if name not in known)
        found = tuple(_loosened(quick, search))
        if found or unknown or not query.text.strip():
            return NearMiss(held, passing, unknown=unknown, loosened=found)
    if not query.text.strip():
        return NearMiss(held, passing)
    floors = replace(quick.settings, semantic_floor=LOWEST_COSINE, limit=1)
    nearest = search(replace(quick, settings=floors)).results
    return NearMiss(held, passing, nearest=nearest[0] if nearest else None)


def _similar(name: str, known: set[str]) -> tuple[str, ...]:
    by_fold = {fold(topic): topic for topic in sorted(known)}
    return tuple(by_fold[match] for match in get_close_matches(fold(name), by_fold, n=3, cutoff=0.7))


def _loosened(query: Query, search: Callable[[Query], Trace]) -> Iterator[Loosened]:
    """The search without each of its filters in turn, where that finds something."""
    filters = query.filters
    without: list[tuple[str, Any, Filters]] = [
        ("topic", topic, replace(filters, topics=tuple(other for other in filters.topics if other != topic)))
        for topic in filters.topics
    ]
    without += [
        (name, value, looser)
        for name, value, looser in (
            ("type", filters.kind, replace(filters, kind=None)),
            ("since", filters.since, replace(filters, since=None)),
            ("until", filters.until, replace(filters, until=None)),
            ("pinned", filters.pinned, replace(filters, pinned=False)),
        )
        if value
    ]
    for name, value, looser in without:
        if query.text.strip() or looser.topics:
            trace = search(replace(query, filters=looser))
            if trace.results:
                yield Loosened(
                    name, value, sum(one.cut in {None, "limit"} for one in trace.candidates), trace.results[0]
                )
