"""Times told by their distance: "two weeks ago", "3 days before May 5", "2 Thursdays back", "-3y"."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from memora_cli.text.date_guards import counted_decimals
from memora_cli.text.date_modifiers import FUZZY, SHORT_UNITS, unit_at
from memora_cli.text.date_words import (
    DASHES,
    PLURAL_WEEKDAYS,
    WEEKDAYS,
    Read,
    Reader,
    Scan,
    read_of,
    skip,
)
from memora_cli.text.numerals import cardinal
from memora_cli.text.spans import (
    ALONE,
    DAY,
    MONTHS_IN,
    PART,
    Span,
    day_of,
    day_span,
    mapped,
    shift,
    unit_span,
    unit_start,
)

_AGO = frozenset(("ago", "back", "earlier", "prior"))
_AHEAD = frozenset(("hence", "ahead"))
_TODAY = frozenset(("today",))
_JOINS = frozenset((",", "and", "&"))
_SIZES = (
    "second",
    "minute",
    "hour",
    "day",
    "weekend",
    "week",
    "fortnight",
    "month",
    "quarter",
    "season",
    "year",
    "decade",
    "century",
)


@dataclass(frozen=True, slots=True)
class _Distance:
    """A length of time in calendar parts; `unit` is the smallest it was said in."""

    months: int = 0
    days: int = 0
    minutes: int = 0
    unit: str = "century"

    def __add__(self, other: _Distance) -> _Distance:
        unit = min(self.unit, other.unit, key=_SIZES.index)
        return _Distance(self.months + other.months, self.days + other.days, self.minutes + other.minutes, unit)

    def __neg__(self) -> _Distance:
        return _Distance(-self.months, -self.days, -self.minutes, self.unit)

    def moved(self, moment: datetime) -> datetime:
        """The day or moment at this distance after `moment`, by the calendar."""
        return shift(moment, "month", self.months) + timedelta(days=self.days, minutes=self.minutes)


def _distance(count: float, unit: str) -> _Distance:
    if unit in MONTHS_IN:
        months = count * MONTHS_IN[unit]
        return _Distance(int(months), round(30 * (months - int(months))), 0, unit)
    if unit in SHORT_UNITS:
        return _Distance(0, 0, max(1, round(count * SHORT_UNITS[unit])), unit)
    days = count * {"week": 7, "fortnight": 14, "weekend": 7}.get(unit, 1)
    return _Distance(0, round(days), 0, unit)


def _quantity(scan: Scan, i: int) -> tuple[float, int] | None:
    """A number before a unit: "2", "1.5", "a", "half a", "a couple of", "a few"."""
    words = scan.words
    if words[i] == "half" and words[i + 1] in ("a", "an"):
        return 0.5, i + 2
    if words[i] in ("a", "an", "the") and words[i + 1] == "half":
        return 0.5, i + 2
    if words[i] in ("a", "an"):
        if words[i + 1] in FUZZY:
            return float(FUZZY[words[i + 1]]), skip(scan, i + 2, frozenset(("of",)))
        return 1.0, i + 1
    if words[i] in FUZZY:
        return float(FUZZY[words[i]]), skip(scan, i + 1, frozenset(("of",)))
    read = cardinal(words, i)
    if read is None:
        return None
    value, j = float(read[0]), read[1]
    if words[j] == "." and scan.glued(j) and scan.glued(j + 1) and scan.number(j + 1) is not None:
        value, j = float(f"{read[0]}.{int(words[j + 1])}"), j + 2
    if words[j : j + 3] == ("and", "a", "half"):
        return value + 0.5, j + 3
    return value, j


def _length(scan: Scan, i: int) -> tuple[_Distance, int] | None:
    """One or more quantities with their units: "2 years, 1 month and 21 days", "2hr5min", "a year and a half"."""
    whole: _Distance | None = None
    j = i
    while True:
        k = skip(scan, j, _JOINS) if whole else j
        quantity = _quantity(scan, k)
        unit = unit_at(scan, quantity[1]) if quantity else None
        if quantity is None or unit is None:
            return (whole, j) if whole else None
        count, j = quantity[0], unit[1]
        if scan.words[j] == "." and scan.words[j + 1] in _AGO and len(scan.words[j - 1]) < 5:
            j += 1  # "20 min. ago"
        if scan.words[j : j + 3] == ("and", "a", "half"):
            count, j = count + 0.5, j + 3
        part = _distance(count, unit[0])
        whole = whole + part if whole else part


def _at(scan: Scan, distance: _Distance, day: datetime | None = None) -> Span:
    """The day at a distance from today (or `day`); the hour when the distance is of hours or minutes."""
    if distance.minutes and day is None:
        moved = (scan.instant.astimezone(UTC) + timedelta(minutes=distance.minutes)).astimezone(scan.instant.tzinfo)
        hour = _Distance(distance.months, distance.days).moved(
            moved.replace(tzinfo=None, minute=0, second=0, microsecond=0)
        )
        return Span(hour, hour + timedelta(hours=1), "hour")
    start = day_of(distance.moved(day or scan.today))
    return day_span(start, distance.unit)


def distance(scan: Scan, i: int, inner: Reader) -> Read | None:
    """ "two weeks ago", "2 Thursdays back", "2-3 weeks ago", "a week before yesterday", "3 days from now"."""
    words = scan.words
    weekdays = _weekdays_ago(scan, i)
    if weekdays is not None:
        return weekdays
    if scan.number(i) is not None and i > 0 and scan.glued(i) and counted_decimals(scan, i, i):
        return None
    unit = unit_at(scan, i)
    if unit is not None and words[unit[1]] == "ago" and not words[i].endswith("s"):
        return _at(scan, -_distance(1, unit[0])), unit[1] + 1
    span_of_counts = _between_counts(scan, i)
    if span_of_counts is not None:
        return span_of_counts
    ahead = i + 1 if words[i] == "in" else i
    length = _length(scan, ahead)
    if length is None:
        return None
    far, j = length
    if ahead > i:
        # "I read it in 3 days" is no date, so this stands for itself only.
        j += words[j : j + 1] == ("time",)
        return (_at(scan, far), j) if words[j - 1] == "time" or scan.whole(i, j) else None
    if far.unit == "weekend" and words[j] in ("ago", "back") and far.days % 7 == 0:
        return unit_span(scan.today, "weekend", -far.days // 7), j + 1
    if words[j] in _AGO:
        if words[j] == "back" and words[j + 1] in ("home", "in", "at", "pain", "to"):
            return None
        if words[j] == "prior" and words[j + 1] == "to":
            return _from(scan, -far, j + 2, inner)
        if words[j] in ("earlier", "prior") and not scan.ends_clause(j + 1):
            return None
        return _at(scan, -far), skip(scan, j + 1, _TODAY)
    if words[j] in _AHEAD:
        return _at(scan, far), j + 1
    if words[j] == "before" and scan.ends_clause(j + 1):
        return _at(scan, -far), j + 1
    if words[j] == "before":
        return _from(scan, -far, j + 1, inner)
    if words[j] in ("after", "from", "since", "following"):
        return _from(scan, far, j + 1, inner)
    return None


def _from(scan: Scan, far: _Distance, i: int, inner: Reader) -> Read | None:
    if scan.words[i] == "now":
        return _at(scan, far), i + 1
    read = inner(scan, i)
    if read is None:
        return None
    return replace(_at(scan, far, read[0].start), evidence=ALONE), read[1]


def _weekdays_ago(scan: Scan, i: int) -> Read | None:
    quantity = _quantity(scan, i)
    if quantity is None or not 1 <= quantity[0] < 1000:
        return None
    word = scan.words[quantity[1]]
    weekday = PLURAL_WEEKDAYS.get(word, WEEKDAYS.get(word))
    if weekday is None or scan.words[quantity[1] + 1] not in ("ago", "back"):
        return None
    back = (scan.today.weekday() - weekday - 1) % 7 + 1 + 7 * (int(quantity[0]) - 1)
    return day_span(scan.today - timedelta(days=back)), quantity[1] + 2


def _between_counts(scan: Scan, i: int) -> Read | None:
    """ "2-3 weeks ago", "two or three months ago": from the farther to the nearer."""
    first = cardinal(scan.words, i)
    if first is None or scan.words[first[1]] not in ("-", "–", "to", "or"):
        return None
    second = cardinal(scan.words, first[1] + 1)
    unit = unit_at(scan, second[1]) if second else None
    if second is None or unit is None or scan.words[unit[1]] not in ("ago", "back"):
        return None
    near, far = sorted((first[0], second[0]))
    start, end = _at(scan, -_distance(far, unit[0])).start, _at(scan, -_distance(near, unit[0])).end
    return Span(start, end, unit[0]), unit[1] + 1


def neighbour(scan: Scan, i: int, inner: Reader) -> Read | None:
    """ "the day before yesterday", "the week after Christmas", "the month before last", "the day before"."""
    words = scan.words
    if words[i] == "the" and (words[i + 1] in WEEKDAYS or unit_at(scan, i + 1)):
        i += 1
    if words[i] in WEEKDAYS and words[i + 1] in ("before", "after"):
        return _weekday_beyond(scan, i, inner)
    unit = unit_at(scan, i)
    if unit is None or words[unit[1]] not in ("before", "after") or unit[0] in SHORT_UNITS:
        return None
    name, j = unit
    step = -1 if words[j] == "before" else 1
    if words[j + 1] == ("last" if step < 0 else "next"):
        return unit_span(scan.today, name, 2 * step, 1, scan.week_start), j + 2
    read = inner(scan, j + 1)
    if read is None:
        known = step < 0 and scan.ends_clause(j + 1) and name in ("day", "week", "month", "year")
        return (unit_span(scan.today, name, -1, 1, scan.week_start), j + 1) if known else None
    anchor = read[0]
    if anchor.grain == name or (name in MONTHS_IN and unit_start(anchor.start, name) == anchor.start):
        return unit_span(anchor.start, name, step, 1, scan.week_start), read[1]
    if name in MONTHS_IN:
        return unit_span(anchor.start, name, step), read[1]
    size = shift(DAY + datetime.min, name, 1) - (datetime.min + DAY)
    start = anchor.start - size if step < 0 else anchor.end
    return Span(day_of(start), day_of(start) + size, name), read[1]


def _weekday_beyond(scan: Scan, i: int, inner: Reader) -> Read | None:
    """ "the Friday before last", "the Friday before Christmas", "the Monday after 5 May"."""
    weekday = WEEKDAYS[scan.words[i]]
    before = scan.words[i + 1] == "before"
    if scan.words[i + 2] != ("last" if before else "next") or not scan.ends_clause(i + 3):
        read = inner(scan, i + 2)
        if read is None or read[0].evidence == PART:
            return None

        def beyond(anchor: Span) -> Span:
            if before:
                return day_span(anchor.start - timedelta(days=(anchor.start.weekday() - weekday - 1) % 7 + 1))
            return day_span(anchor.end + timedelta(days=(weekday - anchor.end.weekday()) % 7))

        return read_of(mapped(read[0], beyond), read[1])
    back, ahead = (scan.today.weekday() - weekday - 1) % 7 + 8, (weekday - scan.today.weekday() - 1) % 7 + 8
    return day_span(scan.today + timedelta(days=-back if before else ahead)), i + 3


def signed(scan: Scan, i: int, day: datetime | None = None) -> Read | None:
    """ "-3y", "-1 decade +2 years" after a date or as the whole text, where "1 decade 12 months" counts back too."""
    words = scan.words
    far: _Distance | None = None
    sign, j = -1, i
    while True:
        k = j
        if words[k] in DASHES or words[k] == "+":
            sign, k = (1 if words[k] == "+" else -1), k + 1
        elif day is not None and far is None:
            return None
        length = _length(scan, k) if scan.number(k) is not None else None
        if length is None:
            break
        part = length[0] if sign > 0 else -length[0]
        far, j = (far + part if far else part), length[1]
    if far is None or (day is None and not scan.whole(i, j)):
        return None
    return replace(_at(scan, far, day), evidence=ALONE if day is None else PART), j
