"""The filters that every command over notes has, and what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from memora_cli.cli.options import checked_kind
from memora_cli.errors import Usage

if TYPE_CHECKING:
    from memora_cli.values import Filters

Since = Annotated[str | None, typer.Option("--since", metavar="TIME", help="Only what happened since.")]
Until = Annotated[str | None, typer.Option("--until", metavar="TIME", help="Only what happened until.")]


def read_filters(
    space: str,
    at: datetime,
    *,
    kind: str | None,
    topic: Sequence[str] | None,
    since: str | None,
    until: str | None,
    pinned: bool,
    week_start: int,
    as_of: datetime | None = None,
) -> Filters:
    """The filters as they were typed. Raises `Usage` for a kind that is none, and for times that exclude each other."""
    from memora_cli.text.words import topic as normalise_topic
    from memora_cli.values import Filters

    first = last = None
    if since or until:
        from memora_cli.text.moments import read_window

        first = read_window(since, at, week_start=week_start) if since else None
        last = read_window(until, at, week_start=week_start) if until else None
    filters = Filters(
        space=space,
        kind=checked_kind(kind),
        topics=tuple(normalise_topic(name) for name in topic or ()),
        since=(first.start or first.end) if first else None,
        until=(last.end or last.start) if last else None,
        pinned=pinned,
        as_of=as_of,
    )
    if filters.since and filters.until and filters.since >= filters.until:
        raise Usage(f"no time lies between --since {since} and --until {until}: the one is later than the other")
    return filters
