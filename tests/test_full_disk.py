"""The promises on a disk that is full, read-only or under a quota: one clear line, exit 4, and reading goes on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from soundness import connect, problems

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def small(tmp_path):
    """A file system of 4 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    if not shutil.which("mount"):
        pytest.skip("there is no mount here")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def held(path):
    connection = connect(path)
    try:
        return dict(connection.execute("SELECT id, body FROM notes ORDER BY id").fetchall())
    finally:
        connection.close()


def refused(outcome, *said):
    """Whether a write ended as it should: exit 4, nothing on standard output, one line on standard error."""
    assert (outcome.code, outcome.out) == (4, "")
    assert len(outcome.err.splitlines()) == 1
    assert any(word in outcome.err for word in said), outcome.err


def fill(memora, path):
    """Add notes until one is refused; those that were told of, and the refusal."""
    told = {}
    for number in range(400):
        text = f"note {number} " + " ".join(f"word{number}x{part}" for part in range(900))
        outcome = memora("--db", path, "add", "-", "--no-embed", stdin=text, code=None)
        if outcome.code:
            return told, outcome
        told[int(outcome.out)] = text
    raise AssertionError("the disk was never full")


def test_on_a_full_disk_there_are_as_many_notes_as_ids_were_printed_and_reading_goes_on(memora, shell, small, figure):
    path = small / "memora.db"
    told, outcome = fill(memora, path)
    refused(outcome, "disk is full")
    assert held(path) == told
    assert problems(path, embedded=False) == []
    assert memora("--db", path, "list", "-n", 0, "--ids").out.split() == [str(n) for n in sorted(told, reverse=True)]
    assert memora("--db", path, "search", "word3x7", "--ids", "--set", "rerank=false").out.split()[0] == "4"
    for command in (
        ("edit", 1, "--title", "x" * 200_000, "--no-embed"),
        ("import", "-", "--no-embed"),
        ("backup", small / "copy.db"),
    ):
        lines = '{"text": "' + "y " * 400_000 + '"}\n'
        refused(memora("--db", path, *command, stdin=lines, code=None), "full", "No space")
    with suppress(OSError), (small / "filler").open("wb", buffering=0) as filler:
        while filler.write(b"x" * 4096):
            pass
    os.truncate(small / "filler", (small / "filler").stat().st_size - 2**16)  # SQLite needs some, also to read
    ended = shell("--db", path, "export", small / "out.jsonl")
    assert (ended.returncode, ended.stdout) == (1, b"")
    assert ended.stderr.decode().splitlines() == [
        line for line in ended.stderr.decode().splitlines() if "No space" in line
    ]
    assert sorted(file.name for file in small.iterdir() if "part" in file.name or file.name == "copy.db") == []
    assert held(path) == told
    figure("disk full (4 MB)", f"{len(told)} ids printed, {len(held(path))} notes, exit 4, one line, search goes on")


def test_on_a_full_disk_a_repair_is_refused_and_changes_nothing(memora, small):
    path = small / "memora.db"
    for number in range(20):
        memora("--db", path, "add", "-", "--no-embed", stdin=f"{number} " + "word " * 9000)
    told = held(path)
    connection = connect(path)
    connection.execute("DELETE FROM keywords_fts_docsize WHERE id = 2")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    (small / "other").write_bytes(b"x" * (os.statvfs(small).f_bavail * os.statvfs(small).f_bsize - 300_000))
    refused(memora("--db", path, "doctor", "--repair", code=None), "full", "No space")
    assert held(path) == told
    assert [file.name for file in small.iterdir() if "repair" in file.name or "part" in file.name] == []


def test_under_a_limit_on_file_size_a_write_is_refused_as_on_a_full_disk(memora, home, figure):
    memora("add", "a first note", "--no-embed")
    path = home / "memora.db"
    connection = connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    program = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({path.stat().st_size}, {path.stat().st_size}))\n"
        "from memora_cli.cli import main\nmain()\n"
    )
    text = " ".join(f"word{part}" for part in range(60_000))
    ended = subprocess.run(
        [sys.executable, "-c", program, "add", "-", "--no-embed"],
        input=text.encode(),
        capture_output=True,
        check=False,
        cwd=ROOT,
    )
    assert (ended.returncode, ended.stdout) == (4, b"")
    assert len(ended.stderr.splitlines()) == 1
    assert list(held(path).values()) == ["a first note"]
    assert problems(path, embedded=False) == []
    figure("quota", "a limit on file size: exit 4, one line, no half note")


@pytest.fixture
def nobody():
    """Run memora as a user without rights, in a place that this user may enter."""
    keeping = "-all,+dac_read_search"  # root's own folders hold the program: they may be read, and nothing written
    who = ["--reuid=65534", "--regid=65534", "--clear-groups", f"--inh-caps={keeping}", f"--ambient-caps={keeping}"]
    prefix = [] if os.geteuid() else ["setpriv", *who]
    if not shutil.which("setpriv"):
        pytest.skip("needs setpriv to become nobody")

    def run(*arguments):
        return subprocess.run(
            [*prefix, sys.executable, "-m", "memora_cli", *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
            stdin=subprocess.DEVNULL,
            env={**os.environ, "HOME": "/nonexistent", "MEMORA_CONFIG": "/nonexistent/config.toml"},
        )

    return run


@pytest.mark.parametrize("left", ["alone", "with its log"])
def test_in_a_read_only_folder_a_search_works_and_a_write_says_read_only(memora, nobody, left, figure):
    with tempfile.TemporaryDirectory(prefix="memora-") as name:
        folder = Path(name)
        path = folder / "memora.db"
        memora("--db", path, "add", "Alice works at Google")
        memora("--db", path, "add", "Bob burst the pipe", "--no-embed")
        holder = connect(path) if left == "with its log" else None
        if holder:
            holder.execute("SELECT count(*) FROM notes").fetchone()
            memora("--db", path, "add", "Carol sings")
        for file in folder.iterdir():
            file.chmod(0o444)
        folder.chmod(0o555)
        before = {file.name: file.read_bytes() for file in folder.iterdir() if not file.name.endswith("-shm")}
        for command in (("search", "Google"), ("list",), ("show", 1), ("stats",), ("explain", "pipe"), ("topics",)):
            ended = nobody("--db", path, *command)
            assert (ended.returncode, "Traceback" in ended.stderr) == (0, False), ended.stderr
        assert "Alice works at Google" in nobody("--db", path, "search", "Google").stdout
        for command in (("add", "new", "--no-embed"), ("pin", 1), ("forget", 1), ("undo",), ("reindex",)):
            ended = nobody("--db", path, *command)
            assert (ended.returncode, ended.stdout) == (4, ""), ended.stderr
            assert len(ended.stderr.splitlines()) == 1
            assert "read-only" in ended.stderr
        assert before == {name: (folder / name).read_bytes() for name in before}
        if holder:
            holder.close()
        folder.chmod(0o700)
    figure(
        "read-only folder as nobody", f"{left}: 6 reading commands work, 5 writing ones end with 4 and say read-only"
    )
