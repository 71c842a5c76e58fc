"""The promises of backup and restore-backup: whole copies while others write, and a way back from each restore."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from fakes import contents, open_at

from memora_cli.store.sqlite import driver
from memora_cli.values import Filters


@pytest.fixture
def noted(memora, home):
    memora("add", "Alice works at Google")
    memora("add", "The pipe burst", "--no-embed")
    return home / "memora.db"


def bodies(path):
    with open_at(path) as memory:
        return {note.body for note in memory.notes(Filters())}


def test_a_backup_is_the_same_memory_for_its_owner_alone(memora, noted, home):
    outcome = memora("backup", home / "copy.db", "--json")
    assert outcome.json == {"version": 1, "path": str(home / "copy.db"), "bytes": (home / "copy.db").stat().st_size}
    assert (home / "copy.db").stat().st_mode & 0o777 == 0o600
    assert memora("export", "-").out == memora("--db", home / "copy.db", "export", "-").out
    assert memora("--db", home / "copy.db", "search", "employer of Alice", "--ids", "-n", 1).out == "1\n"
    tables = ("notes", "topics", "passages", "vectors", "keywords", "entities", "mentions", "links", "changes")
    one, other = contents(noted), contents(home / "copy.db")
    assert [one[name] for name in tables] == [other[name] for name in tables]


def test_a_backup_refuses_to_write_over_a_file_unless_it_is_told_to(memora, noted, home):
    (home / "copy.db").write_text("mine", encoding="utf-8")
    assert "--force" in memora("backup", home / "copy.db", code=2).err
    assert (home / "copy.db").read_text(encoding="utf-8") == "mine"
    memora("backup", home / "copy.db", "--force")
    assert len(bodies(home / "copy.db")) == 2
    assert "database itself" in memora("backup", noted, "--force", code=2).err
    assert "folder" in memora("backup", home, "--force", code=2).err
    assert "cannot be written" in memora("backup", home / "no" / "copy.db", code=4).err


WRITER = """
import sys
sys.path.insert(0, sys.argv[2])
from conftest import NOW
from fakes import open_at
from pathlib import Path
from memora_cli.values import Draft
number = 0
with open_at(Path(sys.argv[1])) as memory:
    print("ready", flush=True)
    while True:
        number += 1
        drafts = [Draft(f"half {half} of note {number} by {sys.argv[3]}") for half in (1, 2)]
        memory.add_all(drafts, NOW, embed=False)
        with open(sys.argv[4], "a") as told:
            told.write("".join(draft.body + "\\n" for draft in drafts))
"""


def test_backups_while_others_write_hold_whole_transactions_and_all_told_of_before_and_are_sound(
    memora, noted, home, figure
):
    here = str(Path(__file__).parent)
    logs = [home / f"told-{n}" for n in range(4)]
    for log in logs:
        log.touch()
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(noted), here, str(n), str(log)], stdout=subprocess.PIPE)
        for n, log in enumerate(logs)
    ]
    told = []
    try:
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.readline()
        until = time.monotonic() + 60
        for number in range(6):
            now: set[str] = set()
            while time.monotonic() < until and (not now or told[-1:] == [now]):  # the machine may be busy
                time.sleep(0.01)
                now = {line for log in logs for line in log.read_text().splitlines(keepends=True)}
            told.append(now)
            memora("backup", home / f"{number}.db")
        assert all(writer.poll() is None for writer in writers)
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()
            writer.stdout.close()
    counts = []
    for number in range(6):
        found = bodies(home / f"{number}.db")
        halves = [{body[8:] for body in found if body.startswith(f"half {half}")} for half in (1, 2)]
        assert halves[0] == halves[1]
        assert {line.rstrip("\n") for line in told[number] if line.endswith("\n")} <= found
        counts.append(len(found))
        assert memora("--db", home / f"{number}.db", "backup", home / f"again-{number}.db").err == ""
    assert counts == sorted(counts)
    assert counts[-1] > counts[0]
    figure(
        "backup while 4 programs write", f"6 copies, 0 unsound, 0 of {len(told[-1])} notes told of before it missing"
    )


def test_restoring_brings_back_what_was_and_keeps_what_there_is(memora, noted, home):
    memora("backup", home / "copy.db")
    memora("add", "written later", "--no-embed")
    outcome = memora("restore-backup", home / "copy.db", "--yes", "--json")
    kept = Path(outcome.json["kept"])
    assert bodies(noted) == {"Alice works at Google", "The pipe burst"}
    assert bodies(kept) == {"Alice works at Google", "The pipe burst", "written later"}
    assert kept.parent == home
    assert kept.name.startswith("memora.db.before-restore-")
    assert (kept.stat().st_mode & 0o777, noted.stat().st_mode & 0o777) == (0o600, 0o600)
    assert memora("search", "employer of Alice", "--ids", "-n", 1).out == "1\n"
    memora("restore-backup", kept, "--yes")
    assert "written later" in bodies(noted)


def test_a_program_that_has_the_database_open_sees_what_was_restored(memora, noted, home):
    memora("backup", home / "copy.db")
    memora("add", "written later", "--no-embed")
    with open_at(noted) as memory:
        assert len(memory.notes(Filters())) == 3
        memora("restore-backup", home / "copy.db", "--yes")
        assert len(memory.notes(Filters())) == 2


def test_restoring_asks_for_yes_where_nobody_can_be_asked(memora, noted, home):
    memora("backup", home / "copy.db")
    before = contents(noted)
    assert "--yes" in memora("restore-backup", home / "copy.db", code=2).err
    assert contents(noted) == before
    assert [path.name for path in home.iterdir() if "before-restore" in path.name] == []


def test_a_backup_is_restored_where_there_is_no_database(memora, noted, home, monkeypatch):
    memora("backup", home / "copy.db")
    monkeypatch.setenv("MEMORA_DB", str(home / "new" / "memora.db"))
    assert memora("restore-backup", home / "copy.db", "--json").json["kept"] is None
    assert len(bodies(home / "new" / "memora.db")) == 2
    assert (home / "new").stat().st_mode & 0o777 == 0o700


def test_a_database_that_cannot_be_read_is_set_aside_whole(memora, noted, home):
    memora("backup", home / "copy.db")
    for beside in home.glob("memora.db-*"):
        beside.unlink()
    noted.write_bytes(b"SQLite format 3\0" + b"rubbish" * 1000)
    memora("restore-backup", home / "copy.db", "--yes")
    assert len(bodies(noted)) == 2
    (kept,) = home.glob("memora.db.before-restore-*")
    assert b"rubbish" in kept.read_bytes()


@pytest.mark.parametrize("what", ["missing", "text", "other", "newer", "cut", "garbled"])
def test_what_is_no_sound_backup_is_refused_and_nothing_is_changed(memora, noted, home, what):
    copy = home / "copy.db"
    memora("backup", copy)
    if what == "missing":
        copy.unlink()
    elif what == "text":
        copy.write_text("no database at all" * 100, encoding="utf-8")
    elif what in ("other", "newer"):
        connection = driver().connect(str(copy))
        connection.execute("PRAGMA application_id=1" if what == "other" else "PRAGMA user_version=999")
        connection.commit()
        connection.close()
    else:
        data = copy.read_bytes()
        half = len(data) // 2 // 4096 * 4096
        copy.write_bytes(data[:half] if what == "cut" else data[:half] + b"\xff" * 8192 + data[half + 8192 :])
    before = contents(noted)
    outcome = memora("restore-backup", copy, "--yes", code=2 if what == "missing" else 5)
    assert str(copy) in outcome.err
    assert contents(noted) == before
