"""Evaluating: asks judged questions through the whole pipeline and measures each strategy and stage."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memora_cli.config import masked
from memora_cli.errors import EmptyQuery, MemoraError, Usage
from memora_cli.memory.metrics import METRICS, Estimate, estimate, measure
from memora_cli.text.moments import read_moment
from memora_cli.values import Filters, Note, Query, Settings, Trace

if TYPE_CHECKING:
    from memora_cli.memory.memory import Memory

LISTS = ("semantic", "keyword", "graph", "temporal")
RANKINGS = (*LISTS, "fused", "reranked", "final")
"""What is measured: each strategy alone, then the order after fusing, after the cross-encoder, and at the end."""
ALL = 100_000  # the limit of a search whose whole order is wanted


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the names of the notes that answer it; `stale` and `current` mark a fact that was updated.

    `fields` are all keys of its line, to group by.
    """

    id: str
    text: str
    relevant: frozenset[str]
    asked_at: datetime | None
    stale: frozenset[str]
    current: frozenset[str]
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Judged:
    """A question as one pipeline answered it: its metrics by ranking, and the best place of each kind of note.

    `found` is the share of the relevant notes within the token budget. A place is from 1, None when it was not found;
    `missed` is the id of the relevant note that stands lowest; `database` is where it was asked.
    """

    question: Question
    at: datetime
    metrics: Mapping[str, Mapping[str, float]]
    found: float
    place: int | None
    missed: int | None
    stale: int | None
    current: int | None
    database: str


@dataclass(frozen=True, slots=True)
class Updates:
    """How often the current statement of an updated fact stands above the stale one, and is the first result."""

    n: int
    above: float
    first: float


@dataclass(frozen=True, slots=True)
class Report:
    """The means over judged questions, by ranking and metric; `found` is the recall within the token budget."""

    queries: int
    strategies: Mapping[str, Mapping[str, Estimate]]
    updates: Updates
    found: Estimate


def read_questions(lines: Iterable[bytes], at: datetime, gold: str = "relevant", week_start: int = 0) -> list[Question]:
    """The questions of JSON lines; `gold` is the key of the relevant ids, "relevant" where a line lacks it.

    Raises `Usage` with the line's number.
    """
    found = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            fields = json.loads(line.decode("utf-8-sig"))
            if not isinstance(fields, dict) or not isinstance(fields.get("text"), str):
                raise ValueError('it has no "text"')
            asked = fields.get("asked_at")
            found.append(
                Question(
                    id=str(fields.get("id", number)),
                    text=fields["text"],
                    relevant=_names(fields, gold) or _names(fields, "relevant"),
                    asked_at=read_moment(str(asked), at, week_start=week_start) if asked else None,
                    stale=_names(fields, "stale"),
                    current=_names(fields, "current"),
                    fields=fields,
                )
            )
        except (ValueError, MemoraError) as error:
            raise Usage(f"line {number} of the questions cannot be used: {error}") from None
    return found


def _names(fields: Mapping[str, Any], key: str) -> frozenset[str]:
    value = fields.get(key) or []
    if not isinstance(value, list):
        raise ValueError(f'"{key}" is a list of ids')
    return frozenset(map(str, value))


def names_of(notes: Sequence[Note]) -> dict[int, frozenset[str]]:
    """What each note may be called by a question: `#` and its id; its source, or the end of a source that is a path.

    A note without a source may be called by its id alone.
    """
    named = {}
    for note in notes:
        parts = note.source.split("/") if note.source else [str(note.id)]
        named[note.id] = frozenset([f"#{note.id}", *("/".join(parts[place:]) for place in range(len(parts)))])
    return named


def judge(memory: Memory, questions: Iterable[Question], settings: Settings, at: datetime, k: int) -> Iterator[Judged]:
    """Ask each question at its own time, else at `at`, and measure what came; a query without a word finds nothing."""
    wide = replace(settings, limit=ALL)
    named = names_of(memory.notes(Filters(space=memory.space)))
    for question in questions:
        asked = question.asked_at or at
        try:
            trace = memory.search(Query(question.text, asked, Filters(space=memory.space), wide))
        except EmptyQuery:
            trace = None
        yield _judged(question, asked, trace, named, k, masked(memory.config.db))


def rankings(trace: Trace) -> dict[str, list[int]]:
    """Note ids in the order of each strategy and stage; `final` leaves out what a rule other than room left out."""
    steps = {step.name: [candidate.note.id for candidate in step.candidates] for step in trace.steps}
    lists = {ranked.strategy: [hit.note_id for hit in ranked.hits] for ranked in trace.lists}
    final = [candidate.note.id for candidate in trace.candidates if candidate.cut not in {"current", "min-score"}]
    return {**lists, "fused": steps["fuse"], "reranked": steps["rerank"], "final": final}


def _judged(
    question: Question,
    at: datetime,
    trace: Trace | None,
    named: Mapping[int, frozenset[str]],
    k: int,
    database: str,
) -> Judged:
    # A note goes by the name that the question gives it, so that two names of one note are not two notes.
    answers = {note_id: min(names & question.relevant) for note_id, names in named.items() if names & question.relevant}
    orders = rankings(trace) if trace else {}
    final = orders.get("final", [])
    order = {note_id: place for place, note_id in enumerate(final, start=1)}

    def place(names: frozenset[str]) -> int | None:
        return next((order[note_id] for note_id in final if named.get(note_id, frozenset()) & names), None)

    results = trace.results if trace else ()
    held = {answers[candidate.note.id] for candidate in results if candidate.note.id in answers}
    return Judged(
        question=question,
        at=at,
        metrics={
            ranking: measure(
                [answers.get(note_id, f"#{note_id}") for note_id in orders.get(ranking, ())], question.relevant, k
            )
            for ranking in RANKINGS
        },
        found=len(held) / len(question.relevant),
        place=place(question.relevant),
        missed=max(answers, key=lambda note_id: order.get(note_id, len(order) + 1), default=None),
        stale=place(question.stale),
        current=place(question.current),
        database=database,
    )


def report(judged: Sequence[Judged]) -> Report:
    """The means over the questions."""
    return Report(
        queries=len(judged),
        strategies={
            ranking: {metric: estimate([one.metrics[ranking][metric] for one in judged]) for metric in METRICS}
            for ranking in RANKINGS
        },
        updates=_updates([one for one in judged if one.question.stale and one.question.current]),
        found=estimate([one.found for one in judged]),
    )


def _updates(judged: Sequence[Judged]) -> Updates:
    above = sum(one.current is not None and (one.stale is None or one.current < one.stale) for one in judged)
    first = sum(one.current == 1 for one in judged)
    return Updates(len(judged), above / len(judged) if judged else 0.0, first / len(judged) if judged else 0.0)


def grouped(judged: Sequence[Judged], field: str) -> dict[str, list[Judged]]:
    """The questions by the value of a key of their lines, in the order of the values; "none" where it is missing."""
    groups: dict[str, list[Judged]] = {}
    for one in judged:
        value = one.question.fields.get(field)
        groups.setdefault("none" if value is None else str(value), []).append(one)
    return dict(sorted(groups.items()))


def difference(before: Sequence[Judged], after: Sequence[Judged]) -> dict[str, Estimate]:
    """What other settings add to each metric of the final order, question by question (the paired bootstrap)."""
    return {
        metric: estimate(
            [b.metrics["final"][metric] - a.metrics["final"][metric] for a, b in zip(before, after, strict=True)]
        )
        for metric in METRICS
    }


def worst(judged: Sequence[Judged], others: Sequence[Judged], most: int) -> list[tuple[Judged, float]]:
    """The questions with the lowest final nDCG, or that lose most by other settings, each with that number."""
    value: Callable[[int], float] = (
        (lambda n: others[n].metrics["final"]["ndcg"] - judged[n].metrics["final"]["ndcg"])
        if others
        else (lambda n: judged[n].metrics["final"]["ndcg"])
    )
    order = sorted(range(len(judged)), key=lambda n: (value(n), n))
    return [(judged[n], value(n)) for n in order[:most] if not others or value(n) < 0.0]
