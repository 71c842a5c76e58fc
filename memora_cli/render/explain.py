"""The explanation of a search as tables: what was understood, each strategy, each stage, what was cut, the time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo

from rich.console import Console
from rich.table import Table
from rich.text import Text

from memora_cli.rank.rerank import share
from memora_cli.render.terminal import day, ids, number, pairs, safe, show, table
from memora_cli.values import Candidate, Note, RankedList, Trace, Window

MOST = 15  # rows of a table, unless all are asked for


def print_explanation(trace: Trace, console: Console, *, every: bool = False, timings: bool = True) -> None:
    """All tables of a trace; long ones are cut to their first rows unless `every`."""
    most = None if every else MOST
    for part in _parts(trace, most):
        show(part, console)
    if timings:
        show(_timings(trace), console)


def _parts(trace: Trace, most: int | None) -> Iterator[Table | Text]:
    yield _understood(trace)
    names = {candidate.note.id: candidate.note for candidate in trace.candidates}
    for ranked in trace.lists:
        yield _strategy(ranked, names, most)
    yield _fusion(trace, most)
    yield _reranking(trace, most)
    if any(candidate.update for candidate in trace.candidates):
        yield _updates(trace)
    yield _scores(trace, most)
    yield _cut(trace, most)


def _understood(trace: Trace) -> Table:
    zone = trace.query.at.tzinfo
    understood, backend = trace.understood, trace.backend
    facts = {
        "query": trace.query.text,
        "asked at": f"{trace.query.at:%Y-%m-%d %H:%M %z}",
        "words": ", ".join(understood.words) or "none",
        "window": _window(understood.window, zone),
        "other times": "; ".join(_window(w, zone) for w in understood.windows if w != understood.window),
        "entities": ", ".join(understood.entities) or "none known",
        "keyword by": backend.keyword,
        "vectors by": backend.vectors,
        "embedder": backend.embedder or "none",
        "reranker": backend.reranker or "none",
        "degraded": "; ".join(f"{problem.part}: {problem.reason}" for problem in trace.degraded) or "nothing",
        "floors": f"semantic {trace.floors.semantic:.2f}, entry {trace.floors.entry:.2f} ({trace.floors.origin})",
        "waiting": f"{trace.waiting} notes have no vectors yet" + (f" of {trace.awaited}" if trace.awaited else "")
        if trace.waiting
        else "",
    }
    return pairs(facts)


def _window(window: Window | None, zone: tzinfo | None) -> str:
    if window is None:
        return "none"
    start = day(window.start, zone) if window.start else "…"
    end = f"before {day(window.end, zone)}" if window.end else "…"
    return f'{start} to {end} ({window.grain}, from "{window.text}")'


def _strategy(ranked: RankedList, names: dict[int, Note], most: int | None) -> Table | Text:
    if not ranked.hits:
        return Text.assemble(
            ("\n" + ranked.strategy, "bold"), f"  no hits{': ' if ranked.skipped else ''}{ranked.skipped}"
        )
    grid = table(
        ("rank", "right"),
        ("id", "right"),
        ("note", "name"),
        ("score", "right"),
        ("reason", "wide"),
        title=f"\n{ranked.strategy}",
        caption=_more(len(ranked.hits), most),
    )
    for hit in ranked.hits[:most]:
        name = names[hit.note_id].name if hit.note_id in names else ""
        grid.add_row(str(hit.rank), f"#{hit.note_id}", safe(name), f"{hit.score:.4g}", safe(hit.reason))
    return grid


def _more(count: int, most: int | None) -> str:
    return f"… and {count - most} more (--all shows them)" if most is not None and count > most else ""


def _fusion(trace: Trace, most: int | None) -> Table | Text:
    step = next(step for step in trace.steps if step.name == "complete")
    strategies = [ranked.strategy for ranked in trace.lists if ranked.hits]
    grid = table(
        ("id", "right"),
        ("note", "name"),
        *((f"{name}", "right") for name in strategies),
        ("sum", "right"),
        title=f"\nfusion: {_rule(trace, strategies)}",
        caption=_more(len(step.candidates), most),
    )
    for candidate in step.candidates[:most]:
        cells = [_contribution(candidate, name) for name in strategies]
        brought = f"  (brought by #{candidate.completes})" if candidate.completes else ""
        grid.add_row(
            f"#{candidate.note.id}", safe(candidate.note.name).append(brought), *cells, number(candidate.fused.value, 5)
        )
    return grid


def _rule(trace: Trace, strategies: list[str]) -> str:
    """How a rank or a score becomes a contribution."""
    settings = trace.query.settings
    weights = ", ".join(f"{settings.weight(name):g} {name}" for name in strategies)
    if settings.fusion == "rrf":
        return f"rank → weight/({settings.rrf_k}+rank); weights {weights}"
    return f"rank → weight·score/best; weights {weights}"


def _contribution(candidate: Candidate, strategy: str) -> str:
    if strategy not in candidate.hits:
        return "–"
    return f"{candidate.hits[strategy].rank} → {number(candidate.fused.part(strategy), 5)}"


def _reranking(trace: Trace, most: int | None) -> Table | Text:
    read = sorted(
        (candidate for candidate in trace.candidates if candidate.reranking),
        key=lambda candidate: candidate.reranking.place_after if candidate.reranking else 0,
    )
    if not read:
        why = "off" if not trace.query.settings.rerank else "did not run"
        return Text.assemble(("\nrerank", "bold"), f"  {why}: relevance is the fused part alone")
    weight = share(trace.query.settings.rerank_weight, trace.understood.question)
    grid = table(
        ("id", "right"),
        ("note", "name"),
        ("logit", "right"),
        ("sigmoid", "right"),
        ("place", "right"),
        ("fused", "right"),
        ("read", "right"),
        ("relevance", "right"),
        title=f"\nrerank: {1 - weight:g}·fused/best + {weight:g}·sigmoid/best",
        caption=_more(len(read), most),
    )
    for candidate in read[:most]:
        reranking = candidate.reranking
        if reranking is None:
            continue
        grid.add_row(
            f"#{candidate.note.id}",
            safe(candidate.note.name),
            number(reranking.logit, 2),
            number(reranking.sigmoid),
            f"{reranking.place_before} → {reranking.place_after}",
            number(candidate.relevance.part("fused")),
            number(candidate.relevance.part("reranker")),
            number(candidate.relevance.value),
        )
    return grid


def _updates(trace: Trace) -> Table:
    grid = table(
        ("id", "right"),
        ("note", "name"),
        ("updates", "right"),
        "both hold",
        "only the newer states",
        ("lifted by", "right"),
        title="\nupdates: of two notes that answer alike, the newer goes first",
    )
    for candidate in trace.candidates:
        if found := candidate.update:
            grid.add_row(
                f"#{candidate.note.id}",
                safe(candidate.note.name),
                f"#{found.old}",
                safe(", ".join(found.shared)),
                safe(", ".join(found.values) or "nearly the same"),
                number(found.raise_),
            )
    return grid


def _scores(trace: Trace, most: int | None) -> Table | Text:
    settings = trace.query.settings
    lifted = any(candidate.final.part("update") for candidate in trace.candidates)
    grid = table(
        ("place", "right"),
        ("id", "right"),
        ("note", "name"),
        ("text", "right"),
        *([("update", "right")] if lifted else []),
        ("days", "right"),
        ("recency", "right"),
        ("pin", "right"),
        ("penalty", "right"),
        ("score", "right"),
        "clamp",
        title=f"\nscore: text + {'update + ' if lifted else ''}"
        f"{settings.recency_weight:g}·0.5^(days/{settings.half_life_days:g}) + pin − penalty",
        caption=_more(len(trace.candidates), most),
    )
    for place, candidate in enumerate(trace.candidates[:most], start=1):
        final, move = candidate.final, candidate.move
        grid.add_row(
            str(place),
            f"#{candidate.note.id}",
            safe(candidate.note.name),
            number(final.part("text")),
            *([number(final.part("update"))] if lifted else []),
            f"{candidate.age_days:,.0f}",
            number(final.part("recency")),
            number(final.part("pin"), 2),
            number(final.part("superseded"), 0),
            number(final.value),
            f"{move.place_before} → {move.place_after}, below {ids(move.below)}" if move else _stale(candidate),
        )
    return grid


def _stale(candidate: Candidate) -> str:
    return f"below {ids(candidate.note.superseded_by)}" if candidate.note.superseded_by else ""


def _cut(trace: Trace, most: int | None) -> Table | Text:
    settings = trace.query.settings
    spent = sum(candidate.tokens for candidate in trace.results)
    kept = f"{len(trace.results)} kept (limit {settings.limit}), {spent} of {settings.max_tokens} tokens"
    gone = [(place, c) for place, c in enumerate(trace.candidates, start=1) if c.cut]
    if not gone:
        return Text.assemble(("\ncut", "bold"), f"  nothing; {kept}")
    grid = table(
        ("place", "right"),
        ("id", "right"),
        ("note", "name"),
        ("tokens", "right"),
        "cut by",
        title=f"\ncut: {kept}",
        caption=_more(len(gone), most),
    )
    for place, candidate in gone[:most]:
        grid.add_row(
            str(place),
            f"#{candidate.note.id}",
            safe(candidate.note.name),
            str(candidate.note.tokens),
            str(candidate.cut),
        )
    return grid


def _timings(trace: Trace) -> Table | Text:
    total = sum(value for _, value in trace.milliseconds)
    grid = table("stage", ("ms", "right"), title="\ntime")
    for stage, value in trace.milliseconds:
        grid.add_row(stage, number(value, 1))
    grid.add_row(Text("total", style="bold"), Text(number(total, 1), style="bold"))
    return grid
