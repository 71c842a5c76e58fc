"""What search and explain have in common: their options, the query that these mean, and how the answer is printed."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memora_cli.cli import completing
from memora_cli.cli.filters import Since, Until, read_filters
from memora_cli.cli.forms import Form, IdsOnly, Jsonl, one_form
from memora_cli.cli.options import (
    AsJson,
    At,
    Current,
    Pinned,
    Space,
    TopicFilter,
    TypeFilter,
    configure,
    now,
    pairs,
    week_start,
)
from memora_cli.errors import EmptyQuery

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
    since: Since = None,
    until: Until = None,
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
        str | None,
        typer.Option(
            "--backend",
            metavar="NAME",
            autocompletion=completing.one_of("auto", "fts5", "like"),
            help="Keyword search by fts5 or like.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            autocompletion=completing.setting_keys,
            help="Any setting, as weights.graph=0.5.",
        ),
    ] = None,
    space: Space = None,
    as_json: AsJson = False,
    jsonl: Jsonl = False,
    ids: IdsOnly = False,
    exit_status: Annotated[bool, typer.Option("-e", "--exit-status", help="Exit with 1 on no result.")] = False,
) -> Asked:
    """The query that the options mean."""
    from memora_cli.memory import Memory
    from memora_cli.text.moments import last_moment, read_window
    from memora_cli.values import Query

    given = dict(locals())
    form = one_form(as_json=as_json, jsonl=jsonl, ids=ids)
    words = " ".join(text or ())
    if not words.strip() and not topic:
        raise EmptyQuery
    flags = {name: given[name] for name in KNOBS if given[name] is not None} | (
        {"current_only": True} if current else {}
    )
    config = configure(context, space, flags, pairs(settings or ()))
    present = now(at, week_start(config))
    known = read_window(as_of, present, week_start=week_start(config)) if as_of else None
    memory = Memory(config)
    filters = read_filters(
        memory.space,
        present,
        kind=kind,
        topic=topic,
        since=since,
        until=until,
        pinned=pinned,
        week_start=week_start(config),
        as_of=last_moment(known) if known else None,
    )
    return Asked(memory, Query(words, present, filters, config.settings), form, exit_status)


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
