"""How much a memory holds, for people: facts, and a bar for each month."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.table import Table
from rich.text import Text

from memora_cli.memory import Statistics
from memora_cli.render.terminal import pairs, show

MOST_MONTHS = 24  # bars; what is older is one
WIDEST_BAR = 40


def print_statistics(value: Statistics, console: Console) -> None:
    """Facts, then the notes of each month."""
    facts = {
        **{name: f"{count:,}" for name, count in value.counts.items()},
        "entities": f"{value.links.get('entities', 0):,}",
        "links": ", ".join(f"{count:,} {name}" for name, count in value.links.items() if name != "entities") or "0",
        "waiting": f"{value.waiting:,} without vectors",
        "size": f"{value.bytes / 1e6:.1f} MB",
        "database": value.database,
        "driver": value.driver,
        "embedder": value.embedder,
        "answers until reindex": "" if value.answering == value.embedder else value.answering,
        "floors": f"semantic {value.floors.semantic:.2f}, entry {value.floors.entry:.2f}, "
        f"link {value.floors.link:.2f} ({value.floors.origin})",
        "vectors by": value.vectors,
        "reranker": value.reranker,
    }
    show(pairs(facts), console)
    if value.months:
        show(_bars(value.months, max(1, min(WIDEST_BAR, console.width - 22))), console)


def _bars(months: Mapping[str, int], width: int) -> Table:
    """A bar for each of the last months and one for all before, the longest `width` characters long."""
    names = sorted(months)
    shown = {name: months[name] for name in names[-MOST_MONTHS:]}
    if older := sum(months[name] for name in names[:-MOST_MONTHS]):
        shown = {"earlier": older} | shown
    most = max(shown.values())
    bars = Table.grid(padding=(0, 2, 0, 0))
    bars.title, bars.title_justify, bars.title_style = Text("\nnotes a month"), "left", "bold"
    bars.add_column(no_wrap=True)
    bars.add_column(justify="right", no_wrap=True)
    bars.add_column(no_wrap=True, overflow="crop")
    for name, count in shown.items():
        bars.add_row(name, f"{count:,}", "█" * max(1, round(width * count / most)))
    return bars
