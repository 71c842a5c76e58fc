"""Heals a database from its notes: everything that is derived from them is made anew, and the old file is kept."""

from __future__ import annotations

import os
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from memora_cli.config import Config
from memora_cli.errors import DatabaseDamaged, ModelUnusable
from memora_cli.memory.memory import Memory
from memora_cli.models import find_model
from memora_cli.models.folder import read_folder
from memora_cli.store import health, records, salvage, schema, sqlite_file, vectors
from memora_cli.store.database import Database, location, open_database
from memora_cli.store.rewriting import add_passages
from memora_cli.store.schema import keywords, notes, passages, topics
from memora_cli.text.passages import split
from memora_cli.text.words import search_text


@dataclass(frozen=True, slots=True)
class Repaired:
    """What was healed, a line each, and where the file is as it was."""

    done: tuple[str, ...]
    kept: Path


def repair(config: Config, at: datetime) -> Repaired:
    """Make a database anew from its notes, and give them the vectors they lack; no note is changed.

    Raises `DatabaseDamaged` where notes themselves cannot be read, and `DatabaseBusy`; nothing is changed then.
    """
    path = location(config.db)
    number = sqlite_file.version(path)
    if number != schema.VERSION:
        raise DatabaseDamaged(f"{path} has schema version {number}: only one of {schema.VERSION} can be repaired")
    draft = path.with_name(f".{path.name[:80]}.{os.getpid()}.part")
    kept = sqlite_file.beside(path, "repair", at)
    done: list[str] = []

    def write(source: Any) -> Path:
        done.clear()
        for one in (kept, draft):
            sqlite_file.remove(one)
        salvage.keep(path, kept)
        with closing(open_database(str(draft))) as database, database.write() as connection:
            done.extend(_rebuild(database, connection, source, _model(config)))
        sqlite_file.check(draft)
        return draft

    try:
        salvage.replace(path, write)
    except Exception:
        sqlite_file.remove(kept)
        raise
    finally:
        sqlite_file.remove(draft)
    with suppress(ModelUnusable):  # the notes wait for their vectors then, which doctor tells
        _embed(config)
    return Repaired(tuple(done), kept)


def _model(config: Config) -> tuple[str, int] | None:
    """Id and dimension of the configured embedder, None where it cannot be had."""
    try:
        folder = read_folder(find_model(config.embedder), "embedder")
    except ModelUnusable:
        return None
    return folder.id, folder.dimension or 0


def _rebuild(database: Database, connection: Connection, source: Any, model: tuple[str, int] | None) -> list[str]:
    """Read the source into an empty database, and make what is derived; what was healed."""
    done = salvage.read_into(connection, source)
    done += salvage.drop_loose(connection)
    salvage.settle_counters(connection)
    unfit = health.unfit(connection, model)
    for row in unfit:
        key = {"space": row.space, "passage_id": row.passage_id, "model": row.model}
        connection.execute(delete(schema.vectors).filter_by(**key))
    if unfit:
        done.append(f"{len(unfit)} vectors of a wrong length or size removed")
    recut = sum(_cut(connection, row.space, row.id, row.body) for row in connection.execute(select(notes)).all())
    if recut:
        done.append(f"{recut} notes cut into passages anew")
    _spell(connection)
    for space, name in connection.execute(select(schema.vectors.c.space, schema.vectors.c.model).distinct()).all():
        database.index.rebuild(connection, space, name)
    return [*done, "keyword and vector indexes made anew"]


def _cut(connection: Connection, space: str, note_id: int, body: str) -> bool:
    """Give a note the passages of its text, where it has others; whether it had."""
    mine = (passages.c.space == space) & (passages.c.note_id == note_id)
    held = connection.execute(select(passages.c.id, passages.c.start, passages.c.end).where(mine)).all()
    wanted = [(span.start, span.end) for span in split(body)]
    if sorted((row.start, row.end) for row in held) == sorted(wanted):
        return False
    gone = [row.id for row in held]
    their = (schema.vectors.c.space == space) & schema.vectors.c.passage_id.in_(gone)
    connection.execute(delete(schema.vectors).where(their))
    connection.execute(delete(passages).where(mine))
    add_passages(connection, space, note_id, wanted)
    return True


def _spell(connection: Connection) -> None:
    """Write what keyword search reads of every note; the keyword index follows by itself."""
    said: dict[tuple[str, int], list[str]] = {}
    for row in connection.execute(select(topics).order_by(topics.c.space, topics.c.note_id, topics.c.position)):
        said.setdefault((row.space, row.note_id), []).append(row.topic)
    for row in connection.execute(select(notes.c.space, notes.c.id, notes.c.title, notes.c.body)).all():
        texts = {"title": row.title, "topics": " ".join(said.get((row.space, row.id), ())), "body": row.body}
        words = {name: f" {search_text(text)} " for name, text in texts.items()}
        connection.execute(insert(keywords).values(space=row.space, note_id=row.id, **words))


def _embed(config: Config) -> None:
    """Give the notes of every space the vectors they lack."""
    with Memory(config) as memory:
        with memory.database.read() as connection:
            spaces = list(records.spaces(connection))
        for space in spaces:
            memory.space = space
            with memory.database.read() as connection:
                lacking = vectors.waiting(connection, space, memory.embedder.id)
            if lacking:
                for _ in memory.reindex():
                    pass
