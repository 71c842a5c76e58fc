"""The words that dates are made of, and a text cut into them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from memora_cli.text.numerals import ONES, ORDINALS, TENS, digits
from memora_cli.text.spans import Span, day_of


def word_set(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


def _numbered(text: str, first: int) -> dict[str, int]:
    return {name: number for number, name in enumerate(text.split(), first)}


_LONG_MONTHS = _numbered("january february march april may june july august september october november december", 1)
_SHORT_MONTHS = _numbered("jan feb mar apr may jun jul aug sep oct nov dec", 1) | {"sept": 9, "febr": 2}
MONTHS = _LONG_MONTHS | _SHORT_MONTHS
SHORT_MONTHS = frozenset(_SHORT_MONTHS) - frozenset(_LONG_MONTHS)

_LONG_WEEKDAYS = _numbered("monday tuesday wednesday thursday friday saturday sunday", 0)
_SHORT_WEEKDAYS = _numbered("mon tue wed thu fri sat sun", 0)
WEEKDAYS = _LONG_WEEKDAYS | _SHORT_WEEKDAYS | {"tues": 1, "weds": 2, "thur": 3, "thurs": 3}
PLURAL_WEEKDAYS = {f"{name}s": number for name, number in _LONG_WEEKDAYS.items()}

UNITS = {"day": "day", "wk": "week", "mth": "month", "qtr": "quarter", "yr": "year", "hr": "hour"}
UNITS |= {name: name for name in ("week", "fortnight", "month", "quarter", "season", "year", "decade", "weekend")}
UNITS |= {"min": "minute", "sec": "second", "hour": "hour", "minute": "minute", "second": "second"}
UNITS |= {f"{name}s": unit for name, unit in UNITS.items()}
UNITS |= {"century": "century", "centuries": "century"}
# Count only right after a digit ("2y ago"), and "mo" wherever a number stands before it.
GLUED_UNITS = {"d": "day", "w": "week", "mo": "month", "mos": "month", "y": "year", "h": "hour", "m": "minute"}

SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
DECADES = {word[:-1] + "ies": value for word, value in TENS.items()}

PAST = frozenset(("last", "previous", "past", "prior", "preceding"))
PRESENT = frozenset(("this", "current", "present"))
FUTURE = frozenset(("next", "coming", "upcoming", "following"))

DASHES = frozenset("-–—")
PREPOSITIONS = word_set(
    """
    in on during by for of from around circa throughout through within over until till since before after
    between per around into
    """
)
PRONOUNS = word_set("i we you he she it they that which who this")
FUNCTION_WORDS = PREPOSITIONS | word_set(
    """
    a an the and or but so if then than when while that which who whom what where why how at to with without as i we
    you he she it they me us him her them is are was were be been will would can could did do does had has have not
    my our your his its their about because
    """
)

_TOKEN = re.compile(r"\d+(?:st|nd|rd|th)(?![^\W\d_])|\d+|[^\W\d_]+(?:['’](?:[^\W\d_]+)?)?|[^\s]", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s?$")
_CLAUSE_MARKS = frozenset((".", ",", ";", ":", "!", "?", ")", "]", "…", '"', "”", "'", "’", ""))
_COMMA = frozenset((",",))
_AT = frozenset(("at", "@", "around"))
_HALVES = frozenset(("am", "pm", "o'clock", "oclock"))
_BLANKS = 8


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number or mark of a text: lower case without a possessive ending, and where it stands."""

    word: str
    start: int
    end: int
    glued: bool
    capital: bool
    possessive: bool


Read = tuple[Span, int]
"""A span and the index after its last token."""


@dataclass(slots=True)
class Memo:
    """What was read at each place so far, and how deep the reading is; the one thing of a scan that changes."""

    reads: dict[tuple[str, int], Read | None] = field(default_factory=dict)
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Scan:
    """A text cut into tokens, and the clock it is read against. `words` has blanks at its end to look ahead into."""

    text: str
    tokens: tuple[Token, ...]
    words: tuple[str, ...]
    now: datetime
    instant: datetime
    week_start: int
    memo: Memo = field(default_factory=Memo, compare=False)

    @property
    def today(self) -> datetime:
        """Local midnight of the day of asking, without zone."""
        return day_of(self.now)

    @property
    def count(self) -> int:
        """The number of tokens."""
        return len(self.tokens)

    def number(self, i: int) -> int | None:
        """The value of the digits at `i`, else None."""
        return digits(self.words[i])

    def glued(self, i: int) -> bool:
        """Whether no space stands before token `i`."""
        return i < len(self.tokens) and self.tokens[i].glued

    def capital(self, i: int) -> bool:
        """Whether token `i` is written with a capital."""
        return i < len(self.tokens) and self.tokens[i].capital

    def ends_clause(self, i: int) -> bool:
        """Whether the text or a part of its sentence ends before token `i`."""
        return self.words[i] in _CLAUSE_MARKS

    def before(self, i: int) -> str:
        """The word before token `i`, empty at the start."""
        return self.words[i - 1] if i > 0 else ""

    def index_at(self, offset: int) -> int:
        """The index of the first token that starts at or after a place in the text."""
        return bisect_left(self.tokens, offset, key=lambda token: token.start)

    def whole(self, i: int, j: int) -> bool:
        """Whether tokens `i` to `j` are all of the text, marks apart."""
        return not any(word.isalnum() for word in (*self.words[:i], *self.words[j : self.count]))


Reader = Callable[[Scan, int], Read | None]


def scan_text(text: str, at: datetime, week_start: int) -> Scan:
    """The text cut into tokens, read at `at`, an aware time."""
    tokens = []
    end = -1
    for match in _TOKEN.finditer(text):
        raw = match.group()
        word = _POSSESSIVE.sub("", raw.lower()) or raw
        tokens.append(
            Token(word, match.start(), match.end(), match.start() == end, raw[0].isupper(), word != raw.lower())
        )
        end = match.end()
    words = (*(token.word for token in tokens), *[""] * _BLANKS)
    return Scan(text, tuple(tokens), words, at.replace(tzinfo=None), at, week_start)


def read_of(span: Span | None, after: int) -> Read | None:
    """The read of a span that may have turned out not to be one."""
    return None if span is None else (span, after)


def month_at(scan: Scan, i: int) -> tuple[int, int] | None:
    """The number of the month named at `i` and the index after it."""
    number = MONTHS.get(scan.words[i])
    return None if number is None else (number, i + 1)


def skip(scan: Scan, i: int, words: frozenset[str]) -> int:
    """The index after the word at `i` if it is one of `words`, else `i`."""
    return i + 1 if scan.words[i] in words else i


def is_clock(scan: Scan, i: int) -> bool:
    """Whether the number at `i` is a time of day ("5 pm", "10:30", "5 o'clock")."""
    following = scan.words[i + 1]
    if following in ("am", "pm", "o'clock", "oclock", "hours", "hrs"):
        return True
    if following in ("a", "p") and scan.words[i + 2] == "." and scan.words[i + 3] == "m":
        return True
    return following == ":" and scan.glued(i + 1) and scan.number(i + 2) is not None


def after_clock(scan: Scan, i: int) -> int:
    """The index after the time of day at `i` ("at 5 pm", ", 10:30"), `i` when there is none."""
    words = scan.words
    k = skip(scan, skip(scan, i, _COMMA), _AT)
    if scan.number(k) is None or not is_clock(scan, k):
        return i
    k += 1
    while words[k] == ":" and scan.number(k + 1) is not None and scan.glued(k + 1):
        k += 2
    if words[k] in ("a", "p") and words[k + 1 : k + 3] == (".", "m"):
        return k + 4 if words[k + 3] == "." else k + 3
    return skip(scan, k, _HALVES)


NUMBER_WORDS = frozenset(ONES) | frozenset(TENS) | frozenset(ORDINALS)

_OTHER_OPENINGS = word_set(
    """
    the a an in half couple few several dozen early earlier mid late later beginning start middle end close final
    today yesterday yday tomorrow tomorow tmr tmrw tonight now at right just as till to same morning afternoon evening
    night q h year calendar fiscal cy fy week wk cw kw w ytd mtd qtd wtd rest remainder bom eom boy eoy eoq eow
    since after before until prior up more over less within from starting ever newer older between sometime
    """
)
OPENING_WORDS = _OTHER_OPENINGS.union(MONTHS, WEEKDAYS, UNITS, SEASONS, DECADES, PAST, PRESENT, FUTURE)
"""Every word that can open a time expression, holidays and numbers apart."""
