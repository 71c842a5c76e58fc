"""The few words of a passage that show why it was found, and which of them matched."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection

from memora_cli.text.words import fold, identifier_forms, is_unspaced, stem, tokens, written_words

WIDTH = 160
_ELLIPSIS = "…"
_SENTENCE = re.compile(r"[.!?…][\"')\]”’]*\s+|[。！？؟।]+")


def mark_spans(text: str, words: Collection[str]) -> tuple[tuple[int, int], ...]:
    """Offsets `[start, end)` of what matches one of `words` in the text, in order, merged where they touch."""
    spans: list[tuple[int, int]] = []
    for start, end, _ in _matches(text, words):
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return tuple(spans)


def snippet(text: str, words: Collection[str], width: int = WIDTH) -> str:
    """The window of at most `width` (≥ 3) characters that holds most of `words`, else the beginning, on one line."""
    text = " ".join(text.split())
    if len(text) <= width:
        return text
    first, last = _window(_matches(text, words), width - 2)
    start = _start(text, first, last, width - 2)
    end = _end(text, start, last, width - 2)
    return _ELLIPSIS * (start > 0) + text[start:end].strip() + _ELLIPSIS * (end < len(text))


def _matches(text: str, words: Collection[str]) -> list[tuple[int, int, str]]:
    """Where words of the text match, in order, and the form by which they do."""
    wanted = {token for word in words for token in tokens(word)}
    unspaced = {token for token in wanted if is_unspaced(token)}
    stems = {stem(token) for token in wanted - unspaced}
    known: dict[str, str] = {}
    found: list[tuple[int, int, str]] = []
    for start, end, inside in written_words(text) if wanted else ():
        before = len(found)
        for word_start, word_end in inside:
            word = text[word_start:word_end]
            if word not in known:
                known[word] = fold(word)
            if is_unspaced(known[word]):
                found.extend(_unspaced_matches(known[word], word_start, word_end, unspaced))
            elif (form := stem(known[word])) in stems:
                found.append((word_start, word_end, form))
        if len(found) == before:
            chunk = text[start:end]
            found.extend((start, end, form) for form in identifier_forms(chunk) if form in wanted)
    return found


def _unspaced_matches(run: str, start: int, end: int, wanted: Collection[str]) -> list[tuple[int, int, str]]:
    # Folding may change the length (half-width forms); then the whole run stands for the match.
    exact = len(run) == end - start
    found = []
    for token in wanted:
        at = run.find(token)
        while at >= 0:
            found.append((start + at, start + at + len(token), token) if exact else (start, end, token))
            at = run.find(token, at + 1)
    return sorted(found)


def _window(matches: list[tuple[int, int, str]], width: int) -> tuple[int, int]:
    """Start of the first and end of the last match of the window with most different words, then most matches."""
    best, chosen = (0, 0), (0, 0)
    counts: dict[str, int] = {}
    first = 0
    for last, (_, end, form) in enumerate(matches):
        counts[form] = counts.get(form, 0) + 1
        while first < last and end - matches[first][0] > width:
            left = matches[first][2]
            counts[left] -= 1
            if not counts[left]:
                del counts[left]
            first += 1
        if (value := (len(counts), last - first + 1)) > best:
            best, chosen = value, (matches[first][0], end)
    return chosen


def _start(text: str, first: int, last: int, width: int) -> int:
    """Where the snippet starts: at a sentence if the match stays in reach, else at a word some way before it."""
    starts = [0, *(match.end() for match in _SENTENCE.finditer(text))]
    starts = [at for at in starts[: bisect_right(starts, first)] if last - at <= width]
    tail = [at for at in starts if len(text) - at <= width]
    if starts:
        return tail[0] if tail else starts[-1]
    if last - first >= width:
        return first
    start = max(first - (width - (last - first)) // 2, 0)
    space = text.find(" ", start, first)
    return space + 1 if space >= 0 else start


def _end(text: str, start: int, last: int, width: int) -> int:
    """Where the snippet ends: at a sentence if that leaves it long enough, else at a word."""
    limit = start + width
    if len(text) <= limit + 1:
        return len(text)
    least = max(last, start + width * 2 // 3)
    ends = [match.end() for match in _SENTENCE.finditer(text, least, limit + 1)]
    if ends:
        return min(ends[-1], limit)
    space = text.rfind(" ", min(last, limit), limit + 1)
    return space if space > start else limit
