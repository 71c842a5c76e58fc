"""The JSON of explain: every list, stage and score of a search, and what became of one note."""

from __future__ import annotations

from memora_cli.rank.rerank import share
from memora_cli.render.shapes import Shape, floors, search, window
from memora_cli.values import Account, Candidate, Score, Trace


def score(value: Score) -> Shape:
    """A number with the parts it is the sum of."""
    return {"value": value.value, "parts": {part.name: part.value for part in value.parts}}


def explain(trace: Trace) -> Shape:
    """The result of a search and every number that led to it."""
    contributions = {candidate.note.id: candidate.fused for candidate in trace.candidates}
    return search(trace) | {
        "entities": list(trace.understood.entities),
        "windows": [window(value) for value in trace.understood.windows],
        "strategies": {
            ranked.strategy: [
                {
                    "rank": hit.rank,
                    "id": hit.note_id,
                    "score": hit.score,
                    "reason": hit.reason,
                    "contribution": contributions[hit.note_id].part(ranked.strategy)
                    if hit.note_id in contributions
                    else 0.0,
                }
                for hit in ranked.hits
            ]
            for ranked in trace.lists
        },
        "best": {ranked.strategy: ranked.best for ranked in trace.lists},
        "skipped": {ranked.strategy: ranked.skipped for ranked in trace.lists if ranked.skipped},
        "settings": {
            "fusion": trace.query.settings.fusion,
            "rrf_k": trace.query.settings.rrf_k,
            "weights": {ranked.strategy: trace.query.settings.weight(ranked.strategy) for ranked in trace.lists},
            "rerank_weight": share(trace.query.settings.rerank_weight, trace.understood.question),
            "recency_weight": trace.query.settings.recency_weight,
            "half_life_days": trace.query.settings.half_life_days,
            "pinned_bonus": trace.query.settings.pinned_bonus,
            "limit": trace.query.settings.limit,
            "max_tokens": trace.query.settings.max_tokens,
            "floors": floors(trace.floors),
        },
        "stages": [
            {"stage": step.name, "order": [candidate.note.id for candidate in step.candidates]} for step in trace.steps
        ],
        "scores": [_scores(candidate, place) for place, candidate in enumerate(trace.candidates, start=1)],
        "timings_ms": dict(trace.milliseconds),
    }


def _scores(candidate: Candidate, place: int) -> Shape:
    reranking, move = candidate.reranking, candidate.move
    return {
        "place": place,
        "id": candidate.note.id,
        "fused": score(candidate.fused),
        "completes": candidate.completes,
        "rerank": None
        if reranking is None
        else {
            "logit": reranking.logit,
            "sigmoid": reranking.sigmoid,
            "before": reranking.place_before,
            "after": reranking.place_after,
        },
        "relevance": score(candidate.relevance),
        "update": None
        if candidate.update is None
        else {
            "old": candidate.update.old,
            "shared": list(candidate.update.shared),
            "values": list(candidate.update.values),
        },
        "age_days": candidate.age_days,
        "final": score(candidate.final),
        "clamp": None
        if move is None
        else {"before": move.place_before, "after": move.place_after, "below": list(move.below)},
        "superseded_by": list(candidate.note.superseded_by),
        "tokens": candidate.note.tokens,
        "cut": candidate.cut,
    }


def account(value: Account) -> Shape:
    """What became of one note in a search."""
    return {
        "id": value.note.id,
        "place": value.place,
        "fate": value.fate,
        "verdicts": [
            {
                "strategy": verdict.strategy,
                "rank": verdict.hit.rank if verdict.hit else None,
                "score": verdict.score,
                "needed": verdict.needed,
                "reason": verdict.reason,
            }
            for verdict in value.verdicts
        ],
        "scores": _scores(value.candidate, value.place) if value.candidate and value.place else None,
    }
