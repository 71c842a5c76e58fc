"""The tables of a memory, in portable SQLAlchemy Core; `space` leads every key."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    DateTime,
    Dialect,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    text,
)

VERSION = 2
"""The schema's version: a database with a lower one is migrated, one with a higher one is refused untouched."""


class Moment(TypeDecorator[datetime]):
    """An aware datetime, stored in UTC."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002  # SQLAlchemy's signature
        """To naive UTC."""
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:  # noqa: ARG002  # SQLAlchemy's signature
        """To aware UTC."""
        return None if value is None else value.replace(tzinfo=UTC)


metadata = MetaData()


def _space() -> Column[str]:
    return Column("space", Text, primary_key=True)


counters = Table(
    "counters",
    metadata,
    _space(),
    Column("name", Text, primary_key=True),
    Column("value", Integer, nullable=False),
    comment="The last number given out, under the space '' as ids are unique in the whole file and never reused.",
)

notes = Table(
    "notes",
    metadata,
    _space(),
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column(
        "number", Integer, nullable=False, server_default=text("0"), comment="the id of the note this row is a text of"
    ),
    Column("uid", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("context", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("occurred_start", Moment),
    Column("occurred_end", Moment),
    Column("event_at", Moment, nullable=False, comment="occurred_start, else occurred_end, else created_at"),
    Column("dated", Boolean, nullable=False, comment="somebody said when it was, it is not just the time of writing"),
    Column("pinned", Boolean, nullable=False),
    Column("source", Text, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("content_hash", Text, nullable=False),
    Column("file_hash", Text, nullable=False, server_default="", comment="of what its file held when it was imported"),
    Column("since", Moment, comment="when this text replaced another; NULL for the first"),
    Column("deleted_at", Moment, comment="when it was forgotten, or when another text replaced this one"),
    # Whether a note is alive is asked of very many: told by an index, no text is read for it.
    Index("notes_alive", "space", "id", "number", "deleted_at", "since", "created_at"),
    Index("notes_number", "space", "number", "id", "deleted_at", "since", "created_at"),
    Index("notes_uid", "space", "uid", unique=True),
    Index("notes_content", "space", "content_hash"),
    Index("notes_event", "space", "event_at", "id"),
    Index("notes_source", "space", "source"),
    Index("notes_deleted", "space", "deleted_at"),
    comment="Notes, and under negative ids the texts that they had; only a row without deleted_at is a note of today.",
)

topics = Table(
    "topics",
    metadata,
    _space(),
    Column("note_id", Integer, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("topic", Text, nullable=False),
    Index("topics_topic", "space", "topic"),
)

passages = Table(
    "passages",
    metadata,
    _space(),
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("note_id", Integer, nullable=False),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Index("passages_note", "space", "note_id"),
    comment="Half-open character ranges of the body.",
)

vectors = Table(
    "vectors",
    metadata,
    _space(),
    Column("passage_id", Integer, primary_key=True, autoincrement=False),
    Column("model", Text, primary_key=True),
    Column("dimension", Integer, nullable=False),
    Column("vector", LargeBinary, nullable=False, comment="little-endian float32, unit length"),
    Index("vectors_model", "space", "model"),
)

keywords = Table(
    "keywords",
    metadata,
    _space(),
    Column("note_id", Integer, primary_key=True, autoincrement=False),
    Column("title", Text, nullable=False),
    Column("topics", Text, nullable=False),
    Column("body", Text, nullable=False),
    Index("keywords_note", "note_id"),
    Index("keywords_title", "space", "title"),
    comment="What keyword search reads: folded words, one space between, before and after them.",
)

entities = Table(
    "entities",
    metadata,
    _space(),
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("key", Text, nullable=False, comment="the name folded"),
    Column("name", Text, nullable=False),
    Index("entities_key", "space", "key", unique=True),
)

mentions = Table(
    "mentions",
    metadata,
    _space(),
    Column("entity_id", Integer, primary_key=True),
    Column("note_id", Integer, primary_key=True),
    Column("origin", Text, nullable=False),
    Column("said", Text, comment="the name that the note says, where an alias made it this entity"),
    Index("mentions_note", "space", "note_id"),
)

links = Table(
    "links",
    metadata,
    _space(),
    Column("source_id", Integer, primary_key=True),
    Column("target_id", Integer, primary_key=True),
    Column("relation", Text, primary_key=True, comment="temporal, semantic, causes, enables or prevents"),
    Column("weight", Float, nullable=False),
    Column("origin", Text, nullable=False, server_default="derived", comment="derived from the notes, or a person"),
    Index("links_target", "space", "target_id"),
)

pending_links = Table(
    "pending_links",
    metadata,
    _space(),
    Column("note_id", Integer, primary_key=True),
    Column("relation", Text, primary_key=True),
    Column("target", Text, primary_key=True, comment="the folded title of a note that does not exist yet"),
    Index("pending_target", "space", "target"),
)

mentioned_times = Table(
    "mentioned_times",
    metadata,
    _space(),
    Column("note_id", Integer, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("start", Moment, nullable=False),
    Column("end", Moment, nullable=False),
    Index("mentioned_times_span", "space", "start", "end"),
    comment="Half-open spans of time that a note's text names, relative ones as of its creation.",
)

supersessions = Table(
    "supersessions",
    metadata,
    _space(),
    Column("old_id", Integer, primary_key=True),
    Column("new_id", Integer, primary_key=True),
    Column("created_at", Moment, nullable=False),
    Index("supersessions_new", "space", "new_id"),
)

past_supersessions = Table(
    "past_supersessions",
    metadata,
    _space(),
    Column("old_id", Integer, primary_key=True),
    Column("new_id", Integer, primary_key=True),
    Column("created_at", Moment, primary_key=True),
    Column("ended_at", Moment, nullable=False),
    comment="Supersessions that were taken back, for a search as of a day on which they held.",
)

aliases = Table(
    "aliases",
    metadata,
    _space(),
    Column("key", Text, primary_key=True, comment="the other name folded"),
    Column("name", Text, nullable=False),
    Column("entity_id", Integer, nullable=False, comment="the entity that the name means"),
    Column("created_at", Moment, nullable=False),
    Index("aliases_entity", "space", "entity_id"),
)

changes = Table(
    "changes",
    metadata,
    _space(),
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column(
        "batch", Integer, nullable=False, comment="changes made, and taken back, together; 0 is before they were kept"
    ),
    Column("note_id", Integer, comment="the note that changed; NULL for aliases"),
    Column("other_id", Integer, comment="the note that replaces it, or that it is linked to"),
    Column("at", Moment, nullable=False),
    Column("action", Text, nullable=False),
    Column("before", Text, comment="JSON of what changed, as it was"),
    Column("after", Text, comment="JSON of what changed, as it is"),
    Column("undoes", Integer, comment="the batch that this change takes back"),
    Index("changes_note", "space", "note_id", "id"),
    Index("changes_other", "space", "other_id"),
    Index("changes_batch", "space", "batch"),
    Index("changes_undoes", "space", "undoes"),
    comment="Every change, in the order it was made; written with what it changes, never changed itself.",
)
