"""Fusing: what each strategy's list is worth to a note, by score or by rank, and their sum."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from memora_cli.rank.order import ordered
from memora_cli.values import Candidate, Hit, Note, Part, RankedList, Score, Settings


def reciprocal_rank(rank: int, weight: float, k: int) -> float:
    """`weight / (k + rank)`: Cormack, Clarke, Büttcher, "Reciprocal Rank Fusion" (SIGIR 2009)."""
    return weight / (k + rank)


def convex(score: float, best: float, weight: float) -> float:
    """`weight · score / best`, at least 0: Bruch, Gai, Ingber, "An Analysis of Fusion Functions" (TOIS 2023).

    A strategy keeps how sure it is: a list of loose matches is worth less than a list of close ones.
    """
    return weight * max(0.0, score) / best if best > 0.0 else 0.0


def contribution(hit: Hit, ranked: RankedList, settings: Settings) -> float:
    """What a hit adds to its note, by the way to fuse that is set."""
    weight = settings.weight(ranked.strategy)
    if settings.fusion == "rrf":
        return reciprocal_rank(hit.rank, weight, settings.rrf_k)
    return convex(hit.score, ranked.best, weight)


def fuse(lists: Sequence[RankedList], notes: Mapping[int, Note], settings: Settings) -> tuple[Candidate, ...]:
    """One candidate for each note in any list, with every strategy's contribution as a named part, best first.

    A strategy of weight 0 contributes nothing and finds nothing.
    """
    hits: dict[int, dict[str, Hit]] = defaultdict(dict)
    parts: dict[int, list[Part]] = defaultdict(list)
    for ranked in lists:
        if settings.weight(ranked.strategy) > 0.0:
            for hit in ranked.hits:
                hits[hit.note_id][ranked.strategy] = hit
                parts[hit.note_id].append(Part(ranked.strategy, contribution(hit, ranked, settings)))
    candidates = (
        Candidate(note=notes[note_id], hits=MappingProxyType(found), fused=Score(tuple(parts[note_id])))
        for note_id, found in hits.items()
        if note_id in notes
    )
    return ordered(candidates, lambda candidate: candidate.fused.value)
