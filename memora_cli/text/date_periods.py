"""Periods that have a name: weekdays, seasons, quarters, years, decades, centuries, week numbers, holidays, today."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from memora_cli.text.date_forms import full_year
from memora_cli.text.date_guards import of_age, season_evidence, year_evidence
from memora_cli.text.date_words import (
    DASHES,
    DECADES,
    FUNCTION_WORDS,
    SEASONS,
    Read,
    Scan,
    read_of,
    skip,
)
from memora_cli.text.holidays import holiday_at
from memora_cli.text.numerals import ordinal, year_in_words
from memora_cli.text.spans import (
    ALONE,
    CONTEXT,
    DAY,
    PART,
    Repeat,
    Span,
    latest_of,
    part_of,
    shift,
    unit_span,
    unit_start,
    year_span,
)

_DASH_OR_COMMA = frozenset((",", "-"))


def season(scan: Scan, i: int) -> Read | None:
    """ "summer", as the whole three months; winter counts by the year it begins in."""
    month = SEASONS.get(scan.words[i])
    if month is None:
        return None
    repeat = season_repeat(month)
    span = latest_of(repeat, scan.today, season_evidence(scan, i, i + 1))
    return read_of(span, i + 1)


def season_repeat(month: int) -> Repeat:
    """The season that begins in `month`, every year."""
    return Repeat("year", lambda start: unit_span(datetime(start.year, month, 1), "season"))


def quarter(scan: Scan, i: int) -> Read | None:
    """ "Q3", "quarter 3", "H1": a quarter or half of every year."""
    word = scan.words[i]
    number = scan.number(i + 1)
    if word in ("q", "quarter", "h") and number is not None and (word == "quarter" or scan.glued(i + 1)):
        unit = "half" if word == "h" else "quarter"
        if scan.glued(i + 2) and scan.words[i + 2].isalnum():
            return None
        if not 1 <= number <= (2 if unit == "half" else 4) or (
            i > 0 and scan.glued(i) and not (scan.before(i).isdecimal() or scan.before(i) in DASHES)
        ):
            return None
        span = nth_of_year(scan, unit, number, PART if unit == "half" else ALONE)
        return read_of(span, i + 2)
    if number is None and scan.number(i) is not None and scan.words[i + 1] in ("q", "h") and scan.glued(i + 1):
        value = int(scan.words[i])
        if 1 <= value <= (4 if scan.words[i + 1] == "q" else 2):
            span = nth_of_year(scan, "quarter" if scan.words[i + 1] == "q" else "half", value, PART)
            return read_of(span, i + 2)
    return None


def nth_of_year(scan: Scan, unit: str, number: int, evidence: int = ALONE) -> Span | None:
    """The quarter or half of every year with that number; as it stands the last one that has begun."""

    def within(start: datetime) -> Span | None:
        months = 6 if unit == "half" else 3
        first = shift(unit_start(start, "year"), "month", months * (number - 1))
        return Span(first, shift(first, "month", months), unit)

    return latest_of(Repeat("year", within), scan.today, evidence)


def holiday(scan: Scan, i: int) -> Read | None:
    """A holiday by its name."""
    found = holiday_at(scan.words, i)
    if found is None:
        return None
    span = latest_of(found[0], scan.today)
    return read_of(span, found[1])


def year(scan: Scan, i: int) -> Read | None:
    """A year: "2019", "the year 2008", "cy18", "'96", "nineteen twenty eight"."""
    words = scan.words
    if words[i] in ("calendar", "fiscal") and words[i + 1] == "year":
        i += 1
    if words[i] == "year" or (words[i] in ("cy", "fy") and scan.number(i + 1) is not None):
        at = i + 1
        named = year_in_words(words, at)
        number = scan.number(at)
        if number is not None and len(words[at]) == 2:
            number = full_year(number, scan.now.year)
        if number is not None and number >= 100:
            named = number, at + 1
        span = year_span(named[0]) if named else None
        return (span, named[1]) if span and named else None
    if (
        words[i] in ("'", "’", "‘")
        and len(words[i + 1]) == 2
        and scan.number(i + 1) is not None
        and words[i + 2] != "s"
    ):
        span = year_span(full_year(int(words[i + 1]), scan.now.year))
        return read_of(span and replace(span, evidence=PART), i + 2)
    number = scan.number(i)
    if number is not None:
        span = year_span(number) if len(words[i]) == 4 else None
        if span is None or (words[i + 1] == "s" and scan.glued(i + 1)):
            return None
        return replace(span, evidence=year_evidence(scan, i, i + 1, number)), i + 1
    spelled = year_in_words(words, i)
    span = year_span(spelled[0]) if spelled and 1000 <= spelled[0] <= 2199 else None
    # "one thousand" and "two thousand people" are counts.
    if spelled and spelled[0] % 1000 == 0 and scan.before(i) not in ("in", "since", "of"):
        span = None
    ends = spelled is not None and (scan.ends_clause(spelled[1]) or words[spelled[1]] in FUNCTION_WORDS)
    return (replace(span, evidence=CONTEXT if ends else PART), spelled[1]) if span and spelled else None


def decade(scan: Scan, i: int) -> Read | None:
    """ "the 90s", "1990s", "'90s", "the nineties", "the 1800s" (a century)."""
    words = scan.words
    at = i + 1 if words[i] in ("'", "’", "‘") else i
    number = DECADES.get(words[at])
    after = at + 1
    marked = at > i or scan.before(i) in ("the", "early", "mid", "late", "-")
    if scan.before(i) in ("and", "or", "&", "to"):  # "the 80s and 90s"
        marked = marked or scan.words[i - 2] == "s" or scan.words[i - 2] in DECADES
    if number is None:
        number = scan.number(at)
        after = skip(scan, at + 1, frozenset(("'", "’"))) + 1
        if number is None or number % 10 or len(words[at]) not in (2, 4) or words[after - 1] != "s":
            return None
        if not scan.glued(at + 1) or (len(words[at]) == 2 and not marked):
            return None
    if of_age(scan, i):
        return None
    evidence = ALONE if marked or number >= 1000 else CONTEXT
    if number < 100:
        number += scan.now.year // 100 * 100
        if number > scan.now.year:
            number -= 100
    unit = "century" if number % 100 == 0 and number < 2000 else "decade"
    if number < 1000 or number > 9000:
        return None
    return replace(unit_span(datetime(number, 1, 1), unit), evidence=evidence), after


def century(scan: Scan, i: int) -> Read | None:
    """ "the 19th century"."""
    count = ordinal(scan.words, i)
    if count is None:
        return None
    j = skip(scan, count[1], frozenset(("-",)))
    if scan.words[j] not in ("century", "c") or scan.words[j + 1] in ("bc", "bce", "b"):
        return None
    if not 2 <= count[0] <= 90 or scan.words[j] == "c":
        return None
    return unit_span(datetime((count[0] - 1) * 100, 1, 1), "century"), j + 1


def week_number(scan: Scan, i: int) -> Read | None:
    """ "week 10": a week of the ISO calendar, every year."""
    number = scan.number(i + 1)
    if scan.words[i] not in ("week", "wk", "cw", "kw") or number is None or not 1 <= number <= 53:
        return None
    if scan.words[i + 2] == "." and scan.number(i + 3) is not None and scan.glued(i + 3):
        return None

    def within(start: datetime) -> Span | None:
        first = unit_start(datetime(start.year, 1, 4), "week") + timedelta(weeks=number - 1)
        return Span(first, first + 7 * DAY, "week")

    span = latest_of(Repeat("year", within), scan.today, PART if scan.words[i + 2] == "of" else ALONE)
    return read_of(span, i + 2)


def to_date(scan: Scan, i: int) -> Read | None:
    """ "year to date", "YTD", "EOM" and "BOY" in capitals, "the rest of the week"."""
    words = scan.words
    word = words[i]
    raw = scan.text[scan.tokens[i].start : scan.tokens[i].end]
    if word in ("ytd", "mtd", "qtd", "wtd"):
        unit = {"y": "year", "m": "month", "q": "quarter", "w": "week"}[word[0]]
        return Span(unit_start(scan.today, unit, scan.week_start), scan.today + DAY, unit), i + 1
    if word in ("year", "month", "quarter", "week"):
        j = skip(scan, i + 1, _DASH_OR_COMMA)
        if words[j] == "to" and words[k := skip(scan, j + 1, _DASH_OR_COMMA)] == "date":
            return Span(unit_start(scan.today, word, scan.week_start), scan.today + DAY, word), k + 1
    rest = word in ("rest", "remainder") and words[i + 1 : i + 3] in (("of", "the"), ("of", "this"))
    if rest and words[i + 3] in ("day", "week", "month", "quarter", "year"):
        whole = unit_span(scan.today, words[i + 3], 0, 1, scan.week_start)
        return replace(whole, start=scan.today), i + 4
    if raw in ("BOM", "EOM", "BOY", "EOY", "EOQ", "EOW") and words[i + 1] != "of":
        unit = {"M": "month", "Y": "year", "Q": "quarter", "W": "week"}[raw[2]]
        sure = (
            scan.whole(i, i + 1) or scan.before(i) in ("at", "by") or words[i - 2 : i] in (("at", "the"), ("by", "the"))
        )
        whole = unit_span(scan.today, unit, 0, 1, scan.week_start)
        part = part_of(whole, "beginning" if raw[0] == "B" else "end")
        return replace(part, evidence=ALONE if sure or scan.whole(i - 1, i + 1) else PART), i + 1
    return None
