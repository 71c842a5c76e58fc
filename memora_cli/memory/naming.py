"""Joins names that mean the same entity, and parts them again by what the notes say."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import Connection

from memora_cli.errors import Usage
from memora_cli.store import aliases, changes, records
from memora_cli.text.entities import entity_key, extract


def join(connection: Connection, space: str, name: str, other: str, at: datetime) -> list[changes.Entry]:
    """Let the other name mean the same entity; what that changed. Raises `Usage` for a name that means another."""
    key, other_key = entity_key(name), entity_key(other)
    for said, folded in ((name, key), (other, other_key)):
        if not folded:
            raise Usage(f'"{said}" is no name: give one with a letter or digit')
    main = aliases.entity(connection, space, key, name)
    if other_key == main.key:
        raise Usage(f'"{other}" and "{name}" are one name already: give two')
    held = aliases.find(connection, space, other_key)
    if held is not None:
        if held[1].id == main.id:
            return []
        raise Usage(
            f'"{other}" is another name of {held[1].name} already: memora alias --remove "{other}" takes that away'
        )
    carried = aliases.join(connection, space, main, other_key, other, at)
    return [changes.Entry("alias", after={"name": main.name, "other": other, "carried": carried})]


def listing(connection: Connection, space: str, name: str | None = None) -> list[tuple[str, str]]:
    """`(name, other name)` of all aliases, or of those that mean the same as one name."""
    found = aliases.listing(connection, space)
    if name is None:
        return found
    held = aliases.find(connection, space, entity_key(name))
    key = held[1].key if held else entity_key(name)
    return [pair for pair in found if entity_key(pair[0]) == key]


def part(connection: Connection, space: str, other: str, carried: Collection[str] = ()) -> list[changes.Entry]:
    """Let a name mean an entity of its own again; what that changed. Raises `Usage` for a name that is no alias.

    Each note keeps the names that it says: what named the entity by that name, or says it in its text, goes over.
    """
    key = entity_key(other)
    held = aliases.find(connection, space, key)
    if held is None:
        raise Usage(f'"{other}" is no alias: memora alias lists them')
    name, main = held
    holders = aliases.holders(connection, space, main.id)
    own = aliases.part(connection, space, key, name, carried)
    theirs = {key, *carried}
    for holder in holders:
        found = {e.key: e for e in extract(holder.title, holder.body, holder.topics, ())}
        said = entity_key(holder.said) if holder.said else main.key
        mine = next((found[k] for k in found if k in theirs), None)
        if said in theirs:
            aliases.mention(connection, space, own.id, [(holder.row_id, holder.origin, _other(holder.said, own.key))])
            kept = found.get(main.key)
            aliases.unmention(connection, space, main.id, [holder.row_id])
            if kept is not None:
                aliases.mention(connection, space, main.id, [(holder.row_id, kept.source, None)])
        elif mine is not None:
            aliases.mention(connection, space, own.id, [(holder.row_id, mine.source, _other(mine.name, own.key))])
    return [changes.Entry("unalias", before={"name": main.name, "other": name})]


def say(connection: Connection, space: str, row_id: int, said: Sequence[tuple[str, str]]) -> None:
    """Let a row of `notes` mention what aliases mean by the names, each with its origin, that it said of old."""
    held = {name: aliases.find(connection, space, entity_key(name)) for name, _ in said}
    meant = {found[1].id: (name, origin) for name, origin in said if (found := held[name])}
    records.say(connection, space, row_id, meant)


def _other(said: str | None, key: str) -> str | None:
    """The name that was said, where it is not the entity's own."""
    return said if said and entity_key(said) != key else None
