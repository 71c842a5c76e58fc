"""The promises of a server that dies, that only follows another, that speaks no TLS, or that does not answer."""

from __future__ import annotations

import random
import socket
import threading
import time

import pytest
from conftest import NOW
from fakes import open_at, with_fakes
from postgres_server import CannotRun, launch
from test_completion import tab  # noqa: F401  # a fixture

from memora_cli.errors import DatabaseBusy, MemoraError
from memora_cli.store import health
from memora_cli.values import Draft, Filters

pytestmark = pytest.mark.postgres
KILLS = 20


@pytest.fixture
def address(server):
    """The address of a new database, gone after the test."""
    name = server.create()
    yield server.address(name)
    server.drop(name)


@pytest.fixture
def durable():
    """A server of its own that waits for its disk."""
    try:
        running = launch(durable=True)
    except CannotRun as reason:
        pytest.skip(f"PostgreSQL does not run here: {reason}")
    yield running
    running.close()


@pytest.fixture
def replica(server, address, memora):
    """A server that follows the tests' own, with a note in the database of that address."""
    memora("--db", address, "add", "the boiler was serviced in May")
    try:
        running = server.standby()
    except CannotRun as reason:
        pytest.skip(f"no replica runs here: {reason}")
    yield running
    running.names.clear()  # they go away with the server that it follows
    running.close()


def importing(address, turn, acknowledged, ended):
    """Import until something ends it; which error that was."""
    try:
        with open_at(address) as memory:
            with_fakes(memory)
            drafts = ((str(n), Draft(f"turn {turn} note {n}: a text")) for n in range(100_000))
            for _, outcome in memory.import_all(drafts, NOW):
                if not isinstance(outcome, MemoraError):
                    acknowledged.append((outcome.id, turn))
    except Exception as error:  # whichever it is, the test looks at it
        ended.append(error)


@pytest.mark.slow
def test_the_server_killed_at_twenty_moments_of_an_import_loses_no_acknowledged_note(durable, figure):
    chance = random.Random()
    address = durable.address(durable.create())
    open_at(address).close()
    acknowledged, ended = [], []
    for turn in range(KILLS):
        thread = threading.Thread(target=importing, args=(address, turn, acknowledged, ended))
        thread.start()
        before = len(acknowledged)
        while len(acknowledged) == before and thread.is_alive():
            time.sleep(0.01)
        time.sleep(1.5 * chance.random())  # from the first batch on, at any moment of the next ones
        durable.control("-m", "immediate", "stop")
        thread.join(60)
        durable.start()
    assert len(ended) == KILLS
    assert {type(error) for error in ended} == {DatabaseBusy}, ended
    with open_at(address) as memory:
        held = {note.id: note.body for note in memory.notes(Filters())}
        with memory.database.read() as connection:
            assert health.loose(connection) == []
            assert memory.database.index.drifted(connection) == []
    lost = [number for number, turn in acknowledged if not held.get(number, "").startswith(f"turn {turn} ")]
    assert lost == []
    assert {turn for _, turn in acknowledged} == set(range(KILLS))  # the kills came while notes were being written
    figure(f"server killed at {KILLS} moments of an import: notes acknowledged, lost", f"{len(acknowledged)}, 0")


def test_a_replica_is_searched_and_refuses_changes_on_one_line(replica, address, memora):
    there = replica.address(address.rpartition("/")[2])
    found = memora("--db", there, "search", "boiler", "--json").json
    assert [result["id"] for result in found["results"]] == [1]
    assert (found["degraded"], found["backend"]["vectors"]) == ([], "pgvector")
    assert memora("--db", there, "show", 1).code == 0
    for command in (("add", "another"), ("pin", 1), ("reindex",), ("forget", 1)):
        refused = memora("--db", there, *command, code=4)
        assert "read-only" in refused.err
        assert len(refused.err.splitlines()) == 1


def test_tls_that_the_server_does_not_speak_is_one_line(server, address, memora):
    with server.connect() as connection:
        if connection.execute("SHOW ssl").fetchone() == ("on",):
            pytest.skip("this server speaks TLS")
    refused = memora("--db", f"{address}?sslmode=require", "list", code=4)
    assert len(refused.err.splitlines()) == 1
    assert "SSL" in refused.err


def test_certificates_that_are_not_there_are_one_line(address, memora):
    refused = memora("--db", f"{address}?sslmode=verify-full&sslrootcert=/nowhere/ca.pem", "list", code=4)
    assert len(refused.err.splitlines()) == 1
    assert "/nowhere/ca.pem" in refused.err


def test_completion_waits_for_no_writer_and_no_server_that_is_silent(address, memora, tab, monkeypatch):  # noqa: F811
    memora("--db", address, "add", "one", "--title", "First", "--no-embed")
    monkeypatch.setenv("MEMORA_DB", address)
    with open_at(address) as memory, memory.database.write() as connection:
        connection.exec_driver_sql("UPDATE notes SET title = 'Other' WHERE space = 'default'")
        assert tab("memora show ", "fish") == "1\tFirst\n"
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes the connection, and never says a word
        monkeypatch.setenv("MEMORA_DB", f"postgresql+psycopg://me:secret@127.0.0.1:{silent.getsockname()[1]}/x")
        assert tab("memora show ").strip() == ""
