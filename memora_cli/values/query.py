"""The request: filters, settings and the query that carries all a stage may depend on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

FUSION_WEIGHTS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "convex": MappingProxyType({"semantic": 1.0, "keyword": 1.0, "graph": 0.3, "temporal": 0.5}),
        "rrf": MappingProxyType({"semantic": 1.0, "keyword": 1.0, "graph": 1.0, "temporal": 1.0}),
    }
)
"""The ways to fuse, and what each strategy weighs in them unless it is set (the README has the numbers)."""


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

    `weights` are those that were set, see `weight`. Without a `rerank_weight` the query decides, see
    `rank.rerank.share`. `updates` lets a note that seems to update another stand above it, see `rank.update`.
    """

    limit: int = 8
    max_tokens: int = 4096
    thinking_budget: int = 100
    fusion: str = "convex"
    rrf_k: int = 60
    weights: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    strategy_limit: int = 100
    semantic_floor: float | None = None
    entry_floor: float | None = None
    rerank: bool = True
    rerank_top: int = 12
    rerank_seconds: float = 10.0
    rerank_weight: float | None = None
    updates: bool = True
    recency_weight: float = 0.05
    half_life_days: float = 90.0
    pinned_bonus: float = 0.2
    superseded_penalty: float = 10.0
    min_score: float | None = None
    current_only: bool = False
    backend: str = "auto"

    def weight(self, strategy: str) -> float:
        """What a strategy weighs in fusion: as it was set, else as is best for the way to fuse."""
        return self.weights.get(strategy, FUSION_WEIGHTS[self.fusion].get(strategy, 1.0))


@dataclass(frozen=True, slots=True)
class Query:
    """Everything a stage may depend on: the words typed, the clock, the filters and the settings.

    `at` carries the user's zone.
    """

    text: str
    at: datetime
    filters: Filters = Filters()
    settings: Settings = Settings()
