"""The total order of candidates: a score, then newer first, then the lower id."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from memora_cli.values import Candidate


def ordered(candidates: Iterable[Candidate], score: Callable[[Candidate], float]) -> tuple[Candidate, ...]:
    """The candidates, highest score first; no two ever tie."""
    return tuple(
        sorted(
            candidates,
            key=lambda candidate: (-score(candidate), -candidate.note.created_at.timestamp(), candidate.note.id),
        )
    )
