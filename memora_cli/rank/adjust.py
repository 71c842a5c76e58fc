"""Adjusting: text, update, recency, pin and penalty make the final score."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memora_cli.rank.order import ordered
from memora_cli.values import Candidate, Part, Score, Settings

SECONDS_PER_DAY = 86_400.0


def age_days(created_at: datetime, at: datetime) -> float:
    """Days between the two, never negative: a note from the future is as new as one from now."""
    return max(0.0, (at - created_at).total_seconds() / SECONDS_PER_DAY)


def decay(age: float, half_life_days: float) -> float:
    """`0.5^(age / half_life)`, in [0, 1]."""
    return float(0.5 ** (age / half_life_days))


def adjust(candidates: Sequence[Candidate], at: datetime, settings: Settings) -> tuple[Candidate, ...]:
    """`text + recency_weight · decay + pinned_bonus − superseded_penalty`, best first; `text` is in [0, 1].

    A note that updates another has one part more, which lifts its text above the other's.
    """
    best = max((candidate.relevance.value for candidate in candidates), default=0.0) or 1.0
    return ordered(
        (_adjusted(candidate, best, at, settings) for candidate in candidates), lambda candidate: candidate.final.value
    )


def _adjusted(candidate: Candidate, best: float, at: datetime, settings: Settings) -> Candidate:
    age = age_days(candidate.note.created_at, at)
    parts = [
        Part("text", candidate.relevance.value / best),
        Part("recency", settings.recency_weight * decay(age, settings.half_life_days)),
    ]
    if candidate.update and candidate.update.raise_:
        parts.append(Part("update", candidate.update.raise_))
    if candidate.note.pinned:
        parts.append(Part("pin", settings.pinned_bonus))
    if candidate.note.superseded_by:
        parts.append(Part("superseded", -settings.superseded_penalty))
    return candidate.with_(age_days=age, final=Score(tuple(parts)))
