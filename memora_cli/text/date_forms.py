"""Dates of the calendar as they are written: in digits, or with the name of a month."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime

from memora_cli.text.date_guards import counted_decimals, counts_something, is_fraction, month_evidence
from memora_cli.text.date_words import (
    DASHES,
    PRONOUNS,
    SHORT_MONTHS,
    WEEKDAYS,
    Read,
    Scan,
    after_clock,
    is_clock,
    month_at,
    read_of,
    skip,
)
from memora_cli.text.numerals import cardinal, ordinal, year_in_words
from memora_cli.text.spans import ALONE, CONTEXT, PART, Repeat, Span, date_span, latest_of, unit_span, year_span

_YEAR_FIRST = re.compile(
    r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})(?![\d/])"
    r"(?:[T ]\d{1,2}:\d{2}[\d:.]*(?:Z|[+-]\d{2}:?\d{2})?)?"
)
_SPACED = re.compile(r"(?P<year>\d{4}) (?P<month>\d{1,2}) (?P<day>\d{1,2})(?![\d/.:-])")
_COMPACT = re.compile(r"(?P<year>(?:1[89]|20)\d{2})(?P<month>\d{2})(?P<day>\d{2})(?!\w)")
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})(?:\2|,\s?)(\d{4}|\d{2})(?![\d/]|[-.]\d)")
_DAY_MONTH = re.compile(r"(\d{1,2})([-/])(\d{1,2})(?![\d/-]|\.\d)")
_MONTH_YEAR = re.compile(r"(?P<month>\d{1,2})[-/](?P<year>\d{4})(?![\d/-])")
_YEAR_MONTH = re.compile(r"(?P<year>\d{4})[-/](?P<month>\d{1,2})(?![\d/-])")

_SEPARATORS = frozenset((".", ",", "-", "/"))
_ARTICLE = frozenset(("the",))
_OF = frozenset(("of", "in"))
_MARKS = frozenset((",", "-", "/"))
_APOSTROPHES = frozenset("'’‘`")


def calendar_date(scan: Scan, i: int) -> Read | None:
    """A date or month of the calendar that begins at token `i`."""
    if scan.number(i) is not None:
        read = _in_digits(scan, i) or _year_then_month(scan, i)
        if read is not None:
            return read
    return day_then_month(scan, i) or month_then_day(scan, i)


def full_year(short: int, this_year: int) -> int:
    """The year meant by two digits: the last one not more than ten years ahead."""
    year = this_year // 100 * 100 + short
    return year - 100 if year > this_year + 10 else year


def yearly(scan: Scan, month: int, day: int) -> Span | None:
    """A day of every year; as it stands the last one not in the future."""
    return latest_of(Repeat("year", lambda start: date_span(start.year, month, day)), scan.today)


def month_span(year: int, month: int) -> Span | None:
    """That month, None when the calendar has no such month."""
    if not (1 <= year <= 9998 and 1 <= month <= 12):
        return None
    return unit_span(datetime(year, month, 1), "month")


def yearly_month(scan: Scan, month: int, evidence: int = ALONE) -> Span | None:
    """A month of every year; as it stands the last one that has begun."""
    return latest_of(Repeat("year", lambda start: month_span(start.year, month)), scan.today, evidence)


def year_at(scan: Scan, i: int, *, short: bool = False) -> tuple[int, int] | None:
    """A year after a month or day: "2019", "'19", "96", in words; with `short` any two digits that end a clause."""
    words = scan.words
    if words[i] in _APOSTROPHES and len(words[i + 1]) == 2 and scan.number(i + 1) is not None:
        return full_year(int(words[i + 1]), scan.now.year), i + 2
    number = scan.number(i)
    if number is None:
        return year_in_words(words, i)
    if is_clock(scan, i) or counts_something(scan, i + 1):
        return None
    if len(words[i]) == 4 and number >= 1:
        return number, i + 1
    if len(words[i]) == 2 and (number > 31 or (short and scan.ends_clause(i + 1))):
        return full_year(number, scan.now.year), i + 1
    return None


def day_number(scan: Scan, i: int, *, bare: bool = True) -> tuple[int, int] | None:
    """A day of the month, 1 to 31, as an ordinal or (when `bare`) a plain number."""
    read = ordinal(scan.words, i) or (cardinal(scan.words, i) if bare else None)
    if read is None or not 1 <= read[0] <= 31 or (len(scan.words[i]) > 2 and scan.number(i) is not None):
        return None
    return None if is_clock(scan, i) else read


def month_then_day(scan: Scan, i: int) -> Read | None:
    """ "May 16", "May the 4th, 2010", "Oct-2", "June 2023", "June of nineteen ninety nine", or a month alone."""
    named = month_at(scan, i)
    if named is None:
        return None
    month, after = named
    j = _separator(scan, after)
    day = day_number(scan, skip(scan, j, _ARTICLE), bare=scan.number(j) is not None)
    if day is not None and not _counts(scan, i, day[1]):
        date = yearly(scan, month, day[0])
        if date is not None:
            return with_year(scan, date, day[1])
    year = year_at(scan, skip(scan, j, _OF)) if after == j or scan.words[after] != "." or j > after else None
    if year is not None and (span := month_span(year[0], month)):
        return span, year[1]
    month_alone = yearly_month(scan, month, month_evidence(scan, i, after))
    return read_of(month_alone, after)


def with_year(scan: Scan, date: Span, i: int, *, short: bool = False) -> Read:
    """The date with the year that follows it at `i`, if one does."""
    j = i
    mark = scan.words[i]
    joined = mark in ("-", "/", ".") and scan.glued(i) and scan.glued(i + 1) and scan.words[i - 2] == mark
    if joined or mark in (",", "of", "in"):
        j += 1
    year = year_at(scan, j, short=short or joined or mark == ",") or _year_after_clock(scan, i)
    if year is not None and date.repeat is not None and (start := year_span(year[0])) is not None:
        fixed = date.repeat.within(start.start)
        if fixed is not None:
            return fixed, year[1]
    return date, i


def _year_after_clock(scan: Scan, i: int) -> tuple[int, int] | None:
    """The year of "Sep 25 10:36:28 2003", as computers print it."""
    j = after_clock(scan, i)
    if j == i:
        return None
    j += scan.words[j].isalpha() and len(scan.words[j]) in (3, 4) and scan.capital(j)
    return year_at(scan, j) if len(scan.words[j]) == 4 and scan.number(j) is not None else None


def day_then_month(scan: Scan, i: int) -> Read | None:
    """ "15 June 2016", "the tenth of September, two thousand", "31/Oct/1974"."""
    day = day_number(scan, i)
    if day is None:
        return None
    j = skip(scan, day[1], frozenset(("day",)))
    j = skip(scan, j, frozenset(("of", "-", "/", ".", "–")))
    month = month_at(scan, skip(scan, j, _ARTICLE))
    if month is None:
        return None
    date = yearly(scan, month[0], day[0])
    if date is None:
        return None
    if scan.words[month[1] - 1] in ("may", "march") and j == day[1] and not _reads_as_date(scan, i, day[1], month[1]):
        return None
    after = month[1]
    if scan.words[after] == "." and scan.words[after - 1] in SHORT_MONTHS:
        beyond = skip(scan, after + 1, _MARKS)
        after = beyond if year_at(scan, beyond, short=True) else after
    return with_year(scan, date, after, short=True)


def _reads_as_date(scan: Scan, i: int, j: int, end: int) -> bool:
    # "the first may be", "the first march on": an ordinal in words before a word that is a verb too.
    ordinal_word = scan.number(i) is None and scan.words[i].isalpha()
    return not ordinal_word or scan.ends_clause(end) or scan.number(end) is not None or scan.capital(j)


def _counts(scan: Scan, i: int, j: int) -> bool:
    """Whether "may 5 people" and the like: a verb with a count after it."""
    if counts_something(scan, j):
        return True
    verb = scan.words[i] in ("may", "march") and not scan.capital(i) and scan.number(j - 1) is not None
    return verb and (scan.words[j].endswith("ers") or scan.before(i) in PRONOUNS)


def _separator(scan: Scan, i: int) -> int:
    word = scan.words[i]
    if word not in _SEPARATORS and word not in DASHES:
        return i
    if word in (".", ",") or scan.glued(i + 1):
        following = scan.words[i + 1]
        starts_day = following[:1].isdecimal() or following == "the" or following in _APOSTROPHES
        return i + 1 if starts_day or word == "," or scan.glued(i + 1) else i
    return i


def _year_then_month(scan: Scan, i: int) -> Read | None:
    """ "2016 june", "2019/aug/01", "2019-aug-1"."""
    if len(scan.words[i]) != 4 or counted_decimals(scan, i, i):
        return None
    j = skip(scan, i + 1, frozenset((",", "-", "/", ".")))
    month = month_at(scan, j)
    if month is None or (scan.words[j] in ("may", "march") and month_evidence(scan, j, month[1]) == PART):
        return None
    year = int(scan.words[i])
    k = skip(scan, month[1], frozenset((",", "-", "/", ".")))
    day = day_number(scan, k)
    if day is not None and (span := date_span(year, month[0], day[0])):
        return span, day[1]
    whole = month_span(year, month[0])
    return read_of(whole, month[1])


def _in_digits(scan: Scan, i: int) -> Read | None:
    start = scan.tokens[i].start
    before = scan.text[start - 1 : start]
    if before and (before.isalnum() or before in "_.$€£#/:,@\\+"):
        return None
    for pattern in _PATTERNS:
        match = pattern.match(scan.text, start)
        if match is not None and not scan.text[match.end() : match.end() + 1].isalpha():
            after = scan.index_at(match.end())
            span = _meaning(scan, match, i, after)
            if span is not None:
                return span, after
    return None


def _meaning(scan: Scan, match: re.Match[str], i: int, j: int) -> Span | None:
    if match.re is _DAY_MONTH:
        return _day_month(scan, match, i, j)
    if match.re is _YEAR_LAST:
        return _year_last(match, scan.now.year)
    if match.re in (_MONTH_YEAR, _YEAR_MONTH):
        return _month_year(match)
    year, month, day = (int(match[group]) for group in ("year", "month", "day"))
    return date_span(year, month, day) or (date_span(year, day, month) if match.re is _YEAR_FIRST else None)


def _year_last(match: re.Match[str], this_year: int) -> Span | None:
    first, second, mark = int(match[1]), int(match[3]), match[2]
    if mark == "." and len(match[4]) == 2 and not (len(match[1]) == 2 and len(match[3]) == 2):
        return None  # a version
    year = int(match[4]) if len(match[4]) == 4 else full_year(int(match[4]), this_year)
    month_first, day_first = date_span(year, first, second), date_span(year, second, first)
    return day_first or month_first if mark == "." else month_first or day_first


def _day_month(scan: Scan, match: re.Match[str], i: int, j: int) -> Span | None:
    first, second = int(match[1]), int(match[3])
    if is_fraction(scan, first, second, i, j):
        return None
    if match[2] == "-" and not (scan.before(i) in WEEKDAYS or (scan.before(i) == "on" and scan.ends_clause(j))):
        return None
    date = yearly(scan, first, second) if first <= 12 else None
    return date or (yearly(scan, second, first) if second <= 12 else None)


def _month_year(match: re.Match[str]) -> Span | None:
    year, month = int(match["year"]), int(match["month"])
    span = month_span(year, month) if 1000 <= year <= 2999 else None
    return span and replace(span, evidence=ALONE if 1900 <= year <= 2100 else CONTEXT)


_PATTERNS = (_YEAR_FIRST, _SPACED, _COMPACT, _YEAR_LAST, _MONTH_YEAR, _YEAR_MONTH, _DAY_MONTH)
