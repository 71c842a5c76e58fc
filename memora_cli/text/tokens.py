"""Counts and cuts text in tokens of cl100k_base, the unit of the token budget, offline."""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

from memora_cli.errors import ModelUnusable

if TYPE_CHECKING:  # importing tiktoken and building the encoding cost a few hundred ms: only when a text is counted
    import tiktoken

RANKS = Path(__file__).parent / "data" / "cl100k_base.tiktoken"
SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]"
    r"|\s+(?!\S)|\s"
)
SPECIAL = {
    "<|endoftext|>": 100257,
    "<|fim_prefix|>": 100258,
    "<|fim_middle|>": 100259,
    "<|fim_suffix|>": 100260,
    "<|endofprompt|>": 100276,
}

# On runs without spaces, or of spaces alone, tiktoken is quadratic in older versions and fails on a long one in new
# ones ("Max stack size exceeded"). A run starts where the look-behind says, else the search would be quadratic itself.
LONGEST_RUN = 4000
_LONG_RUN = re.compile(rf"(?<!\S)\S{{{LONGEST_RUN + 1},}}|(?<!\s)\s{{{LONGEST_RUN + 1},}}")

# A sentence ends at its mark, with closing quotes or brackets, before a space; CJK marks need no space. So does a line.
_SENTENCE_END = re.compile(r"""[.!?…]+["'”’)\]]*(?=\s)|[。！？]+[”’」』）]*|(?=\n)""")
_WORD_END = re.compile(r"(?<=\S)(?=\s)")
LEAST_KEPT = 0.25


def count_tokens(text: str) -> int:
    """How many cl100k_base tokens the text has; special tokens written in it count as plain text."""
    return len(_encode(text))


def shorten(text: str, max_tokens: int) -> str:
    """The longest start of the text, ending with a sentence, that counts at most `max_tokens`.

    Where the last sentence end that fits keeps less than a quarter of the room, it ends with a word; where there is
    no word end either, with a character. A text that fits comes back unchanged.
    """
    tokens = _encode(text)
    if len(tokens) <= max_tokens:
        return text
    room = len(_encoding().decode_bytes(tokens[: max(0, max_tokens)]).decode("utf-8", "ignore"))
    ends = [match.end() for match in _SENTENCE_END.finditer(text, 0, room + 1) if match.end() <= room]
    ends = [end for end in ends if end >= LEAST_KEPT * room]
    ends = ends or [match.end() for match in _WORD_END.finditer(text, 0, room + 1)]
    for end in reversed(ends or range(room + 1)):
        start = text[:end].rstrip()
        # A start can count more than the same letters did inside the text: merges reach over the cut.
        if count_tokens(start) <= max_tokens:
            return start
    return ""


def _encode(text: str) -> list[int]:
    encoding = _encoding()
    return [token for piece in _pieces(text) for token in encoding.encode(piece, disallowed_special=())]


def _pieces(text: str) -> list[str]:
    """The text in order, cut only inside runs longer than LONGEST_RUN."""
    cuts = [0]
    for run in _LONG_RUN.finditer(text):
        cuts.extend(range(run.start() + LONGEST_RUN, run.end(), LONGEST_RUN))
    return [text[start:end] for start, end in zip(cuts, [*cuts[1:], len(text)], strict=True)]


@functools.cache
def _encoding() -> tiktoken.Encoding:
    """The encoding, built from the shipped ranks: tiktoken's own loader would download them."""
    try:
        ranks = RANKS.read_bytes()
    except OSError as error:
        raise ModelUnusable(f"{RANKS.name} cannot be read ({error.strerror}); reinstall memora-cli") from error
    if hashlib.sha256(ranks).hexdigest() != SHA256:
        raise ModelUnusable(f"{RANKS.name} is damaged (its SHA-256 differs); reinstall memora-cli")
    import tiktoken

    return tiktoken.Encoding(
        "cl100k_base",
        pat_str=PATTERN,
        mergeable_ranks={base64.b64decode(token): int(rank) for token, rank in map(bytes.split, ranks.splitlines())},
        special_tokens=SPECIAL,
    )
