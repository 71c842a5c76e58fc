"""Resolves the `[[links]]` of notes to notes: by path, file name, title or alias."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from sqlalchemy import Connection

from memora_cli.memory.folders import MARKDOWN
from memora_cli.store import graph, records
from memora_cli.text.entities import entity_key
from memora_cli.text.words import search_text


@dataclass(frozen=True, slots=True)
class Linking:
    """A note, the path of its file if any, its other names, and what its `[[links]]` point to, and did before."""

    note_id: int
    path: str
    aliases: tuple[str, ...]
    targets: tuple[str, ...]
    before: tuple[str, ...] = ()


class Names:
    """The notes of a space by everything that a link may call them."""

    def __init__(self, named: Iterable[records.Named], pages: Sequence[Linking]) -> None:
        self._files: dict[str, list[tuple[int, tuple[str, ...]]]] = defaultdict(list)
        self._titles: dict[str, int] = {}
        self._aliases = {entity_key(alias): page.note_id for page in pages for alias in page.aliases}
        for note in named:
            if note.title:
                self._titles[entity_key(note.title)] = note.id  # of several the newest
            path = PurePath(note.source)
            if path.suffix.lower() in MARKDOWN:
                parts = tuple(entity_key(part) for part in (*path.parts[:-1], path.stem))
                self._files[parts[-1]].append((note.id, parts))

    def find(self, target: str, path: str) -> int | None:
        """The note that a link in the file at `path` means; of several files, the one nearest to it in the folders."""
        wanted = tuple(entity_key(part) for part in PurePath(target).parts if part not in {".", "..", "/"})
        if not wanted or not wanted[-1]:
            return None
        here = tuple(entity_key(part) for part in PurePath(path).parts)
        found = [item for item in self._files.get(wanted[-1], ()) if item[1][-len(wanted) :] == wanted]
        if found:
            return max(found, key=lambda item: (_shared(item[1], here), -len(item[1]), item[0]))[0]
        key = entity_key(target)
        return self._titles.get(key, self._aliases.get(key))


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    return next((at for at, parts in enumerate(zip(one, other, strict=False)) if parts[0] != parts[1]), len(other))


def refer(connection: Connection, space: str, pages: Sequence[Linking]) -> None:
    """Record which notes these refer to, and forget what they no longer refer to; other titles are waited for.

    A note some of whose links lead nowhere keeps those that it had, but for what was edited away: a single file cannot
    tell all the names of its folder.
    """
    pages = [page for page in pages if page.targets or page.before or page.path]
    if not pages:
        return
    names = Names(records.named(connection, space), pages)
    before = records.linked(connection, space, graph.REFERENCE, [page.note_id for page in pages])
    fresh: list[graph.Link] = []
    gone: Mapping[int, set[int]] = defaultdict(set)
    for page in pages:
        found = [names.find(target, page.path) for target in page.targets]
        wanted = {number for number in found if number is not None and number != page.note_id}
        held = before.get(page.note_id, set())
        fresh += [graph.Link(page.note_id, number, graph.REFERENCE, 1.0) for number in sorted(wanted - held)]
        was = held if None not in found else {names.find(target, page.path) for target in page.before}
        gone[page.note_id] |= held.intersection(was) - wanted
        waiting = [search_text(target) for target, number in zip(page.targets, found, strict=True) if number is None]
        graph.wait_for(connection, space, page.note_id, graph.REFERENCE, [words for words in waiting if words])
    graph.link(connection, space, fresh)
    for note_id, targets in gone.items():
        graph.unlink(connection, space, [graph.Link(note_id, target, graph.REFERENCE, 1.0) for target in targets])
