"""Notes and what is written of them: the note itself, a draft, a span of time, a change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal

Kind = Literal["world", "agent", "opinion"]
KINDS: tuple[Kind, ...] = ("world", "agent", "opinion")
Relation = Literal["causes", "caused-by", "enables", "prevents"]
Order = Literal["created", "occurred", "title", "id", "length"]
ORDERS: tuple[Order, ...] = ("created", "occurred", "title", "id", "length")
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
class Tally:
    """A topic or an entity, and how many notes have it."""

    name: str
    notes: int
