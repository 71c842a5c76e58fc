"""An evaluation as tables and as JSON: each strategy and stage, settings side by side, groups, the worst questions."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from memora_cli.memory.evaluating import LISTS, RANKINGS, Judged, Report, difference, grouped, report, worst
from memora_cli.memory.metrics import METRICS, Estimate
from memora_cli.render.shapes import VERSION, Shape
from memora_cli.render.terminal import number, safe, show, table

HEADINGS = {"ndcg": "nDCG", "recall": "recall", "mrr": "MRR", "hit": "hit"}
DIGITS = 3


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Questions as the present settings answered them, and as each variant of the settings did.

    `skipped` counts questions without a known answer; `elsewhere` says that --db must name where they were asked.
    """

    skipped: int
    k: int
    max_tokens: int
    base: tuple[Judged, ...]
    variants: Mapping[str, tuple[Judged, ...]]
    by: str | None
    most: int
    elsewhere: bool


def print_evaluation(evaluation: Evaluation, console: Console) -> None:
    """All tables of an evaluation."""
    for part in _parts(evaluation):
        show(part, console)


def _parts(evaluation: Evaluation) -> Iterator[Table | Text]:
    whole = report(evaluation.base)
    yield _rankings(evaluation, whole)
    yield from _remarks(evaluation, whole)
    if evaluation.variants:
        yield _variants(evaluation, whole)
    if evaluation.by:
        yield _groups(evaluation, evaluation.by)
    if evaluation.most:
        yield from _worst(evaluation)


def _rankings(evaluation: Evaluation, whole: Report) -> Table:
    skipped = f", {evaluation.skipped} without an answer left out" if evaluation.skipped else ""
    grid = table(
        "ranking",
        *((f"{HEADINGS[metric]}@{evaluation.k}", "right") for metric in METRICS),
        ("nDCG 95 %", "right"),
        title=f"{whole.queries} questions{skipped}",
    )
    for ranking, metrics in whole.strategies.items():
        means = (number(metrics[metric].mean, DIGITS) for metric in METRICS)
        grid.add_row(ranking, *means, _interval(metrics["ndcg"]), style="bold" if ranking == "final" else None)
    return grid


def _remarks(evaluation: Evaluation, whole: Report) -> Iterator[Text]:
    singles = {name: whole.strategies[name]["ndcg"].mean for name in LISTS}
    best = max(singles, key=lambda name: singles[name])
    if singles[best]:
        ratio = whole.strategies["final"]["ndcg"].mean / singles[best]
        yield Text(f"\nfinal is ×{ratio:.3f} of the best single strategy, {best}")
    yield Text(f"recall within {evaluation.max_tokens} tokens: {number(whole.found.mean, DIGITS)}")
    if whole.updates.n:
        yield Text(
            f"{whole.updates.n} updated facts: the current statement stands above the stale one in "
            f"{number(whole.updates.above, 2)}, and is first in {number(whole.updates.first, 2)}"
        )


def _interval(value: Estimate) -> str:
    return f"{number(value.low, DIGITS)} to {number(value.high, DIGITS)}"


def _signed(value: float) -> str:
    return f"{value:+.{DIGITS}f}"


def _variants(evaluation: Evaluation, whole: Report) -> Table:
    grid = table(
        "settings",
        (f"nDCG@{evaluation.k}", "right"),
        ("change", "right"),
        ("95 %", "right"),
        (f"recall@{evaluation.k}", "right"),
        ("tokens", "right"),
        *([("current above", "right")] if whole.updates.n else []),
        title="\nfinal order, settings side by side",
    )
    for label, judged in {"as they are": evaluation.base, **evaluation.variants}.items():
        same = judged is evaluation.base
        found = whole if same else report(judged)
        change = None if same else difference(evaluation.base, judged)["ndcg"]
        final = found.strategies["final"]
        grid.add_row(
            safe(label),
            number(final["ndcg"].mean, DIGITS),
            _signed(change.mean) if change else "",
            f"{_signed(change.low)} to {_signed(change.high)}" if change else "",
            number(final["recall"].mean, DIGITS),
            number(found.found.mean, DIGITS),
            *([number(found.updates.above, 2)] if whole.updates.n else []),
        )
    return grid


def _groups(evaluation: Evaluation, by: str) -> Table:
    grid = table(
        by,
        ("n", "right"),
        *((name, "right") for name in RANKINGS),
        title=f"\nnDCG@{evaluation.k} by {by}",
    )
    for value, judged in grouped(evaluation.base, by).items():
        found = report(judged)
        means = (number(found.strategies[name]["ndcg"].mean, DIGITS) for name in RANKINGS)
        grid.add_row(safe(value), str(found.queries), *means)
    return grid


def _worst(evaluation: Evaluation) -> Iterator[Text]:
    label, others = next(iter(evaluation.variants.items()), ("", ()))
    what = f"what {label} changes for the worse" if others else "the worst questions"
    yield Text(f"\n{what}", style="bold")
    found = worst(evaluation.base, others, evaluation.most)
    if not found:
        yield Text("no question has a lower nDCG")
    for judged, value in found:
        place = f"first right note at {judged.place}" if judged.place else "no right note found"
        change = _signed(value) if others else number(value, DIGITS)
        yield safe(f"{change}  {judged.question.id}: {place}")
        yield safe(f"  {command(judged, label, elsewhere=evaluation.elsewhere)}")


def command(judged: Judged, settings: str = "", *, elsewhere: bool = False) -> str:
    """The explain command of a question, as it may be pasted into a shell; the note is the worst placed right one."""
    words = ["memora", *(["--db", judged.database] if elsewhere else []), "explain"]
    words += [f"--set={pair}" for pair in settings.split(",") if pair]
    words += ["--note", str(judged.missed)] if judged.missed is not None else []
    words += ["--at", judged.at.isoformat()] if judged.question.asked_at else []
    return shlex.join([*words, "--", judged.question.text])


def shape(evaluation: Evaluation) -> Shape:
    """An evaluation as JSON."""
    whole = report(evaluation.base)
    label, others = next(iter(evaluation.variants.items()), ("", ()))
    return {
        "version": VERSION,
        **_report(whole, evaluation.k),
        "skipped": evaluation.skipped,
        "k": evaluation.k,
        "max_tokens": evaluation.max_tokens,
        "groups": {}
        if evaluation.by is None
        else {
            value: _report(report(one), evaluation.k) for value, one in grouped(evaluation.base, evaluation.by).items()
        },
        "variants": [
            {
                "settings": name,
                **_report(report(judged), evaluation.k),
                "change": {f"{m}@{evaluation.k}": _estimate(e) for m, e in difference(evaluation.base, judged).items()},
            }
            for name, judged in evaluation.variants.items()
        ],
        "worst": [
            {
                "id": judged.question.id,
                "query": judged.question.text,
                "ndcg" if not others else "change": value,
                "place": judged.place,
                "explain": command(judged, label, elsewhere=evaluation.elsewhere),
            }
            for judged, value in worst(evaluation.base, others, evaluation.most)
        ],
    }


def _report(found: Report, k: int) -> Shape:
    updates = found.updates
    return {
        "queries": found.queries,
        "strategies": {
            name: {f"{metric}@{k}": metrics[metric].mean for metric in METRICS}
            for name, metrics in found.strategies.items()
        },
        "intervals": {
            name: {f"{metric}@{k}": [metrics[metric].low, metrics[metric].high] for metric in METRICS}
            for name, metrics in found.strategies.items()
        },
        "recall_within_budget": _estimate(found.found),
        "updates": {
            "n": updates.n,
            "current_above_stale": updates.above if updates.n else None,
            "current_first": updates.first if updates.n else None,
        },
    }


def _estimate(value: Estimate) -> Shape:
    return {"mean": value.mean, "low": value.low, "high": value.high}
