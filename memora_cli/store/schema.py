"""The tables of a memory, in portable SQLAlchemy Core; `space` leads every key."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    DDL,
    BigInteger,
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
    event,
    text,
)

from memora_cli.errors import DatabaseDamaged

VERSION = 2
"""The schema's version: a database with a lower one is migrated, one with a higher one is refused untouched."""


def _checked(read: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
    """What reads a stored value, so that one that cannot be is known as damage."""

    def reads(value: Any) -> Any:
        try:
            return value if read is None else read(value)
        except (AttributeError, TypeError, ValueError) as error:
            raise DatabaseDamaged(f"the database holds a value that cannot be ({error}): it is damaged") from error

    return reads


class Moment(TypeDecorator[datetime]):
    """An aware datetime, stored in UTC."""

    impl = DateTime
    cache_ok = True

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], datetime | None]:
        """The reading of SQLAlchemy. Raises `DatabaseDamaged`."""
        return _checked(super().result_processor(dialect, coltype))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002  # SQLAlchemy's signature
        """To naive UTC."""
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:  # noqa: ARG002  # SQLAlchemy's signature
        """To aware UTC."""
        return None if value is None else value.replace(tzinfo=UTC)


# SQLite compares texts by their bytes; the collation makes PostgreSQL do so too, whatever its locale.
_Text = Text().with_variant(Text(collation="C"), "postgresql")
_Number = BigInteger().with_variant(Integer(), "sqlite")  # an integer of SQLite is as large as is needed

metadata = MetaData()


def _space() -> Column[str]:
    return Column("space", _Text, primary_key=True)


counters = Table(
    "counters",
    metadata,
    _space(),
    Column("name", _Text, primary_key=True),
    Column("value", _Number, nullable=False),
    comment="The last number given out, under the space '' as ids are unique in the whole file and never reused.",
)

notes = Table(
    "notes",
    metadata,
    _space(),
    Column("id", _Number, primary_key=True, autoincrement=False),
    Column(
        "number", _Number, nullable=False, server_default=text("0"), comment="the id of the note this row is a text of"
    ),
    Column("uid", _Text, nullable=False),
    Column("title", _Text, nullable=False),
    Column("body", _Text, nullable=False),
    Column("kind", _Text, nullable=False),
    Column("context", _Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("occurred_start", Moment),
    Column("occurred_end", Moment),
    Column("event_at", Moment, nullable=False, comment="occurred_start, else occurred_end, else created_at"),
    Column("dated", Boolean, nullable=False, comment="somebody said when it was, it is not just the time of writing"),
    Column("pinned", Boolean, nullable=False),
    Column("source", _Text, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("content_hash", _Text, nullable=False),
    Column("file_hash", _Text, nullable=False, server_default="", comment="of what its file held when it was imported"),
    Column("since", Moment, comment="when this text replaced another; NULL for the first"),
    Column("deleted_at", Moment, comment="when it was forgotten, or when another text replaced this one"),
    # Whether a note is alive is asked of very many: told by an index, no text is read for it.
    Index("notes_alive", "space", "id", "number", "deleted_at", "since", "created_at"),
    Index("notes_number", "space", "number", "id", "deleted_at", "since", "created_at"),
    Index("notes_uid", "space", "uid", unique=True),
    Index("notes_content", "space", "content_hash"),
    Index("notes_event", "space", "event_at", "id"),
    Index("notes_deleted", "space", "deleted_at"),
    comment="Notes, and under negative ids the texts that they had; only a row without deleted_at is a note of today.",
)

topics = Table(
    "topics",
    metadata,
    _space(),
    Column("note_id", _Number, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("topic", _Text, nullable=False),
)

passages = Table(
    "passages",
    metadata,
    _space(),
    Column("id", _Number, primary_key=True, autoincrement=False),
    Column("note_id", _Number, nullable=False),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Index("passages_note", "space", "note_id"),
    comment="Half-open character ranges of the body.",
)

vectors = Table(
    "vectors",
    metadata,
    _space(),
    Column("passage_id", _Number, primary_key=True, autoincrement=False),
    Column("model", _Text, primary_key=True),
    Column("dimension", Integer, nullable=False),
    Column("vector", LargeBinary, nullable=False, comment="little-endian float32, unit length"),
    Index("vectors_model", "space", "model"),
)

keywords = Table(
    "keywords",
    metadata,
    _space(),
    Column("note_id", _Number, primary_key=True, autoincrement=False),
    Column("title", _Text, nullable=False),
    Column("topics", _Text, nullable=False),
    Column("body", _Text, nullable=False),
    Index("keywords_note", "note_id"),
    comment="What keyword search reads: folded words, one space between, before and after them.",
)

entities = Table(
    "entities",
    metadata,
    _space(),
    Column("id", _Number, primary_key=True, autoincrement=False),
    Column("key", _Text, nullable=False, comment="the name folded"),
    Column("name", _Text, nullable=False),
    Index("entities_key", "space", "key", unique=True),
)

mentions = Table(
    "mentions",
    metadata,
    _space(),
    Column("entity_id", _Number, primary_key=True),
    Column("note_id", _Number, primary_key=True),
    Column("origin", _Text, nullable=False),
    Column("said", _Text, comment="the name that the note says, where an alias made it this entity"),
    Index("mentions_note", "space", "note_id"),
)

links = Table(
    "links",
    metadata,
    _space(),
    Column("source_id", _Number, primary_key=True),
    Column("target_id", _Number, primary_key=True),
    Column("relation", _Text, primary_key=True, comment="temporal, semantic, causes, enables or prevents"),
    Column("weight", Float, nullable=False),
    Column("origin", _Text, nullable=False, server_default="derived", comment="derived from the notes, or a person"),
    Index("links_target", "space", "target_id"),
)

pending_links = Table(
    "pending_links",
    metadata,
    _space(),
    Column("note_id", _Number, primary_key=True),
    Column("relation", _Text, primary_key=True),
    Column("target", _Text, primary_key=True, comment="the folded title of a note that does not exist yet"),
    Index("pending_target", "space", "target"),
)

mentioned_times = Table(
    "mentioned_times",
    metadata,
    _space(),
    Column("note_id", _Number, primary_key=True),
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
    Column("old_id", _Number, primary_key=True),
    Column("new_id", _Number, primary_key=True),
    Column("created_at", Moment, nullable=False),
    Index("supersessions_new", "space", "new_id"),
)

past_supersessions = Table(
    "past_supersessions",
    metadata,
    _space(),
    Column("old_id", _Number, primary_key=True),
    Column("new_id", _Number, primary_key=True),
    Column("created_at", Moment, primary_key=True),
    Column("ended_at", Moment, nullable=False),
    comment="Supersessions that were taken back, for a search as of a day on which they held.",
)

aliases = Table(
    "aliases",
    metadata,
    _space(),
    Column("key", _Text, primary_key=True, comment="the other name folded"),
    Column("name", _Text, nullable=False),
    Column("entity_id", _Number, nullable=False, comment="the entity that the name means"),
    Column("created_at", Moment, nullable=False),
    Index("aliases_entity", "space", "entity_id"),
)

changes = Table(
    "changes",
    metadata,
    _space(),
    Column("id", _Number, primary_key=True, autoincrement=False),
    Column(
        "batch", _Number, nullable=False, comment="changes made, and taken back, together; 0 is before they were kept"
    ),
    Column("note_id", _Number, comment="the note that changed; NULL for aliases"),
    Column("other_id", _Number, comment="the note that replaces it, or that it is linked to"),
    Column("at", Moment, nullable=False),
    Column("action", _Text, nullable=False),
    Column("before", _Text, comment="JSON of what changed, as it was"),
    Column("after", _Text, comment="JSON of what changed, as it is"),
    Column("undoes", _Number, comment="the batch that this change takes back"),
    Index("changes_note", "space", "note_id", "id"),
    Index("changes_other", "space", "other_id"),
    Index("changes_batch", "space", "batch"),
    Index("changes_undoes", "space", "undoes"),
    comment="Every change, in the order it was made; written with what it changes, never changed itself.",
)

# To find rows by a text of any length: PostgreSQL's ordered indexes take none over 2,704 bytes, its hashes do. Said in
# SQL, as SQLAlchemy would load the whole dialect to read it from an `Index`.
for _table, _name, _column in (
    (notes, "notes_source", "source"),
    (topics, "topics_topic", "topic"),
    (keywords, "keywords_title", "title"),
):
    Index(_name, _table.c.space, _table.c[_column]).ddl_if(dialect="sqlite")
    _hashed = DDL(f"CREATE INDEX {_name} ON {_table.name} USING hash ({_column})")  # type: ignore[no-untyped-call]  # SQLAlchemy's
    event.listen(_table, "after_create", _hashed.execute_if(dialect="postgresql"))
