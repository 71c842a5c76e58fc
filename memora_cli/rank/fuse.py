"""Fusing: reciprocal rank fusion of the strategies' lists."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from memora_cli.rank.order import ordered
from memora_cli.values import Candidate, Hit, Note, Part, RankedList, Score


def contribution(rank: int, weight: float, k: int) -> float:
    """`weight / (k + rank)`: Cormack, Clarke, Büttcher, "Reciprocal Rank Fusion" (SIGIR 2009)."""
    return weight / (k + rank)


def fuse(
    lists: Sequence[RankedList], notes: Mapping[int, Note], weights: Mapping[str, float], k: int
) -> tuple[Candidate, ...]:
    """One candidate for each note in any list, with every strategy's contribution as a named part, best first.

    A strategy of weight 0 contributes nothing and finds nothing.
    """
    hits: dict[int, dict[str, Hit]] = defaultdict(dict)
    for ranked in lists:
        if weights.get(ranked.strategy, 1.0) > 0.0:
            for hit in ranked.hits:
                hits[hit.note_id][ranked.strategy] = hit
    candidates = (
        Candidate(
            note=notes[note_id],
            hits=MappingProxyType(found),
            fused=Score(
                tuple(
                    Part(strategy, contribution(hit.rank, weights.get(strategy, 1.0), k))
                    for strategy, hit in found.items()
                )
            ),
        )
        for note_id, found in hits.items()
        if note_id in notes
    )
    return ordered(candidates, lambda candidate: candidate.fused.value)
