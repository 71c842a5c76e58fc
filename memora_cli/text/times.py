"""What reads times from questions: one protocol, and memora's own rules behind it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from memora_cli.values import Window


class TimeParser(Protocol):
    """Finds the spans of time that a text names."""

    def read(self, text: str, at: datetime) -> tuple[Window, ...]:
        """All spans named in the text, in its order, in the zone of `at`. Raises ModelUnusable."""
        ...


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of `dates`, with dateparser behind them; weeks start on `week_start`, 0 for Monday to 6."""

    week_start: int = 0

    def read(self, text: str, at: datetime) -> tuple[Window, ...]:
        """See `dates.find_windows`."""
        from memora_cli.text.dates import find_windows

        return find_windows(text, at, week_start=self.week_start)
