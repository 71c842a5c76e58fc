"""Keyword search by LIKE: needs no index, counts weighted word hits, works on every database."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, case, func, or_, select, true

from memora_cli.store.schema import keywords, notes

TITLE, TOPIC, BODY = 10.0, 5.0, 1.0
ESCAPE = "\\"
LONGEST = 1000  # letters of a word that are compared


def match(
    connection: Connection, words: Sequence[str], where: ColumnElement[bool], limit: int
) -> list[tuple[int, float]]:
    """`(note id, score)`: for each word 10 when the title holds it, 5 when a topic has it whole, 1 when the body does.

    Without words, every note that passes `where`, newest first, with score 0.
    """
    terms: list[ColumnElement[float]] = []
    hits: list[ColumnElement[bool]] = []
    for word in words:
        for column, pattern, weight in (
            (keywords.c.title, f"%{escaped(word)}%", TITLE),
            (keywords.c.topics, f"% {escaped(word)} %", TOPIC),
            (keywords.c.body, f"%{escaped(word)}%", BODY),
        ):
            held = column.like(pattern, escape=ESCAPE)
            hits.append(held)
            terms.append(case((held, weight), else_=0.0))
    score = sum(terms[1:], terms[0]) if terms else func.abs(0.0)
    statement = (
        select(notes.c.number, score.label("score"))
        .join(keywords, (keywords.c.space == notes.c.space) & (keywords.c.note_id == notes.c.id))
        .where(where, or_(*hits) if hits else true())
        .order_by(score.desc(), notes.c.created_at.desc(), notes.c.number)
        .limit(limit)
    )
    return [(row.number, float(row.score)) for row in connection.execute(statement)]


def escaped(word: str) -> str:
    """The word as LIKE takes it literally; a very long one by its start, as databases cap a pattern."""
    return word[:LONGEST].replace(ESCAPE, ESCAPE * 2).replace("%", ESCAPE + "%").replace("_", ESCAPE + "_")
