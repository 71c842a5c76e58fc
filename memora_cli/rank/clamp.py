"""Clamping: a superseded note stands below every note that supersedes it, whatever their scores."""

from __future__ import annotations

from collections.abc import Sequence

from memora_cli.values import Candidate, Move


def clamp(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates with each superseded one moved to just below its lowest superseder, direct or through others.

    Passes are repeated until nothing moves, at most as many as there are candidates, so a corrupt cycle ends too.
    """
    current = list(candidates)
    for _ in range(len(current)):
        following = _pass(current)
        if following == current:
            break
        current = following
    before = {candidate.note.id: place for place, candidate in enumerate(candidates, start=1)}
    return tuple(
        candidate.with_(move=Move(before[candidate.note.id], place, candidate.superseders))
        if candidate.superseders and place > before[candidate.note.id]
        else candidate
        for place, candidate in enumerate(current, start=1)
    )


def _pass(candidates: list[Candidate]) -> list[Candidate]:
    result = list(candidates)
    for candidate in candidates:
        if candidate.superseders:
            places = {other.note.id: place for place, other in enumerate(result)}
            lowest = max(places[number] for number in candidate.superseders)
            if lowest > places[candidate.note.id]:
                result.insert(lowest, result.pop(places[candidate.note.id]))
    return result
