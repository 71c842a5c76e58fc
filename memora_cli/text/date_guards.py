"""What tells a date from a word or number that only looks like one ("may I", "room 2019", "she sat")."""

from __future__ import annotations

from memora_cli.text.date_words import FUNCTION_WORDS, MONTHS, PREPOSITIONS, SHORT_MONTHS, WEEKDAYS, Scan, word_set
from memora_cli.text.spans import ALONE, CONTEXT, PART

# What follows the verb "may".
_AFTER_VERB = word_set(
    """
    i we you he she it they be have has not also well need want take contain include cause seem help never still or
    get go make come use even result only then there this that these those lead require
    """
)
_NAMES_TOO = frozenset(("april", "june"))
_BEFORE_NAMES = word_set(
    """
    did does do is was has and with to tell told ask asked saw see met meet about call called help helped dear hi
    hello thanks thank aunt miss mrs ms dr for by between
    """
)
_AFTER_NAMES = word_set(
    """
    said says say told asked is was has had went likes like loves wants wanted thinks and or called calls wrote will
    would can could did does knows gave
    """
)
_COUNTED = word_set(
    """
    % percent people persons users men women children kids years days hours minutes seconds weeks months km kms mi
    miles mile meters metres m cm mm feet ft kg kgs g lbs pounds dollars usd euros eur gbp yen calories kcal steps
    words pages points px mb gb kb tb items units pieces copies times rows lines files notes photos watts volts rpm
    hz mhz ml liters litres degrees euro dollar pound shares votes seats employees members students records
    """
)
_NUMBERED = word_set(
    """
    room error port version v page line no number nr code id issue pr ticket flight model case chapter section item
    build route highway apt suite bus order iso rfc pin extension ext address building unit gate platform bug commit
    step size part type level figure fig table at exactly only about approximately roughly nearly almost costs cost
    paid pay worth than # $ € £ ¥ + * / \\ = _ @ ~ < >
    """
)
_BEFORE_DAY_MONTH = word_set("on since until till by from before after of for to between and")
_OWNERS = frozenset(("his", "her", "my", "our", "your", "their", "its"))
_NOT_SEASON = word_set(
    """
    boot framework cleaning security data mvc roll rolls onion onions water break-in apart down off over behind
    asleep short through in into back out for loaded
    """
)


def month_evidence(scan: Scan, i: int, j: int) -> int:
    """How surely the month name at `i`, alone, means the month; `j` is the index after it."""
    word, before, after = scan.words[i], scan.before(i), scan.words[j]
    if scan.glued(i) and before in ("_", "@", "#", "/", "\\"):
        return PART
    if word == "may" and after in _AFTER_VERB and not (scan.capital(i) and i > 0):
        return CONTEXT if before in ("in", "since", "during", "until", "of") else PART
    if word in _NAMES_TOO:
        named = before in _BEFORE_NAMES or after in _AFTER_NAMES or scan.tokens[i].possessive
        return CONTEXT if named else ALONE
    if word in ("march", "may", "august", "jan", "mar", "dec"):
        return CONTEXT
    if word in SHORT_MONTHS:
        return ALONE if scan.capital(i) or scan.ends_clause(j) else CONTEXT
    return ALONE


def weekday_evidence(scan: Scan, i: int, j: int) -> int:
    """How surely the weekday at `i`, alone, means a day; short names are words of their own."""
    word = scan.words[i]
    if word.endswith("day") or word in ("tues", "thu", "thur", "thurs", "weds"):
        return ALONE
    ends = scan.ends_clause(j) or scan.words[j] in FUNCTION_WORDS or scan.number(j) is not None
    return CONTEXT if ends and scan.before(i) != "the" else PART


def year_evidence(scan: Scan, i: int, j: int, year: int) -> int:
    """How surely the bare four digits at `i` mean a year."""
    before, after = scan.before(i), scan.words[j]
    if before == "than" and scan.words[i - 2] in ("later", "earlier", "newer", "older"):
        return CONTEXT
    if after in _COUNTED or before in _NUMBERED or counted_decimals(scan, i, j):
        return PART
    if not 1900 <= year <= 2100:
        historic = before in ("in", "since", "circa", "before", "after", "until", "till", "between", "from")
        return CONTEXT if 1000 <= year <= 2200 and historic and not after.endswith("s") else PART
    if before in PREPOSITIONS and before not in ("for", "per", "over", "around", "through", "into"):
        return CONTEXT
    # Round thousands are counts as often as years; times to come are seldom asked about.
    near = 1950 <= year <= scan.now.year + 1 and year % 1000 != 0
    return ALONE if near else CONTEXT


def counted_decimals(scan: Scan, i: int, j: int) -> bool:
    """Whether the number in tokens `i` to `j` is a piece of a longer one, a price, a path or an identifier."""
    if (
        i > 0
        and scan.glued(i)
        and scan.before(i) not in ("(", "-", "–", "—", '"', "'", "’", "“", "[", ",", ":", ";", "cy")
    ):
        return True
    if j < scan.count and scan.glued(j):
        after = scan.words[j]
        if after == "-" and scan.number(j + 1) is not None:
            return scan.words[j + 2] == "-" and scan.glued(j + 2)  # "2015-2-31", no date at all
        if after in (".", ",", ":"):
            return scan.glued(j + 1) and (scan.number(j + 1) is not None or after == ".")
        return after.isalnum() or after in "%_/\\@#+*=€$£"
    return False


def counts_something(scan: Scan, j: int) -> bool:
    """Whether the word at `j` is what a number before it counts ("people", "km", "%")."""
    return scan.words[j] in _COUNTED


def season_evidence(scan: Scan, i: int, j: int) -> int:
    """How surely the season's name at `i` means the season."""
    if scan.words[j] in _NOT_SEASON and scan.words[i] in ("spring", "fall"):
        return PART
    before = scan.before(i)
    if scan.words[i] == "fall" and (scan.words[j] == "of" or before in ("the", "to", "i", "we", "they", "you")):
        in_the = before == "the" and i > 1 and scan.words[i - 2] in ("in", "during", "by", "until", "since", "of")
        return CONTEXT if in_the and scan.words[j] != "of" else PART
    return CONTEXT


def of_age(scan: Scan, i: int) -> bool:
    """Whether the decade at `i` is someone's age ("in her thirties")."""
    before = scan.before(i)
    if before in ("early", "mid", "late", "-"):
        before = scan.words[i - 2] if i > 1 else ""
    return before in _OWNERS


def is_fraction(scan: Scan, first: int, second: int, i: int, j: int) -> bool:
    """Whether "8/10" is a mark or a part and not a date: after a word for rating, or by its shape alone."""
    before = scan.before(i)
    if before in _BEFORE_DAY_MONTH or before in WEEKDAYS:
        return counts_something(scan, j)
    if (first, second) in ((24, 7), (1, 2), (1, 4), (3, 4), (1, 3), (2, 3)) and not scan.whole(i, j):
        return True
    if scan.whole(i, j):
        return False
    return not scan.ends_clause(j) or (second in (5, 10) and first <= second) or before in _NUMBERED


def in_context(scan: Scan, i: int, j: int, found_before: int) -> bool:
    """Whether an expression that needs context has it: a preposition, a list of dates, or the whole text."""
    k = i
    while k > 0 and scan.words[k - 1] in ("the", "this", "early", "mid", "late"):
        k -= 1
    before = scan.before(k)
    if before in PREPOSITIONS:
        return True
    if before in ("and", "or", ",", "/", "&", "vs") and found_before == k - 1 and found_before > 0:
        return True
    if scan.words[j] in (",", "and", "or") and scan.words[j + 1] in MONTHS and scan.words[i] in MONTHS:
        return True
    return scan.whole(k, j)


def repeats_often(scan: Scan, i: int) -> bool:
    """Whether the expression at `i` names a habit ("every Monday"), not a time."""
    k = i - 1 if scan.before(i) in ("single", "other") else i
    return scan.before(k) in ("every", "each", "per") and scan.words[i] not in MONTHS
