"""Completing: a stale note that was found alone brings the head of its supersession chain along."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from memora_cli.rank.order import ordered
from memora_cli.values import Candidate, Note, Part, Score


def heads(note_id: int, successors: Mapping[int, tuple[int, ...]]) -> tuple[int, ...]:
    """The notes at the end of a note's chains, itself left out; a corrupt cycle has none."""
    seen, frontier, found = {note_id}, [note_id], []
    while frontier:
        current = frontier.pop()
        following = successors.get(current, ())
        if not following and current != note_id:
            found.append(current)
        for number in following:
            if number not in seen:
                seen.add(number)
                frontier.append(number)
    return tuple(sorted(found))


def complete(
    candidates: Sequence[Candidate], successors: Mapping[int, tuple[int, ...]], notes: Mapping[int, Note]
) -> tuple[Candidate, ...]:
    """The candidates and the heads they lacked; a head takes the fused score of the stale note that brought it.

    `notes` holds the heads that may be shown: one that a filter leaves out is not brought along.
    """
    return ordered((*candidates, *_brought(candidates, successors, notes)), lambda candidate: candidate.fused.value)


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
