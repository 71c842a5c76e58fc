"""The commands that ask: search and explain, which take the same options."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memora_cli.cli.app import app
from memora_cli.cli.options import AsJson, At, Space, checked_kind, now, open_memory
from memora_cli.errors import EmptyQuery

if TYPE_CHECKING:
    from memora_cli.memory import Memory
    from memora_cli.values import Query

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
"""The options of `ask` that are settings."""


@dataclass(frozen=True, slots=True)
class Asked:
    """An open memory and the query to run on it."""

    memory: Memory
    query: Query


def ask(
    context: typer.Context,
    text: Annotated[list[str], typer.Argument(metavar="QUERY...", help="What you want to know, in plain words.")],
    limit: Annotated[int | None, typer.Option("-n", "--limit", min=1, help="At most this many results.")] = None,
    max_tokens: Annotated[int | None, typer.Option("--max-tokens", min=1, help="Token budget of the results.")] = None,
    thinking_budget: Annotated[
        int | None, typer.Option("--thinking-budget", min=0, help="Notes that the graph may expand.")
    ] = None,
    kind: Annotated[str | None, typer.Option("--type", help="Only world, agent or opinion.")] = None,
    topic: Annotated[list[str] | None, typer.Option("--topic", help="Only notes with this topic.")] = None,
    since: Annotated[str | None, typer.Option("--since", metavar="TIME", help="Only what happened since.")] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="Only what happened until.")] = None,
    pinned: Annotated[bool, typer.Option("--pinned", help="Only pinned notes.")] = False,
    current: Annotated[bool, typer.Option("--current", help="Leave superseded notes out.")] = False,
    at: At = None,
    rerank: Annotated[bool | None, typer.Option("--rerank/--no-rerank", help="Read the best with the model.")] = None,
    rerank_weight: Annotated[float | None, typer.Option(help="Share of the reranker in relevance, 0 to 1.")] = None,
    rerank_top: Annotated[int | None, typer.Option(help="How many candidates the reranker reads.")] = None,
    recency_weight: Annotated[float | None, typer.Option(help="What being new is worth.")] = None,
    half_life_days: Annotated[float | None, typer.Option("--half-life", help="Days until recency is halved.")] = None,
    pinned_bonus: Annotated[float | None, typer.Option(help="What a pin is worth.")] = None,
    rrf_k: Annotated[int | None, typer.Option("--rrf-k", help="The constant of reciprocal rank fusion.")] = None,
    min_score: Annotated[
        float | None, typer.Option("--min-score", help="Leave out what the reranker is less sure of, 0 to 1.")
    ] = None,
    backend: Annotated[str | None, typer.Option("--backend", help="Force keyword search by fts5 or like.")] = None,
    space: Space = None,
) -> Asked:
    """The query that the options mean."""
    from memora_cli.text.markdown import topic as normalise_topic
    from memora_cli.text.moments import read_window
    from memora_cli.values import Filters, Query

    given = dict(locals())
    present = now(at)
    words = " ".join(text)
    if not words.strip() and not topic:
        raise EmptyQuery
    first = read_window(since, present) if since else None
    last = read_window(until, present) if until else None
    memory = open_memory(context, space, {name: given[name] for name in KNOBS} | {"current_only": current or None})
    filters = Filters(
        space=memory.space,
        kind=checked_kind(kind),
        topics=tuple(normalise_topic(name) for name in topic or ()),
        since=(first.start or first.end) if first else None,
        until=(last.end or last.start) if last else None,
        pinned=pinned,
    )
    return Asked(memory, Query(words, present, filters, memory.config.settings))


def asking(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `ask` before its own, and the query they mean as its first argument."""
    shared = inspect.signature(ask, eval_str=True).parameters
    own = {
        name: parameter
        for name, parameter in inspect.signature(command, eval_str=True).parameters.items()
        if name != "asked"
    }

    def run(**given: Any) -> None:
        mine = {name: given.pop(name) for name in own}
        asked = ask(**given)
        with asked.memory:
            command(asked, **mine)

    parameters = {**shared, **own}
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]  # read by Typer
    run.__annotations__ = {name: parameter.annotation for name, parameter in parameters.items()}
    return run


@app.command(epilog='Example: memora search "What did Alice do last spring?"')
@asking
def search(
    asked: Asked,
    as_json: AsJson = False,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="Print one JSON result a line.")] = False,
    ids: Annotated[bool, typer.Option("--ids", help="Print ids only.")] = False,
    exit_status: Annotated[bool, typer.Option("-e", "--exit-status", help="Exit with 1 on no result.")] = False,
) -> None:
    """Find notes: by meaning, words, connections and time at once."""
    from memora_cli.render.notes import print_remarks, print_results
    from memora_cli.render.terminal import console, say

    trace = asked.memory.search(asked.query)
    if ids:
        for candidate in trace.results:
            say(str(candidate.note.id))
        print_remarks(trace)
    elif as_json or jsonl:
        from memora_cli.render import shapes

        if as_json:
            say(shapes.dumps(shapes.search(trace)))
        else:
            for result in shapes.results(trace):
                say(shapes.dumps(result))
            print_remarks(trace)
    else:
        print_results(trace, console())
    if exit_status and not trace.results:
        raise typer.Exit(1)


@app.command(epilog='Example: memora explain "Alice\'s job" --note 5')
@asking
def explain(
    asked: Asked,
    note: Annotated[int | None, typer.Option("--note", metavar="ID", help="Explain one note, found or not.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Show all rows of all tables.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show every number of a search: ranks, fusion, reranking, scores, what was cut and why."""
    from memora_cli.render import shapes
    from memora_cli.render.terminal import console, say

    trace = asked.memory.search(asked.query)
    if note is None:
        if as_json:
            say(shapes.dumps(shapes.explain(trace)))
        else:
            from memora_cli.render.explain import print_explanation

            print_explanation(trace, console(), every=every)
        return
    account = asked.memory.account(trace, note)
    if as_json:
        say(shapes.dumps(shapes.explain(trace) | {"note": shapes.account(account)}))
    else:
        from memora_cli.render.account import print_account

        print_account(account, trace, console())
