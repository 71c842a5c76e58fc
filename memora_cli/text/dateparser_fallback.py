"""Single dates that the rules do not know, read by dateparser; guarded, because it takes many words for dates."""

from __future__ import annotations

import re
from datetime import datetime

from memora_cli.text.date_words import MONTHS, Scan
from memora_cli.text.spans import DAY, FIRST_YEAR, LAST_YEAR, day_of
from memora_cli.values import Window

_MONTH = "(?:" + "|".join(sorted(MONTHS, key=len, reverse=True)) + ")"
# A month, a day and a year together, three numbers joined as a date, or a number of units counted back. What the
# rules left alone on purpose ("you may 2 times") must not come back here.
_PLAUSIBLE = re.compile(
    rf"(?<!\w)(?=.{{0,20}}?\b{_MONTH}\b)(?=.{{0,20}}?(?<!\d)\d{{1,2}}(?!\d))\w.{{0,20}}?(?<!\d)\d{{4}}(?!\d)"
    r"|(?<![\w.])\d{1,4}(?P<mark>[-/])\d{1,2}(?P=mark)\d{1,4}(?![\w.])"
    r"|\d\W{0,2}(?:days?|weeks?|months?|years?|yrs?|hours?|hrs?|minutes?|mins?)\W.{0,12}\bago\b",
    re.IGNORECASE,
)
_LONGEST = 400


def dateparser_windows(scan: Scan) -> tuple[Window, ...]:
    """The single days that dateparser finds in a text that plausibly holds one; none in any other text."""
    hint = _PLAUSIBLE.search(scan.text[:_LONGEST])
    if hint is None:
        return ()
    from dateparser.search import search_dates  # slow to import, seldom needed

    settings = {
        "RELATIVE_BASE": scan.now,
        "PREFER_DATES_FROM": "past",
        "TIMEZONE": "UTC",
        "RETURN_AS_TIMEZONE_AWARE": False,
    }
    try:
        found = search_dates(scan.text[:_LONGEST], languages=["en"], settings=settings)
    except Exception:  # whatever dateparser trips over, the text holds no date we can read
        return ()
    windows = []
    place = 0
    for words, moment, *_ in found or ():
        start = scan.text.find(words, place)
        if start < 0 or not _PLAUSIBLE.search(words):
            continue
        place = start + len(words)
        if FIRST_YEAR <= moment.year <= LAST_YEAR:
            windows.append(_day(moment, scan, words))
    return tuple(windows)


def _day(moment: datetime, scan: Scan, words: str) -> Window:
    start = day_of(moment.replace(tzinfo=None))
    zone = scan.instant.tzinfo
    return Window(start.replace(tzinfo=zone), (start + DAY).replace(tzinfo=zone), words, "day")
