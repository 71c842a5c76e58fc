"""Completing: a stale note that was found alone brings the head of its supersession chain along."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from memora_cli.rank.order import ordered
from memora_cli.values import Candidate, Note, Part, Score


def above(note_id: int, successors: Mapping[int, tuple[int, ...]]) -> set[int]:
    """All notes that replace this one, directly or through others, itself left out."""
    found: set[int] = set()
    frontier = [note_id]
    while frontier:
        for number in successors.get(frontier.pop(), ()):
            if number not in found and number != note_id:
                found.add(number)
                frontier.append(number)
    return found


def heads(note_id: int, successors: Mapping[int, tuple[int, ...]]) -> tuple[int, ...]:
    """The notes at the end of a note's chains, itself left out; a corrupt cycle has none."""
    return tuple(sorted(number for number in above(note_id, successors) if not successors.get(number)))


def complete(
    candidates: Sequence[Candidate], successors: Mapping[int, tuple[int, ...]], notes: Mapping[int, Note]
) -> tuple[Candidate, ...]:
    """The candidates and the heads they lacked, each with its superseders among them, best first.

    A head takes the fused score of the stale note that brought it. `notes` holds the heads.
    """
    found = (*candidates, *_brought(candidates, successors, notes))
    present = {candidate.note.id for candidate in found}
    return ordered(
        (
            candidate.with_(superseders=tuple(sorted(above(candidate.note.id, successors) & present)))
            if candidate.note.id in successors
            else candidate
            for candidate in found
        ),
        lambda candidate: candidate.fused.value,
    )


def _brought(
    candidates: Sequence[Candidate], successors: Mapping[int, tuple[int, ...]], notes: Mapping[int, Note]
) -> Iterator[Candidate]:
    present = {candidate.note.id for candidate in candidates}
    for stale in candidates:
        for head in heads(stale.note.id, successors):
            if head in notes and head not in present:
                present.add(head)
                score = Score((Part(f"completes #{stale.note.id}", stale.fused.value),))
                yield Candidate(notes[head], MappingProxyType({}), score, completes=stale.note.id)
