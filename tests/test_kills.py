"""The promises under a sudden end: what was told is kept, nothing is half written, and an interrupt is obeyed."""

from __future__ import annotations

import json
import lzma
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from fakes import contents
from processes import begun, start
from soundness import connect, problems

from memora_cli.store.schema import VERSION

DATA = Path(__file__).parent / "data"
NOTES = 1000

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """A file of a thousand notes that differ, with topics, names and links."""
    path = tmp_path_factory.mktemp("lines") / "notes.jsonl"
    path.write_text("".join(json.dumps({"text": text(n), "topics": [f"topic {n % 7}"]}) + "\n" for n in range(NOTES)))
    return path


def text(number):
    return f"Boat {number} of Alice because [[Rain {number % 13}]]"


def bodies(path):
    connection = connect(path)
    try:
        return dict(connection.execute("SELECT id, body FROM notes WHERE id > 0").fetchall())
    finally:
        connection.close()


def running(arguments, folder, database):
    """The program once it has begun, and when that was."""
    process = start(arguments, folder, os.environ | {"MEMORA_DB": str(database)})
    return process, begun(process, folder)


def first_batch(folder, lines):
    """Seconds that an import takes, on this machine now, until it tells of its first notes."""
    process, began = running(["import", lines], folder, folder / "first.db")
    while not (folder / "acknowledged").stat().st_size:
        time.sleep(0.001)
    process.kill()
    ended(process)
    return time.monotonic() - began


def ended(process, seconds=60):
    process.join(seconds)
    assert process.exitcode is not None
    return process.exitcode


@pytest.mark.parametrize("seed", range(4))
def test_an_import_that_is_killed_keeps_every_note_it_told_of_and_no_half_of_one(tmp_path, lines, seed, figure):
    chance = random.Random(seed)
    kills, whole, told = 0, 0, 0
    acknowledged: dict[int, str] = {}
    longest = 1.5 * first_batch(tmp_path, lines)
    database = tmp_path / f"{whole}.db"
    while kills < 50:
        process, _ = running(["import", lines], tmp_path, database)
        process.join(chance.uniform(0.0, longest))
        process.kill()
        code = ended(process)
        kills += code == -signal.SIGKILL
        for line in (tmp_path / "acknowledged").read_text().splitlines():
            number, name = line.split("\t")
            acknowledged[int(number)] = text(int(name.partition(":")[2]) - 1)
        if not database.exists() or database.stat().st_size == 0:
            assert acknowledged == {}
            continue
        connection = connect(database)
        made = connection.execute("PRAGMA user_version").fetchone()[0] == VERSION
        connection.close()
        if not made:
            assert acknowledged == {}
            continue
        assert problems(database) == []
        held = bodies(database)
        assert {number: held.get(number) for number in acknowledged} == acknowledged
        assert set(held.values()) <= {text(n) for n in range(NOTES)}
        assert len(set(held.values())) == len(held)
        if code == 0:
            assert len(held) == NOTES
        if len(held) == NOTES:
            told += len(acknowledged)
            whole += 1
            acknowledged = {}
            database = tmp_path / f"{whole}.db"
    told += len(acknowledged)
    figure("kill -9 of an import with vectors", f"{kills} kills, {told} notes told of, 0 lost, 0 half, 0 unsound")


def test_an_upgrade_that_is_killed_leaves_the_old_or_the_new_database(tmp_path, figure):
    chance = random.Random(5)
    old_bytes = lzma.decompress((DATA / "schema-1.db.xz").read_bytes())
    reference = tmp_path / "reference.db"
    reference.write_bytes(old_bytes)
    before = contents(reference)
    process, began = running(["list", "--ids"], tmp_path, reference)
    assert ended(process) == 0
    longest = time.monotonic() - began
    after = contents(reference)
    states = {"old": 0, "new": 0}
    kills = 0
    for number in range(400):
        path = tmp_path / f"older-{number}.db"
        path.write_bytes(old_bytes)
        process, _ = running(["list", "--ids"], tmp_path, path)
        process.join(chance.uniform(0.0, longest))
        process.kill()
        kills += ended(process) == -signal.SIGKILL
        connection = connect(path)
        state = connection.execute("PRAGMA user_version").fetchone()[0]
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        connection.close()
        states["old" if state == 1 else "new"] += 1
        assert contents(path) == (before if state == 1 else after)
        if number % 5 == 0:
            assert ended(running(["list", "--ids"], tmp_path, path)[0]) == 0
            assert contents(path) == after
        if kills == 50:
            break
    assert kills == 50
    figure("kill -9 of an upgrade", f"{kills} kills, left old {states['old']}, new {states['new']}, other 0")


def test_an_interrupt_ends_an_import_with_130_within_a_second_and_the_database_is_clean(tmp_path, lines, figure):
    chance = random.Random(6)
    waits, late = [], 0
    longest = 2 * first_batch(tmp_path, lines)
    for number in range(80):
        database = tmp_path / f"{number // 2}.db"  # which it begins, or goes on with
        process, _ = running(["import", lines], tmp_path, database)
        while not _handles(process.pid):
            time.sleep(0.001)
        process.join(chance.uniform(0.0, longest))
        assert process.pid is not None
        began = time.monotonic()
        with suppress(ProcessLookupError):  # it has ended
            os.kill(process.pid, signal.SIGINT)
        code = ended(process)
        waits.append(time.monotonic() - began)
        late += code == 0
        said = (tmp_path / "err").read_text()
        assert said == ""
        assert code in (0, 130)
        assert not database.exists() or database.stat().st_size == 0 or problems(database) == []
    assert late < 20
    figure("100 interrupts", f"{80 - late} of 80 in an import end with 130, longest {max(waits):.2f} s")


def test_an_interrupt_of_the_program_as_it_is_started_shows_no_traceback(tmp_path, figure):
    chance = random.Random(7)
    waits, codes = [], []
    for number in range(20):
        process = subprocess.Popen(
            [sys.executable, "-m", "memora_cli", "search", f"question {number}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        while not _handles(process.pid):
            time.sleep(0.002)
        time.sleep(chance.uniform(0.0, 0.6))
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        waits.append(time.monotonic() - began)
        codes.append(process.returncode)
        assert (process.returncode in (0, 130), b"Traceback" in err) == (True, False), err
    assert codes.count(130) > 5
    figure("100 interrupts", f"{codes.count(130)} of 20 in a search end with 130, longest {max(waits):.2f} s")


def _handles(pid):
    """Whether the process has its own answer to SIGINT yet; one that has ended counts as well."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True
    caught = next((line for line in status.splitlines() if line.startswith("SigCgt")), "SigCgt: 0")
    return bool(int(caught.split()[1], 16) & 1 << (signal.SIGINT - 1))
