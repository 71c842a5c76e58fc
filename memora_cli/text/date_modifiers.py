"""Periods picked by "last", "this", "next" and their like: "last week", "past three days", "this Friday"."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from memora_cli.text.date_days import day_part_at, hours_of, weekly
from memora_cli.text.date_forms import calendar_date, yearly_month
from memora_cli.text.date_guards import month_evidence
from memora_cli.text.date_periods import holiday, quarter, season
from memora_cli.text.date_words import (
    FUTURE,
    GLUED_UNITS,
    PAST,
    PRESENT,
    UNITS,
    WEEKDAYS,
    Read,
    Scan,
    month_at,
    read_of,
    skip,
    word_set,
)
from memora_cli.text.numerals import cardinal
from memora_cli.text.spans import (
    ALONE,
    DAY,
    PART,
    Span,
    day_span,
    shift,
    unit_span,
    unit_start,
)

SHORT_UNITS = {"hour": 60.0, "minute": 1.0, "second": 1 / 60}
"""Units shorter than a day, in minutes."""
FUZZY = {"couple": 2, "few": 3, "several": 3, "dozen": 12}
_ROLLING = word_set("in over within during for throughout across")


def amount(scan: Scan, i: int) -> tuple[int, int] | None:
    """How many: "3", "three", "a couple of", "few"; the number and the index after it."""
    words = scan.words
    j = i + 1 if words[i] == "a" and words[i + 1] in FUZZY else i
    if words[j] in FUZZY:
        return FUZZY[words[j]], skip(scan, j + 1, frozenset(("of",)))
    return cardinal(words, i)


def unit_at(scan: Scan, i: int) -> tuple[str, int] | None:
    """A unit of time named at `i`, as a word or, right after a number, as a letter."""
    word = scan.words[i]
    if word in UNITS:
        return UNITS[word], i + 1
    if word in GLUED_UNITS and (scan.glued(i) or word.startswith("mo")) and i > 0 and scan.number(i - 1) is not None:
        return GLUED_UNITS[word], i + 1
    return None


def modified(scan: Scan, i: int) -> Read | None:
    """ "last", "this", "next" and their like before a unit, weekday, month, season, quarter, holiday or "night"."""
    words = scan.words
    j, step = i, 0
    if words[j] in PRESENT:
        j += 1
        if words[j] in PAST | FUTURE:
            step = -1 if words[j] in PAST else 1
            j += 1
        near = True
    elif words[j] in PAST or words[j] in FUTURE:
        step = -1 if words[j] in PAST else 1
        near = False
        j += 1
    else:
        return None
    if words[i : i + 2] in (("this", "time"), ("this", "day")) and words[i + 2] in PAST | FUTURE:
        return same_time(scan, i)
    many = amount(scan, j)
    if many is not None and step != 0:
        return _several_units(scan, i, many, step)
    unit = unit_at(scan, j)
    if unit is not None:
        return _one_unit(scan, i, unit, step)
    return _named(scan, j, step, near)


def same_time(scan: Scan, i: int) -> Read | None:
    """A day counted back or ahead: "this time last year" (about then), "the same day last week"."""
    words = scan.words
    unit = unit_at(scan, i + 3)
    if words[i] not in ("this", "same") or words[i + 1] not in ("time", "day") or words[i + 2] not in PAST | FUTURE:
        return None
    if unit is None or unit[0] in SHORT_UNITS or unit[0] in ("weekend", "season"):
        return None
    day = shift(scan.today, unit[0], -1 if words[i + 2] in PAST else 1)
    about = 7 * DAY if words[i + 1] == "time" and unit[0] in ("year", "decade") else timedelta(0)
    return Span(day - about, day + about + DAY, "day"), unit[1]


def _several_units(scan: Scan, i: int, many: tuple[int, int], step: int) -> Read | None:
    count, j = many
    unit = unit_at(scan, j)
    if unit is None or count < 1:
        return None
    if unit[0] in SHORT_UNITS:
        length = timedelta(minutes=max(1.0, count * SHORT_UNITS[unit[0]]))
        start, end = sorted((scan.now, scan.now + step * length))
        return Span(start, end, "hour"), unit[1]
    return _units(scan, unit[0], step, count, rolling=_is_rolling(scan, i)), unit[1]


def _is_rolling(scan: Scan, i: int) -> bool:
    # "in the last 3 months" ends today; "last 3 months" are three whole ones, before this one.
    return scan.before(i) in ("the", "these") or scan.words[i] == "past" or scan.before(i) in _ROLLING


def _units(scan: Scan, unit: str, step: int, count: int, *, rolling: bool) -> Span:
    today = scan.today
    if unit == "fortnight":
        unit, count = "week", 2 * count
    if step > 0:
        start = today + DAY if rolling or unit == "day" else shift(unit_start(today, unit, scan.week_start), unit, 1)
        return Span(start, shift(start, unit, count), unit)
    if rolling and unit != "weekend":
        return Span(shift(today, unit, -count), scan.now if scan.now > today else today, unit)
    start = unit_start(today, unit, scan.week_start)
    end = start - 5 * DAY if unit == "weekend" else start
    return Span(shift(start, unit, -count), end, unit)


def _one_unit(scan: Scan, i: int, unit: tuple[str, int], step: int) -> Read | None:
    name, after = unit
    if name in SHORT_UNITS:
        return (Span(scan.now - timedelta(hours=1), scan.now, "hour"), after) if step < 0 else None
    plural = scan.words[after - 1].endswith("s")
    if plural and step == 0:
        return None
    sliding = scan.before(i) == "the" and i > 1 and scan.words[i - 2] in ("in", "over", "within")
    sliding = sliding or (scan.before(i) == "the" and scan.words[i] == "past")
    if step < 0 and sliding and name not in ("day", "weekend", "season"):
        return _units(scan, name, step, 1, rolling=True), after
    if name == "fortnight" and step != 0:
        return _units(scan, name, step, 1, rolling=False), after
    return unit_span(scan.today, name, step, 1, scan.week_start), after


def _named(scan: Scan, j: int, step: int, near: bool) -> Read | None:
    words = scan.words
    part = day_part_at(scan, j)
    if part is not None and (near or part[0] == "night") and step <= 0:
        today = day_span(scan.today if near else scan.today - DAY)
        return hours_of(today, part[0]), part[1]
    if words[j] in WEEKDAYS:
        day = weekly(scan, WEEKDAYS[words[j]])
        return None if day is None else _picked(scan, day, j + 1, step, near)
    month = month_at(scan, j)
    if month is not None:
        dated = calendar_date(scan, j)
        if dated is not None and dated[1] > month[1]:
            return _picked(scan, dated[0], dated[1], step, True) if dated[0].repeat else None
        if month_evidence(scan, j, month[1]) == PART or (words[j] in ("sat", "mar") and not near):
            return None
        whole = yearly_month(scan, month[0])
        return None if whole is None else _of_year(scan, whole, month[1], step)
    read = season(scan, j)
    if read is not None:
        return _season(scan, read, step)
    read = quarter(scan, j)
    if read is not None:
        return _of_year(scan, *read, step)
    read = holiday(scan, j)
    return read and _picked(scan, *read, step, near)


def _picked(scan: Scan, span: Span, j: int, step: int, near: bool) -> Read | None:
    """The last one before today, the one of this week or year, or the next."""
    repeat = span.repeat
    if repeat is None:
        return None
    found: Span | None
    if step < 0:
        found = repeat.latest(scan.today - DAY)
    elif step > 0:
        found = repeat.first(scan.today + DAY)
        if repeat.unit == "week" and not near:
            found = repeat.within(shift(unit_start(scan.today, "week", scan.week_start), "week", 1))
    else:
        found = repeat.within(unit_start(scan.today, repeat.unit, scan.week_start))
    return read_of(found and replace(found, repeat=None, evidence=ALONE), j)


def _of_year(scan: Scan, span: Span, j: int, step: int) -> Read | None:
    """ "last June" is that of the year before, "this June" that of this year, "next June" the first to come."""
    if span.repeat is None:
        return None
    if step > 0:
        found = span.repeat.first(scan.today + DAY)
    else:
        found = span.repeat.within(shift(unit_start(scan.today, "year"), "year", step))
    return read_of(found and replace(found, evidence=ALONE), j)


def _season(scan: Scan, read: Read, step: int) -> Read | None:
    span, j = read
    if span.repeat is None or (span.evidence == PART and scan.words[j] in ("boot", "framework")):
        return None
    if span.start.month != 12:
        return _of_year(scan, span, j, step)
    # Winter spans two years: the last one is the last that is over, this one is the nearest.
    if step < 0:
        found = span.repeat.latest(shift(scan.today, "month", -3))
    elif step == 0 and scan.today.month > 5:
        found = span.repeat.within(unit_start(scan.today, "year"))
    else:
        found = span.repeat.first(scan.today + DAY) if step else span.repeat.latest(scan.today)
    return read_of(found and replace(found, evidence=ALONE), j)
