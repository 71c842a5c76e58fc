"""Capitalised names in prose: which capital is a name, and which only begins a sentence, shouts or heads a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memora_cli.text.stopwords import (
    ABBREVIATIONS,
    ADVERBS,
    AUXILIARIES,
    CALENDAR,
    COMMON_WORDS,
    ENGLISH,
    GERMAN,
    HALF_NAMES,
    HONORIFICS,
    JOINERS,
    ROLES,
    STOP_WORDS,
    UNCOMMON,
)
from memora_cli.text.words import fold

MAX_NAME_WORDS = 6
MAX_ACRONYM = 6  # letters; longer words in capitals are shouted
_WRAPPED_LINE = 50  # characters from which on a line break is taken for wrapping

_WORD = re.compile(r"(?<!\w)(?:(?:[^\W\d_]\.){2,}|[^\W\d_](?:\w|['’&.\-](?=\w))*)")
_LOWER_TAIL = re.compile(r"(?<=\w)-[a-zß-ÿ].*")  # Google-based
_NAMELESS = STOP_WORDS | CALENDAR | HONORIFICS
_CONTRACTIONS = frozenset({"s", "m", "t", "d", "ll", "re", "ve"})
_SENTENCE_END = re.compile(r"[.!?…]['\"”’)\]*_]*\s|\n[ \t]*(?:\n|[-*+>#|]|\d+[.)])")
_SOFT_START = re.compile(r"[:;(\[\"“”„«*_|–—]|\s-+\s")
_COMMON_ENDING = re.compile(r".{3,}(?:ing|ings|ed|ly|[ts]ions?|ments?|ness)")
_VERB = re.compile(r".{2,}(?:ed|[^aius]s)")
# In German every noun has a capital; after an article, or with such an ending, it is hardly a name.
_GERMAN_NOUN = re.compile(r".+(?:ung|heit|keit|schaft|tion|nis|tat|ungen|chen)")
_GERMAN_ARTICLE = re.compile(
    r"d(?:er|ie|as|en|em|es)|(?:k?ein|mein|dein|sein|ihr|unser|dies)\w{0,2}|zu[mr]|[vb]?[eoai]i?m"
)
_CAMEL = re.compile(r"[^\W\d_]*[a-zß-ÿ][A-ZÀ-Þ]\w*")
_ROMAN = re.compile(r"[IVX]+")


def names(text: str, title_words: int = 0) -> Iterator[str]:
    """The capitalised names of a text as written, in order, repeats included.

    The text has no code, addresses or markup; its first `title_words` words are the title.
    """
    return _Names(text, title_words).find()


def question_names(text: str, size: int) -> Iterator[str]:
    """Whatever a question may mean by its capitals: every stretch of capitalised words and its parts up to `size`."""
    for sentence in _sentences(text):
        for start, end in _stretches(sentence):
            if end - start > size:
                yield _joined(sentence[start:end])
            for length in range(min(size, end - start), 0, -1):
                for at in range(start, end - length + 1):
                    if not _says_nothing(sentence, at, at + length):
                        yield _joined(sentence[at : at + length])


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    gap: str  # what stands between the word before and this one
    key: str
    capital: bool
    shouted: bool
    possessive: bool


def _word(text: str, gap: str, possessive: bool = False) -> _Word:
    capital = text != "I" and (text[0].isupper() or _CAMEL.fullmatch(text) is not None)
    return _Word(text, gap, fold(text), capital, capital and len(text) > 1 and text.isupper(), possessive)


def _sentences(text: str) -> Iterator[list[_Word]]:
    sentence: list[_Word] = []
    end = 0
    for match in _WORD.finditer(text):
        gap = text[end : match.start()]
        if sentence and _ends_sentence(text, end, gap, sentence[-1]):
            yield sentence
            sentence = []
        end = match.end()
        name, _, tail = match[0].replace("’", "'").rpartition("'")
        if name and tail in _CONTRACTIONS:
            sentence.append(_word(name, gap, possessive=tail == "s"))
        else:
            sentence.append(_word(_LOWER_TAIL.sub("", match[0]).rstrip("_"), gap))
    if sentence:
        yield sentence


def _ends_sentence(text: str, end: int, gap: str, before: _Word) -> bool:
    if gap == ". " and (len(before.text) == 1 or before.key in ABBREVIATIONS):
        return False
    if _SENTENCE_END.search(gap):
        return True
    # A line that breaks after a short stretch was ended by its writer, a long one was wrapped.
    return "\n" in gap and end - text.rfind("\n", 0, end) < _WRAPPED_LINE


def _stretches(sentence: list[_Word]) -> Iterator[tuple[int, int]]:
    """Index ranges of capitalised words that stand together, joiners between them included."""
    at = 0
    while at < len(sentence):
        start = at
        at += 1
        if not sentence[start].capital:
            continue
        while not sentence[at - 1].possessive:
            after = at
            while after < min(at + 2, len(sentence)) and _joins(sentence, after):
                after += 1
            if after >= len(sentence) or not sentence[after].capital or not _adjoins(sentence, after):
                break
            at = after + 1
        yield start, at


def _adjoins(sentence: list[_Word], at: int) -> bool:
    """Whether a word may continue the name before it."""
    word, before = sentence[at], sentence[at - 1]
    initial = word.gap == ". " and len(before.text) == 1 and before.capital
    return (word.gap in {" ", " & "} or initial) and not (word.key in CALENDAR or before.key in CALENDAR)


def _joins(sentence: list[_Word], at: int) -> bool:
    word, before = sentence[at], sentence[at - 1]
    if word.gap != " " or word.text not in JOINERS:
        return False
    return not (word.text == "of" and (before.shouted or before.key in ROLES))


def _joined(words: list[_Word]) -> str:
    return "".join(word.gap + word.text if at else word.text for at, word in enumerate(words))


def _says_nothing(sentence: list[_Word], start: int, end: int) -> bool:
    """Whether a stretch of a question begins or ends with a function word, or is only its opening word."""
    first, last = sentence[start], sentence[end - 1]
    if first.key in STOP_WORDS or last.key in STOP_WORDS:
        return True
    return start == 0 and end == 1 and not first.possessive and _is_common(first.key)


def _is_common(key: str) -> bool:
    if key in COMMON_WORDS or key in _NAMELESS:
        return True
    return key not in UNCOMMON and _COMMON_ENDING.fullmatch(key) is not None


class _Names:
    """The capitalised names of one text; what a word is in one sentence decides about it in another."""

    def __init__(self, text: str, title_words: int) -> None:
        self.title_words = title_words
        self.sentences = list(_sentences(text))
        self.lower = {word.text for sentence in self.sentences for word in sentence if word.text.islower()}
        self.inside = {
            word.key
            for sentence in self.sentences
            if not _is_heading(sentence)
            for word in sentence[1:]
            if word.capital and not word.shouted and not _SOFT_START.search(word.gap)
        }
        self.german = len(self.lower & (GERMAN - ENGLISH)) > len(self.lower & (ENGLISH - GERMAN))

    def find(self) -> Iterator[str]:
        """Every name as written, in order, repeats included."""
        for number, sentence in enumerate(self.sentences):
            loud = sum(word.shouted for word in sentence)
            shouting = loud > 1 and 2 * loud > sum(len(word.text) > 1 for word in sentence)
            heading = _is_heading(sentence)
            titled = number == 0 and 0 < self.title_words <= 2
            for start, end in _stretches(sentence):
                start, end = _trimmed(sentence, start, end)
                capitals = [at for at in range(start, end) if sentence[at].capital]
                if not capitals or len(capitals) > MAX_NAME_WORDS or (shouting and sentence[start].shouted):
                    continue
                if heading and not all(sentence[at].key in self.inside for at in capitals):
                    yield from (sentence[at].text for at in capitals if _is_coined(sentence, at))
                elif len(capitals) == 1:
                    if _is_coined(sentence, start) or self._is_name(sentence, start, titled):
                        yield sentence[start].text
                elif not all(sentence[at].shouted for at in capitals):
                    yield _joined(sentence[start:end])

    def _is_name(self, sentence: list[_Word], at: int, titled: bool) -> bool:
        """Whether a single capitalised word is a name and not a word that any sentence could begin with."""
        word = sentence[at]
        if word.shouted or len(word.text) < 2 or "_" in word.text or word.key in _NAMELESS:
            return False
        soft = _SOFT_START.search(word.gap) is not None
        if at and not soft:
            return not (
                self.german and (_GERMAN_ARTICLE.fullmatch(sentence[at - 1].key) or _GERMAN_NOUN.fullmatch(word.key))
            )
        if _is_common(word.key):
            return False
        if soft or titled or word.possessive or word.key in self.inside:
            return True
        return word.key not in self.lower and _has_company(sentence, at)


def _trimmed(sentence: list[_Word], start: int, end: int) -> tuple[int, int]:
    """A stretch without the words at its ends that belong to the sentence and not to the name."""
    while start < end and not (end - start == 1 and sentence[start].shouted) and _leads(sentence, start, end):
        start += 1
    while end - start > 1 and sentence[end - 1].key in STOP_WORDS:
        end -= 1
    return start, end


def _leads(sentence: list[_Word], at: int, end: int) -> bool:
    """Whether the first word of a stretch only leads up to the name: The, Dr, Yesterday."""
    word = sentence[at]
    if word.key in HALF_NAMES and at + 1 < end and sentence[at + 1].capital:
        return False
    if word.key in _NAMELESS or word.text in JOINERS:
        return True
    return (at == 0 or _SOFT_START.search(word.gap) is not None) and _is_common(word.key)


def _is_heading(sentence: list[_Word]) -> bool:
    """Whether Nearly Every Word Has a Capital, so that a capital says nothing."""
    capitals = [word for word in sentence[1:] if word.capital and not word.shouted]
    if len(sentence) < 3 or 10 * (len(capitals) + sentence[0].capital) < 6 * len(sentence):
        return False
    common = sum(_is_common(word.key) for word in capitals)
    return any(word.key in ENGLISH for word in capitals) or (common > 1 and 2 * common > len(capitals))


def _is_coined(sentence: list[_Word], at: int) -> bool:
    """Whether a word is a name by its form: iPhone, GitHub, or NASA where its neighbours do not shout."""
    word = sentence[at]
    if _CAMEL.fullmatch(word.text) and "_" not in word.text:
        return True
    letters = sum(map(str.isalpha, word.text))
    if not word.shouted or not 2 <= letters <= MAX_ACRONYM or _ROMAN.fullmatch(word.text):
        return False
    run = (at and word.gap == " " and sentence[at - 1].shouted) or (
        at + 1 < len(sentence) and sentence[at + 1].gap == " " and sentence[at + 1].shouted
    )
    return not run and (word.text == "US" or not _is_common(word.key))


def _has_company(sentence: list[_Word], at: int) -> bool:
    """Whether what follows a sentence's first word makes it a name: a verb of one person, a comma, or another name."""
    following = [word for word in sentence[at + 1 : at + 4] if not (word.gap == " " and word.key in ADVERBS)]
    if not following:
        return False
    if following[0].gap.startswith(", "):
        return True
    verb = following[0]
    if verb.gap == " " and verb.text.islower():
        if verb.text in {"and", "or"}:
            return len(following) > 1 and following[1].capital
        return verb.text in AUXILIARIES or (verb.text not in STOP_WORDS and _VERB.fullmatch(verb.text) is not None)
    return False
