"""Suggesting: the notes that a new one seems to update, for the user to supersede or not."""

from __future__ import annotations

from sqlalchemy import Connection

from memora_cli.rank.read import passage_text
from memora_cli.rank.update import compare
from memora_cli.store import graph, notes
from memora_cli.text.words import is_stop_word, tokens
from memora_cli.values import Note

LONGEST = 900  # characters of a text that is one statement rather than many


def outdated(connection: Connection, space: str, note_id: int) -> tuple[Note, ...]:
    """The older notes, not superseded, that mean nearly the same and state something else, the nearest first.

    They are sought among the semantic links, whose cosine is 0.7 and more.
    """
    edges = [edge for edge in graph.edges(connection, space, [note_id], hub=0) if edge.relation == "semantic"]
    near = {edge.target: edge.weight for edge in edges if edge.source == note_id}
    held = notes.fetch(connection, space, [note_id, *near])
    newer = held.pop(note_id)
    if len(newer.body) > LONGEST:
        return ()
    text = passage_text(newer.title, newer.body)
    words = tuple(dict.fromkeys(word for word in tokens(text) if not is_stop_word(word)))
    return tuple(
        older
        for older in sorted(held.values(), key=lambda note: (-near[note.id], note.id))
        if not older.superseded_by
        and older.created_at < newer.created_at
        and len(older.body) <= LONGEST
        and compare(passage_text(older.title, older.body), text, words)
    )
