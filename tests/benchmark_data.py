"""Databases of any size for the benchmark: real notes, repeated with variation where there are not enough of them.

Up to `REAL` notes are those of the public evaluation sets, embedded by the bundled model. A larger database repeats
them: a share of the words of every copy is drawn anew from all of the words, as often as each is used, its vectors lie
a little off those of the original, half of its entities are its own. `LIGHT` says from where on a database has short
notes and no graph: it is for storage, keyword and vector stages only.
"""

from __future__ import annotations

import json
import random
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray
from sqlalchemy import Connection, func, select, text

from memora_cli.config import load
from memora_cli.memory import Memory
from memora_cli.memory.importing import Item, read
from memora_cli.memory.writing import prepare, row_of
from memora_cli.store import notes, schema, vectors
from memora_cli.store.database import Database
from memora_cli.values import Draft

NOW = datetime(2026, 1, 1, tzinfo=UTC)
REAL = 10_000
LIGHT = 1_000_000
SETS = ("til", "longmemeval", "timeqa_train", "npl", "cranfield")
CHUNK = 10_000  # notes written in one transaction
FRESH = 0.15  # the share of a copy's words that are drawn anew
OFF = 0.5  # the length of what is added to the unit vector of a copy: cosine about 0.9
SHORT = 240  # characters of a note in a light database
COPIED = (schema.links, schema.mentions, schema.mentioned_times)


def items(shared: Path, most: int = REAL) -> list[Item]:
    """Real notes of all the sets, mixed, always the same ones."""
    found = []
    for name in SETS:
        file = shared / "eval" / name / "corpus_with_titles.jsonl"
        file = file if file.exists() else file.with_name("corpus.jsonl")
        found += [replace(item, name=f"{name} {item.name}") for item in read(file, NOW) if item.draft]
    random.Random(0).shuffle(found)
    return found[:most]


def queries(shared: Path, most: int) -> list[str]:
    """Real queries, as many of each set: titles, questions with and without times, lists of words."""
    found = []
    for name in SETS:
        lines = (shared / "eval" / name / "queries.jsonl").read_text(encoding="utf-8").splitlines()
        random.Random(1).shuffle(lines)
        found += [str(json.loads(line)["text"]) for line in lines[: most // len(SETS)]]
    random.Random(2).shuffle(found)
    return found


def database(folder: Path, shared: Path, size: int) -> Path:
    """The file of a database of that many notes in the folder, made when it is not there."""
    path = folder / f"{size}.db"
    if path.exists():
        return path
    draft = folder / f"{size}.part.db"
    for left in folder.glob(f"{draft.name}*"):
        left.unlink()
    print(f"making a database of {size:,} notes", file=sys.stderr, flush=True)
    if size <= REAL:
        with Memory(load({"db": str(draft)}, environment={})) as memory:
            for _ in memory.intake(NOW).take(items(shared, size)):
                pass
    else:
        _repeat(draft, database(folder, shared, REAL), size)
    with Memory(load({"db": str(draft)}, environment={})) as memory:
        connection = memory.database.engine.raw_connection()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
    return draft.rename(path)


def _repeat(path: Path, original: Path, size: int) -> None:
    """Write `size` notes: the original database's, and copies of them."""
    light = size >= LIGHT
    with Memory(load({"db": str(original)}, environment={})) as memory, memory.database.read() as connection:
        model = vectors.models(connection, "default")[0]
        held = sorted(notes.fetch(connection, "default", range(1, 10 * REAL)).values(), key=lambda note: note.id)
        rows = connection.execute(
            schema.passages.select().order_by(schema.passages.c.note_id, schema.passages.c.start)
        ).all()
        blobs = vectors.of_passages(connection, "default", model, [row.id for row in rows[:10_000]])
        for start in range(10_000, len(rows), 10_000):
            blobs |= vectors.of_passages(connection, "default", model, [row.id for row in rows[start : start + 10_000]])
    spans: dict[int, list[Any]] = {}
    for row in rows:
        spans.setdefault(row.note_id, []).append(row)
    words = " ".join(note.body for note in held).split()
    chance = random.Random(size)
    with Memory(load({"db": str(path)}, environment={})) as memory:
        connection = memory.database.engine.raw_connection()
        connection.execute("PRAGMA journal_mode=OFF")
        connection.close()
        for start in range(0, size, CHUNK):
            copy = start // len(held)
            drafts: list[tuple[Draft, list[Any]]] = []
            for place in range(start, min(start + CHUNK, size)):
                note = held[place % len(held)]
                body = note.body[:SHORT] if light else note.body
                drafts.append(
                    (
                        Draft(
                            body=_varied(body, words, chance) if place >= len(held) else body,
                            title=note.title,
                            topics=note.topics,
                            created_at=note.created_at + timedelta(minutes=copy),
                            source=note.source,
                            dated=False,
                        ),
                        spans[note.id][:1] if light else spans[note.id],
                    )
                )
            _write(memory.database, model, drafts, blobs, numpy.random.default_rng(start), exact=start < len(held))
            print(f"  {start + len(drafts):,}", file=sys.stderr, flush=True)
        with memory.database.write() as connection:
            if not light:
                _copy_graph(connection, original, size, len(held))
            memory.database.index.rebuild(connection, "default", model)


def _varied(body: str, words: list[str], chance: random.Random) -> str:
    """The text with a share of its words drawn anew; lines stay."""
    return "\n".join(
        " ".join(words[int(chance.random() * len(words))] if chance.random() < FRESH else word for word in line.split())
        for line in body.split("\n")
    )


def _write(
    database: Database,
    model: str,
    drafts: list[tuple[Draft, list[Any]]],
    blobs: dict[int, bytes],
    noise: numpy.random.Generator,
    *,
    exact: bool,
) -> None:
    with database.write() as connection:
        numbers = notes.next_ids(connection, "note", len(drafts))
        rows, source = [], []
        for number, (draft, spans) in zip(numbers, drafts, strict=True):
            ready = prepare(draft)
            ready = replace(ready, passages=ready.passages[: len(spans)])
            rows.append(row_of(ready, None, NOW, number=number, space="default"))
            source += [spans[min(place, len(spans) - 1)].id for place in range(len(ready.passages))]
        written = notes.write(connection, rows)
        matrix = numpy.frombuffer(b"".join(blobs[number] for number in source), "<f4").reshape(len(source), -1)
        if not exact:
            matrix = _moved(matrix, noise)
        passages = [number for number, _ in written]
        vectors.write(database, connection, "default", model, passages, matrix, indexed=False)


def _moved(matrix: NDArray[numpy.float32], noise: numpy.random.Generator) -> NDArray[numpy.float32]:
    step = noise.standard_normal(matrix.shape, dtype=numpy.float32)
    step *= OFF / numpy.linalg.norm(step, axis=1, keepdims=True)
    moved = matrix + step
    moved /= numpy.linalg.norm(moved, axis=1, keepdims=True)
    return moved


def _copy_graph(connection: Connection, original: Path, size: int, held: int) -> None:
    """Links, entities, mentions, times and topics of the original, and of every copy; half of its entities are its own.

    The ids of notes are 1, 2, 3, …, so those of a copy are the original's and a multiple of their number.
    """
    with Memory(load({"db": str(original)}, environment={})) as memory, memory.database.read() as source:
        for table in (schema.entities, *COPIED):
            rows = [dict(row._mapping) for row in source.execute(table.select())]
            for start in range(0, len(rows), CHUNK):
                connection.execute(table.insert(), rows[start : start + CHUNK])
        names = source.execute(select(func.max(schema.entities.c.id))).scalar_one()
    for copy in range(1, -(-size // held)):
        least, new = copy * held, copy * names
        for statement in (
            "INSERT INTO entities SELECT space, id + :new, key || '~' || :copy, name || '~' || :copy FROM entities "
            "WHERE id <= :names AND id % 2 = :copy % 2",
            "INSERT INTO mentions SELECT space, entity_id + CASE WHEN entity_id % 2 = :copy % 2 THEN :new ELSE 0 END, "
            "note_id + :least, origin, said FROM mentions WHERE note_id <= :held",
            "INSERT INTO links SELECT space, source_id + :least, target_id + :least, relation, weight, origin "
            "FROM links WHERE source_id <= :held",
            'INSERT INTO mentioned_times SELECT space, note_id + :least, position, start, "end" FROM mentioned_times '
            "WHERE note_id <= :held",
        ):
            values = {"new": new, "copy": copy, "names": names, "least": least, "held": held}
            connection.execute(text(statement), values)
