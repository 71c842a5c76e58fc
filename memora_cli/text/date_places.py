"""A part or a member of a longer period: "early 2019", "end of last year", "first Monday of May", "week of May 5"."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from memora_cli.text.date_days import day_part_at, hours_of
from memora_cli.text.date_modifiers import SHORT_UNITS, amount, unit_at
from memora_cli.text.date_periods import nth_of_year
from memora_cli.text.date_words import DASHES, UNITS, WEEKDAYS, Read, Reader, Scan, read_of, skip
from memora_cli.text.numerals import ordinal
from memora_cli.text.spans import (
    ALONE,
    CONTEXT,
    DAY,
    DAYS_IN,
    PART,
    Repeat,
    Span,
    day_of,
    latest_of,
    mapped,
    nth_week,
    nth_weekday,
    part_of,
    shift,
    unit_span,
)

_PARTS = {
    "early": "early",
    "mid": "mid",
    "late": "late",
    "beginning": "beginning",
    "start": "beginning",
    "middle": "middle",
    "end": "end",
    "close": "end",
}


def ordinal_of(scan: Scan, i: int, inner: Reader) -> Read | None:
    """ "first Monday of May", "third Tuesday", "last two weeks of 2019", "second half of June"."""
    words = scan.words
    counted = ordinal(words, i)
    nth, j = counted if counted else (-1, i + 1)
    if counted is None and words[i] not in ("last", "final"):
        return None
    many = amount(scan, j) if words[j] not in UNITS else None
    how_many, k = many if many else (1, j)
    unit = unit_at(scan, k)
    target: int | str
    if words[k] in WEEKDAYS:
        target, k = WEEKDAYS[words[k]], k + 1
    elif words[k] in ("half", "third"):
        target, k = words[k], k + 1
    elif unit is not None and unit[0] not in SHORT_UNITS:
        target, k = unit
    else:
        return None
    period = None
    if words[k] in ("of", "in") or (words[k] in ("last", "this", "next") and isinstance(target, int)):
        period = _period(scan, k + 1 if words[k] in ("of", "in") else k, inner)
    if period is None:
        return None if counted is None or many else _nth_alone(scan, nth, target, k)
    span = mapped(period[0], lambda whole: _nth(whole, target, nth, how_many, scan.week_start))
    return read_of(span and replace(span, evidence=ALONE), period[1])


def _period(scan: Scan, i: int, inner: Reader) -> Read | None:
    read = inner(scan, i)
    if read is None and scan.words[i] in ("week", "month", "quarter", "year"):
        read = unit_span(scan.today, scan.words[i], 0, 1, scan.week_start), i + 1
    if read is None or read[0].end - read[0].start < 2 * DAY:
        return None
    return read


def _nth_alone(scan: Scan, nth: int, target: int | str, j: int) -> Read | None:
    if target in ("quarter", "half") and 1 <= nth <= (4 if target == "quarter" else 2):
        span = nth_of_year(scan, str(target), nth, CONTEXT if target == "quarter" else PART)
    elif isinstance(target, int) and nth <= 5 and (scan.ends_clause(j) or scan.words[j] in ("at", "on")):
        repeat = Repeat("month", lambda start: nth_weekday(unit_span(start, "month"), target, nth))
        span = latest_of(repeat, scan.today)
    else:
        return None
    return read_of(span, j)


def _nth(whole: Span, target: int | str, nth: int, count: int, week_start: int) -> Span | None:
    """The `nth` weekday, week, half, … of a period (from its end when negative), `count` of them in a row."""
    if isinstance(target, int):
        return nth_weekday(whole, target, nth)
    days = (whole.end - whole.start).days
    if target in ("half", "third"):
        parts = 2 if target == "half" else 3
        place = nth - 1 if nth > 0 else parts - 1
        return _slice(whole, parts, place) if place < parts else None
    if target == "week" and days > 7:
        first = nth_week(whole, nth, week_start)
        if first is None:
            return None
        edge = first.start if nth > 0 else first.end - timedelta(weeks=count)
        return Span(edge, edge + timedelta(weeks=count), "week")
    if target == "weekend":
        saturday = nth_weekday(whole, 5, nth)
        return saturday and Span(saturday.start, saturday.start + 2 * DAY, "weekend")
    if target in DAYS_IN or days >= 28:
        offset = nth - 1 if nth > 0 else -count
        start = shift(whole.start if nth > 0 else whole.end, target, offset)
        end = shift(start, target, count)
        return Span(start, end, target) if whole.start <= start < end <= whole.end else None
    return None


def _slice(whole: Span, parts: int, place: int) -> Span:
    months = (whole.end.year - whole.start.year) * 12 + whole.end.month - whole.start.month
    if months >= parts and whole.start.day == whole.end.day == 1 and months % parts == 0:
        size = months // parts
        start = shift(whole.start, "month", size * place)
        return Span(start, shift(start, "month", size), "part of " + whole.grain)
    edges = [
        day_of(whole.start + (whole.end - whole.start) * n / parts + timedelta(hours=12)) for n in range(parts + 1)
    ]
    return Span(edges[place], edges[place + 1], "part of " + whole.grain)


def part_of_period(scan: Scan, i: int, inner: Reader) -> Read | None:
    """ "early May", "mid-2019", "late last year", "the beginning of the month", "earlier this week"."""
    words = scan.words
    relative = {"earlier": "early", "later": "late"}.get(words[i])
    part = relative or _PARTS.get(words[i])
    if part is None:
        return None
    j = skip(scan, i + 1, DASHES)
    if part in ("beginning", "middle", "end"):
        if words[j] not in ("of", "in"):
            return None
        period = _period(scan, j + 1, inner)
        if period is None and (read := inner(scan, j + 1)) is not None and words[j + 2] != "day":
            period = read
    else:
        if relative and words[j] not in ("this", "today", "in", "that"):
            return None
        period = inner(scan, j + 1 if words[j] in ("in", "of") else j)
        if period is not None and words[j : j + 2] == ("the", "day"):
            return None
    if period is None or (period[0].repeat and period[0].repeat.unit == "month"):
        return None
    span = mapped(period[0], lambda whole: part_of(whole, part))
    if span is None:
        return None
    if relative == "early" and span.start < scan.today < span.end:
        span = replace(span, end=scan.today)
    if relative == "late" and span.start < scan.today < span.end:
        span = replace(span, start=scan.today)
    return replace(span, evidence=ALONE), period[1]


def week_around(scan: Scan, i: int, inner: Reader) -> Read | None:
    """ "week of May 5", "w/c Feb 4", "the week starting on February 4", "week ending Friday"."""
    words = scan.words
    if words[i] == "w" and words[i + 1] == "/" and words[i + 2] in ("c", "b", "o", "e"):
        kind, j = {"c": "starting", "b": "starting", "o": "of", "e": "ending"}[words[i + 2]], i + 3
    elif words[i] in ("week", "weekend", "month") and words[i + 1] in (
        "of",
        "starting",
        "beginning",
        "commencing",
        "ending",
    ):
        kind, j = words[i + 1], i + 2
    else:
        return None
    read = inner(scan, skip(scan, j, frozenset(("on", "from"))))
    if read is None or read[0].end - read[0].start > DAY:
        return None

    def change(day: Span) -> Span:
        if words[i] in ("weekend", "month"):
            return unit_span(day.start, words[i], 0, 1, scan.week_start)
        if kind == "of":
            return unit_span(day.start, "week", 0, 1, scan.week_start)
        start: datetime = day.start - 6 * DAY if kind == "ending" else day.start
        return Span(start, start + 7 * DAY, "week")

    span = mapped(read[0], change)
    return read_of(span and replace(span, evidence=ALONE), read[1])


def part_of_day(scan: Scan, i: int, inner: Reader) -> Read | None:
    """ "the evening of May 5", "the morning of the 3rd"."""
    part = day_part_at(scan, i)
    if part is None or scan.words[part[1]] != "of":
        return None
    read = inner(scan, part[1] + 1)
    if read is None or read[0].grain != "day" or read[0].end - read[0].start != DAY:
        return None
    span = mapped(read[0], lambda day: hours_of(day, part[0]))
    return read_of(span and replace(span, evidence=ALONE), read[1])
