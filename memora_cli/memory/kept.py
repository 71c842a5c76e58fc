"""What exported lines hold beside notes: names, aliases, ended supersessions and changes, each a line with "record"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from memora_cli.memory import fields
from memora_cli.store.archive import COUNTERS, Ended, Renaming
from memora_cli.text.words import normalise
from memora_cli.values import Action, Change

BESIDE = ("memory", "names", "alias", "ended", "change")
"""The records that are no texts of notes."""


@dataclass(frozen=True, slots=True)
class Opening:
    """That all of a memory follows; `counters` are the last numbers that it gave out."""

    counters: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept in a space beside its notes; `value` may be the names of its entities, in the order of their ids."""

    space: str
    value: Opening | Renaming | Ended | Change | tuple[str, ...]

    @property
    def about_notes(self) -> bool:
        """Whether it names notes, which are to be there first; notes are read by the others."""
        return isinstance(self.value, Ended | Change)


def to_line(kept: Kept) -> dict[str, Any]:
    """The keys of a record; all times in UTC."""
    match kept.value:
        case Opening(counters):
            return {"record": "memory", "counters": dict(counters)}
        case Renaming(name, other, at):
            return {"record": "alias", "space": kept.space, "name": name, "other": other, "at": fields.stamp(at)}
        case Ended(old, new, at, until):
            times = {"at": fields.stamp(at), "until": fields.stamp(until)}
            return {"record": "ended", "space": kept.space, "old": old, "new": new, **times}
        case Change() as change:
            return {
                "record": "change",
                "space": kept.space,
                "id": change.id,
                "batch": change.batch,
                "at": fields.stamp(change.at),
                "action": change.action,
                "note": change.note_id,
                "other": change.other_id,
                "before": dict(change.before),
                "after": dict(change.after),
                "undoes": change.undoes,
            }
        case names:
            return {"record": "names", "space": kept.space, "names": list(names)}


def from_line(line: Mapping[str, Any]) -> Kept:
    """What `to_line` made a line of. ValueError names the key."""
    space = normalise(fields.text(line, "space")) or "default"
    match line["record"]:
        case "memory":
            held = line.get("counters")
            counters = held if isinstance(held, dict) else {}
            given = {name: counters[name] for name in COUNTERS if counters.get(name)}
            return Kept(space, Opening({name: fields.whole(number, "counters") for name, number in given.items()}))
        case "names":
            return Kept(space, fields.texts(line, "names"))
        case "alias":
            return Kept(
                space,
                Renaming(
                    fields.text(line, "name"), fields.text(line, "other"), fields.needed_moment(line.get("at"), "at")
                ),
            )
        case "ended":
            old, new = (fields.whole(line.get(key), key) for key in ("old", "new"))
            return Kept(
                space,
                Ended(
                    old,
                    new,
                    fields.needed_moment(line.get("at"), "at"),
                    fields.needed_moment(line.get("until"), "until"),
                ),
            )
        case _:
            return Kept(space, _change(line))


def _change(line: Mapping[str, Any]) -> Change:
    action = fields.text(line, "action")
    if action not in get_args(Action):
        raise ValueError(f'"action" is one of {", ".join(get_args(Action))}, not "{action}"')

    def number(key: str) -> int | None:
        value = line.get(key)
        return None if value is None else fields.whole(value, key)

    before, after = line.get("before") or {}, line.get("after") or {}
    if not isinstance(before, dict) or not isinstance(after, dict):
        raise ValueError('"before" and "after" are objects')
    return Change(
        id=fields.whole(line.get("id"), "id"),
        batch=0 if line.get("batch") == 0 else fields.whole(line.get("batch"), "batch"),
        at=fields.needed_moment(line.get("at"), "at"),
        action=action,  # type: ignore[arg-type]  # it was looked up among the actions
        note_id=number("note"),
        other_id=number("other"),
        before=before,
        after=after,
        undoes=number("undoes"),
    )
