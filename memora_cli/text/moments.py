"""Reads a time that somebody gave as a time: ISO 8601, or any words that name one."""

from __future__ import annotations

from datetime import datetime, time, timedelta, tzinfo

from memora_cli.errors import UnreadableTime
from memora_cli.text.dates import choose_window, find_windows
from memora_cli.text.spans import FIRST_YEAR, LAST_YEAR
from memora_cli.values import Window


def local(moment: datetime, zone: tzinfo | None) -> datetime:
    """The moment with the zone where it has none. Raises `UnreadableTime` at the ends of the calendar."""
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise UnreadableTime(moment.isoformat())
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def read_window(text: str, at: datetime, *, week_start: int = 0) -> Window:
    """The half-open range that a text means; an ISO time of day is a range of no length. Raises `UnreadableTime`."""
    stripped = text.strip()
    try:
        moment = datetime.fromisoformat(stripped)
    except ValueError:
        window = choose_window(find_windows(stripped, at, week_start=week_start))
        if window is None:
            raise UnreadableTime(text) from None
        return window
    moment = local(moment, at.tzinfo)
    if len(stripped) <= len("2024-05-03") and moment.time() == time():
        following = datetime.combine(moment.date() + timedelta(days=1), time(), moment.tzinfo)
        return Window(moment, following, text, "day")
    return Window(moment, moment, text, "moment")


def last_moment(window: Window) -> datetime | None:
    """The last moment that belongs to a span, the span itself where it has no length; None where it never ends."""
    if window.end is None or window.end == window.start:
        return window.end
    return window.end - timedelta(microseconds=1)


def read_moment(text: str, at: datetime, *, week_start: int = 0) -> datetime:
    """The moment that a text means: the start of its range. Raises `UnreadableTime`."""
    window = read_window(text, at, week_start=week_start)
    moment = window.start or window.end
    if moment is None:
        raise UnreadableTime(text)
    return moment
