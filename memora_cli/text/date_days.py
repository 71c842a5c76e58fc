"""Days that have a name of their own: today, yesterday, weekdays, "the 27th", the parts of a day."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from memora_cli.text.date_forms import calendar_date, day_number
from memora_cli.text.date_guards import counted_decimals, weekday_evidence
from memora_cli.text.date_words import FUNCTION_WORDS, WEEKDAYS, Read, Scan, is_clock, read_of, skip
from memora_cli.text.spans import (
    ALONE,
    CONTEXT,
    DAY,
    FAINT,
    PART,
    Repeat,
    Span,
    date_span,
    day_span,
    latest_of,
    unit_span,
)

_NEAR_DAYS = {"today": 0, "yesterday": -1, "yday": -1, "tomorrow": 1, "tmr": 1, "tmrw": 1, "tomorow": 1, "tonight": 0}
_NOW_PHRASES = tuple(
    phrase.split()
    for phrase in (
        "at the present time",
        "at the present",
        "at present",
        "at the moment",
        "at this moment",
        "at this time",
        "right now",
        "just now",
        "as of now",
        "till date",
        "to date",
        "till now",
    )
)
_HOURS = {"morning": (5, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 24)}


def hours_of(day: Span, name: str) -> Span:
    """The "morning", "afternoon", "evening" or "night" of a day."""
    first, last = _HOURS[name]
    return replace(day, start=day.start + timedelta(hours=first), end=day.start + timedelta(hours=last), grain="hour")


def day_part_at(scan: Scan, i: int) -> tuple[str, int] | None:
    """The part of a day named at `i`: its name and the index after it."""
    return (scan.words[i], i + 1) if scan.words[i] in _HOURS else None


def weekly(scan: Scan, weekday: int, evidence: int = ALONE) -> Span | None:
    """A weekday; as it stands the last one, today included."""
    repeat = Repeat(
        "week", lambda week: day_span(week + timedelta(days=(weekday - week.weekday()) % 7)), scan.week_start
    )
    return latest_of(repeat, scan.today, evidence)


def near_day(scan: Scan, i: int) -> Read | None:
    """ "today", "yesterday", "tomorrow", "now" and its longer forms, "the other day"."""
    words = scan.words
    word = words[i]
    if word in _NEAR_DAYS:
        day = day_span(scan.today + timedelta(days=_NEAR_DAYS[word]))
        return (hours_of(day, "night") if word == "tonight" else day), i + 1
    for phrase in _NOW_PHRASES:
        if word == phrase[0] and list(words[i : i + len(phrase)]) == phrase:
            return day_span(scan.today), i + len(phrase)
    if word in ("now", "present"):
        # Nearly every other "now" tells no time that anyone would search by; "2015 to now" does.
        whole = word == "now" and scan.whole(i, i + 1)
        return replace(day_span(scan.today), evidence=ALONE if whole else PART), i + 1
    if word == "the" and words[i + 1 : i + 3] == ("other", "day"):
        return Span(scan.today - 7 * DAY, scan.today, "day"), i + 3
    return None


def weekday(scan: Scan, i: int) -> Read | None:
    """A weekday, or one with its day of the month: "Friday", "Friday the 22nd", "Mon 13th"."""
    number = WEEKDAYS.get(scan.words[i])
    if number is None:
        return None
    after = i + 1
    if scan.words[after] == "." and len(scan.words[i]) <= 5 and scan.words[after + 1][:1].isdecimal():
        after += 1
    day_at = skip(scan, skip(scan, after, frozenset((",",))), frozenset(("the",)))
    day = day_number(scan, day_at, bare=scan.words[i].endswith("day"))
    if day is not None and calendar_date(scan, day_at) is None:
        sure = scan.number(day_at) is None or scan.ends_clause(day[1]) or scan.words[day[1]] in FUNCTION_WORDS
        if sure and not (scan.words[day_at] in ("first", "second") and day[1] == day_at + 1):
            span = _monthly(scan, day[0], number)
            if span is not None:
                return span, day[1]
    span = weekly(scan, number, weekday_evidence(scan, i, i + 1))
    return read_of(span, i + 1)


def day_of_month(scan: Scan, i: int) -> Read | None:
    """ "the 27th", "the 27", "20th" (of some month that is named elsewhere or is this one)."""
    words = scan.words
    article = words[i] == "the"
    at = i + 1 if article else i
    day = day_number(scan, at, bare=article and scan.number(at) is not None)
    if day is None:
        return _bare_day(scan, i)
    said = scan.before(i) in ("on", "for", "by", "until") and article and scan.ends_clause(at + 1)
    if words[at] in ("first", "second", "third") and words[at + 1] != "of" and not said:
        return None
    span = _monthly(scan, day[0], None)
    if span is None:
        return None
    ends = scan.ends_clause(day[1]) and not counted_decimals(scan, at, at + 1)
    bare = scan.number(at) is not None
    if ends or (not bare and article and words[day[1]] in FUNCTION_WORDS and words[day[1]] not in ("of", "in", "to")):
        late_ordinal = words[at][:1].isdecimal() and not bare and day[0] > 4 and article
        return replace(span, evidence=ALONE if ends and late_ordinal else CONTEXT if article else PART), day[1]
    return replace(span, evidence=PART), day[1]


def _bare_day(scan: Scan, i: int) -> Read | None:
    """The "15" of "I went back on 15", faintly."""
    number = scan.number(i)
    if number is None or not 1 <= number <= 31 or scan.before(i) != "on" or not scan.ends_clause(i + 1):
        return None
    if counted_decimals(scan, i, i + 1) or is_clock(scan, i):
        return None
    span = _monthly(scan, number, None)
    return read_of(span and replace(span, evidence=FAINT), i + 1)


def _monthly(scan: Scan, day: int, weekday_number: int | None) -> Span | None:
    def within(start: datetime) -> Span | None:
        span = date_span(start.year, start.month, day)
        return span if span and weekday_number in (None, span.start.weekday()) else None

    return latest_of(Repeat("month", within), scan.today)


def the_day(scan: Scan, i: int) -> Read | None:
    """ "the day" at the end of a clause, "for the week": the current one, faintly."""
    unit = scan.words[i + 1]
    if scan.words[i] == "the" and unit == "weekend":
        repeat = Repeat("week", lambda start: unit_span(start, "weekend"))
        span = latest_of(repeat, scan.today)
        return read_of(span, i + 2)
    if scan.words[i] != "the" or unit not in ("day", "week", "month", "quarter", "year", "season"):
        return None
    during = scan.before(i) in ("for", "during", "over", "throughout") and unit != "season"
    idiom = scan.words[max(i - 2, 0) : i] == ("end", "of")
    faint = scan.ends_clause(i + 2) and (unit == "day" or during) and not idiom
    span = unit_span(scan.today, unit, 0, 1, scan.week_start)
    return replace(span, evidence=FAINT if faint else PART), i + 2
