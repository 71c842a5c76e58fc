"""Spans of local calendar time: units, their arithmetic, and spans that come round again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

ALONE = 3  # reads as a time wherever it stands
CONTEXT = 2  # needs a preposition before it, or to be the whole text
FAINT = 1  # counts only when nothing else in the text does
PART = 0  # counts only inside a longer expression

MONTHS_IN = {"month": 1, "quarter": 3, "season": 3, "year": 12, "decade": 120, "century": 1200}
DAYS_IN = {"day": 1, "week": 7, "fortnight": 14, "weekend": 7}
DAY = timedelta(days=1)
FIRST_YEAR, LAST_YEAR = 2, 9998  # a year from the ends of the calendar, so that any edge can be told in any zone

# How far a repeating span is looked for: 29 February on a given weekday needs 40 years.
_TRIES = 48


@dataclass(frozen=True, slots=True)
class Repeat:
    """A span that comes round every `unit` ("year", "month", "week"); `within` makes the one of a given unit."""

    unit: str
    within: Callable[[datetime], Span | None]
    week_start: int = 0

    def latest(self, moment: datetime) -> Span | None:
        """The last one that starts at or before `moment`."""
        return self._look(moment, -1, lambda span: span.start <= moment)

    def first(self, moment: datetime) -> Span | None:
        """The first one that starts at or after `moment`."""
        return self._look(moment, 1, lambda span: span.start >= moment)

    def _look(self, moment: datetime, step: int, good: Callable[[Span], bool]) -> Span | None:
        cursor = shift(unit_start(moment, self.unit, self.week_start), self.unit, -step)
        for _ in range(_TRIES):
            span = self.within(cursor)
            if span is not None and good(span):
                return replace(span, repeat=self)
            cursor = shift(cursor, self.unit, step)
        return None


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open span of local time without its zone; `evidence` says how surely its words mean a time."""

    start: datetime
    end: datetime
    grain: str
    repeat: Repeat | None = None
    evidence: int = ALONE


def day_of(moment: datetime) -> datetime:
    """Midnight at or before `moment`."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)


def unit_start(moment: datetime, unit: str, week_start: int = 0) -> datetime:
    """The start of the day, week, …, century that holds `moment`. ValueError before year 1."""
    day = day_of(moment)
    match unit:
        case "week" | "fortnight":
            return day - timedelta(days=(day.weekday() - week_start) % 7)
        case "weekend":
            return day + timedelta(days=5 - day.weekday())
        case "month":
            return day.replace(day=1)
        case "quarter":
            return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
        case "season":
            return shift(day.replace(day=1), "month", -(day.month % 3))
        case "year":
            return day.replace(month=1, day=1)
        case "decade":
            return datetime(day.year // 10 * 10, 1, 1)
        case "century":
            return datetime(day.year // 100 * 100, 1, 1)
    return day


def shift(moment: datetime, unit: str, count: int) -> datetime:
    """`moment` moved by `count` units; a day the month lacks becomes its last. Raises ValueError or OverflowError."""
    if unit in DAYS_IN:
        return moment + timedelta(days=DAYS_IN[unit] * count)
    months = moment.year * 12 + moment.month - 1 + MONTHS_IN[unit] * count
    year, month = months // 12, months % 12 + 1
    return moment.replace(year=year, month=month, day=min(moment.day, month_length(year, month)))


def month_length(year: int, month: int) -> int:
    """The number of days in a month."""
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def unit_span(moment: datetime, unit: str, offset: int = 0, count: int = 1, week_start: int = 0) -> Span:
    """`count` whole units, `offset` units after the one that holds `moment`."""
    start = shift(unit_start(moment, unit, week_start), unit, offset)
    end = start + 2 * DAY if unit == "weekend" else shift(start, unit, count)
    return Span(start, end, unit)


def day_span(day: datetime, grain: str = "day") -> Span:
    """The one day that starts at `day`."""
    return Span(day, day + DAY, grain)


def date_span(year: int, month: int, day: int) -> Span | None:
    """That day, None when the calendar has no such day."""
    if not (1 <= month <= 12 and 1 <= year <= 9998 and 1 <= day <= month_length(year, month)):
        return None
    return day_span(datetime(year, month, day))


def year_span(year: int) -> Span | None:
    """That year, None outside 1 to 9998."""
    return Span(datetime(year, 1, 1), datetime(year + 1, 1, 1), "year") if 1 <= year <= 9998 else None


def latest_of(repeat: Repeat, today: datetime, evidence: int = ALONE) -> Span | None:
    """The span as it is meant without further words: the last one not in the future."""
    span = repeat.latest(today)
    return span and replace(span, evidence=evidence)


def mapped(span: Span, change: Callable[[Span], Span | None]) -> Span | None:
    """`change` of the span, and of every other time it comes round."""
    changed = change(span)
    if changed is None or span.repeat is None:
        return changed
    repeat = span.repeat

    def within(start: datetime) -> Span | None:
        whole = repeat.within(start)
        return whole and change(whole)

    return replace(changed, repeat=Repeat(repeat.unit, within, repeat.week_start))


def inside(span: Span, period: Span) -> Span | None:
    """The time a repeating span comes round in `period` ("Sunday" in "last week"); None when the two do not fit."""
    repeat = span.repeat
    if repeat is None or repeat.unit != period.grain:
        return None
    start = unit_start(period.start, repeat.unit, repeat.week_start)
    if repeat.unit == "week" and period.end - period.start == timedelta(days=7):
        start = period.start
    found = repeat.within(start)
    return found and replace(found, evidence=ALONE)


def nth_weekday(period: Span, weekday: int, count: int) -> Span | None:
    """The `count`-th such weekday (0 is Monday) of the period, counted from its end when negative."""
    if count > 0:
        day = period.start + timedelta(days=(weekday - period.start.weekday()) % 7 + 7 * (count - 1))
    else:
        last = period.end - DAY
        day = last - timedelta(days=(last.weekday() - weekday) % 7 + 7 * (-count - 1))
    return day_span(day) if period.start <= day < period.end else None


def nth_week(period: Span, count: int, week_start: int = 0) -> Span | None:
    """The `count`-th week of the period; a week belongs where its middle day lies, as in ISO 8601."""
    middle = (week_start + 3) % 7
    day = nth_weekday(period, middle, count)
    return day and unit_span(day.start, "week", 0, 1, week_start)


def part_of(span: Span, part: str) -> Span:
    """The "early", "mid" or "late" part (about half), or its "beginning", "middle" or "end" (about a third)."""
    if span.grain in ("day", "hour"):
        return span
    start, end = _PARTS.get(span.grain, _thirds)(span, part)
    return Span(start, end, f"part of {span.grain}") if start < end else span


_Bounds = tuple[datetime, datetime]


def _by_week(span: Span, part: str) -> _Bounds:
    first, last = {
        "early": (0, 3),
        "mid": (1, 4),
        "late": (3, 7),
        "beginning": (0, 3),
        "middle": (2, 4),
        "end": (4, 7),
    }[part]
    return span.start + first * DAY, span.start + last * DAY


def _by_month(span: Span, part: str) -> _Bounds:
    whole = (span.end - span.start).days
    parts = {"early": (0, 15), "mid": (9, 20), "late": (15, whole), "beginning": (0, 10), "middle": (9, 20)}
    first, last = parts.get(part, (20, whole))
    return span.start + first * DAY, span.start + last * DAY


def _by_year(span: Span, part: str) -> _Bounds:
    parts = {"early": (0, 6), "mid": (4, 8), "late": (6, 12), "beginning": (0, 4), "middle": (4, 8), "end": (8, 12)}
    first, last = parts[part]
    return shift(span.start, "month", first), shift(span.start, "month", last)


def _by_decade(span: Span, part: str) -> _Bounds:
    years = 1 if span.grain == "decade" else 10
    first, last = {"early": (0, 4), "beginning": (0, 4), "mid": (3, 7), "middle": (3, 7)}.get(part, (6, 10))
    return shift(span.start, "year", first * years), shift(span.start, "year", last * years)


def _thirds(span: Span, part: str) -> _Bounds:
    place = {"beginning": 0, "middle": 1, "end": 2}.get(part)
    if span.grain in ("quarter", "season") and place is not None:
        return shift(span.start, "month", place), shift(span.start, "month", place + 1)
    days = (span.end - span.start).days
    size = days // 2 if part in ("early", "late") else days // 3
    if part in ("early", "beginning"):
        return span.start, span.start + size * DAY
    if part in ("late", "end"):
        return span.end - size * DAY, span.end
    return span.start + size * DAY, span.end - size * DAY


_PARTS: dict[str, Callable[[Span, str], _Bounds]] = {
    "week": _by_week,
    "month": _by_month,
    "year": _by_year,
    "decade": _by_decade,
    "century": _by_decade,
}
