"""Notes, results and statistics for people: tables on a terminal, plain lines in a pipe."""

from __future__ import annotations

from datetime import tzinfo

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from memora_cli.memory import NoteView, Statistics
from memora_cli.render.terminal import day, ids, number, on_terminal, pairs, plain, safe, say, show, table, warn
from memora_cli.text.display import visible, visible_line
from memora_cli.text.snippets import mark_spans, snippet
from memora_cli.values import Candidate, Note, Trace

MATCH = "bold yellow"


def print_ids(trace: Trace) -> None:
    """The ids of the results, best first."""
    for candidate in trace.results:
        say(str(candidate.note.id))


def print_results(trace: Trace, console: Console) -> None:
    """The results of a search."""
    if on_terminal():
        if trace.results:
            show(_results(trace), console)
        return
    zone = trace.query.at.tzinfo
    for candidate in trace.results:
        said = snippet(candidate.passage, trace.understood.words)
        marks = " ".join(_marks(candidate))
        created = day(candidate.note.occurred_start or candidate.note.created_at, zone)
        columns = (candidate.note.id, number(candidate.final.value), _confidence(candidate), created)
        say(plain((*columns, marks, candidate.note.title, said)))


def print_remarks(trace: Trace) -> None:
    """On standard error: degraded parts, notes that wait for vectors, results that were left out."""
    for problem in trace.degraded:
        warn(f"memora: {problem.part} degraded: {problem.reason}")
    if trace.waiting:
        waiting = "1 note waits" if trace.waiting == 1 else f"{trace.waiting} notes wait"
        if trace.awaited:
            then = f"{trace.backend.embedder} answers until memora reindex is done"
            warn(f"memora: {waiting} for vectors of {trace.awaited}; {then}")
        else:
            warn(f"memora: {waiting} for vectors, found by words only until then: run memora reindex")
    if not trace.results:
        cut = len(trace.candidates)
        warn("memora: nothing found" + (f"; {cut} candidates were cut, see memora explain" if cut else ""))
    over = sum(candidate.cut == "budget" for candidate in trace.candidates)
    if over:
        budget = trace.query.settings.max_tokens
        warn(f"memora: {over} more did not fit the budget of {budget} tokens (--max-tokens)")
    if any(candidate.shortened for candidate in trace.results):
        warn("memora: the best note is over the token budget alone and was shortened (--max-tokens)")


def _results(trace: Trace) -> Table:
    zone = trace.query.at.tzinfo
    grid = table(
        ("#", "right"), ("id", "right"), ("note", "wide"), ("score", "right"), ("sure", "right"), ("date", "fixed")
    )
    for rank, candidate in enumerate(trace.results, start=1):
        note = candidate.note
        said = visible_line(snippet(candidate.passage, trace.understood.words))
        body = Text(said, style="dim" if note.superseded_by else "")
        for start, end in mark_spans(said, trace.understood.words):
            body.stylize(MATCH, start, end)
        heading = [safe(note.title, "bold")] if note.title else []
        marks = [Text(" · ".join(_marks(candidate)), style="italic")] if _marks(candidate) else []
        grid.add_row(
            str(rank),
            f"#{note.id}",
            Group(*heading, body, *marks),
            "–" if note.superseded_by else number(candidate.final.value, 3),
            _confidence(candidate),
            day(note.occurred_start or note.created_at, zone),
        )
    return grid


def _confidence(candidate: Candidate) -> str:
    """How sure the cross-encoder is, on its own and not against the other results; a dash when it did not read."""
    return f"{100.0 * candidate.reranking.sigmoid:.0f}%" if candidate.reranking else "–"


def _marks(candidate: Candidate) -> list[str]:
    marks = []
    if candidate.note.pinned:
        marks.append("pinned")
    if candidate.note.superseded_by:
        marks.append(f"superseded by {ids(candidate.note.superseded_by)}")
    if candidate.completes:
        marks.append(f"replaces #{candidate.completes}")
    if candidate.shortened:
        marks.append("shortened")
    return marks


def print_list(values: list[Note], zone: tzinfo | None, console: Console) -> None:
    """Notes, newest first."""
    if not on_terminal():
        for note in values:
            say(plain((note.id, day(note.created_at, zone), ",".join(note.topics), note.name)))
        return
    if not values:
        warn("memora: no notes here yet: memora add TEXT makes one")
        return
    grid = table(("id", "right"), ("date", "fixed"), ("note", "wide"), "topics")
    for note in values:
        name = Text(visible_line(note.name), overflow="ellipsis", no_wrap=True)
        if note.pinned:
            name.append("  pinned", style="italic")
        if note.superseded_by:
            name.stylize("dim")
            name.append(f"  superseded by {ids(note.superseded_by)}", style="italic")
        grid.add_row(f"#{note.id}", day(note.created_at, zone), name, safe(", ".join(note.topics)))
    show(grid, console)


def print_view(view: NoteView, zone: tzinfo | None, console: Console) -> None:
    """One note whole, with what is connected to it."""
    note = view.note
    heading = f"#{note.id}" + (f"  {visible_line(note.title)}" if note.title else "")
    facts = {
        "created": f"{note.created_at.astimezone(zone):%Y-%m-%d %H:%M %z}",
        "happened": _span(note, zone),
        "kind": note.kind,
        "topics": ", ".join(note.topics),
        "context": note.context,
        "entities": ", ".join(view.entities),
        "pinned": "yes" if note.pinned else "",
        "supersedes": ids(view.supersedes),
        "superseded by": ids(note.superseded_by),
        "links": ", ".join(f"{edge.relation} #{edge.target}" for edge in view.links),
        "source": note.source,
    }
    show(Text(heading, style="bold"), console)
    show(pairs(facts), console)
    show(Text(f"\n{visible(note.body)}\n"), console)


def _span(note: Note, zone: tzinfo | None) -> str:
    if note.occurred_start is None:
        return f"until {day(note.occurred_end, zone)}" if note.occurred_end else ""
    if note.occurred_end is None:
        return f"since {day(note.occurred_start, zone)}"
    first, last = day(note.occurred_start, zone), day(max(note.occurred_start, note.occurred_end), zone)
    return first if first == last else f"{first} to before {last}"


def print_statistics(value: Statistics, console: Console) -> None:
    """How much the memory holds, with a bar for each month."""
    facts = {
        **{name: f"{count:,}" for name, count in value.counts.items()},
        "links": ", ".join(f"{count:,} {name}" for name, count in value.links.items()),
        "waiting for vectors": f"{value.waiting:,}",
        "size": f"{value.bytes / 1e6:.1f} MB",
        "database": value.database,
        "driver": value.driver,
        "embedder": value.embedder,
        "answers until reindex": "" if value.answering == value.embedder else value.answering,
        "floors": f"semantic {value.floors.semantic:.2f}, entry {value.floors.entry:.2f}, "
        f"link {value.floors.link:.2f} ({value.floors.origin})",
        "reranker": value.reranker,
    }
    show(pairs(facts), console)
    if not value.months:
        return
    most = max(value.months.values())
    bars = Table.grid(padding=(0, 2))
    bars.title, bars.title_justify, bars.title_style = Text("\nnotes a month"), "left", "bold"
    for month, count in value.months.items():
        bars.add_row(month, f"{count:,}", "█" * max(1, round(40 * count / most)))
    show(bars, console)
