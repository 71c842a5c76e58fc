"""The promises of the database: a write is all or nothing, ids are never reused, the index never drifts."""

from __future__ import annotations

import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import numpy
import pytest
from conftest import NOW
from fakes import BagOfWords, Constant, Failing, ask, contents, found, listed, open_at, reindexed, with_fakes
from hypothesis import given, settings
from hypothesis import strategies as st

from memora_cli.errors import MemoraError, NoSuchNote
from memora_cli.memory.writing import prepare
from memora_cli.store import supersessions
from memora_cli.store.schema import VERSION
from memora_cli.store.sqlite import driver
from memora_cli.values import Draft, Filters

# One write, one transaction


@pytest.fixture
def seeded(memory):
    """A memory with notes that a new one will be linked to in every way."""
    with_fakes(memory)
    memory.add(Draft("Alice works at Google in Zurich", title="Job", topics=("people",)), NOW)
    memory.add(Draft("Alice works at Google in Paris", title="Rain"), NOW - timedelta(hours=1))
    return memory


NEW = Draft(
    "Alice works at Google in Rome because [[Rain]] and because [[Nothing yet]]",
    title="Move",
    topics=("people", "fresh topic"),
    entities=("Somebody New",),
    supersedes=(1,),
    source="file.md",
)
TOUCHED = ["notes", "topics", "passages", "keywords", "vectors", "entities", "mentions", "links", "supersessions"]
TOUCHED += ["pending_links", "counters"]


@pytest.mark.parametrize("table", TOUCHED)
def test_a_write_that_fails_at_any_table_leaves_nothing(seeded, table):
    path = seeded.database.address
    when = "UPDATE" if table == "counters" else "INSERT"
    with seeded.database.write() as connection:
        connection.exec_driver_sql(
            f"CREATE TRIGGER boom BEFORE {when} ON {table} BEGIN SELECT RAISE(ABORT, 'boom'); END"
        )
    before = contents(path)
    with pytest.raises(Exception, match="boom"):
        seeded.add(NEW, NOW)
    assert contents(path) == before
    with seeded.database.write() as connection:
        connection.exec_driver_sql("DROP TRIGGER boom")
    added = seeded.add(NEW, NOW)
    assert (added.id, added.created) == (3, True)


@pytest.mark.parametrize(
    "row", [(float("nan"), 0.0, 0.0, 0.0), (float("inf"), 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0), (2.0, 0.0, 0.0, 0.0)]
)
def test_a_vector_that_is_not_finite_or_not_of_unit_length_is_never_stored(memory, row):
    with_fakes(memory, Constant())
    memory.add(Draft("a good one"), NOW)
    before = contents(memory.database.address)
    with_fakes(memory, Constant(row))
    with pytest.raises(ValueError, match="never stored"):
        memory.add(Draft("a bad one"), NOW)
    assert contents(memory.database.address) == before


def test_a_model_that_fails_leaves_no_half_of_a_note(memory):
    with_fakes(memory, Failing(RuntimeError("broken")))
    memory.notes(Filters())
    before = contents(memory.database.address)
    with pytest.raises(RuntimeError):
        memory.add(Draft("text"), NOW)
    assert contents(memory.database.address) == before


def test_a_batch_is_written_whole_or_not_at_all(seeded):
    before = contents(seeded.database.address)
    with pytest.raises(NoSuchNote):
        seeded.add_all([Draft("first"), Draft("second"), Draft("third", supersedes=(99,))], NOW)
    assert contents(seeded.database.address) == before


def test_a_note_is_there_for_others_once_its_id_is_told_and_not_before(memory):
    with open_at(memory.database.address) as other:
        with memory.database.write() as connection:
            supersessions.supersede(connection, "default", 1, 2, NOW)
            assert graph_rows(other) == []
        assert graph_rows(other) == [(1, 2)]
        number = memory.add(Draft("text"), NOW, embed=False).id
        assert [note.id for note in other.notes(Filters())] == [number]


def graph_rows(memory):
    with memory.database.read() as connection:
        return [tuple(row) for row in connection.exec_driver_sql("SELECT old_id, new_id FROM supersessions")]


def test_a_search_sees_one_moment_of_the_database_from_its_beginning_to_its_end(seeded):
    class Meddling(BagOfWords):
        def embed(self, texts, *, query=False):
            with open_at(seeded.database.address) as other:
                other.add(Draft(f"Alice works at Google, said {len(texts)}"), NOW, embed=False, force=True)
            return super().embed(texts, query=query)

    seeded.__dict__["embedder"] = Meddling()
    assert set(found(ask(seeded, "Alice", NOW))) == {1, 2}
    with_fakes(seeded)
    assert set(found(ask(seeded, "Alice", NOW))) == {1, 2, 3}


# Ids


def test_an_id_is_never_given_out_again(memory):
    first = [memory.add(Draft(f"note {n}"), NOW, embed=False).id for n in range(3)]
    with memory.database.write() as connection:
        for table in ("notes", "passages", "keywords"):
            connection.exec_driver_sql(f"DELETE FROM {table}")
    assert memory.add(Draft("note 9"), NOW, embed=False).id > max(first)


def test_ids_are_unique_over_all_spaces_and_rise_in_the_order_of_adding(memory):
    numbers = []
    for turn in range(6):
        memory.space = f"space-{turn % 2}"
        numbers.append(memory.add(Draft("the same text"), NOW, embed=False, force=True).id)
    assert numbers == sorted(set(numbers))


# The keyword index


def check_index(memory):
    with memory.database.write() as connection:
        connection.exec_driver_sql("INSERT INTO keywords_fts(keywords_fts, rank) VALUES('integrity-check', 1)")
        assert connection.exec_driver_sql("PRAGMA integrity_check").scalar_one() == "ok"
        assert connection.exec_driver_sql("PRAGMA foreign_key_check").all() == []


writes = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.text(max_size=30), st.text(max_size=10), st.integers(0, 9)),
        st.tuples(st.just("batch"), st.text(max_size=30), st.text(max_size=10), st.integers(0, 9)),
        st.tuples(st.just("pin"), st.just(""), st.just(""), st.integers(0, 9)),
        st.tuples(st.just("supersede"), st.just(""), st.just(""), st.integers(0, 9)),
        st.tuples(st.just("reindex"), st.just(""), st.just(""), st.integers(0, 9)),
    ),
    min_size=3,
    max_size=12,
)


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    """One memory that all examples write to, each in a space of its own."""
    with open_at(tmp_path_factory.mktemp("busy") / "memora.db") as memory:
        yield with_fakes(memory)


SPACES = iter(range(1_000_000))


@settings(deadline=None, max_examples=25)
@given(writes)
def test_after_any_writes_the_index_agrees_with_the_notes(busy, done):
    busy.space = f"space-{next(SPACES)}"
    ids = [busy.add(Draft("first"), NOW, embed=False).id]
    for what, text, title, number in done:
        here = ids[number % len(ids)]
        try:
            match what:
                case "add":
                    ids.append(busy.add(Draft(text, title=title, topics=(title,)), NOW, embed=number > 4).id)
                case "batch":
                    drafts = [Draft(f"{text} {n}", title=title, source=f"{title}.md") for n in range(number % 4)]
                    ids += [added.id for added in busy.add_all(drafts, NOW)]
                case "pin":
                    busy.pin([here], NOW, pinned=number % 2 == 0)
                case "supersede":
                    busy.supersede(ids[0], here, NOW)
                case _:
                    assert reindexed(busy) >= 0
        except MemoraError:
            pass
    check_index(busy)
    assert {note.id for note in busy.notes(Filters(busy.space))} == set(ids)


def test_changing_and_deleting_words_keeps_the_index_in_step(memory):
    for number in range(30):
        memory.add(Draft(f"note {number} words", title=f"title {number}"), NOW, embed=False)
    with memory.database.write() as connection:
        connection.exec_driver_sql("UPDATE keywords SET body = ' changed ' WHERE note_id % 3 = 0")
        connection.exec_driver_sql("DELETE FROM keywords WHERE note_id % 5 = 0")
    check_index(memory)
    assert set(listed(ask(memory, "changed", NOW), "keyword")) == {3, 6, 9, 12, 18, 21, 24, 27}


def test_adding_where_the_keyword_index_is_missing_works_or_is_refused_as_damage_and_leaves_nothing(memora, memory):
    memory.add(Draft("first"), NOW, embed=False)
    with memory.database.write() as connection:
        connection.exec_driver_sql("DROP TABLE keywords_fts")
    before = contents(memory.database.address)
    outcome = memora("add", "second", "--no-embed", code=None)
    assert outcome.code in (0, 5)
    assert outcome.code == 0 or contents(memory.database.address) == before


# Vectors


def test_the_vector_index_holds_exactly_the_stored_vectors(memory):
    with_fakes(memory)
    memory.add(Draft("\n\n".join(f"paragraph {n} {'word ' * 150}" for n in range(5))), NOW)
    memory.add(Draft("short"), NOW, embed=False)
    memory.add_all([Draft(f"batch {n}") for n in range(10)], NOW)
    assert reindexed(memory) == 1
    with memory.database.read() as connection:
        stored = dict(connection.exec_driver_sql("SELECT passage_id, vector FROM vectors").all())
        (name,) = connection.exec_driver_sql(
            "SELECT name FROM sqlite_master WHERE name LIKE 'vectors|_%' ESCAPE '|' AND sql LIKE 'CREATE VIRTUAL%'"
        ).scalars()
        indexed = dict(connection.exec_driver_sql(f"SELECT passage_id, embedding FROM {name}").all())
        passages = set(connection.exec_driver_sql("SELECT id FROM passages").scalars())
    assert stored == indexed
    assert set(stored) == passages
    for blob in stored.values():
        assert abs(float(numpy.linalg.norm(numpy.frombuffer(blob, "<f4"))) - 1.0) < 1e-3


def test_passages_cover_the_text_and_tokens_are_counted_when_written(memory):
    from memora_cli.text.tokens import count_tokens

    body = "# One\n\n" + "A sentence of words. " * 200 + "\n\n# Two\n\nThe end."
    number = memory.add(Draft(body), NOW, embed=False).id
    (note,) = memory.notes(Filters())
    assert (note.id, note.tokens) == (number, count_tokens(note.body))
    spans = prepare(Draft(body)).passages
    with memory.database.read() as connection:
        rows = connection.exec_driver_sql('SELECT start, "end" FROM passages ORDER BY start').all()
    assert [tuple(row) for row in rows] == list(spans)
    assert len(spans) > 1


# Links


def test_notes_of_one_batch_are_linked_like_any_others(tmp_path):
    texts = [("Alice works at Google", 0), ("Alice works at Google now", 3), ("Bob because [[Alice]]", 500)]
    drafts = [Draft(text, title=text.split()[0], created_at=NOW - timedelta(hours=hours)) for text, hours in texts]

    def links(memory):
        return contents(memory.database.address)["links"]

    with open_at(tmp_path / "batch.db") as batch, open_at(tmp_path / "single.db") as single:
        with_fakes(batch).add_all(drafts, NOW)
        for draft in drafts:
            with_fakes(single).add(draft, NOW)
        assert links(batch) == links(single)
        assert {row[3] for row in links(batch)} == {"temporal", "semantic", "causes", "references"}


@settings(deadline=None, max_examples=15)
@given(st.lists(st.integers(0, 60), min_size=2, max_size=14))
def test_temporal_links_lead_to_the_ten_nearest_within_a_day(busy, hours):
    busy.space = f"space-{next(SPACES)}"
    ids = [
        busy.add(Draft(f"note {n}", created_at=NOW + timedelta(hours=hour)), NOW, embed=False, force=True).id
        for n, hour in enumerate(hours)
    ]
    edges = [edge for edge in busy.view([ids[-1]])[0].links if edge.relation == "temporal"]
    gaps = {number: abs(hour - hours[-1]) for number, hour in zip(ids[:-1], hours[:-1], strict=True)}
    near = sorted(gap for gap in gaps.values() if gap <= 24)[:10]
    assert sorted(gaps[edge.target] for edge in edges) == near
    for edge in edges:
        assert edge.weight == pytest.approx(max(0.3, 1.0 - gaps[edge.target] / 24.0))


def test_semantic_links_lead_to_the_five_nearest_of_at_least_seven_tenths(memory):
    with_fakes(memory)
    texts = ["one two three four five six seven " + " ".join(f"more{k}" for k in range(n)) for n in range(7)]
    for number, text in enumerate((*texts, "quite other words", "one two")):
        memory.add(Draft(text, created_at=NOW - timedelta(days=3 * number)), NOW)
    new = memory.add(Draft("one two three four five six seven", created_at=NOW - timedelta(days=99)), NOW, force=True)
    edges = [edge for edge in memory.view([new.id])[0].links if edge.relation == "semantic"]
    assert sorted(edge.target for edge in edges) == [1, 2, 3, 4, 5]
    assert all(0.7 <= edge.weight <= 1.0 for edge in edges)


def test_a_name_that_many_notes_share_makes_no_rows_of_pairs(memory):
    memory.add_all(
        [Draft(f"Alice said {n}", created_at=NOW - timedelta(days=2 * n)) for n in range(60)], NOW, embed=False
    )
    rows = contents(memory.database.address)
    assert len(rows["mentions"]) == 60
    assert rows["links"] == []


# The file


def test_only_the_user_may_read_the_database(memora, home):
    memora("add", "secret", "--no-embed")
    for path in home.glob("memora.db*"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_every_connection_keeps_the_pragmas(memory):
    expected = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 30000, "secure_delete": 1}
    expected |= {"recursive_triggers": 1, "trusted_schema": 0, "cell_size_check": 1, "user_version": VERSION}
    with memory.database.read() as connection:
        assert {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in expected} == expected


def test_a_busy_database_is_waited_for(memory):
    blocker = driver().connect(memory.database.address, isolation_level=None, check_same_thread=False)
    blocker.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(memory.add, Draft("patient"), NOW, embed=False)
        assert not waiting.done()
        blocker.execute("COMMIT")
        assert waiting.result(timeout=60).created
    blocker.close()


def test_a_search_does_not_wait_for_a_writer(memory):
    memory.add(Draft("coffee"), NOW, embed=False)
    with memory.database.write() as connection:
        connection.exec_driver_sql("UPDATE notes SET pinned = 1")
        with open_at(memory.database.address) as other:
            assert found(ask(other, "coffee", NOW, rerank=False)) == [1]


def test_ten_processes_that_add_to_a_database_that_does_not_exist_yet_all_succeed(home):
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "memora_cli", "add", f"note of process {number}", "--no-embed"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(10)
    ]
    ended = [process.communicate(timeout=200) for process in processes]
    assert [(process.returncode, err) for process, (_, err) in zip(processes, ended, strict=True)] == [(0, "")] * 10
    assert sorted(int(out) for out, _ in ended) == list(range(1, 11))
    with open_at(home / "memora.db") as memory:
        bodies = {note.id: note.body for note in memory.notes(Filters())}
        check_index(memory)
    assert bodies == {int(out): f"note of process {number}" for number, (out, _) in enumerate(ended)}
