"""What one search did: ranked lists, candidates with their scores, steps, and the trace that keeps them all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from memora_cli.values.notes import Note, Window
from memora_cli.values.query import Floors, Query

CutRule = Literal["limit", "budget", "current", "min-score"]


@dataclass(frozen=True, slots=True)
class Degraded:
    """A part that could not do its work, and why."""

    part: str
    reason: str


@dataclass(frozen=True, slots=True)
class Part:
    """A named summand of a score."""

    name: str
    value: float


@dataclass(frozen=True, slots=True)
class Score:
    """A number that holds its named parts and is computed from them."""

    parts: tuple[Part, ...] = ()

    @property
    def value(self) -> float:
        """The exact sum of the parts (`math.fsum`, so the order of the parts never matters)."""
        return math.fsum(part.value for part in self.parts)

    def part(self, name: str) -> float:
        """The value of the named part, 0 when it is absent."""
        return math.fsum(part.value for part in self.parts if part.name == name)


@dataclass(frozen=True, slots=True)
class Hit:
    """A note in one strategy's list: its rank from 1, the strategy's score, why, and the passage that matched."""

    note_id: int
    rank: int
    score: float
    reason: str
    passage_id: int | None = None


@dataclass(frozen=True, slots=True)
class RankedList:
    """What one strategy returned.

    `skipped` says why it did not run, empty when it did; `backend` is what looked it up, where there are several.
    `best` is the score that counts as 1: what no score can exceed, or the highest of the list where there is no limit.
    """

    strategy: str
    hits: tuple[Hit, ...] = ()
    skipped: str = ""
    degraded: tuple[Degraded, ...] = ()
    backend: str = ""
    best: float = 1.0


@dataclass(frozen=True, slots=True)
class Understood:
    """What a query was taken to mean. `windows` are all time expressions, `window` the one that is searched.

    `question` tells a question from a few words or a title.
    """

    words: tuple[str, ...]
    window: Window | None = None
    windows: tuple[Window, ...] = ()
    entities: tuple[str, ...] = ()
    embedding: tuple[float, ...] | None = None
    question: bool = False
    degraded: tuple[Degraded, ...] = ()


@dataclass(frozen=True, slots=True)
class Reranking:
    """The cross-encoder's word on a candidate: logit, its sigmoid, and the candidate's place before and after."""

    logit: float
    sigmoid: float
    place_before: int
    place_after: int


@dataclass(frozen=True, slots=True)
class Update:
    """Why a note seems to update an older one, `old`: the words both say, and the values that only the newer states.

    `raise_` is what lifts its text to stand just above the older one, in the unit of the final score.
    """

    old: int
    shared: tuple[str, ...]
    values: tuple[str, ...]
    raise_: float


@dataclass(frozen=True, slots=True)
class Move:
    """A place the clamp changed: from, to (both from 1), and the notes that had to stand above."""

    place_before: int
    place_after: int
    below: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A note on its way through the pipeline; every stage adds its own field and overwrites none.

    `completes` is the stale note that brought this one along when no strategy found it; `superseders` are the
    candidates that replace this one, directly or through others. `passage` is the text the reranker read and the
    snippet is taken from. `update` names the older note that this one seems to update. `text` is what is returned
    (shortened when `shortened`).
    """

    note: Note
    hits: Mapping[str, Hit]
    fused: Score = Score()
    completes: int | None = None
    superseders: tuple[int, ...] = ()
    passage: str = ""
    reranking: Reranking | None = None
    relevance: Score = Score()
    update: Update | None = None
    final: Score = Score()
    age_days: float = 0.0
    move: Move | None = None
    cut: CutRule | None = None
    tokens: int = 0
    text: str = ""
    shortened: bool = False

    def with_(self, **changes: object) -> Candidate:
        """A copy with the given fields set."""
        return replace(self, **changes)  # type: ignore[arg-type]  # names are checked by dataclasses at run time


@dataclass(frozen=True, slots=True)
class Step:
    """The candidates as one stage left them, best first."""

    name: str
    candidates: tuple[Candidate, ...]
    degraded: tuple[Degraded, ...] = ()


@dataclass(frozen=True, slots=True)
class Backend:
    """Which implementation answered each part of a search."""

    keyword: str
    vectors: str
    embedder: str | None
    reranker: str | None


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything one search did: `search` prints its end, `explain` prints all of it.

    `milliseconds` are by stage, in the order of the pipeline; `waiting` counts the notes that have no vector yet of the
    model that answered, or of the `awaited` one that is to take its place. `floors` are those that were used.
    """

    query: Query
    understood: Understood
    lists: tuple[RankedList, ...]
    steps: tuple[Step, ...]
    backend: Backend
    milliseconds: tuple[tuple[str, float], ...] = ()
    waiting: int = 0
    awaited: str = ""
    floors: Floors = field(default_factory=Floors)

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """All candidates in their final order, those that were cut included."""
        return self.steps[-1].candidates if self.steps else ()

    @property
    def results(self) -> tuple[Candidate, ...]:
        """The candidates that are returned."""
        return tuple(candidate for candidate in self.candidates if candidate.cut is None)

    @property
    def suggestions(self) -> tuple[tuple[Candidate, Candidate], ...]:
        """Pairs of results of which the second seems to update the first, for the user to judge."""
        shown = {candidate.note.id: candidate for candidate in self.results}
        return tuple((shown[new.update.old], new) for new in shown.values() if new.update and new.update.old in shown)

    @property
    def degraded(self) -> tuple[Degraded, ...]:
        """What did not work, each once, in the order of the pipeline."""
        stages = (self.understood.degraded, *(r.degraded for r in self.lists), *(s.degraded for s in self.steps))
        return tuple(dict.fromkeys(problem for problems in stages for problem in problems))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one strategy says of one note: its hit, or the score it has, the score it needed, and why it is no hit."""

    strategy: str
    hit: Hit | None
    score: float | None = None
    needed: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Account:
    """What became of one note in a search: each strategy's verdict, and its candidate when it was one."""

    note: Note
    verdicts: tuple[Verdict, ...]
    candidate: Candidate | None
    place: int | None
    fate: str
