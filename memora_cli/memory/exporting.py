"""Reads notes out of a memory whole, and writes them as a folder of Markdown that imports back to the same notes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import IO, Any

from sqlalchemy import Connection

from memora_cli.errors import Usage
from memora_cli.memory import kept
from memora_cli.memory.folders import MARKDOWN
from memora_cli.memory.importing import decode
from memora_cli.memory.kept import Kept, Opening
from memora_cli.memory.lines import FRONT_MATTER, Bond, Record, is_record, to_line
from memora_cli.store import archive as store
from memora_cli.store import changes, notes, records
from memora_cli.store.database import Database
from memora_cli.text.front_matter import compose, file_name
from memora_cli.text.markdown import front_matter
from memora_cli.values import Filters, Note

CHUNK = 500  # notes that are read at once
RENAMED = {value: key for key, value in FRONT_MATTER.items()}


def read_records(connection: Connection, space: str, ids: Sequence[int], *, whole: bool = False) -> Iterator[Record]:
    """Notes with all that an import cannot find in their text, and `whole` with what belongs to their history.

    Negative ids are past texts.
    """
    for start in range(0, len(ids), CHUNK):
        chunk = ids[start : start + CHUNK]
        found = notes.fetch(connection, space, chunk) | notes.past_texts(connection, space, chunk)
        found |= notes.in_trash(connection, space, [number for number in chunk if number not in found])
        files = records.files(connection, space, chunk)
        entities = records.explicit_entities(connection, space, chunk)
        links = records.stated_links(connection, space, chunk)
        replaced = records.replaced(connection, space, chunk)
        pending = records.pending(connection, space, chunk)
        said = records.said(connection, space, chunk) if whole else {}
        others = {link.target for items in links.values() for link in items}
        others |= {other for items in replaced.values() for other, _ in items}
        uids = records.uids(connection, space, others)
        for note_id in chunk:
            bonds = [
                Bond(link.target, uids[link.target], link.relation, link.weight, link.origin)
                for link in links.get(note_id, ())
            ]
            bonds += [Bond(old, uids[old], "supersedes", at=at) for old, at in replaced.get(note_id, ())]
            yield Record(
                found[note_id],
                files[note_id].dated,
                tuple(entities.get(note_id, ())),
                tuple(bonds),
                tuple(pending.get(note_id, ())),
                files[note_id].file_hash,
                tuple(said.get(note_id, ())),
                files[note_id].since if whole else None,
                max(0, -note_id),
            )


def export(database: Database, filters: Filters, *, current_only: bool, every_space: bool) -> Iterator[Record]:
    """The notes of one or every space, all as they are at one moment."""
    with database.read() as connection:
        for space in records.spaces(connection) if every_space else [filters.space]:
            ids = records.listed(connection, replace(filters, space=space), current_only=current_only)
            yield from read_records(connection, space, ids)


def archive(database: Database, space: str | None) -> Iterator[Record | Kept]:
    """All that a space holds, or with None every space, as it is at one moment.

    Names come first, as notes are read by them, and changes last, as they name notes.
    """
    with database.read() as connection:
        yield Kept("", Opening(store.counters(connection)))
        for name in store.spaces(connection) if space is None else [space]:
            yield Kept(name, tuple(store.names(connection, name)))
            yield from (Kept(name, value) for value in store.renamings(connection, name))
            yield from read_records(connection, name, store.ids(connection, name), whole=True)
            yield from read_records(connection, name, store.past(connection, name), whole=True)
            yield from (Kept(name, value) for value in store.ended(connection, name))
            yield from (Kept(name, value) for value in changes.every(connection, name))


def line_of(exported: Record | Kept) -> dict[str, Any]:
    """The keys of an exported line."""
    return kept.to_line(exported) if isinstance(exported, Kept) else to_line(exported)


@dataclass(frozen=True, slots=True)
class Written:
    """What an export to a folder did: how many files it wrote, left as they were, and which are of no exported note."""

    written: int
    unchanged: int
    stray: tuple[str, ...]


def write_folder(folder: Path, exported: Iterable[Record], *, force: bool) -> Written:
    """Write a Markdown file for each note; files of an earlier export keep their names.

    Raises `Usage`, and writes nothing, where a file is in the way that is of no note, or where one was changed since it
    was written and `force` is not given.
    """
    if folder.exists() and not folder.is_dir():
        raise Usage(f"{folder} is a file: name a folder, or a file that ends in .jsonl")
    present = _exported_before(folder)
    taken = {path.name.casefold() for path in folder.iterdir()} if folder.is_dir() else set()
    texts: dict[str, str] = {}
    for record in exported:
        name = present.get(record.note.uid) or _free_name(record.note, taken)
        taken.add(name.casefold())
        texts[name] = markdown(record)
    old = {name: _text(folder / name) for name in present.values() if name in texts}
    changed = [name for name, text in old.items() if text != texts[name]]
    if changed and not force:
        raise Usage(
            f"{len(changed)} files in {folder} differ from their notes, {changed[0]} among them; nothing was written: "
            f"import the folder to take their text first, or write over them with --force"
        )
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = [name for name in texts if name not in old or name in changed]
    for name in fresh:
        with private(folder / name) as file:
            file.write(texts[name].encode())
    stray = sorted(name for name in present.values() if name not in texts)
    return Written(len(fresh), len(texts) - len(fresh), tuple(stray))


def markdown(record: Record) -> str:
    """A note as a Markdown file; keys without a value are left out."""
    line = to_line(record)
    body = line.pop("text")
    order = ("title", "topics", "created_at", *line)
    fields = {RENAMED.get(key, key): line[key] for key in dict.fromkeys(order) if line[key] not in ("", [], None)}
    return compose(fields, body)


@contextmanager
def private(path: Path) -> Iterator[IO[bytes]]:
    """A file to write that only its owner may read; it takes its place when all is written, or not at all."""
    draft = path.with_name(f".{path.name[:80]}.{os.getpid()}.part")
    try:
        draft.touch(mode=0o600)
        with draft.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        with suppress(OSError):
            draft.unlink()


def _exported_before(folder: Path) -> dict[str, str]:
    """The files of an earlier export in the folder: names by uid."""
    found: dict[str, str] = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.suffix.lower() in MARKDOWN and path.is_file() and not path.is_symlink():
            with suppress(ValueError, OSError):
                fields: Mapping[str, Any] = front_matter(_text(path), path.name)[0]
                if is_record(fields):
                    found.setdefault(str(fields["uid"]), path.name)
    return found


def _text(path: Path) -> str:
    return decode(path.read_bytes())


def _free_name(note: Note, taken: Iterable[str]) -> str:
    """A name for the file of a note: that of the file it came from, else its title or first line, else its id."""
    source = PurePath(note.source)
    stem = file_name(source.stem) if source.suffix.lower() in MARKDOWN else ""
    stem = stem or file_name(note.name[:200]) or f"note {note.id}"
    name = f"{stem}.md"
    return f"{stem} ({note.id}).md" if name.casefold() in taken else name
