"""What is said on standard error of a search that found nothing: what its filters keep out, what came nearest."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime, timedelta

from memora_cli.memory import NearMiss
from memora_cli.memory.near_misses import Loosened
from memora_cli.render.terminal import warn
from memora_cli.values import Candidate, Trace

WORTH_LOOSENING = 0.1  # a note with a lower cosine has nothing to do with the question
INSTANT = timedelta(microseconds=1)
NAME = 60  # characters of a note's name in a hint


def print_hints(trace: Trace, value: NearMiss) -> None:
    """One line for each thing that could be asked instead."""
    for line in _hints(trace, value):
        warn(f"memora: {line}")


def _hints(trace: Trace, value: NearMiss) -> Iterator[str]:
    settings = trace.query.settings
    if value.below and value.below.reranking:
        sure = f"{100 * value.below.reranking.sigmoid:.0f}%"
        asked = f"{100 * (settings.min_score or 0):.0f}%"
        yield f"the nearest is {_named(value.below)}, {sure} sure; --min-score asks for {asked}"
    if value.stale:
        yield f"without --current {_count(value.stale)} would match that others have replaced"
    for topic, similar in value.unknown:
        like = f"like it: {', '.join(similar)}" if similar else "memora topics shows which there are"
        yield f'no note has the topic "{topic}"; {like}'
    if value.held and not value.passing and not value.unknown:
        yield f"none of {_count(value.held)} passes the filters"
    for loosened in value.loosened:
        yield f"without {_flag(loosened)} {_count(loosened.found)} would match, the best is {_named(loosened.best)}"
    if value.nearest and (hit := value.nearest.hits.get("semantic")):
        floor = math.floor(100 * hit.score) / 100
        loosen = f"; --set semantic_floor={floor:g} would find it" if floor >= WORTH_LOOSENING else ""
        yield f"the nearest in meaning is {_named(value.nearest)}, with a cosine of {hit.score:.2f}{loosen}"


def _named(candidate: Candidate) -> str:
    name = candidate.note.name
    return f'#{candidate.note.id} "{name if len(name) <= NAME else name[: NAME - 1] + "…"}"'


def _count(notes: int) -> str:
    return "1 note" if notes == 1 else f"{notes} notes"


def _flag(loosened: Loosened) -> str:
    """The filter as it could have been typed; --until is told by the last day that it takes in."""
    match loosened.value:
        case bool():
            return f"--{loosened.name}"
        case datetime() as moment:
            last = moment - INSTANT if loosened.name == "until" else moment
            return f"--{loosened.name} {last:%Y-%m-%d}"
        case value:
            return f"--{loosened.name} {value}"
