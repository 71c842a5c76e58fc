"""The results of a search for people: a table on a terminal, blocks on a narrow one, plain lines in a pipe."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from memora_cli.render.terminal import (
    blocks,
    day,
    ids,
    is_narrow,
    number,
    on_terminal,
    plain,
    safe,
    say,
    show,
    table,
    warn,
)
from memora_cli.text.snippets import mark_spans, snippet
from memora_cli.values import Candidate, Trace

MATCH = "bold yellow"


def print_ids(trace: Trace) -> None:
    """The ids of the results, best first."""
    for candidate in trace.results:
        say(str(candidate.note.id))


def print_results(trace: Trace, console: Console) -> None:
    """The results of a search."""
    if on_terminal():
        if trace.results:
            show(_blocks(trace) if is_narrow(console) else _results(trace), console)
        return
    for candidate in trace.results:
        said = snippet(candidate.passage, trace.understood.words)
        score, sure, date = _facts(candidate, trace, digits=4)
        marks = " ".join(_marks(candidate))
        say(plain((candidate.note.id, score, sure, date, marks, candidate.note.title, said)))


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
    for old, new in trace.suggestions[:1]:
        warn(
            f"memora: #{new.note.id} seems to update #{old.note.id}; "
            f"if it does: memora supersede {old.note.id} {new.note.id}"
        )
    if any(candidate.shortened for candidate in trace.results):
        warn("memora: the best note is over the token budget alone and was shortened (--max-tokens)")


def _results(trace: Trace) -> Table:
    grid = table(
        ("#", "right"), ("id", "right"), ("note", "wide"), ("score", "right"), ("sure", "right"), ("date", "fixed")
    )
    for rank, candidate in enumerate(trace.results, start=1):
        said = Group(*_said(candidate, trace))
        grid.add_row(str(rank), f"#{candidate.note.id}", said, *_facts(candidate, trace, digits=3))
    return grid


def _blocks(trace: Trace) -> Table:
    return blocks(
        (
            Text.assemble(
                (f"{rank}  #{candidate.note.id}", "bold"), "  ", "  ".join(_facts(candidate, trace, digits=3))
            ),
            list(_said(candidate, trace)),
        )
        for rank, candidate in enumerate(trace.results, start=1)
    )


def _said(candidate: Candidate, trace: Trace) -> Iterator[Text]:
    """The title, the words around the match with those that match marked, and what else is to say of the note."""
    note = candidate.note
    if note.title:
        yield _marked(note.title, trace, "bold")
    yield _marked(snippet(candidate.passage, trace.understood.words), trace, "dim" if note.superseded_by else "")
    if marks := _marks(candidate):
        yield Text(" · ".join(marks), style="italic")


def _marked(text: str, trace: Trace, style: str) -> Text:
    said = safe(text, style)
    for start, end in mark_spans(said.plain, trace.understood.words):
        said.stylize(MATCH, start, end)
    return said


def _facts(candidate: Candidate, trace: Trace, digits: int) -> tuple[str, str, str]:
    """Score, how sure the cross-encoder is, and date, as columns."""
    note = candidate.note
    score = "–" if note.superseded_by and on_terminal() else number(candidate.final.value, digits)
    return score, _confidence(candidate), day(note.occurred_start or note.created_at, trace.query.at.tzinfo)


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
