"""Asks FTS5 for the best notes: words quoted, no more of them than can be weighed in a short time, notes read late."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, column, func, literal_column, select, table, text

from memora_cli.store.remembered import remembered
from memora_cli.store.schema import notes

MOST_ROWS = 300_000  # notes of which bm25 is computed, at about 0.5 µs each
SAMPLE = 20_000  # notes that tell how common a word is
READ = 2  # notes that are looked at for each one wanted, before the rest are


def match(
    connection: Connection, words: Sequence[str], where: ColumnElement[bool], limit: int
) -> list[tuple[int, float]]:
    """`(note id, bm25 negated)`, best first; of equals the newest, then the lower id.

    FTS5 alone ranks all that match; to look up the note of each would take longer than that. So only the best are
    looked up, and all of them where these leave open which are best: too few pass, or the last has equals outside.
    """
    index = table("keywords_fts", column("rowid"))
    score: ColumnElement[float] = literal_column("bm25(keywords_fts, 10.0, 5.0, 1.0)").label("score")
    matching = text("keywords_fts MATCH :match")
    given = {"match": quoted(affordable(connection, words))}
    best = select(index.c.rowid, score).where(matching).order_by(score).limit(READ * limit)
    scores = {row[0]: row[1] for row in connection.execute(best, given).all()}
    ids = func.json_each(json.dumps(list(scores))).table_valued("value")
    here = select(notes.c.id, notes.c.number, notes.c.created_at).where(where, notes.c.id.in_(select(ids.c.value)))
    passing = [(scores[number], moment, note_id) for number, note_id, moment in connection.execute(here).all()]
    passing.sort(key=lambda row: (row[0], -row[1].timestamp(), row[2]))
    whole = len(scores) < READ * limit
    if whole or (len(passing) >= limit and passing[limit - 1][0] < max(scores.values())):
        return [(number, -score) for score, _, number in passing[:limit]]
    every = (
        select(notes.c.number, score)
        .select_from(index.join(notes, notes.c.id == index.c.rowid))
        .where(matching, where)
        .order_by(score, notes.c.created_at.desc(), notes.c.number)
        .limit(limit)
    )
    return [(row.number, -row.score) for row in connection.execute(every, given)]


def affordable(connection: Connection, words: Sequence[str]) -> list[str]:
    """The rarest of the words that together stand in about `MOST_ROWS` notes, at least one; in their order.

    bm25 is computed of every note that holds one of them, so a question of common words would cost a file of a million
    notes seconds. How common a word is, the newest `SAMPLE` notes tell.
    """
    last = int(connection.exec_driver_sql("SELECT coalesce(max(id), 0) FROM keywords_fts_docsize").scalar_one())
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
