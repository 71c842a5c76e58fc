"""Every use case of a memory: one method each."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memora_cli import pipeline
from memora_cli.config import Config, models_folder
from memora_cli.errors import MemoraError, ModelUnusable
from memora_cli.memory import changing
from memora_cli.memory.changer import Changer
from memora_cli.memory.near_misses import NearMiss, near_miss
from memora_cli.memory.neighbours import Neighbourhood, neighbourhood
from memora_cli.memory.reindexing import embed_waiting
from memora_cli.memory.suggesting import outdated
from memora_cli.memory.writing import Added, Prepared, Ready, embed_fresh, prepare, require, supersede, write
from memora_cli.models import Reranker, load_reranker
from memora_cli.retrieve.probe import probe
from memora_cli.retrieve.source import Source
from memora_cli.store import changes, counts, graph, listing, notes, supersessions, ties, vectors
from memora_cli.store.database import Database, open_database
from memora_cli.text.times import Rules, TimeParser
from memora_cli.text.tokens import count_tokens, shorten
from memora_cli.text.weeks import first_weekday
from memora_cli.text.words import normalise
from memora_cli.values import Account, Draft, Filters, Floors, Note, Order, Query, Tally, Trace

if TYPE_CHECKING:
    from memora_cli.memory.intake import Gone, Intake
    from memora_cli.memory.kept import Kept
    from memora_cli.memory.lines import Record


@dataclass(frozen=True, slots=True)
class NoteView:
    """A note with what is connected to it; `supersedes` are the notes it directly replaces.

    `names` are the titles or first lines of the connected notes, by id.
    """

    note: Note
    entities: tuple[str, ...]
    links: tuple[graph.Edge, ...]
    supersedes: tuple[int, ...]
    names: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Statistics:
    """How much a space holds; `months` counts notes by "2024-05", `links` by relation.

    `answering` is the model whose vectors answer, with its `floors`: not `embedder` while vectors of that are made.
    """

    counts: Mapping[str, int]
    links: Mapping[str, int]
    months: Mapping[str, int]
    waiting: int
    bytes: int
    database: str
    driver: str
    embedder: str
    answering: str
    floors: Floors
    vectors: str
    reranker: str


def time_parser(config: Config) -> TimeParser:
    """The configured reader of times: memora's rules, or a T5 by "t5:" and its folder or hub name."""
    if config.time_parser.startswith("t5:"):
        from memora_cli.models.t5 import T5TimeParser

        parser: TimeParser = T5TimeParser(config.time_parser.removeprefix("t5:"))
        return parser
    return Rules(first_weekday(config.week_start, config.locale))


class Memory(Changer):
    """An open memory in one space."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.space = normalise(config.space)
        self.database: Database = open_database(config.db)

    def close(self) -> None:
        """Let go of the database."""
        self.database.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @functools.cached_property
    def reranker(self) -> Reranker:
        """The configured cross-encoder, loaded when first needed. Raises `ModelUnusable`."""
        return self._reranker_loading.result()

    @functools.cached_property
    def _reranker_loading(self) -> Future[Reranker]:
        """The cross-encoder being loaded beside other work."""
        loader = ThreadPoolExecutor(1)
        try:
            return loader.submit(load_reranker, self.config.reranker, (models_folder(),))
        finally:
            loader.shutdown(wait=False)

    @functools.cached_property
    def time_parser(self) -> TimeParser:
        """The configured reader of times."""
        return time_parser(self.config)

    def add(self, draft: Draft, at: datetime, *, embed: bool = True, force: bool = False) -> Added:
        """Remember a note, and tell what it seems to update; the same text again is reported, unless forced."""
        added = self.add_all([draft], at, embed=embed, force=force)[0]
        if not added.created or draft.supersedes:
            return added
        with self.database.read() as connection:
            return replace(added, outdated=outdated(connection, self.space, added.id))

    def add_all(self, drafts: Sequence[Draft], at: datetime, *, embed: bool = True, force: bool = False) -> list[Added]:
        """Remember notes in one transaction: all of them, or none. Without a model they wait for their vectors."""
        return self._write([prepare(draft) for draft in drafts], at, embed=embed, force=force)

    def _write(
        self,
        prepared: Sequence[Prepared],
        at: datetime,
        *,
        embed: bool = True,
        force: bool = False,
        change: changes.Batch | None = None,
        ready: Ready | None = None,
    ) -> list[Added]:
        ready = ready or self._ready(prepared, embed=embed, force=force)
        added = write(self.database, self.space, prepared, at, ready, force=force, week_start=self._week, change=change)
        results = []
        for one, new in zip(added, prepared, strict=True):
            if one.updated:
                updated = self._edit(one.id, changing.newer_file(new.draft), at, ready.embedder, new.file_hash, change)
                one = replace(one, updated=updated, waits=ready.waits if updated else "")
            results.append(replace(one, waits=ready.waits) if one.created else one)
        return results

    def _ready(
        self,
        prepared: Sequence[Prepared],
        *,
        embed: bool = True,
        force: bool = False,
        left: Callable[[], bool] = lambda: False,
    ) -> Ready:
        """What writing them needs of a model; `left` says whether nobody waits for it any more."""
        embedder, waits = self._embedder(embed)
        rows = embed_fresh(self.database, self.space, prepared, embedder, left, force=force) if embedder else {}
        return Ready(embedder, waits, rows)

    def supersede(self, old: int, new: int, at: datetime) -> None:
        """Let one note replace another.

        Raises `NoSuchNote`, and `SupersessionRefused` for a note that would replace itself, directly or in a circle.
        """
        with self.database.write() as connection:
            changes.record(connection, self.space, supersede(connection, self.space, [old], new, at), at)

    def search(self, query: Query) -> Trace:
        """Run the whole pipeline. Raises `EmptyQuery`."""

        def shortened(text: str, max_tokens: int) -> tuple[str, int]:
            text = shorten(text, max_tokens)
            return text, count_tokens(text)

        if query.settings.rerank and "reranker" not in self.__dict__:
            _ = self._reranker_loading  # it loads while the strategies run
        trace = pipeline.search(
            replace(query, text=normalise(query.text)),
            self.database,
            self._answering,
            lambda connection, model: self.floors(connection, model, query.settings),
            lambda: self.reranker,
            lambda: self.time_parser,
            shortened,
        )
        wanted = self._model_id("embedder")
        if trace.backend.embedder in (None, wanted):
            return trace
        return replace(trace, awaited=wanted, waiting=self.waiting())

    def account(self, trace: Trace, note_id: int) -> Account:
        """What became of one note in a search, also when it was not returned. Raises `NoSuchNote`."""
        place, candidate = next(
            (found for found in enumerate(trace.candidates, start=1) if found[1].note.id == note_id), (None, None)
        )
        with self.database.read() as connection:
            note = require(connection, self.space, [note_id], trace.query.filters.as_of)[note_id]
            model = trace.backend.embedder or ""
            source = Source(self.database, connection, trace.query, trace.understood, model, trace.lists, trace.floors)
            verdicts = probe(source, note_id)
        finders = [verdict.strategy for verdict in verdicts if verdict.hit]
        if candidate is None and finders:
            fate = f"found by {', '.join(finders)}, which has no weight"
        elif candidate is None:
            fate = "no strategy found it"
        elif candidate.cut:
            fate = f"cut at place {place} by {candidate.cut}"
        else:
            fate = f"returned as result {trace.results.index(candidate) + 1}"
        return Account(note, verdicts, candidate, place, fate)

    def view(self, ids: Sequence[int]) -> list[NoteView]:
        """Notes with their entities, links and supersessions. Raises `NoSuchNote`."""
        with self.database.read() as connection:
            found = require(connection, self.space, ids)
            entities = graph.entities_of(connection, self.space, ids)
            replaced = supersessions.predecessors(connection, self.space, ids)
            links = ties.linked(connection, self.space, ids)
            tied = {edge.target for edge in links} | {old for olds in replaced.values() for old in olds}
            tied |= {new for note in found.values() for new in note.superseded_by}
            names = {number: note.name for number, note in notes.fetch(connection, self.space, tied).items()}
        return [
            NoteView(
                found[note_id],
                tuple(entities.get(note_id, ())),
                tuple(edge for edge in links if edge.source == note_id and edge.target in names),
                replaced.get(note_id, ()),
                names,
            )
            for note_id in ids
        ]

    # Looking: lists, tallies and neighbours.

    def notes(
        self,
        filters: Filters,
        *,
        current_only: bool = False,
        limit: int | None = None,
        order: Order = "created",
        reverse: bool = False,
    ) -> list[Note]:
        """Notes that pass the filters, in an order; see `store.listing.listing`."""
        with self.database.read() as connection:
            return listing.listing(
                connection, filters, current_only=current_only, limit=limit, order=order, reverse=reverse
            )

    def topics(self, filters: Filters, *, current_only: bool = False) -> list[Tally]:
        """The topics of the notes that pass the filters, commonest first."""
        with self.database.read() as connection:
            return listing.topic_tallies(connection, filters, current_only=current_only)

    def entities(self, filters: Filters, *, current_only: bool = False) -> list[Tally]:
        """The entities that the notes that pass the filters mention, commonest first."""
        with self.database.read() as connection:
            return listing.entity_tallies(connection, filters, current_only=current_only)

    def neighbourhood(self, note_id: int, depth: int, most: int | None = None) -> Neighbourhood:
        """The notes up to `depth` steps from one, at most `most` of a kind from each. Raises `NoSuchNote`."""
        with self.database.read() as connection:
            return neighbourhood(connection, self.space, note_id, depth, most)

    def near_miss(self, trace: Trace) -> NearMiss:
        """What a search without a result came near to; it may search again."""
        with self.database.read() as connection:
            return near_miss(connection, self.search, trace)

    def intake(self, at: datetime, *, embed: bool = True, into: str | None = None) -> Intake:
        """An import to be run; `into` is the space of exported notes, None for the one each came from."""
        from memora_cli.memory.intake import Intake

        return Intake(
            self.database,
            self.space,
            at,
            first_weekday(self.config.week_start, self.config.locale),
            lambda prepared, left: self._ready(prepared, embed=embed, left=left),
            lambda prepared, ready, change: self._write(prepared, at, ready=ready, change=change),
            self._embed_notes if embed else lambda _space, _ids: "",
            None if into is None else normalise(into),
        )

    def import_all(
        self, drafts: Iterable[tuple[str, Draft]], at: datetime
    ) -> Iterator[tuple[str, Added | MemoraError]]:
        """Remember named drafts as one change; what became of each, in order, after its batch is committed."""
        from memora_cli.memory.importing import Item

        items = (Item(name, draft=draft) for name, draft in drafts)
        return ((taken.item.name, taken.outcome) for taken in self.intake(at).take(items))

    def _embed_notes(self, space: str, ids: Sequence[int]) -> str:
        """Give notes the vectors they lack; why that could not be, empty when it was done."""
        embedder, waits = self._embedder(True, space)
        try:
            if embedder:
                embed_waiting(self.database, space, embedder, ids)
        except ModelUnusable as error:
            return str(error)
        return waits

    def gone(self, folder: Path, seen: Collection[str]) -> list[Gone]:
        """The files below a folder that notes came from and that are no longer there; `seen` are known to be."""
        from memora_cli.memory.intake import gone

        return gone(self.database, self.space, folder, seen)

    def export(self, filters: Filters, *, current_only: bool = False, every_space: bool = False) -> Iterator[Record]:
        """Notes with all that an import cannot find in their text, by space and id."""
        from memora_cli.memory.exporting import export

        return export(self.database, filters, current_only=current_only, every_space=every_space)

    def archive(self, *, every_space: bool = False) -> Iterator[Record | Kept]:
        """All of the space, or of every one: notes, the trash, past texts, names and every change."""
        from memora_cli.memory.exporting import archive

        return archive(self.database, None if every_space else self.space)

    def statistics(self, at: datetime) -> Statistics:
        """How much the space holds, and what the database runs on."""
        embedder = self._model_id("embedder")
        with self.database.read() as connection:
            held = counts.counts(connection, self.space)
            links = graph.link_counts(connection, self.space)
            months = Counter(
                f"{moment.astimezone(at.tzinfo):%Y-%m}" for moment in counts.months(connection, self.space)
            )
            waiting = vectors.waiting(connection, self.space, embedder)
            answering = vectors.answering(connection, self.space, embedder)
            floors = self.floors(connection, answering, self.config.settings)
            vectors_by = self.database.index.vectors_by(connection, self.space, answering)
        return Statistics(
            counts=held,
            links=links,
            months=months,
            waiting=waiting,
            bytes=self.database.size(),
            database=self.database.address,
            driver=self.database.driver,
            embedder=embedder,
            answering=answering,
            floors=floors,
            vectors=vectors_by,
            reranker=self._model_id("reranker"),
        )
