"""The promises of an upgrade: a backup first, nothing lost, one transaction, and the tables of a new database."""

from __future__ import annotations

import lzma
import os
import stat
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import NOW
from fakes import ask, contents, found, listed, open_at, reindexed

from memora_cli.errors import DatabaseBusy, DatabaseDamaged
from memora_cli.store import changes, migrations
from memora_cli.store.schema import VERSION
from memora_cli.store.sqlite import driver
from memora_cli.values import Draft, Filters

DATA = Path(__file__).parent / "data"


@pytest.fixture
def older(tmp_path):
    """A database as memora with schema 1 left it: seven notes, one superseded and one pinned, and one in "work"."""
    path = tmp_path / "older.db"
    path.write_bytes(lzma.decompress((DATA / "schema-1.db.xz").read_bytes()))
    return path


def version(path):
    connection = driver().connect(str(path))
    try:
        return connection.execute("PRAGMA user_version").fetchone()[0]
    finally:
        connection.close()


def test_an_older_database_keeps_every_row_and_every_note(older):
    before = contents(older)
    with open_at(older) as memory:
        notes = memory.notes(Filters())
    after = contents(older)
    assert version(older) == VERSION
    assert sorted(note.id for note in notes) == [1, 2, 3, 4, 5, 6, 7]
    assert [note.id for note in notes if note.pinned] == [6]
    assert {note.id: note.superseded_by for note in notes if note.superseded_by} == {1: (3,)}
    for table, rows in before.items():
        if table == "counters":
            assert set(rows) <= set(after[table])
        else:
            assert [row[: len(rows[0])] for row in after[table]] == rows or table in {"notes"}, table
    assert [row[3] for row in after["notes"]] == [row[3] for row in before["notes"]]


def test_search_by_meaning_words_and_connections_works_after_an_upgrade(older):
    with open_at(older) as memory:
        trace = ask(memory, "Where does Alice work?", NOW)
        assert found(trace)[0] == 2
        assert {"semantic", "keyword", "graph"} == {name for name in STRATEGIES if 2 in listed(trace, name)}
        assert found(ask(memory, "coffee", NOW, rerank=False))[:2] == [3, 1]
        assert trace.waiting == 1
        assert reindexed(memory) == 1
        memory.space = "work"
        assert found(ask(memory, "deploy key", NOW, Filters("work"), rerank=False)) == [8]


STRATEGIES = ("semantic", "keyword", "graph")


def test_writes_after_an_upgrade_go_on_with_the_next_ids(older):
    with open_at(older) as memory:
        assert memory.add(Draft("a new one"), NOW, embed=False).id == 9


def test_an_upgraded_database_has_the_tables_of_a_new_one(older, tmp_path):
    def shape(path):
        connection = driver().connect(str(path))
        try:
            tables = connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
            ).fetchall()
            columns = {
                name: sorted(row[1:] for row in connection.execute(f'PRAGMA table_info("{name}")').fetchall())
                for (name,) in tables
                if not name.startswith(("vectors_", "keywords_fts", "sqlite_"))
            }
            indexes = connection.execute(
                "SELECT tbl_name, name FROM sqlite_master WHERE type = 'index' ORDER BY 1, 2"
            ).fetchall()
            return columns, [index for index in indexes if not index[0].startswith("vectors_")]
        finally:
            connection.close()

    open_at(older).close()
    open_at(tmp_path / "new.db").close()
    upgraded, new = shape(older), shape(tmp_path / "new.db")
    assert upgraded[0] == new[0]
    assert upgraded[1] == new[1]


def test_what_is_known_of_the_time_before_is_in_the_history_and_is_not_undone(older):
    with open_at(older) as memory, memory.database.read() as connection:
        kept = changes.every(connection, "default")
        assert sorted(change.note_id for change in kept if change.action == "add") == [1, 2, 3, 4, 5, 6, 7]
        assert [(c.note_id, c.other_id) for c in kept if c.action == "supersede"] == [(1, 3)]
        assert changes.last(connection, "default") is None


def test_a_backup_is_made_before_an_upgrade_that_only_the_user_may_read(older):
    before = contents(older)
    os.umask(0o022)
    open_at(older).close()
    (backup,) = older.parent.glob("older.db.schema-1*")
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert version(backup) == 1
    assert contents(backup) == before
    open_at(older).close()
    assert len(list(older.parent.glob("older.db.schema-1*"))) == 1


def test_an_older_backup_is_never_overwritten(older):
    kept = older.with_name("older.db.schema-1")
    kept.write_text("precious")
    open_at(older).close()
    assert kept.read_text() == "precious"
    assert version(older.with_name("older.db.schema-1.1")) == 1


def test_an_upgrade_that_fails_leaves_the_old_database_as_it_was(older, monkeypatch):
    before = contents(older)

    def failing(connection):
        connection.exec_driver_sql("UPDATE notes SET body = 'lost'")
        raise RuntimeError("power cut")

    monkeypatch.setattr(migrations, "MIGRATIONS", {2: failing})
    with pytest.raises(RuntimeError):
        open_at(older)
    monkeypatch.undo()
    assert (version(older), contents(older)) == (1, before)
    with open_at(older) as memory:
        assert len(memory.notes(Filters())) == 7


def test_processes_that_open_an_older_database_at_once_all_find_it_upgraded(older):
    def count(_):
        with open_at(older) as memory:
            return len(memory.notes(Filters()))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(count, range(8))) == [7] * 8
    assert len(list(older.parent.glob("older.db.schema-1*"))) == 1


def test_an_older_database_that_may_not_be_written_is_refused_with_what_to_do(older):
    if os.geteuid() == 0:
        ended = subprocess.run(["runuser", "-u", "nobody", "--", "true"], capture_output=True, check=False)
        if ended.returncode:
            pytest.skip("nobody cannot be asked here")
    monkey = os.access
    try:
        os.access = lambda path, mode: mode != os.W_OK and monkey(path, mode)
        with pytest.raises(DatabaseBusy, match="older schema version 1 and is read-only"):
            open_at(older)
    finally:
        os.access = monkey
    assert version(older) == 1


def test_a_newer_database_is_refused_and_left_as_it_is(older):
    connection = driver().connect(str(older))
    connection.execute(f"PRAGMA user_version={VERSION + 1}")
    connection.close()
    data = older.read_bytes()
    with pytest.raises(DatabaseDamaged, match="upgrade memora"):
        open_at(older)
    assert older.read_bytes() == data
    assert list(older.parent.glob("older.db?*")) == []
