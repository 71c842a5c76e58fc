"""Random changes against a model in plain Python: notes, order, indexes and every past moment agree with it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import postgres_server
import pytest
from conftest import NOW
from fakes import ask, open_at, with_fakes
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from soundness import LOOSE, WAITING

from memora_cli.errors import SupersessionRefused
from memora_cli.memory import Memory
from memora_cli.store import health, vectors
from memora_cli.values import Draft, Filters

WORDS = ("coffee", "tea", "boat", "garden", "winter", "Alice", "Google")
SPACES = count()
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(lambda words: "note of " + " and ".join(words))
places = st.integers(0, 50)


@dataclass
class Model:
    """What the notes are: text and pin by id, which are not forgotten, and `(old, new)` supersessions."""

    said: dict[int, tuple[str, bool]] = field(default_factory=dict)
    alive: frozenset[int] = frozenset()
    pairs: frozenset[tuple[int, int]] = frozenset()

    def shown(self) -> dict[int, tuple[str, bool, tuple[int, ...]]]:
        return {
            number: (
                *self.said[number],
                tuple(sorted(new for old, new in self.pairs if old == number and new in self.alive)),
            )
            for number in self.alive
        }

    def texts(self) -> dict[int, tuple[str, tuple[int, ...]]]:
        return {number: (text, newer) for number, (text, _, newer) in self.shown().items()}

    def above(self, number: int) -> set[int]:
        found: set[int] = set()
        frontier = [number]
        while frontier:
            here = frontier.pop()
            for old, new in self.pairs:
                if old == here and new not in found:
                    found.add(new)
                    frontier.append(new)
        return found


class Changes(RuleBasedStateMachine):
    memory: Memory
    steps = 0

    @initialize()
    def begin(self) -> None:
        self.memory.space = f"space-{next(SPACES)}"
        Changes.steps -= 1  # what holds at the beginning is looked at before the first step
        self.at: datetime = NOW
        self.model = Model()
        self.before: list[Model] = []
        self.past: list[tuple[datetime, Model]] = []

    def tick(self) -> datetime:
        self.past.append((self.at, self.model))
        self.at += timedelta(hours=1)
        return self.at

    def change(self, model: Model) -> None:
        if model != self.model:
            self.before.append(self.model)
        self.model = model

    def pick(self, place: int, numbers: frozenset[int]) -> int:
        return sorted(numbers)[place % len(numbers)]

    @property
    def trash(self) -> frozenset[int]:
        return frozenset(self.model.said) - self.model.alive

    @rule(text=texts, pinned=st.booleans())
    def add(self, text: str, pinned: bool) -> None:
        added = self.memory.add(Draft(text, pinned=pinned), self.tick(), force=True)
        said = {**self.model.said, added.id: (text, pinned)}
        self.change(replace(self.model, said=said, alive=self.model.alive | {added.id}))

    @precondition(lambda self: self.model.alive)
    @rule(place=places, text=texts)
    def edit(self, place: int, text: str) -> None:
        number = self.pick(place, self.model.alive)
        self.memory.edit(number, lambda old: replace(old, body=text), self.tick())
        self.change(replace(self.model, said={**self.model.said, number: (text, self.model.said[number][1])}))

    @precondition(lambda self: self.model.alive)
    @rule(place=places, pinned=st.booleans())
    def pin(self, place: int, pinned: bool) -> None:
        number = self.pick(place, self.model.alive)
        self.memory.pin([number], self.tick(), pinned=pinned)
        self.change(replace(self.model, said={**self.model.said, number: (self.model.said[number][0], pinned)}))

    @precondition(lambda self: len(self.model.alive) > 1)
    @rule(one=places, other=places)
    def supersede(self, one: int, other: int) -> None:
        old, new = self.pick(one, self.model.alive), self.pick(other, self.model.alive)
        at = self.tick()
        if old == new or old in self.model.above(new):
            with pytest.raises(SupersessionRefused):
                self.memory.supersede(old, new, at)
            return
        self.memory.supersede(old, new, at)
        self.change(replace(self.model, pairs=self.model.pairs | {(old, new)}))

    @precondition(lambda self: self.model.alive)
    @rule(place=places)
    def forget(self, place: int) -> None:
        number = self.pick(place, self.model.alive)
        self.memory.forget([number], self.tick())
        older = {old for old, new in self.model.pairs if new == number and old in self.model.alive}
        newer = {new for old, new in self.model.pairs if old == number and new in self.model.alive}
        bridges = {(old, new) for old in older for new in newer}
        self.change(replace(self.model, alive=self.model.alive - {number}, pairs=self.model.pairs | bridges))

    @precondition(lambda self: self.trash)
    @rule(place=places)
    def restore(self, place: int) -> None:
        number = self.pick(place, self.trash)
        self.memory.restore([number], self.tick())
        self.change(replace(self.model, alive=self.model.alive | {number}))

    @rule()
    def undo(self) -> None:
        undone = self.memory.undo(self.tick())
        assert (undone is None) == (not self.before)
        if self.before:
            last = self.before.pop()
            # Nothing is lost: a note whose adding is taken back is in the trash, as it was last.
            self.model = replace(last, said={**self.model.said, **last.said})

    @precondition(lambda self: self.model.said)
    @rule()
    def reindex(self) -> None:
        list(self.memory.reindex())

    @invariant()
    def steps_are_counted(self) -> None:
        Changes.steps += 1

    @invariant()
    def notes_are_those_of_the_model(self) -> None:
        found = {n.id: (n.body, n.pinned, tuple(sorted(n.superseded_by))) for n in self.memory.notes(self.here())}
        assert found == self.model.shown()
        assert {note.id for note in self.memory.forgotten()} == self.trash

    def here(self, as_of: datetime | None = None) -> Filters:
        return Filters(space=self.memory.space, as_of=as_of)

    def teardown(self) -> None:
        if not hasattr(self, "model"):
            return
        self.past.append((self.at, self.model))
        self.searches_keep_the_order_of_corrections()
        self.indexes_agree()
        for at, model in self.past[:: max(1, len(self.past) // 4)]:
            self.the_past_is_what_it_was(at, model)

    def searches_keep_the_order_of_corrections(self) -> None:
        trace = ask(self.memory, "note", self.at, self.here(), limit=1000)
        order = [candidate.note.id for candidate in trace.results]
        assert set(order) == self.model.alive
        for old, new in self.model.pairs:
            if {old, new} <= self.model.alive:
                assert order.index(new) < order.index(old)

    def the_past_is_what_it_was(self, at: datetime, model: Model) -> None:
        trace = ask(self.memory, "note", self.at, self.here(at), limit=1000)
        found = {c.note.id: (c.note.body, tuple(sorted(c.note.superseded_by))) for c in trace.results}
        assert found == model.texts()
        for text in {text for text, _ in model.texts().values()}:
            trace = ask(self.memory, text, self.at, self.here(at), limit=1000)
            assert {c.note.body for c in trace.results} <= {text for text, _ in model.texts().values()}

    def indexes_agree(self) -> None:
        if postgres_server.places.server:
            self.indexes_on_a_server_agree()
            return
        with self.memory.database.write() as connection:
            assert self.memory.database.index.drifted(connection) == []
            connection.exec_driver_sql("INSERT INTO keywords_fts(keywords_fts, rank) VALUES('integrity-check', 1)")
            for check in (*LOOSE, WAITING):
                assert connection.exec_driver_sql(check).scalar_one() == 0, check
            names = "SELECT name FROM sqlite_master WHERE sql LIKE '%USING vec0%'"
            indexed = [
                number
                for name in list(connection.exec_driver_sql(names).scalars())
                for number in connection.exec_driver_sql(f"SELECT passage_id FROM {name}").scalars()
            ]
            held = connection.exec_driver_sql("SELECT id FROM passages WHERE note_id > 0 ORDER BY id").scalars()
            assert sorted(indexed) == list(held)

    def indexes_on_a_server_agree(self) -> None:
        with self.memory.database.read() as connection:
            assert health.loose(connection) == []
            assert self.memory.database.index.drifted(connection) == []
            assert vectors.waiting(connection, self.memory.space, self.memory.embedder.id) == 0


@pytest.mark.parametrize("runs", [25, pytest.param(170, marks=pytest.mark.slow)])
def test_after_any_changes_notes_order_indexes_and_the_past_agree_with_a_plain_model(runs, figure):
    Changes.steps = 0
    with TemporaryDirectory() as folder, open_at(Path(folder) / "memora.db") as memory:
        Changes.memory = with_fakes(memory)
        run_state_machine_as_test(
            Changes,
            settings=settings(
                deadline=None,
                max_examples=runs,
                stateful_step_count=14,
                suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
            ),
        )
    figure("random changes against a plain model", f"{Changes.steps:,} steps, 0 differences")
