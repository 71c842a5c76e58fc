"""What FTS5 is asked: words quoted, and no more of them than can be weighed in a short time."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from sqlalchemy import Connection

from memora_cli.store.remembered import remembered

MOST_ROWS = 40_000  # notes of which bm25 is computed, at 1 to 4 µs each
SAMPLE = 20_000


def affordable(connection: Connection, words: Sequence[str]) -> list[str]:
    """The rarest of the words that together stand in about `MOST_ROWS` notes, at least one; in their order.

    bm25 is computed of every note that holds one of them, so a question of common words would cost a file of a million
    notes seconds. How common a word is, the newest `SAMPLE` notes tell.
    """
    last = int(connection.exec_driver_sql("SELECT coalesce(max(note_id), 0) FROM keywords").scalar_one())
    if last * len(words) <= MOST_ROWS or len(words) < 2:
        return list(words)

    def share(word: str) -> float:
        newest = "SELECT count(*) FROM keywords_fts WHERE keywords_fts MATCH ? AND rowid > ?"
        held = connection.exec_driver_sql(newest, (quoted([word]), max(0, last - SAMPLE))).scalar_one()
        return float(held) / min(last, SAMPLE)

    rows = {word: last * remembered(connection, ("share", word), functools.partial(share, word)) for word in words}
    kept: list[str] = []
    for word in sorted(words, key=lambda word: rows[word]):
        if kept and sum(rows[other] for other in (*kept, word)) > MOST_ROWS:
            break
        kept.append(word)
    return [word for word in words if word in kept]


def quoted(words: Sequence[str]) -> str:
    """An FTS5 expression that matches any of the words, whatever they hold."""
    return " OR ".join('"' + word.replace("\0", " ").replace('"', '""') + '"' for word in words)
