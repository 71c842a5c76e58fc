"""Takes imported items into a memory: notes batch by batch, then the relations between them."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path

from memora_cli.errors import MemoraError
from memora_cli.memory.importing import Item, identity
from memora_cli.memory.kept import Kept
from memora_cli.memory.linking import Linking, refer
from memora_cli.memory.restoring import Restorable, Restoring, restorable
from memora_cli.memory.writing import BATCH, Added, Prepared, Ready, prepare
from memora_cli.store import changes, sources
from memora_cli.store.database import Database
from memora_cli.text.entities import wiki_links
from memora_cli.text.words import normalise


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of an item: a note, or the error that kept it out."""

    item: Item
    outcome: Added | MemoraError


@dataclass(frozen=True, slots=True)
class Gone:
    """A file of an imported folder that is no longer there, and the note that it left behind."""

    name: str
    note_id: int


@dataclass(frozen=True, slots=True)
class _Batch:
    """Items by what they are and by their place, and what the model made of the drafts."""

    kept: dict[int, Kept]
    records: dict[int, Restorable]
    drafts: dict[int, Prepared]
    errors: dict[int, MemoraError]
    ready: Ready | None


class Intake:
    """One import: what is common to all of its batches, which are one change that is taken back as one.

    `begin` embeds prepared notes until it is told that nobody waits, `write` writes them as a part of that change,
    `embed` gives notes their vectors and says what is in the way; `into` is the space that exported notes go to, None
    for the one each came from.
    """

    def __init__(
        self,
        database: Database,
        space: str,
        at: datetime,
        week_start: int,
        begin: Callable[[Sequence[Prepared], Callable[[], bool]], Ready],
        write: Callable[[Sequence[Prepared], Ready, changes.Batch], list[Added]],
        embed: Callable[[str, Sequence[int]], str],
        into: str | None = None,
    ) -> None:
        self._database = database
        self._space = space
        self._begin = begin
        self._write = write
        self._embed = embed
        self._into = into
        self._change = changes.Batch()
        self._restoring = Restoring(database, at, week_start, self._change)
        self._left = False
        self._pages: list[Linking] = []
        self.unrelated: list[str] = []
        """The relations of exported notes that could not be made, and why."""
        self.waits = ""
        """Why exported notes have no vectors yet."""

    def take(self, items: Iterable[Item]) -> Iterator[Taken]:
        """What became of each item, in order, after its batch is committed; relations are made after the last.

        While a batch is written, the model reads the next.
        """
        for batch, outcomes in self._batches(iter(items)):
            for item, outcome in zip(batch, outcomes, strict=True):
                if item.page and isinstance(outcome, Added):
                    page = Linking(outcome.id, item.path, item.page.aliases, item.page.targets)
                    self._pages.append(page)
                elif item.draft and isinstance(outcome, Added) and outcome.created:
                    targets = wiki_links(item.draft.body)
                    self._pages += [Linking(outcome.id, "", (), targets)] if targets else []
                yield Taken(item, outcome)
        self.unrelated += self._restoring.relate()
        with self._database.write() as connection:
            refer(connection, self._space, self._pages)
        for space, ids in self._restoring.created().items():
            ids = sorted(ids, reverse=True)  # notes before the past texts that they had
            for start in range(0, len(ids), BATCH):
                self.waits = self.waits or self._embed(space, ids[start : start + BATCH])

    def _batches(self, items: Iterator[Item]) -> Iterator[tuple[list[Item], list[Added | MemoraError]]]:
        with ThreadPoolExecutor(1) as beside:
            try:
                batch = list(islice(items, BATCH))
                ahead = beside.submit(self._prepare, batch)
                while batch:
                    ready = ahead.result()
                    following = list(islice(items, BATCH))
                    ahead = beside.submit(self._prepare, following)
                    yield batch, self._take(batch, ready)
                    batch = following
            finally:
                self._left = True

    def _prepare(self, batch: Sequence[Item]) -> _Batch:
        """What of a batch can be done before the one before it is written."""
        found = _Batch({}, {}, {}, {}, None)
        for place, item in enumerate(batch):
            try:
                if item.kept:
                    found.kept[place] = item.kept
                elif item.record:
                    found.records[place] = restorable(item.record, self._into)
                elif item.draft:
                    found.drafts[place] = prepare(item.draft)
            except MemoraError as error:
                found.errors[place] = error
        if not found.drafts:
            return found
        return replace(found, ready=self._begin(list(found.drafts.values()), lambda: self._left))

    def _take(self, batch: Sequence[Item], found: _Batch) -> list[Added | MemoraError]:
        outcome: dict[int, Added | MemoraError] = dict(found.errors)
        for place, kept in found.kept.items():
            if not kept.about_notes:
                outcome[place] = Added(0, created=self._restoring.name(kept, self._into))
        if found.ready:
            added = self._write(list(found.drafts.values()), found.ready, self._change)
            outcome |= dict(zip(found.drafts, added, strict=True))
        if found.records:
            outcome |= dict(zip(found.records, self._restoring.write(list(found.records.values())), strict=True))
        for place, kept in found.kept.items():
            if kept.about_notes:
                outcome[place] = Added(0, created=self._restoring.keep(kept, self._into))
        return [outcome[place] for place in range(len(batch))]


def gone(database: Database, space: str, folder: Path, seen: Collection[str]) -> list[Gone]:
    """The files below a folder that notes came from and that are no longer there, by name; `seen` are known to be."""
    root = normalise(identity(folder)).rstrip("/" + os.sep) + os.sep
    with database.read() as connection:
        held = sources.below(connection, space, root)
    known = {normalise(path) for path in seen}
    missing = (source for source in held if source not in known and not os.path.lexists(source))
    return [Gone(source.removeprefix(root), held[source]) for source in sorted(missing)]
