"""Which day a week begins on, where a locale is from."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SATURDAY = "AE AF BH DJ DZ EG IQ IR JO KW LY OM QA SD SY"
_SUNDAY = (
    "AG AS BD BR BS BT BW BZ CA CO DM DO ET GT GU HK HN ID IL IN JM JP KE KH KR LA MH MM MO MT MX MZ NI NP PA "
    "PE PH PK PR PT PY SA SG SV TH TT TW UM US VE VI WS YE ZA ZW"
)
_FIRST_DAYS: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(_SATURDAY.split(), "saturday") | dict.fromkeys(_SUNDAY.split(), "sunday") | {"MV": "friday"}
)
"""First days of the week by territory where it is not Monday, from the week data of Unicode's CLDR."""


def first_weekday(setting: str, locale_name: str) -> int:
    """The first day of the week, 0 for Monday to 6: as set, or for "locale" as where the locale is from.

    A locale such as "en_US.UTF-8" names its territory; weeks of one that names none begin on Monday.
    """
    if setting == "locale":
        territory = locale_name.partition(".")[0].partition("@")[0].partition("_")[2]
        setting = _FIRST_DAYS.get(territory, "monday")
    return WEEKDAYS.index(setting)
