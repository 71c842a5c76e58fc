"""Holidays by name: those of a fixed day, of a weekday in a month, of Easter, and of the Islamic calendar."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta

from memora_cli.text.spans import DAY, Repeat, Span, date_span, day_span, nth_weekday, shift

_FIXED = {
    "new year": (1, 1),
    "new year day": (1, 1),
    "epiphany": (1, 6),
    "inauguration day": (1, 20),
    "australia day": (1, 26),
    "groundhog day": (2, 2),
    "valentine": (2, 14),
    "valentine day": (2, 14),
    "women day": (3, 8),
    "pi day": (3, 14),
    "white day": (3, 14),
    "patrick day": (3, 17),
    "april fool": (4, 1),
    "april fool day": (4, 1),
    "earth day": (4, 22),
    "george day": (4, 23),
    "anzac day": (4, 25),
    "may day": (5, 1),
    "worker day": (5, 1),
    "cinco de mayo": (5, 5),
    "children day": (6, 1),
    "juneteenth": (6, 19),
    "canada day": (7, 1),
    "independence day": (7, 4),
    "bastille day": (7, 14),
    "teacher day": (9, 10),
    "halloween": (10, 31),
    "halloween day": (10, 31),
    "all hallow eve": (10, 31),
    "all saint day": (11, 1),
    "all hallow day": (11, 1),
    "all soul day": (11, 2),
    "guy fawkes day": (11, 5),
    "guy fawkes night": (11, 5),
    "bonfire night": (11, 5),
    "veteran day": (11, 11),
    "remembrance day": (11, 11),
    "armistice day": (11, 11),
    "single day": (11, 11),
    "christmas eve": (12, 24),
    "xmas eve": (12, 24),
    "christmas": (12, 25),
    "christmas day": (12, 25),
    "xmas": (12, 25),
    "xmas day": (12, 25),
    "boxing day": (12, 26),
    "new year eve": (12, 31),
    "nye": (12, 31),
}

# Month, weekday (0 is Monday), which one in the month, days after it.
_FLOATING = {
    "martin luther king day": (1, 0, 3, 0),
    "martin luther king jr day": (1, 0, 3, 0),
    "mlk day": (1, 0, 3, 0),
    "president day": (2, 0, 3, 0),
    "washington birthday": (2, 0, 3, 0),
    "arbor day": (4, 4, -1, 0),
    "mother day": (5, 6, 2, 0),
    "mothering sunday": (5, 6, 2, 0),
    "memorial day": (5, 0, -1, 0),
    "father day": (6, 6, 3, 0),
    "labor day": (9, 0, 1, 0),
    "labour day": (9, 0, 1, 0),
    "columbus day": (10, 0, 2, 0),
    "indigenous people day": (10, 0, 2, 0),
    "thanksgiving": (11, 3, 4, 0),
    "thanksgiving day": (11, 3, 4, 0),
    "black friday": (11, 3, 4, 1),
    "cyber monday": (11, 3, 4, 4),
    "giving tuesday": (11, 3, 4, 5),
}

# Days after Easter Sunday.
_EASTER = {
    "shrove tuesday": -47,
    "fat tuesday": -47,
    "pancake day": -47,
    "mardi gra": -47,
    "ash wednesday": -46,
    "palm sunday": -7,
    "maundy thursday": -3,
    "holy thursday": -3,
    "good friday": -2,
    "holy saturday": -1,
    "easter saturday": -1,
    "easter": 0,
    "easter day": 0,
    "easter sunday": 0,
    "easter monday": 1,
    "ascension day": 39,
    "ascension thursday": 39,
    "whit sunday": 49,
    "pentecost": 49,
    "whit monday": 50,
    "pentecost monday": 50,
    "trinity sunday": 56,
    "corpus christi": 60,
}

# Month and day of the Islamic year, length in days.
_ISLAMIC = {
    "islamic new year": (1, 1, 1),
    "ashura": (1, 10, 1),
    "mawlid": (3, 12, 1),
    "ramadan": (9, 1, 30),
    "eid al fitr": (10, 1, 1),
    "eid ul fitr": (10, 1, 1),
    "eid al adha": (12, 10, 1),
    "eid ul adha": (12, 10, 1),
    "sacrifice feast": (12, 10, 1),
}


def easter(year: int) -> datetime:
    """Easter Sunday of a year, by the Gregorian calendar."""
    a, b, c = year % 19, year // 100, year % 100
    h = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    w = (32 + 2 * (b % 4) + 2 * (c // 4) - h - c % 4) % 7
    m = (a + 11 * h + 22 * w) // 451
    month, day = divmod(h + w - 7 * m + 114, 31)
    return datetime(year, month, day + 1)


def islamic_day(year: int, month: int, day: int) -> date:
    """A day of the tabular Islamic calendar; the sighted moon may differ by a day."""
    days = day + (59 * (month - 1) + 1) // 2 + (year - 1) * 354 + (3 + 11 * year) // 30
    return date.fromordinal(days + 227013)


def with_weekend(day: Span) -> Span:
    """The weekend a holiday lengthens: the one before a Monday or Tuesday, the one after any other day."""
    weekday = day.start.weekday()
    saturday = day.start + timedelta(days=(-weekday - 2 if weekday < 2 else 5 - weekday))
    return Span(min(saturday, day.start), max(saturday + 2 * DAY, day.end), "weekend")


def holiday_at(words: Sequence[str], i: int) -> tuple[Repeat, int] | None:
    """The holiday named at `i`, as often as it comes round, and the index after its name."""
    names = _BY_FIRST_WORD.get(_stem(words[i]))
    if names is None:
        return None
    for name in names:
        j = _end_of(words, i, name)
        if j is not None:
            return Repeat("year", _MAKERS[name]), j
    return None


_Maker = Callable[[datetime], Span | None]


def _fixed(month: int, day: int) -> _Maker:
    return lambda start: date_span(start.year, month, day)


def _floating(month: int, weekday: int, count: int, after: int) -> _Maker:
    def within(start: datetime) -> Span | None:
        first = datetime(start.year, month, 1)
        found = nth_weekday(Span(first, shift(first, "month", 1), "month"), weekday, count)
        return found and day_span(found.start + timedelta(days=after))

    return within


def _of_easter(days: int) -> _Maker:
    return lambda start: day_span(easter(start.year) + timedelta(days=days))


def _islamic(month: int, day: int, length: int) -> _Maker:
    def within(start: datetime) -> Span | None:
        # An Islamic year is 11 days shorter, so one of these three begins the day in the year asked for.
        guess = (start.year - 622) * 33 // 32
        for year in (guess, guess + 1, guess + 2):
            if year > 0 and islamic_day(year, month, day).year == start.year:
                found = datetime.combine(islamic_day(year, month, day), datetime.min.time())
                return Span(found, found + timedelta(days=length), "day" if length == 1 else "month")
        return None

    return within


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and word not in ("christmas", "xmas") else word


def _end_of(words: Sequence[str], i: int, name: str) -> int | None:
    for part in name.split():
        if words[i] == "-":
            i += 1
        if _stem(words[i]) != part:
            return None
        i += 1
    return i


_MAKERS: dict[str, _Maker] = {
    **{name: _fixed(*rule) for name, rule in _FIXED.items()},
    **{name: _floating(*rule) for name, rule in _FLOATING.items()},
    **{name: _of_easter(days) for name, days in _EASTER.items()},
    **{name: _islamic(*rule) for name, rule in _ISLAMIC.items()},
}
_MAKERS |= {f"{saint} {name}": _MAKERS[name] for saint in ("st", "saint") for name in ("patrick day", "george day")}
_MAKERS |= {f"international {name}": _MAKERS[name] for name in ("women day", "worker day", "children day")}
_MAKERS |= {f"us {name}": _MAKERS[name] for name in ("independence day", "thanksgiving")}

_BY_FIRST_WORD: dict[str, list[str]] = {}
for _name in sorted(_MAKERS, key=lambda name: -len(name)):
    _BY_FIRST_WORD.setdefault(_name.split()[0], []).append(_name)

HOLIDAY_WORDS = frozenset(_BY_FIRST_WORD) | {f"{word}s" for word in _BY_FIRST_WORD}
"""Every word that can open a holiday's name."""
