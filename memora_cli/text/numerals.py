"""Numbers and ordinals, in digits or in words, read from a list of lower-case words."""

from __future__ import annotations

from collections.abc import Sequence


def _numbered(words: str, first: int, step: int = 1) -> dict[str, int]:
    return {word: first + step * place for place, word in enumerate(words.split())}


ONES = _numbered(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen",
    1,
)
TENS = _numbered("twenty thirty forty fifty sixty seventy eighty ninety", 20, 10)
ORDINALS = _numbered(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth",
    1,
) | {word[:-1] + "ieth": value for word, value in TENS.items()}
SUFFIXES = frozenset(("st", "nd", "rd", "th"))

Numeral = tuple[int, int]
"""A value and the index after its last word."""


def digits(word: str) -> int | None:
    """The value of a word of up to nine digits, else None."""
    return int(word) if word.isdecimal() and len(word) < 10 else None


def cardinal(words: Sequence[str], i: int) -> Numeral | None:
    """A whole number at `i`: "21", "twenty-one", "nineteen hundred ninety three", "two thousand and five"."""
    value = digits(words[i])
    if value is not None:
        return value, i + 1
    return _in_words(words, i)


def ordinal(words: Sequence[str], i: int) -> Numeral | None:
    """An ordinal at `i`: "21st", "first", "twenty-first"."""
    word = words[i]
    if word[-2:] in SUFFIXES:
        value = digits(word[:-2])
        if value is not None:
            return value, i + 1
    if word in ORDINALS:
        return ORDINALS[word], i + 1
    if word in TENS:
        j = i + 2 if words[i + 1] == "-" else i + 1
        unit = ORDINALS.get(words[j], 10)
        if unit < 10:
            return TENS[word] + unit, j + 1
    return None


def year_in_words(words: Sequence[str], i: int) -> Numeral | None:
    """A year spelled out at `i`: "nineteen ninety nine", "twenty ten", "nineteen oh five", "two thousand"."""
    century = _below_hundred(words, i)
    if century is not None and 10 <= century[0] <= 20:
        j = century[1]
        if words[j] == "-":
            j += 1
        if words[j] in ("oh", "o") and words[j + 1] in ONES and ONES[words[j + 1]] < 10:
            return century[0] * 100 + ONES[words[j + 1]], j + 2
        rest = _below_hundred(words, j)
        if rest is not None and rest[0] >= 10:
            return century[0] * 100 + rest[0], rest[1]
    whole = _in_words(words, i)
    return whole if whole is not None and whole[0] >= 100 else None


def _below_hundred(words: Sequence[str], i: int) -> Numeral | None:
    word = words[i]
    if word in ONES:
        return ONES[word], i + 1
    if word in TENS:
        j = i + 2 if words[i + 1] == "-" else i + 1
        unit = ONES.get(words[j], 10)
        return (TENS[word] + unit, j + 1) if unit < 10 else (TENS[word], i + 1)
    return None


def _hundreds(words: Sequence[str], i: int) -> Numeral | None:
    head = _below_hundred(words, i)
    if head is None or words[head[1]] != "hundred":
        return head
    j = head[1] + 1
    rest = _below_hundred(words, j + 1 if words[j] == "and" else j)
    return (head[0] * 100 + rest[0], rest[1]) if rest else (head[0] * 100, j)


def _in_words(words: Sequence[str], i: int) -> Numeral | None:
    head = _hundreds(words, i)
    if head is None or words[head[1]] != "thousand":
        return head
    j = head[1] + 1
    rest = _hundreds(words, j + 1 if words[j] == "and" else j)
    return (head[0] * 1000 + rest[0], rest[1]) if rest else (head[0] * 1000, j)
