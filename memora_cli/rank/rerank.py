"""Reranking: mixes the fused score with what the cross-encoder read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from memora_cli.rank.order import ordered
from memora_cli.values import Candidate, Part, Reranking, Score


def sigmoid(logit: float) -> float:
    """`1 / (1 + e^-logit)`, in [0, 1], without overflow."""
    if logit >= 0.0:
        return 1.0 / (1.0 + math.exp(-logit))
    return math.exp(logit) / (1.0 + math.exp(logit))


QUESTION_SHARE = 0.3
WORDS_SHARE = 0.1
"""λ for a question and for any other query. The bundled cross-encoder learned from questions: on these it gains much,
while on titles and lists of words a large share of it loses (the README has the numbers)."""


def share(setting: float | None, question: bool) -> float:
    """λ, the share of the cross-encoder in relevance: as it was set, else by what the query is."""
    if setting is not None:
        return setting
    return QUESTION_SHARE if question else WORDS_SHARE


def rerank(candidates: Sequence[Candidate], logits: Mapping[int, float], weight: float) -> tuple[Candidate, ...]:
    """Relevance `(1 − λ)·rrf/best_rrf + λ·σ/best_σ` from the logits by note id, best first.

    A candidate that was not read has the fused part alone. Without any logit the fused part counts in full.
    """
    best_fused = max((candidate.fused.value for candidate in candidates), default=0.0) or 1.0
    if not logits:
        return ordered(
            (
                candidate.with_(relevance=Score((Part("fused", candidate.fused.value / best_fused),)))
                for candidate in candidates
            ),
            lambda candidate: candidate.relevance.value,
        )
    sigmoids = {note_id: sigmoid(logit) for note_id, logit in logits.items()}
    best_sigmoid = max(sigmoids.values()) or 1.0
    scored = []
    for candidate in candidates:
        parts = [Part("fused", (1.0 - weight) * candidate.fused.value / best_fused)]
        if candidate.note.id in sigmoids:
            parts.append(Part("reranker", weight * sigmoids[candidate.note.id] / best_sigmoid))
        scored.append(candidate.with_(relevance=Score(tuple(parts))))
    before = {candidate.note.id: place for place, candidate in enumerate(candidates, start=1)}
    after = ordered(scored, lambda candidate: candidate.relevance.value)
    return tuple(
        candidate.with_(
            reranking=Reranking(
                logits[candidate.note.id], sigmoids[candidate.note.id], before[candidate.note.id], place
            )
        )
        if candidate.note.id in logits
        else candidate
        for place, candidate in enumerate(after, start=1)
    )
