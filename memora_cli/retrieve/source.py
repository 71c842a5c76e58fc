"""What a strategy reads from, and how its finds become a ranked list."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import ColumnElement, Connection

from memora_cli.store import conditions, notes, supersessions
from memora_cli.store.database import Database
from memora_cli.values import Filters, Floors, Hit, Query, RankedList, Settings, Understood


@dataclass(frozen=True)
class Source:
    """One snapshot, the query and what it was taken to mean, the vectors' model and floors, the lists made so far."""

    database: Database
    connection: Connection
    query: Query
    understood: Understood
    model: str
    lists: tuple[RankedList, ...] = ()
    floors: Floors = field(default_factory=Floors)

    @property
    def settings(self) -> Settings:
        """The settings of the query."""
        return self.query.settings

    @property
    def space(self) -> str:
        """The space that is searched."""
        return self.query.filters.space

    def list_of(self, strategy: str) -> RankedList:
        """The list that an earlier strategy returned, empty when it did not run."""
        return next((ranked for ranked in self.lists if ranked.strategy == strategy), RankedList(strategy))

    @property
    def as_of(self) -> datetime | None:
        """The moment whose knowledge is asked; None is the present."""
        return self.query.filters.as_of

    @functools.cached_property
    def corrected(self) -> bool:
        """Whether anything in the space is superseded, or was."""
        return self.as_of is not None or supersessions.any_superseded(self.connection, self.space)

    @property
    def unfiltered(self) -> bool:
        """Whether the scope is the whole space, so that an index need not be asked for a part of it."""
        plain = not self.corrected and self.query.filters == Filters(space=self.space)
        return plain and not notes.any_forgotten(self.connection, self.space)

    def scopes(self) -> tuple[ColumnElement[bool], ...]:
        """Conditions that together mean the filters, apart for stale notes so that these use up nobody's place."""
        condition = conditions.matching(self.query.filters)
        if not self.corrected:
            return (condition,)
        stale = conditions.stale(self.space, self.as_of)
        return condition & ~stale, condition & stale


@dataclass(frozen=True, slots=True)
class Found:
    """A note that a strategy found, before it has a rank; `nearness` (a cosine) orders equal scores."""

    note_id: int
    score: float
    reason: str
    passage_id: int | None = None
    nearness: float = 0.0


def rank(source: Source, found: Iterable[Found]) -> tuple[Hit, ...]:
    """Hits in total order (score, nearness, newer, id), cut to the strategy's limit; stale notes take no place."""
    items = list(found)
    standing = notes.standing(source.connection, source.space, [item.note_id for item in items], source.as_of)
    ordered = sorted(
        (item for item in items if item.note_id in standing),
        key=lambda item: (-item.score, -item.nearness, -standing[item.note_id][0].timestamp(), item.note_id),
    )
    hits: list[Hit] = []
    places = source.settings.strategy_limit
    for item in ordered:
        if places == 0:
            break
        places -= not standing[item.note_id][1]
        hits.append(Hit(item.note_id, len(hits) + 1, item.score, item.reason, item.passage_id))
    return tuple(hits)
