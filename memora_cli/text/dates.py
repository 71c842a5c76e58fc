"""Finds the times a text names, as half-open ranges in the zone of the one who asks; the past is preferred."""

from __future__ import annotations

from datetime import datetime, timedelta

from memora_cli.text.date_guards import in_context, repeats_often
from memora_cli.text.date_ranges import Stretch, expression
from memora_cli.text.date_words import DASHES, NUMBER_WORDS, OPENING_WORDS, Scan, scan_text
from memora_cli.text.dateparser_fallback import dateparser_windows
from memora_cli.text.holidays import HOLIDAY_WORDS
from memora_cli.text.spans import ALONE, CONTEXT, FAINT, FIRST_YEAR, LAST_YEAR
from memora_cli.values import Window

_OPENING = OPENING_WORDS | HOLIDAY_WORDS | NUMBER_WORDS
_OPENING_AND_PLAIN = frozenset({"the", "a", "an", "in", "to", "at", "as", "from", "this", "up", "on", "all", "same"})
_OPENING_AND_PLAIN |= DASHES
_TELLING = (_OPENING - _OPENING_AND_PLAIN) | {"date", "time"}
REACH = 6  # words
_ODD_OPENINGS = DASHES | frozenset("'’‘+")


def find_windows(text: str, at: datetime, *, week_start: int = 0, sure_only: bool = False) -> tuple[Window, ...]:
    """All times that `text` names, in text order, as ranges in the zone of `at`; weeks start on `week_start`.

    `week_start` is 0 (Monday) to 6. "since X" and its like are open: one end is None. Raises ValueError when `at` has
    no zone; a text that names no time gives an empty tuple. `sure_only` takes what reads as a time in any text, and
    asks no other parser: for the running text of notes.
    """
    if at.tzinfo is None:
        raise ValueError("the time of asking needs a time zone")
    scan = scan_text(text, at, week_start)
    sure: list[Window] = []
    faint: list[Window] = []
    i, found_before = 0, 0
    while i < scan.count:
        stretch = expression(scan, i) if _may_open(scan, i) else None
        if stretch is None or not _stands(scan, stretch, i, found_before):
            i += 1
            continue
        window = _window(scan, stretch, i)
        if window is not None:
            (faint if stretch.evidence == FAINT else sure).append(window)
        i = found_before = stretch.after
    if sure_only:
        return tuple(sure)
    return tuple(sure or faint) or dateparser_windows(scan)


def choose_window(windows: tuple[Window, ...]) -> Window | None:
    """The one to search by: the narrowest that is closed on both sides, else the first; None of none."""
    closed = [window for window in windows if window.start is not None and window.end is not None]
    return min(closed, key=_width) if closed else next(iter(windows), None)


def _width(window: Window) -> timedelta:
    if window.start is None or window.end is None:
        return timedelta.max
    return window.end.replace(tzinfo=None) - window.start.replace(tzinfo=None)


def _may_open(scan: Scan, i: int) -> bool:
    word = scan.words[i]
    if word in _OPENING_AND_PLAIN:  # the commonest words of any text: a time that they open has a word of times soon
        return any(map(_telling, scan.words[i + 1 : i + 1 + REACH]))
    return _telling(word) or word in _ODD_OPENINGS


def _telling(word: str) -> bool:
    return word in _TELLING or word[:1].isdecimal()


def _stands(scan: Scan, stretch: Stretch, i: int, found_before: int) -> bool:
    if repeats_often(scan, i):
        return False
    if stretch.evidence == CONTEXT:
        return in_context(scan, i, stretch.after, found_before)
    return stretch.evidence in (ALONE, FAINT)


def _window(scan: Scan, stretch: Stretch, i: int) -> Window | None:
    start, end = stretch.start, stretch.end
    for edge in (start, end):
        if edge is not None and not FIRST_YEAR <= edge.year <= LAST_YEAR:
            return None
    if start is not None and end is not None and start >= end:
        return None
    zone = scan.instant.tzinfo
    words = scan.text[scan.tokens[i].start : scan.tokens[stretch.after - 1].end]
    return Window(start and start.replace(tzinfo=zone), end and end.replace(tzinfo=zone), words, stretch.grain)
