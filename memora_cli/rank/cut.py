"""Cutting: what is left out by rule, by limit and by token budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memora_cli.values import Candidate, CutRule, Settings


def cut(
    candidates: Sequence[Candidate], settings: Settings, shorten: Callable[[str, int], tuple[str, int]]
) -> tuple[Candidate, ...]:
    """Every candidate, in the same (clamped) order, marked with the rule that leaves it out.

    What still fits the budget is kept (skip and go on). When even the best does not fit, it alone is kept, shortened
    by `shorten(text, max_tokens)`, which returns the text and its tokens. No stale note stays whose superseder was cut.
    """
    marks: dict[int, CutRule] = {}
    kept = spent = 0
    shortened: tuple[str, int] | None = None
    read = any(candidate.reranking for candidate in candidates)
    for candidate in candidates:
        tokens = candidate.note.tokens
        gone = [number for number in candidate.superseders if number in marks]
        if rule := _excluded(candidate, settings, read=read):
            marks[candidate.note.id] = rule
        elif gone:
            marks[candidate.note.id] = marks[gone[0]]
        elif kept == settings.limit:
            marks[candidate.note.id] = "limit"
        elif shortened or spent + tokens > settings.max_tokens:
            if kept == 0:
                shortened = shorten(candidate.note.body, settings.max_tokens)
                kept += 1
            else:
                marks[candidate.note.id] = "budget"
        else:
            kept, spent = kept + 1, spent + tokens
    result = []
    for candidate in candidates:
        rule = marks.get(candidate.note.id)
        text, tokens = candidate.note.body, candidate.note.tokens
        if shortened and rule is None:
            text, tokens = shortened
        result.append(candidate.with_(cut=rule, text=text, tokens=tokens, shortened=bool(shortened and rule is None)))
    return tuple(result)


def _excluded(candidate: Candidate, settings: Settings, *, read: bool) -> CutRule | None:
    """The rule that leaves a candidate out by itself; a least score says nothing when none was `read`."""
    if settings.current_only and candidate.note.superseded_by:
        return "current"
    if (
        settings.min_score is not None
        and read
        and (candidate.reranking is None or candidate.reranking.sigmoid < settings.min_score)
    ):
        return "min-score"
    return None
