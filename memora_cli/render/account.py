"""The explanation of one note in a search: each strategy's verdict, then its way through the stages."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from memora_cli.render.terminal import ids, number, safe, show, table
from memora_cli.text.display import visible_line
from memora_cli.values import Account, Candidate, Score, Trace


def print_account(account: Account, trace: Trace, console: Console) -> None:
    """Which strategies found or missed the note and by how much, and which stage dropped it."""
    show(Text(f"#{account.note.id}  {visible_line(account.note.name)}", style="bold"), console)
    show(Text(f"{account.fate} for: {visible_line(trace.query.text)}"), console)
    grid = table(
        "strategy", ("rank", "right"), ("score", "right"), ("needed", "right"), ("reason", "wide"), title="\nstrategies"
    )
    for verdict in account.verdicts:
        grid.add_row(
            verdict.strategy,
            str(verdict.hit.rank) if verdict.hit else "–",
            "–" if verdict.score is None else number(verdict.score),
            "–" if verdict.needed is None else number(verdict.needed),
            safe(verdict.reason),
        )
    show(grid, console)
    if account.candidate:
        _print_stages(account.candidate, trace, console)


def _print_stages(candidate: Candidate, trace: Trace, console: Console) -> None:
    grid = table("stage", ("place", "right"), ("score", "right"), "parts", title="\nstages")
    scores = {
        "fuse": candidate.fused,
        "complete": candidate.fused,
        "rerank": candidate.relevance,
        "adjust": candidate.final,
    }
    for step in trace.steps:
        place = next((n for n, other in enumerate(step.candidates, 1) if other.note.id == candidate.note.id), None)
        score = scores.get(step.name)
        grid.add_row(
            step.name,
            "–" if place is None else str(place),
            number(score.value, 5) if score and place else "–",
            safe(_detail(candidate, step.name, score) if place else "not there yet"),
        )
    show(grid, console)


def _detail(candidate: Candidate, stage: str, score: Score | None) -> str:
    parts = " + ".join(f"{part.name} {number(part.value, 5)}" for part in score.parts) if score else ""
    match stage:
        case "complete":
            return f"brought by #{candidate.completes}" if candidate.completes else ""
        case "rerank" if candidate.reranking:
            return f"{parts} (logit {number(candidate.reranking.logit, 2)})"
        case "update" if candidate.update:
            return f"seems to update #{candidate.update.old}: both hold {', '.join(candidate.update.shared)}"
        case "adjust":
            return f"{parts}; {candidate.age_days:,.1f} days old"
        case "clamp" if candidate.move:
            return f"moved from {candidate.move.place_before} below {ids(candidate.move.below)}"
        case "cut":
            return f"cut by {candidate.cut}" if candidate.cut else f"kept, {candidate.tokens} tokens"
        case _:
            return parts
