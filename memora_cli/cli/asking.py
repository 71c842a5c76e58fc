"""What search and explain have in common: their options, the query that these mean, and how the answer is printed."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from memora_cli.cli.options import (
    AsJson,
    At,
    Current,
    Pinned,
    Space,
    TopicFilter,
    TypeFilter,
    checked_kind,
    configure,
    now,
    week_start,
)
from memora_cli.errors import EmptyQuery, Usage

if TYPE_CHECKING:
    from memora_cli.memory import Memory
    from memora_cli.values import Query, Trace

KNOBS = (
    "limit",
    "max_tokens",
    "thinking_budget",
    "rerank",
    "rerank_weight",
    "rerank_top",
    "recency_weight",
    "half_life_days",
    "pinned_bonus",
    "rrf_k",
    "min_score",
    "backend",
)
"""The options of `ask` that are settings; every other setting is given with --set."""


Form = Literal["json", "jsonl", "ids", "people"]

ELSEWHERE = {"db": "--db", "space": "--space", "embedder": "config.toml"}
"""What --set does not take, because it decides which notes and vectors there are; and where it is said instead."""


@dataclass(frozen=True, slots=True)
class Asked:
    """An open memory, the query to run on it, and how its answer is wanted."""

    memory: Memory
    query: Query
    form: Form
    exit_status: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """What a query gave, for a command to print in the wanted form."""

    memory: Memory
    trace: Trace
    form: Form


def ask(
    context: typer.Context,
    text: Annotated[
        list[str] | None,
        typer.Argument(metavar="QUERY", help="What you want to know, in plain words; may be left out with --topic."),
    ] = None,
    limit: Annotated[int | None, typer.Option("-n", "--limit", metavar="N", min=1, help="At most N results.")] = None,
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", metavar="N", min=1, help="Token budget of all results.")
    ] = None,
    thinking_budget: Annotated[
        int | None, typer.Option("--thinking-budget", metavar="N", min=0, help="Notes that the graph may expand.")
    ] = None,
    kind: TypeFilter = None,
    topic: TopicFilter = None,
    since: Annotated[str | None, typer.Option("--since", metavar="TIME", help="Only what happened since.")] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="Only what happened until.")] = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="DATE", help="Answer with what was known then: a day or a time.")
    ] = None,
    pinned: Pinned = False,
    current: Current = False,
    at: At = None,
    rerank: Annotated[
        bool | None, typer.Option("--rerank/--no-rerank", help="Read the best candidates with the cross-encoder.")
    ] = None,
    rerank_weight: Annotated[
        float | None, typer.Option(metavar="SHARE", help="Share of the cross-encoder in relevance, 0 to 1.")
    ] = None,
    rerank_top: Annotated[int | None, typer.Option(metavar="N", help="Candidates the cross-encoder reads.")] = None,
    recency_weight: Annotated[float | None, typer.Option(metavar="SCORE", help="What being new is worth.")] = None,
    half_life_days: Annotated[
        float | None, typer.Option("--half-life", metavar="DAYS", help="Days until recency is halved.")
    ] = None,
    pinned_bonus: Annotated[float | None, typer.Option(metavar="SCORE", help="What a pin is worth.")] = None,
    rrf_k: Annotated[int | None, typer.Option("--rrf-k", metavar="K", help="The constant of rank fusion.")] = None,
    min_score: Annotated[
        float | None, typer.Option("--min-score", metavar="SHARE", help="Leave out what is less sure, 0 to 1.")
    ] = None,
    backend: Annotated[
        str | None, typer.Option("--backend", metavar="NAME", help="Keyword search by fts5 or like.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Any setting, as weights.graph=0.5.")
    ] = None,
    space: Space = None,
    as_json: AsJson = False,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="Print one JSON object a line.")] = False,
    ids: Annotated[bool, typer.Option("--ids", help="Print the ids of the results only.")] = False,
    exit_status: Annotated[bool, typer.Option("-e", "--exit-status", help="Exit with 1 on no result.")] = False,
) -> Asked:
    """The query that the options mean."""
    from memora_cli.memory import Memory
    from memora_cli.text.moments import last_moment, read_window
    from memora_cli.text.words import topic as normalise_topic
    from memora_cli.values import Filters, Query

    given = dict(locals())
    words = " ".join(text or ())
    if not words.strip() and not topic:
        raise EmptyQuery
    flags = {name: given[name] for name in KNOBS if given[name] is not None} | (
        {"current_only": True} if current else {}
    )
    config = configure(context, space, flags, _pairs(settings or ()))
    present = now(at, week_start(config))
    first = read_window(since, present, week_start=week_start(config)) if since else None
    last = read_window(until, present, week_start=week_start(config)) if until else None
    known = read_window(as_of, present, week_start=week_start(config)) if as_of else None
    memory = Memory(config)
    filters = Filters(
        space=memory.space,
        kind=checked_kind(kind),
        topics=tuple(normalise_topic(name) for name in topic or ()),
        since=(first.start or first.end) if first else None,
        until=(last.end or last.start) if last else None,
        pinned=pinned,
        as_of=last_moment(known) if known else None,
    )
    if filters.since and filters.until and filters.since >= filters.until:
        raise Usage(f"no time lies between --since {since} and --until {until}: the one is later than the other")
    form: Form = "ids" if ids else "json" if as_json else "jsonl" if jsonl else "people"
    return Asked(memory, Query(words, present, filters, config.settings), form, exit_status)


def _pairs(settings: list[str] | tuple[()]) -> dict[str, Any]:
    pairs = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise Usage(f"--set takes KEY=VALUE, not {setting!r}")
        if (key := key.strip()) in ELSEWHERE:
            raise Usage(f"--set does not take {key}: that is for {ELSEWHERE[key]} to say")
        pairs[key] = value.strip()
    return pairs


def asking(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `ask` before its own, and the answer to them as its first argument."""
    shared = inspect.signature(ask, eval_str=True).parameters
    own = {
        name: parameter
        for name, parameter in inspect.signature(command, eval_str=True).parameters.items()
        if name != "answer"
    }

    def run(**given: Any) -> None:
        mine = {name: given.pop(name) for name in own}
        asked = ask(**given)
        with asked.memory:
            trace = asked.memory.search(asked.query)
            command(Answer(asked.memory, trace, asked.form), **mine)
        if asked.exit_status and not trace.results:
            raise typer.Exit(1)

    parameters = {**shared, **own}
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]  # read by Typer
    run.__annotations__ = {name: parameter.annotation for name, parameter in parameters.items()}
    return run
