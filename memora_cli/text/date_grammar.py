"""One time and all that narrows it: "Monday of last week", "June last year", "this Friday (Jun 15) at 5 pm"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from memora_cli.text.date_days import day_of_month, day_part_at, hours_of, near_day, the_day, weekday
from memora_cli.text.date_distances import distance, neighbour, signed
from memora_cli.text.date_forms import calendar_date
from memora_cli.text.date_modifiers import modified, same_time
from memora_cli.text.date_periods import century, decade, holiday, quarter, season, to_date, week_number, year
from memora_cli.text.date_places import ordinal_of, part_of_day, part_of_period, week_around
from memora_cli.text.date_words import SHORT_MONTHS, WEEKDAYS, Read, Reader, Scan, after_clock, read_of, skip
from memora_cli.text.holidays import with_weekend
from memora_cli.text.spans import ALONE, DAY, PART, Span, inside, mapped, unit_span

_RULES: tuple[Reader, ...] = (
    calendar_date,
    weekday,
    near_day,
    modified,
    same_time,
    quarter,
    season,
    year,
    decade,
    century,
    holiday,
    week_number,
    to_date,
    the_day,
    day_of_month,
    signed,
)
_NESTED: tuple[Callable[[Scan, int, Reader], Read | None], ...] = (
    ordinal_of,
    part_of_period,
    part_of_day,
    week_around,
    distance,
    neighbour,
)
_DEEPEST = 24
_SAME_WEEKDAY_WITHIN = 7
_WITHIN = frozenset(("of", "in", "from", "during", "for", "on"))


def composed(scan: Scan, i: int) -> Read | None:
    """One time with all that narrows it: "first Friday of July last year at 5 pm"."""
    return _remembered(scan, i, "composed", _composed)


def _simple(scan: Scan, i: int) -> Read | None:
    return _remembered(scan, i, "simple", _longest)


def _remembered(scan: Scan, i: int, name: str, read: Reader) -> Read | None:
    # Rules read the same place for each other; without this, "early early early …" takes exponential time.
    memo = scan.memo
    if (name, i) not in memo.reads:
        if i >= scan.count or memo.depth >= _DEEPEST:
            return None
        memo.depth += 1
        try:
            memo.reads[name, i] = read(scan, i)
        finally:
            memo.depth -= 1
    return memo.reads[name, i]


def _longest(scan: Scan, i: int) -> Read | None:
    reads = [rule(scan, i) for rule in _RULES]
    reads += [nested(scan, i, composed) for nested in _NESTED]
    if scan.words[i] in ("the", "sometime") and scan.words[i + 1] != scan.words[i]:
        reads.append(_simple(scan, i + 1))
    best: Read | None = None
    for read in reads:
        if read is not None and (best is None or read[1] > best[1]):
            best = read
    return best


def _composed(scan: Scan, i: int) -> Read | None:
    read = _simple(scan, i)
    while read is not None:
        longer = _narrowed(scan, *read) or _dated(scan, *read) or _part_of_day(scan, *read)
        if longer is None:
            day = read[0].end - read[0].start == DAY
            return read[0], after_clock(scan, read[1]) if day else read[1]
        read = longer
    return None


def _narrowed(scan: Scan, span: Span, j: int) -> Read | None:
    """ "June" of "last year"; "last week", "Monday"."""
    words = scan.words
    k = j
    if words[k] in (",", "-", "–") or (words[k] == "." and words[k - 1] in SHORT_MONTHS):
        k += 1
    plain = k
    k = skip(scan, k, _WITHIN)
    if not words[k]:
        return None
    if span.repeat is not None:
        period = _unit_now(scan, k) if k > plain else None
        period = period or _simple(scan, k)
        if period is not None and (found := inside(span, period[0])) is not None:
            return found, period[1]
    if span.grain in ("week", "month", "year") and words[k - 1] not in ("of", "for"):
        finer = _simple(scan, k)
        verb = finer is not None and finer[0].evidence == PART and words[k] in ("may", "march", "sat", "sun", "mon")
        if finer is not None and not verb and (found := inside(finer[0], replace(span, repeat=None))) is not None:
            return found, finer[1]
    if span.grain == "day" and (moved := signed(scan, j, span.start)) is not None:
        return replace(moved[0], evidence=ALONE), moved[1]
    return None


def _unit_now(scan: Scan, i: int) -> Read | None:
    """ "the month", "year" after "of": the current one."""
    if scan.words[i] in ("week", "month", "year"):
        return unit_span(scan.today, scan.words[i], 0, 1, scan.week_start), i + 1
    return None


def _dated(scan: Scan, span: Span, j: int) -> Read | None:
    """A weekday and its date, in either order, mean the date: "Friday 7-6", "Friday (Jun 15)", "May 5 (Sunday)"."""
    words = scan.words
    bracket = words[j] == "("
    k = j + 1 if bracket or words[j] in (",", "-") else j
    k = skip(scan, k, frozenset(("the",)))
    k = skip(scan, k, frozenset(("on",)))
    date: Read | None = None
    if words[j - 1] in WEEKDAYS:
        date = calendar_date(scan, k)
        if date is not None and date[0].end - date[0].start > DAY:
            date = None
        if date is not None and span.repeat is not None:
            date = _on_weekday(date[0], WEEKDAYS[words[j - 1]]), date[1]
    elif span.grain == "day" and words[k] in WEEKDAYS and (bracket or words[j] == ","):
        date = (span, k + 1) if span.start.weekday() == WEEKDAYS[words[k]] and span.repeat is None else None
    if date is None:
        return None
    return date[0], skip(scan, date[1], frozenset((")",))) if bracket else date[1]


def _on_weekday(date: Span, weekday: int) -> Span:
    """The last such date that fell on the weekday, where its year is not said; the date itself when none did lately."""
    found: Span | None = date
    for _ in range(_SAME_WEEKDAY_WITHIN):
        if found is None or found.repeat is None or found.start.weekday() == weekday:
            break
        found = found.repeat.latest(found.start - DAY)
    return found if found is not None and found.start.weekday() == weekday else date


def _part_of_day(scan: Scan, span: Span, j: int) -> Read | None:
    """ "Friday night", "May 5 in the morning", "Labor Day 2021 weekend"."""
    if span.grain != "day" or span.end - span.start != DAY:
        return None
    if scan.words[j] == "weekend" and scan.words[j - 1] not in WEEKDAYS:
        weekend = mapped(span, with_weekend)
        return read_of(weekend, j + 1)
    k = j + 2 if scan.words[j : j + 2] in (("in", "the"), ("during", "the")) else j
    part = day_part_at(scan, k)
    if part is None:
        return None
    narrow = mapped(span, lambda day: hours_of(day, part[0]))
    return read_of(narrow, part[1])
