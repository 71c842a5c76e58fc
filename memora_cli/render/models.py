"""Models for people: the list of them, and one with its agreement with the original."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from rich.console import Console

from memora_cli.models.folder import ModelFolder
from memora_cli.render.terminal import pairs, safe, show, table

MEASURES = {
    "cosine_mean": "cosine to the original, mean",
    "cosine_worst": "cosine to the original, worst",
    "spearman": "likeness of the rankings (Spearman)",
    "same_first": "queries with the same first",
    "largest_difference": "largest difference of a score",
}


def print_models(models: Iterable[ModelFolder], used: Collection[Path], console: Console) -> None:
    """One line a model: name, kind, whether it is in use, precision, window, dimension, size and agreement."""
    grid = table(
        ("name", "name"),
        ("kind", "fixed"),
        ("in use", "fixed"),
        ("form", "fixed"),
        ("tokens", "right"),
        ("vector", "right"),
        ("MB", "right"),
        ("agrees", "right"),
    )
    for model in models:
        agrees = model.agreement.get("cosine_mean", model.agreement.get("spearman"))
        grid.add_row(
            safe(model.name),
            model.kind,
            "yes" if model.path in used else "",
            safe(model.precision),
            str(model.max_length),
            str(model.dimension or ""),
            _megabytes(model),
            "" if agrees is None else f"{agrees:.4f}",
        )
    show(grid, console, bare=True)


def print_model(model: ModelFolder, console: Console) -> None:
    """What a model is, how it is read, and how well it agrees with the original."""
    facts = {
        "model": model.name,
        "kind": model.kind,
        "precision": model.precision,
        "size": f"{_megabytes(model)} MB",
        "licence": model.licence,
        "window": f"{model.max_length} tokens",
        "vector": f"{model.dimension} numbers" if model.dimension else "",
        "before a query": model.query_prefix,
        "before a note": model.passage_prefix,
        **{said: f"{model.agreement[measure]:.6g}" for measure, said in MEASURES.items() if measure in model.agreement},
    }
    if model.floors:
        floors = model.floors
        facts["floors"] = f"semantic {floors.semantic:.2f}, entry {floors.entry:.2f}, link {floors.link:.2f}"
        facts["floors"] += f" ({floors.origin})"
    show(pairs(facts), console)


def _megabytes(model: ModelFolder) -> str:
    return f"{sum(stamp.bytes for stamp in model.files.values()) / 1e6:.1f}"
