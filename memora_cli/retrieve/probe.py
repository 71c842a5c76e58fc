"""Asks each strategy about one note that it did not return: what it scored, and what it would have needed."""

from __future__ import annotations

from dataclasses import replace

from memora_cli.retrieve import graph, keyword, semantic, temporal
from memora_cli.retrieve.source import Source
from memora_cli.store import conditions, notes, times
from memora_cli.values import RankedList, Verdict

FAR = 0.001  # activation is followed down to this to tell how far a note is
FAR_BUDGET = 1000


def probe(source: Source, note_id: int) -> tuple[Verdict, ...]:
    """A verdict of every strategy, in the order they ran; `source.lists` are the lists of the search."""
    passes = note_id in notes.allowed(source.connection, source.query.filters, [note_id])
    return tuple(_verdict(source, ranked, note_id, passes) for ranked in source.lists)


def _verdict(source: Source, ranked: RankedList, note_id: int, passes: bool) -> Verdict:
    hit = next((hit for hit in ranked.hits if hit.note_id == note_id), None)
    if hit is not None:
        return Verdict(ranked.strategy, hit, hit.score, reason=hit.reason)
    if not passes:
        return Verdict(ranked.strategy, None, reason="the filters leave it out")
    if ranked.skipped:
        return Verdict(ranked.strategy, None, reason=f"did not run: {ranked.skipped}")
    ask = {"semantic": _semantic, "keyword": _keyword, "graph": _graph, "temporal": _temporal}[ranked.strategy]
    return ask(source, ranked, note_id)


def _last(source: Source, ranked: RankedList, floor: float) -> float:
    """What a note must reach: the floor, or the last hit's score when the list is full."""
    full = len(ranked.hits) >= source.settings.strategy_limit
    return max(floor, ranked.hits[-1].score) if full else floor


def _semantic(source: Source, ranked: RankedList, note_id: int) -> Verdict:
    here = conditions.with_ids(source.space, [note_id], source.as_of)
    best = semantic.nearest_notes(source, here, 1)
    if note_id not in best:
        return Verdict("semantic", None, reason="it has no vector of this model yet: run memora reindex")
    cosine, needed = best[note_id][1], _last(source, ranked, source.floors.semantic)
    what = "the floor" if needed == source.floors.semantic else "the last hit"
    reason = f"cosine {cosine:.3f} is {needed - cosine:.3f} under {what}"
    return Verdict("semantic", None, cosine, needed, reason)


def _keyword(source: Source, ranked: RankedList, note_id: int) -> Verdict:
    rows, _, _ = keyword.match(source, conditions.with_ids(source.space, [note_id], source.as_of), 1)
    if not rows:
        words = ", ".join(keyword.telling(source.understood.words))
        return Verdict("keyword", None, reason=f"it holds none of: {words}")
    score, needed = rows[0][1], _last(source, ranked, 0.0)
    return Verdict("keyword", None, score, needed, f"score {score:.3f} is {needed - score:.3f} under the last hit")


def _graph(source: Source, ranked: RankedList, note_id: int) -> Verdict:
    wide = replace(source, query=replace(source.query, settings=replace(source.settings, thinking_budget=FAR_BUDGET)))
    activation = graph.spread(wide, graph.entries(source)[0], FAR).get(note_id)
    if activation is None:
        return Verdict("graph", None, reason="no path leads to it from the entry notes")
    needed = _last(source, ranked, graph.STOP_BELOW)
    if activation.value >= needed:
        reason = f"not reached within the thinking budget of {source.settings.thinking_budget}: {activation.path}"
    else:
        reason = f"activation {activation.value:.3f} is {needed - activation.value:.3f} too low: {activation.path}"
    return Verdict("graph", None, activation.value, needed, reason)


def _temporal(source: Source, ranked: RankedList, note_id: int) -> Verdict:
    window = source.understood.window
    when = times.events(source.connection, conditions.with_ids(source.space, [note_id], source.as_of), None)
    if window is None or note_id not in when:
        return Verdict("temporal", None, reason="the query names no time")
    value = temporal.closeness(window, when[note_id])
    needed = _last(source, ranked, temporal.STOP_BELOW)
    reason = f"{temporal.describe(window, when[note_id])}: proximity {value:.3f}, needed {needed:.3f}"
    return Verdict("temporal", None, value, needed, reason)
