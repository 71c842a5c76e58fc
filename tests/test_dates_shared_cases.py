"""The parser against the public development cases, where they are at hand."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memora_cli.text.dates import choose_window, find_windows

_SHARED = Path(os.environ.get("MEMORA_SHARED", Path(__file__).parents[1] / ".." / "shared"))
_CASES = _SHARED / "eval" / "time" / "cases.jsonl"

pytestmark = pytest.mark.skipif(not _CASES.is_file(), reason=f"no cases at {_CASES} (set MEMORA_SHARED)")

Case = dict[str, Any]


def cases() -> list[Case]:
    return [json.loads(line) for line in _CASES.read_text(encoding="utf-8").splitlines()] if _CASES.is_file() else []


def answer(case: Case) -> tuple[datetime | None, datetime | None] | None:
    window = choose_window(find_windows(case["text"], datetime.fromisoformat(case["at"]).replace(tzinfo=UTC)))
    return None if window is None else (window.start, window.end)


def days(edge: datetime, *, up: bool = False) -> datetime:
    day = datetime(edge.year, edge.month, edge.day)
    return day + timedelta(days=1) if up and edge.replace(tzinfo=None) > day else day


def right(case: Case) -> bool:
    """Whether the two ranges of days overlap by 90 % of their union, as `score_when.py` has it."""
    found = answer(case)
    if case["start"] is None or found is None or None in found:
        return case["start"] is None and found is None
    start, end = days(found[0]), days(found[1], up=True)  # type: ignore[arg-type]  # None is ruled out above
    for slack in range(case["end_tolerance_days"] + 1):
        want = datetime.fromisoformat(case["start"]), datetime.fromisoformat(case["end"]) + timedelta(days=slack)
        if (min(end, want[1]) - max(start, want[0])) / (max(end, want[1]) - min(start, want[0])) >= 0.9:
            return True
    return False


def test_at_least_92_percent_of_the_cases_are_right() -> None:
    wrong = [case["text"] for case in cases() if not right(case)]
    assert len(wrong) <= 0.08 * len(cases()), wrong


def test_nothing_is_found_where_there_is_no_date() -> None:
    assert [case["text"] for case in cases() if case["start"] is None and answer(case) is not None] == []
