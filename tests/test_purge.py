"""The promises of the trash and of purge: forgotten is gone from everything, purged leaves no byte."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy
import pytest
from conftest import NOW
from fakes import BagOfWords, ask, contents, found, open_at, with_fakes
from postgres_server import places

from memora_cli.errors import NoSuchNote
from memora_cli.store import vectors
from memora_cli.store.sqlite import driver
from memora_cli.values import Draft, Filters

SECRET = "Xylophonia Quizzaciously keeps zorgblatts and k7qz0r5vxw2lmn8s under the marmalade"
WORDS = ("xylophonia", "quizzaciously", "zorgblatts", "marmalade", "secrettitle", "secrettopic", "secretplace")
WORDS += ("secretname", "oldsecret", "secretsource", "aftersecret", "k7qz0r5vxw2lmn8s")


def bytes_of(memory):
    """Everything that the database has on disk."""
    path = Path(memory.database.address)
    files = [path.with_name(path.name + suffix) for suffix in ("", "-wal", "-shm", "-journal")]
    return b"".join(file.read_bytes() for file in files if file.exists())


def secret(memory, extra=""):
    """A note with something secret in every field, one past text and a link, among others."""
    draft = Draft(
        f"{SECRET} oldsecret{extra}\n\nBecause [[aftersecret]]",
        title="Secrettitle",
        topics=("secrettopic",),
        context="secretplace",
        entities=("Secretname",),
        source="secretsource.md",
    )
    number = memory.add(draft, NOW).id
    memory.edit(number, lambda old: replace(old, body=f"{SECRET}\n\nBecause [[aftersecret]]"), NOW)
    return number


@pytest.mark.sqlite
def test_a_purged_note_leaves_no_byte_in_the_database_its_log_or_its_indexes(memory, figure):
    with_fakes(memory)
    others = [Draft(f"note {n} about gardens, boats and weather", title=f"Title {n}") for n in range(40)]
    memory.add_all(others[:20], NOW)
    number = secret(memory)
    memory.add_all(others[20:], NOW)
    memory.link(number, "causes", 3, NOW)
    memory.supersede(5, number, NOW)
    raw = BagOfWords().embed([f"Secrettitle\n{SECRET}\n\nBecause [[aftersecret]]"])[0].tobytes()
    before = bytes_of(memory)
    assert all(word.encode() in before.lower() for word in WORDS)
    assert raw in before
    assert memory.purge([number], NOW) == ""
    after = bytes_of(memory)
    assert [word for word in WORDS if word.encode() in after.lower()] == []
    assert raw not in after
    figure("purge", f"{len(WORDS)} tokens and the vector: 0 bytes of them in the database, its log and its indexes")
    assert len(memory.notes(Filters())) == 40
    assert [note.superseded_by for note in memory.notes(Filters()) if note.id == 5] == [()]
    assert found(ask(memory, "note 3 about gardens", NOW, limit=1)) == [4]
    with memory.database.read() as connection:
        for table, rows in contents(memory.database.address).items():
            assert all(number not in row[1:3] for row in rows if table in {"mentions", "links", "topics"}), table
        assert vectors.waiting(connection, "default", BagOfWords.id) == 0


@pytest.mark.sqlite
def test_purging_all_that_is_forgotten_leaves_nothing_of_it_and_all_of_the_rest(memory):
    with_fakes(memory)
    keep = memory.add(Draft("an ordinary note of boats"), NOW).id
    gone = [secret(memory, f" {n}") for n in range(3)]
    memory.forget(gone, NOW)
    assert memory.purge([note.id for note in memory.forgotten()], NOW) == ""
    assert memory.forgotten() == []
    after = bytes_of(memory).lower()
    assert [word for word in WORDS if word.encode() in after] == []
    assert [note.id for note in memory.notes(Filters())] == [keep]
    assert found(ask(memory, "boats", NOW)) == [keep]


@pytest.mark.slow
@pytest.mark.sqlite
def test_a_purge_says_when_another_reader_still_holds_the_log(memory):
    with_fakes(memory)
    number = secret(memory)
    reader = driver().connect(memory.database.address)
    try:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM notes").fetchone()
        memory.database.engine.dispose()
        assert "another process reads" in memory.purge([number], NOW)
    finally:
        reader.close()
    assert memory.notes(Filters()) == []


def test_a_purge_of_an_unknown_note_deletes_nothing(memory):
    with_fakes(memory)
    number = memory.add(Draft("stays"), NOW).id
    before = contents(memory.database.address)
    with pytest.raises(NoSuchNote):
        memory.purge([number, 99], NOW)
    assert contents(memory.database.address) == before


def test_ids_of_purged_notes_are_never_given_out_again(memory):
    with_fakes(memory)
    number = memory.add(Draft("first"), NOW).id
    memory.purge([number], NOW)
    assert memory.add(Draft("second"), NOW).id > number


@pytest.mark.slow
@pytest.mark.sqlite
def test_many_deletes_do_not_leave_the_vector_index_full_of_holes(memory):
    class Tiny:
        id, dimension = "tiny@1", 8

        def embed(self, texts, *, query=False):  # noqa: ARG002  # asked and kept alike
            rows = numpy.random.default_rng(len(texts)).normal(size=(len(texts), 8)).astype("<f4")
            return rows / numpy.linalg.norm(rows, axis=1, keepdims=True)

    with_fakes(memory, Tiny())
    ids = [added.id for added in memory.add_all([Draft(f"note {n}") for n in range(2200)], NOW)]
    with memory.database.write() as connection:
        passages = [row[0] for row in connection.exec_driver_sql("SELECT id FROM passages")][:1900]
        vectors.remove(memory.database, connection, "default", passages)
        (name,) = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE sql LIKE '%USING vec0%'").scalars()
        slots = connection.exec_driver_sql(f"SELECT sum(size) FROM {name}_chunks").scalar_one()
        rows = connection.exec_driver_sql(f"SELECT count(*) FROM {name}").scalar_one()
    assert (rows, slots) == (len(ids) - 1900, 1024)


def test_a_forgotten_note_is_gone_from_every_search_list_graph_and_count_until_it_is_restored(memory):
    with_fakes(memory)
    first = memory.add(Draft("Alice works at Google in Zurich", topics=("work",), created_at=NOW), NOW).id
    second = memory.add(Draft("Google makes Search", created_at=NOW - timedelta(hours=1)), NOW).id
    memory.link(second, "causes", first, NOW)
    before = memory.statistics(NOW)
    everything = (found(ask(memory, "What does Alice do at Google today?", NOW)), memory.view([second])[0].links)
    memory.forget([first], NOW)
    trace = ask(memory, "What does Alice do at Google today?", NOW)
    assert first not in {hit.note_id for ranked in trace.lists for hit in ranked.hits}
    assert [note.id for note in memory.notes(Filters())] == [second]
    assert memory.view([second])[0].links == ()
    counts = memory.statistics(NOW)
    assert (counts.counts["notes"], counts.counts["passages"], counts.counts["topics"]) == (1, 1, 0)
    assert (counts.links, counts.waiting, sum(counts.months.values())) == ({"entities": 2}, 0, 1)
    with pytest.raises(NoSuchNote, match="in the trash"):
        memory.view([first])
    with pytest.raises(NoSuchNote):
        memory.pin([first], NOW, pinned=True)
    memory.restore([first], NOW)
    assert (
        found(ask(memory, "What does Alice do at Google today?", NOW)),
        memory.view([second])[0].links,
    ) == everything
    assert memory.statistics(NOW).counts == before.counts


def test_a_note_whose_superseder_is_forgotten_is_current_again_and_a_chain_holds_around_a_gap(memory):
    with_fakes(memory)
    a, b, c = (memory.add(Draft(f"I drink {what}"), NOW).id for what in ("coffee", "tea", "water"))
    memory.supersede(a, b, NOW)
    memory.supersede(b, c, NOW)
    memory.forget([b], NOW)
    assert {note.id: note.superseded_by for note in memory.notes(Filters())} == {a: (c,), c: ()}
    assert found(ask(memory, "coffee", NOW)) == [c, a]
    memory.forget([c], NOW)
    assert [(note.id, note.superseded_by) for note in memory.notes(Filters())] == [(a, ())]
    memory.restore([b, c], NOW)
    assert {note.id: note.superseded_by for note in memory.notes(Filters())} == {a: (b, c), b: (c,), c: ()}


def test_the_text_of_a_forgotten_note_may_be_added_anew(memory):
    with_fakes(memory)
    first = memory.add(Draft("twice"), NOW).id
    memory.forget([first], NOW)
    again = memory.add(Draft("twice"), NOW)
    assert (again.created, again.id != first) == (True, True)


def test_unknown_ids_are_refused_and_nothing_is_forgotten_or_restored(memory):
    with_fakes(memory)
    number = memory.add(Draft("text"), NOW).id
    for call in (memory.forget, memory.restore):
        with pytest.raises(NoSuchNote):
            call([number, 77], NOW)
    assert [note.id for note in memory.notes(Filters())] == [number]
    with open_at(places.real(memory.database.address)) as other:
        assert len(other.notes(Filters())) == 1


# As a user types it


def test_purge_asks_on_a_terminal_and_needs_yes_elsewhere(memora):
    memora("add", "a secret", "--no-embed")
    refused = memora("purge", 1, code=2)
    assert "--yes" in refused.err
    assert memora("list", "--ids").out == "1\n"
    memora("purge", "#1", "--yes")
    assert memora("list", "--ids").out == ""
    assert memora("show", 1, code=3).out == ""


def test_restore_without_ids_lists_the_trash(memora):
    memora("add", "one", "--no-embed")
    memora("add", "two", "--no-embed")
    memora("forget", 1, 2, "--at", "2025-11-24")
    assert memora("restore").out == "2\t2025-11-24\ttwo\n1\t2025-11-24\tone\n"
    assert [note["id"] for note in memora("restore", "--json").json["notes"]] == [2, 1]
    memora("restore", "#2")
    assert memora("list", "--ids").out == "2\n"
    memora("purge", "--all-forgotten", "--yes")
    assert memora("restore").out == ""
