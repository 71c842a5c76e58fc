"""The frozen values that flow through memora; dictionaries exist only at the JSON edge."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal

Kind = Literal["world", "agent", "opinion"]
KINDS: tuple[Kind, ...] = ("world", "agent", "opinion")
Relation = Literal["causes", "caused-by", "enables", "prevents"]
CutRule = Literal["limit", "budget", "current", "min-score"]
Action = Literal[
    "add",
    "edit",
    "pin",
    "unpin",
    "supersede",
    "unsupersede",
    "forget",
    "restore",
    "purge",
    "link",
    "unlink",
    "alias",
    "unalias",
]


@dataclass(frozen=True, slots=True)
class Window:
    """A half-open span of time `[start, end)`, the words it came from and its grain.

    `start` or `end` is None where the span is open on that side; both carry an offset. `grain` is the unit it was
    said in: "day", "week", "month", "quarter", "season", "year", "decade", "range" and the like.
    """

    start: datetime | None
    end: datetime | None
    text: str
    grain: str = "range"


@dataclass(frozen=True, slots=True)
class Note:
    """A note as stored. `superseded_by` holds the ids of the notes that directly replace it, newest last.

    `forgotten_at` is when it went to the trash.
    """

    id: int
    uid: str
    space: str
    title: str
    body: str
    topics: tuple[str, ...]
    kind: str
    context: str
    created_at: datetime
    occurred_start: datetime | None
    occurred_end: datetime | None
    pinned: bool
    source: str
    tokens: int
    superseded_by: tuple[int, ...] = ()
    forgotten_at: datetime | None = None

    @property
    def name(self) -> str:
        """The title, or the first line of the text."""
        return self.title or next((line.strip() for line in self.body.splitlines() if line.strip()), "")


@dataclass(frozen=True, slots=True)
class Draft:
    """What a person or an import wants remembered, before it has an id.

    `links` are `(relation, title)` pairs; `supersedes` are the ids of notes that this one replaces. `dated` False says
    that `created_at` was only observed (a file's time), so that it connects the note to no other; `revises` says that
    it is the newer text of its source, and supersedes the older one.
    """

    body: str
    title: str = ""
    topics: tuple[str, ...] = ()
    kind: str = "world"
    context: str = ""
    created_at: datetime | None = None
    occurred: Window | None = None
    entities: tuple[str, ...] = ()
    pinned: bool = False
    source: str = ""
    links: tuple[tuple[str, str], ...] = ()
    supersedes: tuple[int, ...] = ()
    dated: bool = True
    revises: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """A change as it is kept. Changes of one `batch` were made, and are taken back, together.

    `other_id` is the note that replaces this one or that it is linked to; aliases have no note. `before` and `after`
    hold what changed, as JSON: the fields of an edit, the relation of a link, the names of an alias. `undoes` is the
    batch that this change takes back; `undone` says that it was itself taken back.
    """

    id: int
    batch: int
    at: datetime
    action: Action
    note_id: int | None = None
    other_id: int | None = None
    before: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    after: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    undoes: int | None = None
    undone: bool = False


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions that act inside every strategy; times are a half-open range over event (else creation) time.

    `as_of` is the moment whose knowledge is asked: the notes that were there, with the texts and supersessions of then.
    """

    space: str = "default"
    kind: str | None = None
    topics: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    pinned: bool = False
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class Floors:
    """The cosines from which on two texts have something in common, which every embedder sets for itself.

    `semantic` makes a hit of the semantic strategy, `entry` a note that the graph starts from, `link` a link between
    notes. `origin` says where they come from: "chosen" with measurements, "estimated" from the user's notes, or on the
    "sample" that every model is tried on; "settings" when either of the first two was set by hand.
    """

    semantic: float = 0.3
    entry: float = 0.5
    link: float = 0.7
    origin: str = "chosen"


@dataclass(frozen=True, slots=True)
class Settings:
    """Every number a search depends on; each is configuration and a search flag.

    Without a `rerank_weight` the query decides, see `rank.rerank.share`. Floors that are None are the model's.
    """

    limit: int = 8
    max_tokens: int = 4096
    thinking_budget: int = 100
    rrf_k: int = 60
    weights: Mapping[str, float] = field(
        default_factory=lambda: MappingProxyType({"semantic": 1.0, "keyword": 1.0, "graph": 1.0, "temporal": 1.0})
    )
    strategy_limit: int = 100
    semantic_floor: float | None = None
    entry_floor: float | None = None
    rerank: bool = True
    rerank_top: int = 20
    rerank_weight: float | None = None
    recency_weight: float = 0.1
    half_life_days: float = 90.0
    pinned_bonus: float = 0.2
    superseded_penalty: float = 10.0
    min_score: float | None = None
    current_only: bool = False
    backend: str = "auto"


@dataclass(frozen=True, slots=True)
class Query:
    """Everything a stage may depend on: the words typed, the clock, the filters and the settings.

    `at` carries the user's zone.
    """

    text: str
    at: datetime
    filters: Filters = Filters()
    settings: Settings = Settings()


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
    """

    strategy: str
    hits: tuple[Hit, ...] = ()
    skipped: str = ""
    degraded: tuple[Degraded, ...] = ()
    backend: str = ""


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
    snippet is taken from. `text` is what is returned (shortened when `shortened`).
    """

    note: Note
    hits: Mapping[str, Hit]
    fused: Score = Score()
    completes: int | None = None
    superseders: tuple[int, ...] = ()
    passage: str = ""
    reranking: Reranking | None = None
    relevance: Score = Score()
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

    `milliseconds` are by stage, in the order of the pipeline. `waiting` counts the notes that have no vector yet of the
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
    floors: Floors = Floors()

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """All candidates in their final order, those that were cut included."""
        return self.steps[-1].candidates if self.steps else ()

    @property
    def results(self) -> tuple[Candidate, ...]:
        """The candidates that are returned."""
        return tuple(candidate for candidate in self.candidates if candidate.cut is None)

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
