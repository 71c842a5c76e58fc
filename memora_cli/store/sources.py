"""Finds the notes that hold a text, or came from a source."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, func, select

from memora_cli.store.conditions import stale
from memora_cli.store.schema import notes


def find_text(connection: Connection, space: str, content_hash: str, source: str) -> int | None:
    """The newest note with that text; when it comes from a source, only one of the same source counts."""
    condition = (notes.c.space == space) & (notes.c.content_hash == content_hash) & notes.c.deleted_at.is_(None)
    if source:
        condition &= notes.c.source == source
    return connection.execute(select(func.max(notes.c.id)).where(condition)).scalar()


def known(
    connection: Connection, space: str, hashes: Collection[str], sources: Collection[str]
) -> tuple[set[str], set[str]]:
    """Those of the texts, by their hashes, and of the sources that a note of the space has."""
    here = (notes.c.space == space) & notes.c.deleted_at.is_(None)
    texts = connection.execute(select(notes.c.content_hash).where(here, notes.c.content_hash.in_(hashes))).scalars()
    origins = connection.execute(select(notes.c.source).where(here, notes.c.source.in_(sources))).scalars()
    return set(texts), set(origins)


def newest(connection: Connection, space: str, source: str) -> tuple[int, str, str] | None:
    """The newest note that came from that source, the hash of its text, and that of the file it was imported from."""
    row = connection.execute(
        select(notes.c.id, notes.c.content_hash, notes.c.file_hash)
        .where(notes.c.space == space, notes.c.source == source, notes.c.deleted_at.is_(None))
        .order_by(notes.c.id.desc())
        .limit(1)
    ).one_or_none()
    return None if row is None else (row.id, row.content_hash, row.file_hash)


def below(connection: Connection, space: str, folder: str) -> dict[str, int]:
    """The files under a folder that notes came from, each with its newest note that nothing replaces."""
    rows = connection.execute(
        select(notes.c.source, notes.c.id)
        .where(notes.c.space == space, notes.c.deleted_at.is_(None), ~stale(space))
        .where(notes.c.source.startswith(folder, autoescape=True))
        .order_by(notes.c.id)
    )
    return {row.source: row.id for row in rows}
