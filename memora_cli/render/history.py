"""Changes, chains of supersessions, the trash and aliases for people: tables and trees, plain lines in a pipe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, tzinfo

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from memora_cli.memory import Chain, History, Undone
from memora_cli.render.terminal import day, on_terminal, plain, safe, say, show, table, warn
from memora_cli.text.display import visible_line
from memora_cli.values import Change, Note

SHORT = 60  # characters of a text that is told of on a terminal
MOST_TOLD = 8  # changes of an undo that are told one by one
FIELDS = {"body": "text", "occurred_start": "happened", "occurred_end": "ended", "created_at": "created"}
UNTOLD = frozenset({"dated"})


def print_history(value: History, zone: tzinfo | None, console: Console) -> None:
    """What was done to a note, oldest first, and what replaced what; lines in a pipe begin with what they are."""
    if not on_terminal():
        for change in value.changes:
            said = describe(change, value.note.id, zone, str)
            say(plain(("change", _moment(change.at, zone), change.action, *_mark(change), said)))
        for chain in value.chains:
            for depth, one in _walk(chain):
                replaced = day(one.replaced_at, zone) if one.replaced_at else ""
                trash = "in the trash" if one.note.forgotten_at else ""
                say(
                    plain(("chain", depth, one.note.id, day(one.note.created_at, zone), replaced, trash, one.note.name))
                )
        return
    heading = f"#{value.note.id}  {visible_line(value.note.name)}"
    show(Text(heading + ("  (in the trash)" if value.note.forgotten_at else ""), style="bold"), console)
    grid = table(("when", "fixed"), ("what", "wide"))
    for change in value.changes:
        line = safe(describe(change, value.note.id, zone, _short), style="dim" if change.undone else "")
        for mark in filter(None, _mark(change)):
            line.append(f"  {mark}", style="italic")
        grid.add_row(_moment(change.at, zone), line)
    show(grid, console)
    for chain in value.chains:
        if chain.replaced:
            console.print()
            console.print(_tree(chain, value.note.id, zone))


def _tree(chain: Chain, here: int, zone: tzinfo | None, parent: Tree | None = None) -> Tree:
    note = chain.note
    label = Text(f"#{note.id}  {_short(visible_line(note.name))}  ", style="bold" if note.id == here else "")
    label.append(day(note.created_at, zone), style="dim")
    if chain.replaced_at:
        label.append(f", replaced {day(chain.replaced_at, zone)}", style="dim")
    if note.forgotten_at:
        label.append(", in the trash", style="italic")
    if chain.repeated:
        label.append(", see above", style="italic")
    branch = Tree(label) if parent is None else parent.add(label)
    for older in chain.replaced:
        _tree(older, here, zone, branch)
    return branch


def _walk(chain: Chain, depth: int = 0) -> Iterator[tuple[int, Chain]]:
    yield depth, chain
    for older in chain.replaced:
        yield from _walk(older, depth + 1)


def print_undone(value: Undone | None) -> None:
    """What an undo took back: each change, or how many of each kind."""
    if value is None:
        warn("memora: nothing is left to take back")
        return
    if len(value.changes) > MOST_TOLD:
        for action, count in Counter(change.action for change in value.changes).items():
            say(f"taken back: {action} of {count} notes")
    else:
        for change in value.changes:
            subject = f"#{change.note_id} " if change.note_id is not None else ""
            say(f"taken back: {subject}{visible_line(describe(change, change.note_id, None, _short))}")
    if value.purged:
        named = ", ".join(f"#{number}" for number in value.purged)
        warn(f"memora: purged since and gone for good: {named}")


def describe(change: Change, here: int | None, zone: tzinfo | None, shown: Callable[[str], str]) -> str:
    """A change in a few words, as seen from one of its notes; `shown` shortens the texts it tells of."""
    far = change.other_id if here == change.note_id else change.note_id
    near = here == change.note_id
    match change.action:
        case "add":
            return "added"
        case "edit":
            return "; ".join(_edited(change, zone, shown)) or "edited"
        case "pin" | "unpin":
            return f"{change.action}ned"
        case "supersede":
            return f"superseded by #{far}" if near else f"supersedes #{far}"
        case "unsupersede":
            return f"no longer superseded by #{far}" if near else f"no longer supersedes #{far}"
        case "forget":
            return "forgotten"
        case "restore":
            return "restored"
        case "link" | "unlink":
            relation = str((change.after or change.before).get("relation", "causes"))
            said = f"{relation} #{far}" if near else f"{_passive(relation)} #{far}"
            return said if change.action == "link" else f"no longer {said}"
        case "alias":
            return f'"{change.after.get("other")}" means {change.after.get("name")}'
        case "unalias":
            return f'"{change.before.get("other")}" no longer means {change.before.get("name")}'
        case _:
            return change.action


def _passive(relation: str) -> str:
    return {"causes": "caused by", "enables": "enabled by", "prevents": "prevented by"}.get(relation, relation)


def _edited(change: Change, zone: tzinfo | None, shown: Callable[[str], str]) -> Iterator[str]:
    for name, before in change.before.items():
        if name not in UNTOLD:
            was, now = (_value(name, value, zone) for value in (before, change.after.get(name)))
            yield f"{FIELDS.get(name, name)} {_quoted(was, shown)} → {_quoted(now, shown)}"


def _value(name: str, value: object, zone: tzinfo | None) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if value and name in {"created_at", "occurred_start", "occurred_end"}:
        return _moment(datetime.fromisoformat(str(value)), zone)
    return "" if value is None else str(value)


def _quoted(text: str, shown: Callable[[str], str]) -> str:
    return f'"{shown(text)}"' if text else "none"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHORT else line[: SHORT - 1].rstrip() + "…"


def _mark(change: Change) -> tuple[str]:
    return ("undo" if change.undoes else "undone" if change.undone else "",)


def _moment(moment: datetime, zone: tzinfo | None) -> str:
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M}"


def print_trash(values: Sequence[Note], zone: tzinfo | None, console: Console) -> None:
    """The notes in the trash, the last forgotten first."""
    if not values and on_terminal():
        warn("memora: the trash is empty")
        return
    grid = table(("id", "right"), ("forgotten", "fixed"), ("note", "name"))
    for note in values:
        number = f"#{note.id}" if on_terminal() else str(note.id)
        grid.add_row(number, day(note.forgotten_at or note.created_at, zone), safe(note.name))
    show(grid, console, bare=True)


def print_aliases(values: Sequence[tuple[str, str]], console: Console) -> None:
    """Every name with each other name that means the same."""
    if not values and on_terminal():
        warn("memora: there are no aliases")
        return
    grid = table("name", "other")
    for name, other in values:
        grid.add_row(safe(name), safe(other))
    show(grid, console, bare=True)
