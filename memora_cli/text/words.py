"""Words of a text: folding, tokens, what the keyword index holds and what a question asks of it."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Iterator

from memora_cli.text.stopwords import STOP_WORDS

QUERY_LIMIT = 12  # words of a question that are searched
MAX_JOIN = 6  # parts of an identifier that are joined
MAX_PARTS = 10  # an identifier with more parts or characters than this is a hash or a blob and stays in its tokens
MAX_CHUNK = 100
MAX_CANDIDATES = 64  # words of a very long question whose frequency is asked

_DAMAGED = re.compile("[\x00\ud800-\udfff]")
_DIACRITICS = re.compile("[\u0300-\u036f]+")
# Characters that show nothing or only stretch: soft hyphen, tatweel, joiners, bidi, variation selectors, keycaps.
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u0640\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u206f\u20d0-\u20ff\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e01ef]+"
)
# Letters that Unicode does not decompose into a base and a mark.
_STROKES = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "ŧ": "t", "ŋ": "n", "æ": "ae", "œ": "oe", "þ": "th"}
)
# Scripts written without spaces (and Hangul, whose particles stick to the word): searched by pairs of characters.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u3100-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_UNSPACED_RUN = re.compile(f"([{_UNSPACED}]+)")
_WRITTEN_CHUNK = re.compile(r"[^\s_.\-]+(?:[_.\-][^\s_.\-]+)*")
_WRITTEN_WORD = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}_.\\-]+")
_CONNECTOR = re.compile(r"[_.\-]")
_CHUNK_EDGE = re.compile(r"[_.\-]{2,}|\s+")
_VOWEL = re.compile(r"[aeiou]|[^aeiou]y")
_VOWEL_CONSONANT = re.compile(r"[aeiouy][^aeiouy]")
_SHORT = re.compile(r"[^aeiou]+[aeiouy][^aeiouywx]")


class _Blanks(dict[int, int]):
    """A `str.translate` table that keeps letters, marks, digits and `kept`, blanks the rest, and fills itself.

    A translated text is as long as the text, so that offsets into one hold for the other.
    """

    def __init__(self, kept: str = "", invisible: bool = False) -> None:
        super().__init__({ord(character): ord(character) for character in kept})
        self.invisible = invisible

    def __missing__(self, code: int) -> int:
        character = chr(code)
        keep = unicodedata.category(character)[0] in "LMN" or (self.invisible and _INVISIBLE.match(character))
        self[code] = code if keep else 0x20
        return self[code]


_WORD_TABLE = _Blanks()
_CHUNK_TABLE = _Blanks("_.-")
_WRITTEN_TABLE = _Blanks("_.-", invisible=True)


def normalise(text: str) -> str:
    """The text as it is stored: NFC, line ends LF, NUL and lone surrogates U+FFFD; idempotent."""
    text = _DAMAGED.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))
    return unicodedata.normalize("NFC", text)


def topic(text: str) -> str:
    """A topic as it is stored: NFC, lower case, white space as `-`, without `#` before it."""
    text = unicodedata.normalize("NFC", normalise(text).strip().lstrip("#").lower())
    return re.sub(r"\s+", "-", text.strip())


def fold(text: str) -> str:
    """The text for comparing: compatibility forms, case, Latin/Greek/Cyrillic diacritics and invisibles gone, NFC."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKD", _INVISIBLE.sub("", text)).casefold()
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", _DIACRITICS.sub("", text).translate(_STROKES))


def tokens(text: str) -> list[str]:
    """Folded runs of letters, marks and digits in order; runs of unspaced scripts stand apart from their neighbours."""
    folded = fold(text)
    words = folded.translate(_WORD_TABLE).split()
    if not folded.isascii():
        words = [piece for word in words for piece in _UNSPACED_RUN.split(word)]
        words = [word for word in words if any(map(str.isalnum, word))]
    return words


def written_words(text: str) -> Iterator[tuple[int, int, tuple[tuple[int, int], ...]]]:
    """Where words stand in a text as typed: `[start, end)` of each identifier or word, and of the words inside it."""
    for chunk in _WRITTEN_CHUNK.finditer(text.translate(_WRITTEN_TABLE)):
        words = _WRITTEN_WORD.finditer(text, chunk.start(), chunk.end())
        yield chunk.start(), chunk.end(), tuple(match.span() for match in words)


def is_unspaced(token: str) -> bool:
    """Whether a token is written in a script without spaces and is searched by pairs of characters."""
    return _UNSPACED_RUN.fullmatch(token) is not None


def pairs(token: str) -> list[str]:
    """Every adjacent pair of characters; the token itself when it has fewer than two."""
    return [token[at : at + 2] for at in range(len(token) - 1)] or [token]


def is_stop_word(word: str) -> bool:
    """Whether a word is a function word in one of the languages of `stopwords`."""
    return fold(word) in STOP_WORDS


def pieces(chunk: str) -> tuple[str, ...]:
    """The folded parts of an identifier, split at `_ . -`, case and digits; () for a plain word or a blob."""
    if chunk.isalpha() and (chunk[1:] == chunk[1:].lower() or chunk.isupper()):
        return ()
    if len(chunk) > MAX_CHUNK:
        return ()
    parts = [part for piece in _CONNECTOR.split(chunk) for part in _case_parts(piece)]
    folded = tuple(word for part in parts if (word := "".join(tokens(part))))
    return folded if 2 <= len(folded) <= MAX_PARTS else ()


def identifier_forms(chunk: str) -> tuple[str, ...]:
    """What an identifier is found by besides its tokens: its parts, and the joins of 2 to 6 in a row and of all."""
    parts = pieces(chunk)
    count = len(parts)
    ends = [(start, end) for start in range(count) for end in range(start + 1, min(start + MAX_JOIN, count) + 1)]
    joins = ["".join(parts), *("".join(parts[start:end]) for start, end in ends)]
    known = set(tokens(chunk))
    # A part of one character finds everything and says nothing.
    return tuple(form for form in dict.fromkeys(joins) if len(form) > 1 and form not in known)


def search_text(text: str) -> str:
    """The text of the keyword index: tokens (pairs where unspaced), then the further forms, between single spaces."""
    words: list[str] = []
    extra: list[str] = []
    for token in tokens(text):
        if is_unspaced(token) and len(token) > 1:
            words.extend(pairs(token))
            extra.extend(token)
        else:
            words.append(token)
    known: dict[str, tuple[str, ...]] = {}
    for chunk in _chunks(text):
        if chunk not in known:
            known[chunk] = identifier_forms(chunk)
        extra.extend(known[chunk])
    return " ".join(words + extra)


def query_words(text: str, frequency: Callable[[str], int] | None = None, limit: int = QUERY_LIMIT) -> tuple[str, ...]:
    """The words to search, in order, each once, at most `limit`; () only when the text has no letter or digit.

    `frequency` is the number of notes that hold a word. Too many words lose stop words first, then words that no
    note holds, then the commonest.
    """
    found: dict[str, None] = {}
    for piece in text.split():
        for token in tokens(piece):
            found.update(dict.fromkeys(pairs(token) if is_unspaced(token) else (token,)))
        found.update(dict.fromkeys("".join(parts) for chunk in _chunks(piece) if (parts := pieces(chunk))))
    words = list(found)
    if len(words) <= limit:
        return tuple(words)
    order = sorted(range(len(words)), key=lambda at: words[at] in STOP_WORDS)[:MAX_CANDIDATES]
    if frequency is not None:
        counts = {at: frequency(words[at]) for at in order}
        order.sort(key=lambda at: (words[at] in STOP_WORDS, counts[at] == 0, counts[at]))
    return tuple(words[at] for at in sorted(order[:limit]))


@functools.lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A folded word without its English plural, -ed, -ing and final y, as Porter's first step has it."""
    if len(word) < 3 or not word.isascii():
        return word
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if word.endswith("eed"):
        word = word[:-1] if _VOWEL_CONSONANT.search(word[:-3]) else word
    else:
        for ending in ("ed", "ing"):
            if word.endswith(ending) and _VOWEL.search(word[: -len(ending)]):
                word = _restored(word[: -len(ending)])
                break
    if word.endswith("y") and _VOWEL.search(word[:-1]):
        word = word[:-1] + "i"
    return word


def _chunks(text: str) -> Iterator[str]:
    text = _UNSPACED_RUN.sub(" ", unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)))
    for chunk in _CHUNK_EDGE.split(text.translate(_CHUNK_TABLE)):
        if chunk := chunk.strip("_.-"):
            yield chunk


def _case_parts(piece: str) -> list[str]:
    cuts = [0]
    for at in range(1, len(piece)):
        before, here, after = piece[at - 1], piece[at], piece[at + 1 : at + 2]
        digits = here.isalnum() and before.isalnum() and here.isnumeric() != before.isnumeric()
        hump = before.islower() or (before.isupper() and after.islower() and piece[at + 1 :] != "s")
        if digits or (here.isupper() and hump):
            cuts.append(at)
    return [piece[start:end] for start, end in zip(cuts, [*cuts[1:], len(piece)], strict=True)]


def _restored(word: str) -> str:
    """A stem after -ed or -ing with its final e, or without its doubled consonant."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if word[-1:] == word[-2:-1] and word[-1:] not in "aeioulsz":
        return word[:-1]
    return word + "e" if _SHORT.fullmatch(word) else word
