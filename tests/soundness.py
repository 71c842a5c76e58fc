"""Says whether a database is sound: its pages, its keyword index, and that no row hangs loose."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from memora_cli.store.sqlite import driver

LOOSE = (
    "SELECT count(*) FROM passages p LEFT JOIN notes n ON n.space = p.space AND n.id = p.note_id WHERE n.id IS NULL",
    "SELECT count(*) FROM notes n LEFT JOIN passages p ON n.space = p.space AND n.id = note_id WHERE note_id IS NULL",
    "SELECT count(*) FROM keywords k LEFT JOIN notes n ON n.space = k.space AND n.id = k.note_id WHERE n.id IS NULL",
    "SELECT count(*) FROM notes n LEFT JOIN keywords k ON n.space = k.space AND n.id = note_id WHERE note_id IS NULL",
    "SELECT count(*) FROM mentions m LEFT JOIN notes n ON n.space = m.space AND n.id = m.note_id WHERE n.id IS NULL",
    "SELECT count(*) FROM mentions m LEFT JOIN entities e ON e.space = m.space AND e.id = entity_id WHERE e.id IS NULL",
    "SELECT count(*) FROM vectors v LEFT JOIN passages p ON p.space = v.space AND p.id = passage_id WHERE p.id IS NULL",
    "SELECT count(*) FROM topics t LEFT JOIN notes n ON n.space = t.space AND n.id = t.note_id WHERE n.id IS NULL",
    "SELECT count(*) FROM links l LEFT JOIN notes n ON n.space = l.space AND n.id = l.source_id WHERE n.id IS NULL",
    "SELECT count(*) FROM links l LEFT JOIN notes n ON n.space = l.space AND n.id = l.target_id WHERE n.id IS NULL",
    "SELECT count(*) FROM supersessions s LEFT JOIN notes n ON n.space = s.space AND n.id = old_id WHERE n.id IS NULL",
    "SELECT count(*) FROM supersessions s LEFT JOIN notes n ON n.space = s.space AND n.id = new_id WHERE n.id IS NULL",
)
"""Each counts rows that belong to nothing, or lack what belongs to them."""

WAITING = (
    "SELECT count(*) FROM passages p LEFT JOIN vectors v ON p.space = v.space AND p.id = v.passage_id "
    "WHERE v.passage_id IS NULL"
)
"""Counts passages without a vector."""


def problems(path: Path, *, embedded: bool = True) -> list[str]:
    """What is wrong in the file; empty when it is sound. `embedded` says that every note is to have its vectors."""
    connection = connect(path)
    try:
        found = [row[0] for row in connection.execute("PRAGMA integrity_check").fetchall() if row[0] != "ok"]
        if not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            return found  # whoever began it was stopped before its schema was there
        try:
            connection.execute("INSERT INTO keywords_fts(keywords_fts, rank) VALUES('integrity-check', 1)")
        except driver().Error as error:
            found.append(f"keyword index: {error}")
        for check in (*LOOSE, *([WAITING] if embedded else [])):
            count = connection.execute(check).fetchone()[0]
            if count:
                found.append(f"{count} for {check}")
        return found
    finally:
        connection.close()


def connect(path: Path) -> Any:
    """The file through the driver, as another program would open it."""
    return driver().connect(str(path), isolation_level=None)


def notes_hash(path: Path) -> str:
    """A hash of every note: all columns, its topics, and what replaces it, where both notes are there."""
    connection = connect(path)
    try:
        held = [
            connection.execute(f"SELECT * FROM {table} NOT INDEXED ORDER BY 1, 2, 3").fetchall()
            for table in ("notes", "topics", "aliases", "changes")
        ]
        return hashlib.sha256(repr(held).encode()).hexdigest()
    finally:
        connection.close()
