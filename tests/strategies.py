"""Hypothesis strategies: notes, candidates and ranked lists as the pipeline makes them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import MappingProxyType

from hypothesis import strategies as st

from memora_cli.rank.complete import above
from memora_cli.values import Candidate, Hit, Note, Part, RankedList, Score

EPOCH = datetime(2025, 1, 1, tzinfo=UTC)
moments = st.integers(-40_000, 40_000).map(lambda days: EPOCH + timedelta(days=days))


def make_note(number: int, created_at: datetime = EPOCH, **changes: object) -> Note:
    values = {
        "id": number,
        "uid": f"{number:032x}",
        "space": "default",
        "title": "",
        "body": f"text of note {number}",
        "topics": (),
        "kind": "world",
        "context": "",
        "created_at": created_at,
        "occurred_start": None,
        "occurred_end": None,
        "pinned": False,
        "source": "",
        "tokens": 5,
        "superseded_by": (),
    }
    return Note(**(values | changes))  # type: ignore[arg-type]


@st.composite
def notes(draw: st.DrawFn, most: int = 12, *, cycles: bool = False) -> list[Note]:
    """Notes with ids 1 … n; supersessions lead to higher ids, or anywhere when cycles are wanted."""
    count = draw(st.integers(0, most))
    found = []
    for number in range(1, count + 1):
        targets = list(range(1, count + 1)) if cycles else list(range(number + 1, count + 1))
        successors = draw(st.lists(st.sampled_from(targets), max_size=2, unique=True)) if targets else []
        found.append(
            make_note(
                number,
                draw(moments),
                pinned=draw(st.booleans()),
                tokens=draw(st.integers(1, 60)),
                superseded_by=tuple(successors),
            )
        )
    return found


@st.composite
def candidates(draw: st.DrawFn, *, cycles: bool = False) -> list[Candidate]:
    """Candidates in any order, each with a fused, a relevance and a final score of its own."""
    positive = st.floats(0.001, 1.0)
    made = [
        Candidate(
            note,
            MappingProxyType({}),
            fused=Score((Part("keyword", draw(positive)),)),
            relevance=Score((Part("fused", draw(positive)),)),
            final=Score((Part("text", draw(positive)),)),
        )
        for note in draw(notes(cycles=cycles))
    ]
    successors = {candidate.note.id: candidate.note.superseded_by for candidate in made}
    made = [candidate.with_(superseders=tuple(above(candidate.note.id, successors))) for candidate in made]
    return draw(st.permutations(made))


@st.composite
def ranked_lists(draw: st.DrawFn, numbers: list[int]) -> list[RankedList]:
    """A list of each strategy over some of the notes."""
    lists = []
    for strategy in ("semantic", "keyword", "graph", "temporal"):
        found = draw(st.lists(st.sampled_from(numbers), unique=True)) if numbers else []
        hits = tuple(Hit(number, rank, 1.0 / rank, "because") for rank, number in enumerate(found, start=1))
        lists.append(RankedList(strategy, hits))
    return lists
