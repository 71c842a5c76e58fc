"""The date a note states about itself: "On 3 May 2024 we …", "Yesterday Anna called", "2024-05-03: standup"."""

from __future__ import annotations

import re
from datetime import datetime

from memora_cli.text.dates import find_windows
from memora_cli.values import Window

# Marks of headings, lists and labels, and the words that may stand before a date that opens a note.
_LEAD = re.compile(r"(?:[\s#>*_\-\[(\"“]|(?:date|when|day|on|in|during|back in|it was|earlier)\b:?)*", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])(?<!\d\.)(?<!\b[A-Z][a-z]{2}\.)\s+|\n")
_YEAR = re.compile(r"\b\d{4}\b")
_DAY = re.compile(r"\d{1,2}|\b[a-z]+(?:st|nd|rd|th)\b", re.IGNORECASE)
_NEAR = re.compile(
    r"(?:today|yesterday|tonight|tomorrow|this (?:morning|afternoon|evening|week|month|weekend)"
    r"|(?:the )?(?:last|past|previous|this past) \w+|the day before yesterday"
    r"|(?:\w+ ){1,4}ago)\b(?:[ ,]+(?:at|in the)? ?[\w:.]+)?",
    re.IGNORECASE,
)
_LATE_NEAR = re.compile(
    r"today|yesterday|this (?:morning|afternoon|evening)|last (?:night|\w+day|weekend)",
    re.IGNORECASE,
)
_ON = re.compile(r"\bon\s+(?:the\s+)?(?:\w+day,?\s+)?$", re.IGNORECASE)
_IN = re.compile(r"\b(?:in|during)\s+(?:the\s+)?$", re.IGNORECASE)
# Before "on <date>" these tell of a term, a plan, or the birth of something else.
_NOT_THE_NOTE = re.compile(
    r"\b(?:by|until|till|before|after|since|from|due|deadline|expires?|expired|expiry|valid|born|birthday|dob|founded"
    r"|established|released?|published|scheduled|planned|will|plans?|starts?|starting|version|copyright|dated)\W+"
    r"(?:\w+\W+){0,3}$",
    re.IGNORECASE,
)
_LONGEST = 300
_PERIODS = frozenset(("month", "year", "season", "quarter"))


def stated_date(text: str, at: datetime, *, week_start: int = 0) -> Window | None:
    """The time a note says it happened, None when it states none clearly; `at` is when it was written, with its zone.

    A date with its year that opens the text, or that its first sentence tells "on", not ahead and the only one;
    "Yesterday", "Last Friday" and their like when they open it or end its one sentence. Never an open range, and never
    from a question.
    """
    sentence = _first_sentence(text)
    if not sentence or sentence.rstrip().endswith("?"):
        return None
    found = find_windows(sentence, at, week_start=week_start)
    windows = [window for window in found if window.start is not None and window.end is not None]
    if not windows:
        return None
    window = windows[0]
    place = sentence.find(window.text)
    lead = _LEAD.match(sentence)
    opens = lead is not None and place <= lead.end()
    if opens and (_is_full(window) or _NEAR.fullmatch(window.text) or _is_said_period(window, sentence[:place])):
        return window
    if len(windows) > 1:
        return None
    told = _is_told(window, sentence[:place], at) or _ends_with_near(window, sentence, text)
    return window if told else None


def _first_sentence(text: str) -> str:
    head = text.lstrip("\ufeff \t\r\n")[:_LONGEST]
    return _SENTENCE.split(head, maxsplit=1)[0]


def _is_full(window: Window) -> bool:
    """Whether a day is said with its year."""
    year = _YEAR.search(window.text)
    if year is None:
        return re.fullmatch(r"(?:19|20)\d{6}", window.text) is not None
    rest = window.text[: year.start()] + window.text[year.end() :]
    return window.grain in ("day", "hour") and _DAY.search(rest) is not None


def _is_said_period(window: Window, before: str) -> bool:
    """ "In June 2023 we moved", "In 2019, I …": a period with its year, said as a time and not as a title."""
    said = _IN.search(before) is not None
    return said and window.grain in _PERIODS and _YEAR.search(window.text) is not None


def _is_told(window: Window, before: str, at: datetime) -> bool:
    on = _ON.search(before)
    if on is None or not _is_full(window) or window.start is None or window.start > at:
        return False
    return _NOT_THE_NOTE.search(before[: on.start()]) is None


def _ends_with_near(window: Window, sentence: str, text: str) -> bool:
    alone = text.strip(" \n.!") == sentence.strip(" \n.!")
    at_end = sentence.rstrip(" .!").endswith(window.text.rstrip("."))
    return alone and at_end and _LATE_NEAR.match(window.text) is not None
