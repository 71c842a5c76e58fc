"""The promises of writers that wait for one another, in one process and in several, and of what keeps them apart."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from multiprocessing import get_context

import pytest
from conftest import NOW
from fakes import open_at
from soundness import problems
from sqlalchemy import event

from memora_cli.errors import NoSuchNote
from memora_cli.store import turns
from memora_cli.store.turns import Turn
from memora_cli.values import Draft

SOON = 0.05  # seconds, of a turn that does not come


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memora.db"


def add(path, text):
    with open_at(path) as memory:
        return memory.add(Draft(text), NOW, embed=False).id


def free(folder):
    """Whether nobody has a turn."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True


def until(condition):
    for _ in range(2000):
        if condition():
            return True
        time.sleep(0.005)
    return False


def test_turns_come_in_the_order_in_which_they_were_asked_for(tmp_path):
    first, came, turn_of = Turn(tmp_path, 30), [], {}

    def wait(name):
        turn_of[name] = Turn(tmp_path, 30)
        came.append(name)
        turn_of[name].end()

    waiting = []
    for name in range(5):
        waiting.append(threading.Thread(target=wait, args=(name,)))
        waiting[-1].start()
        time.sleep(0.02)
    assert came == []
    first.end()
    for thread in waiting:
        thread.join(30)
    assert came == list(range(5))
    assert until(partial(free, tmp_path))


def test_a_turn_that_was_given_up_keeps_nobody_out(tmp_path):
    first = Turn(tmp_path, 30)
    late = Turn(tmp_path, SOON)
    late.end()
    first.end()
    assert until(partial(free, tmp_path))


def test_an_interrupt_of_one_who_waits_keeps_nobody_out(tmp_path):
    def interrupted(*_):
        raise KeyboardInterrupt

    first = Turn(tmp_path, 30)
    before = signal.signal(signal.SIGALRM, interrupted)
    try:
        signal.setitimer(signal.ITIMER_REAL, SOON)
        with pytest.raises(KeyboardInterrupt):
            Turn(tmp_path, 30)
    finally:
        signal.signal(signal.SIGALRM, before)
    first.end()
    assert until(partial(free, tmp_path))


def test_a_fork_of_one_who_has_the_turn_does_not_keep_it(tmp_path):
    turn = Turn(tmp_path, 30)
    sleeper = get_context("fork").Process(target=time.sleep, args=(60,))
    sleeper.start()
    try:
        turn.end()
        assert until(partial(free, tmp_path))
    finally:
        sleeper.kill()
        sleeper.join()


@pytest.mark.parametrize("error", [OSError, PermissionError])
def test_where_the_file_system_has_no_such_locks_writers_go_on(path, monkeypatch, error):
    def refused(*_):
        raise error

    monkeypatch.setattr(turns.fcntl, "flock", refused)
    assert [add(path, f"note {n}") for n in range(3)] == [1, 2, 3]


def test_where_there_is_no_fcntl_writers_go_on(path, monkeypatch):
    monkeypatch.setattr(turns, "fcntl", None)
    assert [add(path, f"note {n}") for n in range(3)] == [1, 2, 3]


def test_whoever_holds_the_folder_for_ever_delays_a_writer_and_does_not_stop_it(path, monkeypatch):
    add(path, "first")
    monkeypatch.setattr("memora_cli.store.sqlite.BUSY_MILLISECONDS", 1000 * SOON)
    handle = os.open(path.parent, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        assert add(path, "second") == 2
    finally:
        os.close(handle)


def test_a_write_that_fails_lets_the_next_one_in(path):
    with open_at(path) as memory:
        memory.add(Draft("first"), NOW, embed=False)
        for _ in range(3):
            with pytest.raises(NoSuchNote):
                memory.pin([99], NOW, pinned=True)
        assert until(partial(free, path.parent))
        memory.pin([1], NOW, pinned=True)


@pytest.mark.parametrize("statement", ["BEGIN IMMEDIATE", "INSERT INTO notes"])
def test_an_interrupt_within_a_statement_is_what_ends_a_write_and_lets_the_next_one_in(path, statement):
    add(path, "first")

    def interrupted(_connection, _cursor, said, *_):
        if said.startswith(statement):
            raise SystemExit(130)

    with open_at(path) as memory:
        event.listen(memory.database.engine, "after_cursor_execute", interrupted)
        with pytest.raises(SystemExit):
            memory.add(Draft("second"), NOW, embed=False)
    assert until(partial(free, path.parent))
    assert add(path, "third") == 2
    assert problems(path, embedded=False) == []


def test_threads_and_memories_of_one_process_in_several_spaces_all_write(path):
    ids = []

    def work(number):
        with open_at(path) as memory:
            memory.space = f"space-{number % 3}"
            ids.extend(memory.add(Draft(f"note {n} of {number}"), NOW, embed=False).id for n in range(5))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(ids) == list(range(1, 41))
    assert problems(path, embedded=False) == []


LOCKED_BY_READERS = (0x40000002, 510)  # where SQLite locks a file, and how many bytes of it
TRY = """
import fcntl, os, sys
try:
    fcntl.lockf(os.open(sys.argv[1], os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB, int(sys.argv[3]), int(sys.argv[2]))
except OSError:
    print("held")
"""


def test_opening_a_database_once_more_keeps_the_locks_of_those_that_have_it_open(path):
    def held():
        place, length = LOCKED_BY_READERS
        arguments = [sys.executable, "-c", TRY, str(path), str(place), str(length)]
        return subprocess.run(arguments, capture_output=True, check=True).stdout == b"held\n"

    add(path, "first")
    with open_at(path) as memory, memory.database.read() as connection:
        connection.exec_driver_sql("SELECT count(*) FROM notes").scalar_one()
        assert held()
        with open_at(path):
            pass
        assert held()
