"""Ranges and open ends: "between March and May", "Aug 10 - Nov 12, 2011", "4-22 January", "since 2019"."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from memora_cli.text.date_distances import distance
from memora_cli.text.date_forms import calendar_date, day_number, year_at
from memora_cli.text.date_grammar import composed
from memora_cli.text.date_words import DASHES, Read, Scan, month_at, skip
from memora_cli.text.spans import ALONE, CONTEXT, DAY, PART, Span, date_span, year_span

_TO = frozenset(("to", "till", "until", "through", "thru", "~")) | DASHES
_SINCE = frozenset(("since", "after", "before", "until", "till"))
_THAN = {"later": "after", "newer": "after", "earlier": "before", "older": "before"}
_LOWER = frozenset(("since", "after"))


@dataclass(frozen=True, slots=True)
class Stretch:
    """What an expression means, open on the side that is None, and the index after its last token."""

    start: datetime | None
    end: datetime | None
    grain: str
    evidence: int
    after: int


def expression(scan: Scan, i: int) -> Stretch | None:
    """The longest time expression that begins at token `i`."""
    try:
        return _open(scan, i) or _range(scan, i) or _single(scan, i)
    except (OverflowError, ValueError):
        return None  # a date before year 1 or after 9999


def _single(scan: Scan, i: int) -> Stretch | None:
    read = composed(scan, i)
    if read is None:
        return None
    span, after = read
    found = Stretch(span.start, span.end, span.grain, span.evidence, after)
    words = scan.words
    if words[after] in ("onward", "onwards") or words[after : after + 2] in (("and", "onwards"), ("or", "later")):
        return replace(found, end=None, evidence=ALONE, after=after + (1 if words[after].startswith("on") else 2))
    if words[after : after + 2] in (("or", "earlier"), ("and", "earlier")):
        return replace(found, start=None, evidence=ALONE, after=after + 2)
    return found


def _open(scan: Scan, i: int) -> Stretch | None:
    """ "since X", "after X", "before X", "until X", "from X on", and two of them in a row."""
    words = scan.words
    kind, j = words[i], i + 1
    if kind == "prior" and words[j] == "to":
        kind, j = "before", j + 1
    elif kind == "up" and words[j] in ("to", "until", "till"):
        kind, j = "until", j + 1
    elif kind in ("more", "over", "less", "within") or (kind == "at" and words[j] == "least"):
        return _at_least(scan, i)
    elif kind in ("from", "starting", "as"):
        return _onwards(scan, i)
    elif kind in _THAN and words[j] == "than":
        kind, j = _THAN[kind], j + 1
    elif kind == "ever" and words[j] == "since":
        kind, j = "since", j + 1
    if kind not in _SINCE:
        return None
    read = composed(scan, j)
    if read is None or read[0].evidence == PART:
        return None
    span, after = read
    j = after
    while words[j] in ("and", "but", ","):
        j += 1
    second = composed(scan, j + 1) if words[j] in _SINCE and (words[j] in _LOWER) != (kind in _LOWER) else None
    if second is not None:
        low, high = (span, second[0]) if kind in _LOWER else (second[0], span)
        low_kind, high_kind = (kind, words[j]) if kind in _LOWER else (words[j], kind)
        low, high = _aligned(scan, low, high)
        start, end = _edge(low_kind, low), _edge(high_kind, high)
        if start < end:
            return Stretch(start, end, "range", ALONE, second[1])
    edge = _edge(kind, span)
    return Stretch(edge if kind in _LOWER else None, None if kind in _LOWER else edge, span.grain, ALONE, after)


def _edge(kind: str, span: Span) -> datetime:
    return span.start if kind in ("since", "before") else span.end


def _at_least(scan: Scan, i: int) -> Stretch | None:
    """ "more than two years ago" and "less than a week ago"."""
    words = scan.words
    j = i + 2 if words[i + 1] in ("than", "least") else i + 1
    if words[i] == "more" and j == i + 1:
        return None
    read = distance(scan, j, composed)
    if read is None or words[read[1] - 1] not in ("ago", "back"):
        return None
    if words[i] in ("less", "within"):
        return Stretch(read[0].start, scan.now if scan.now > read[0].start else read[0].end, "range", ALONE, read[1])
    return Stretch(None, read[0].start, read[0].grain, ALONE, read[1])


def _onwards(scan: Scan, i: int) -> Stretch | None:
    j = i + 2 if scan.words[i + 1] in ("from", "of", "in") else i + 1
    read = composed(scan, j)
    if read is None or (scan.words[i] == "as" and scan.words[i + 1] != "of"):
        return None
    after = read[1]
    if scan.words[after] in ("on", "onward", "onwards", "forward") and scan.ends_clause(after + 1):
        return Stretch(read[0].start, None, read[0].grain, ALONE, after + 1)
    return None


def _range(scan: Scan, i: int) -> Stretch | None:
    """ "between X and Y", "from X to Y", "X - Y"; the last whole one not in the future where no year is said."""
    word = scan.words[i]
    if word == "between":
        joins, j = _TO | {"and", "&"}, i + 1
    elif word == "from":
        joins, j = _TO, i + 1
    else:
        joins, j = _TO, i
    days = _day_to_date(scan, j, joins | {"and", "&"})
    if days is not None:
        return days
    first = composed(scan, j)
    if first is None or scan.words[first[1]] not in joins:
        return None
    k = first[1] + 1
    last = _same_month(scan, first[0], k) or _same_century(scan, first[0], k) or composed(scan, k)
    if last is None or (last[0].evidence == PART and first[0].evidence == PART):
        return None
    to_now = scan.words[last[1] - 1] in ("now", "present")
    if scan.words[first[1]] in DASHES and not to_now and first[0].grain != last[0].grain and last[0].evidence < CONTEXT:
        return None
    low, high = _aligned(scan, first[0], last[0])
    if low.start >= high.end or low.start > high.start:
        return None
    return Stretch(low.start, high.end, low.grain if low.grain == high.grain else "range", ALONE, last[1])


def _aligned(scan: Scan, first: Span, last: Span) -> tuple[Span, Span]:
    """Both ends of a range in the same round: the last whole one not in the future where no year is said."""
    if first.repeat is not None and last.repeat is None:
        first = first.repeat.latest(last.start) or first
    elif last.repeat is not None:
        repeat = last.repeat
        last = repeat.first(first.start) or last
        if first.repeat is not None and last.start > scan.today:
            earlier = first.repeat.latest(first.start - DAY)
            if earlier is not None:
                first, last = earlier, repeat.first(earlier.start) or last
    return first, last


def _day_to_date(scan: Scan, i: int, joins: frozenset[str]) -> Stretch | None:
    """ "4-22 January 1995", "from 3 to 12 of Sept", "4 to 22 this month"."""
    first = day_number(scan, skip(scan, i, frozenset(("the",))))
    if first is None or scan.words[first[1]] not in joins:
        return None
    k = skip(scan, first[1] + 1, frozenset(("the",)))
    second = day_number(scan, k)
    if second is None or second[0] <= first[0]:
        return None
    at = second[1]
    month = month_at(scan, skip(scan, at, frozenset(("of", "-"))))
    if month is not None:
        last = calendar_date(scan, k)
    else:
        period = composed(scan, skip(scan, at, frozenset(("of", "in"))))
        day = date_span(period[0].start.year, period[0].start.month, second[0]) if period else None
        last = (day, period[1]) if day and period and period[0].grain == "month" else None
    if last is None or last[0].end - last[0].start != DAY or last[0].start.day != second[0]:
        return None
    start = date_span(last[0].start.year, last[0].start.month, first[0])
    return None if start is None else Stretch(start.start, last[0].end, "day", ALONE, last[1])


def _same_month(scan: Scan, first: Span, i: int) -> Read | None:
    """The "tenth, 2010" of "May eighth - tenth, 2010"."""
    if first.grain != "day" or (first.repeat is not None and first.repeat.unit != "year"):
        return None
    joined = scan.number(i) is not None and scan.glued(i + 1) and scan.words[i + 1] in ("-", "/", ".")
    if joined and calendar_date(scan, i) is not None:
        return None
    day = day_number(scan, skip(scan, i, frozenset(("the",))))
    if day is None or day[0] <= first.start.day or month_at(scan, skip(scan, day[1], frozenset(("of", "-", "/")))):
        return None
    year_after = year_at(scan, skip(scan, day[1], frozenset((",",))))
    last = date_span(year_after[0] if year_after else first.start.year, first.start.month, day[0])
    if last is None:
        return None
    return last, year_after[1] if year_after else day[1]


def _same_century(scan: Scan, first: Span, i: int) -> Read | None:
    """The "45" of "1939-45"."""
    number = scan.number(i)
    if first.grain != "year" or number is None or len(scan.words[i]) != 2 or not scan.glued(i):
        return None
    span = year_span(first.start.year // 100 * 100 + number)
    return (span, i + 1) if span and span.start > first.start else None
