"""Cuts a long note into passages at headings, paragraphs, sentences and, when nothing else is left, words."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

SIZE = 900  # characters, about what fits a model of 256 tokens

# How good a place to cut is; the best one in reach is taken.
_HEADING, _PARAGRAPH, _SENTENCE, _LINE, _UNDER_HEADING = 5, 4, 3, 2, 1

CODE_BLOCK = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_BREAK = re.compile(
    r"(?P<heading>^\#{1,6}[ \t][^\n]*\n?)|(?P<paragraph>\n[ \t]*\n)|(?P<item>\n(?=[ \t]*(?:[-*+]|\d+[.)])[ \t]))"
    r"|(?P<line>\n)|(?P<sentence>[.!?…][\"')\]”’*_]*[ \t]+|[。！？؟।]+[」』”]*)",
    re.MULTILINE,
)
_NEWLINE = re.compile(r"\n")
_SPACE = re.compile(r"\s")
_BLANKS = re.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of character offsets `[start, end)` with no white space at its ends."""

    start: int
    end: int


def split(body: str, size: int = SIZE, overlap: int = 0) -> tuple[Span, ...]:
    """The passages of a text in order, each at most `size` characters, together all its non-blank text.

    A passage begins up to `overlap` characters before the end of the last one; ValueError unless 0 ≤ overlap < size.
    """
    if not 0 <= overlap < size:
        raise ValueError(f"overlap {overlap} must be at least 0 and below the size {size}")
    places, ranks = _places(body)
    spans: list[Span] = []
    done, last = 0, len(body.rstrip())

    def cut_after(start: int) -> int:
        return last if last - start <= size else _cut(body, places, ranks, start, start + size)

    while done < last:
        fresh = _content_start(body, done)
        start = _overlapped(body, places, spans[-1], fresh, overlap) if spans and overlap else fresh
        cut = cut_after(start)
        if cut <= done:  # all of it was repetition
            start, cut = fresh, cut_after(fresh)
        spans.append(Span(start, _content_end(body, start, cut)))
        done = _content_start(body, cut)
    return tuple(spans)


def _places(body: str) -> tuple[list[int], list[int]]:
    """Where the text may be cut, in order, and how good each place is."""
    found: dict[int, int] = {}

    def place(at: int, rank: int) -> None:
        found[at] = max(rank, found.get(at, 0))

    code_end = 0
    for fence in [*CODE_BLOCK.finditer(body), None]:
        code_start = fence.start() if fence else len(body)
        for match in _BREAK.finditer(body, code_end, code_start):
            if match.lastgroup == "heading":
                place(match.start(), _HEADING)
                found[match.end()] = _UNDER_HEADING
            elif found.get(match.start()) == _UNDER_HEADING:
                found[match.end()] = _UNDER_HEADING
            else:
                rank = {"paragraph": _PARAGRAPH, "line": _LINE}.get(match.lastgroup or "", _SENTENCE)
                place(match.end(), rank)
        if fence:
            place(code_start, _PARAGRAPH)
            for match in _NEWLINE.finditer(body, code_start, fence.end()):
                place(match.end(), _LINE)
            code_end = fence.end()
            place(code_end, _PARAGRAPH)
    places = sorted(found)
    return places, [found[at] for at in places]


def _cut(body: str, places: list[int], ranks: list[int], start: int, limit: int) -> int:
    """The best place to end a passage: late if possible, early if it saves a paragraph, list or code block."""
    first, last = bisect_right(places, start), bisect_right(places, limit)
    middle = bisect_left(places, (start + limit) // 2, first, last)
    late = max(range(middle, last), key=lambda at: (ranks[at], at), default=-1)
    if late >= 0 and ranks[late] >= _SENTENCE:
        return places[late]
    early = max(range(first, middle), key=lambda at: (ranks[at], at), default=-1)
    if early >= 0 and ranks[early] >= _PARAGRAPH:
        return places[early]
    if late >= 0 and ranks[late] >= _LINE:
        return places[late]
    if early >= 0 and ranks[early] >= _SENTENCE:
        return places[early]
    return _word_cut(body, start, limit)


def _word_cut(body: str, start: int, end: int) -> int:
    for at in range(end, (start + end) // 2, -1):
        if body[at].isspace() or body[at - 1].isspace():
            return at
    # One word longer than half a passage: cut it, but not between a character and its marks.
    at = end
    while at > start + 1 and end - at < 16 and unicodedata.category(body[at])[0] == "M":
        at -= 1
    return at


def _overlapped(body: str, places: list[int], before: Span, start: int, overlap: int) -> int:
    """Where the next passage starts so that it repeats whole sentences, or else words, of the last one."""
    earliest = max(before.end - overlap, before.start + 1)
    at = bisect_left(places, earliest)
    if at < len(places) and places[at] < before.end:
        return _content_start(body, places[at])
    space = _SPACE.search(body, earliest, before.end)
    return _content_start(body, space.end()) if space else start


def _content_start(body: str, at: int) -> int:
    blanks = _BLANKS.match(body, at)
    return blanks.end() if blanks else at


def _content_end(body: str, start: int, end: int) -> int:
    while end > start and body[end - 1].isspace():
        end -= 1
    return end
