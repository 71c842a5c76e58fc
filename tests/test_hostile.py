"""The promises about files that somebody else has made or broken, and about many at once."""

from __future__ import annotations

import json
import os
import pickle
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy
import pytest
from conftest import NOW
from processes import CONTEXT, begun, start
from soundness import connect, problems

from memora_cli.errors import ModelUnusable
from memora_cli.store import vectors
from memora_cli.store.health import unfit
from memora_cli.values import Draft

ROOT = Path(__file__).resolve().parents[1]
FLIPS = 1000
PER_PROCESS = 50
COMMANDS = (("list", "-n", "0"), ("search", "boat harbour", "--set", "rerank=false"), ("add", "new", "--no-embed"))


@pytest.mark.parametrize("writers", [12, pytest.param(100, marks=pytest.mark.slow)])
def test_processes_that_add_at_once_to_a_database_that_does_not_exist_yet_all_do(tmp_path, writers, figure):
    database = tmp_path / "memora.db"
    told, ready, gate = CONTEXT.Queue(), CONTEXT.Semaphore(0), CONTEXT.Event()
    arguments = (str(database), str(tmp_path), ready, gate, told)
    processes = [CONTEXT.Process(target=_adder, args=(number, *arguments)) for number in range(writers)]
    for process in processes:
        process.start()
    for _ in processes:
        assert ready.acquire(timeout=300)
    gate.set()
    answers = [told.get(timeout=300) for _ in range(5 * writers)]
    for process in processes:
        process.join(60)
    assert [(code, out) for _, code, out, _ in answers if code] == []
    connection = connect(database)
    held = dict(connection.execute("SELECT id, body FROM notes").fetchall())
    connection.close()
    assert held == {int(out): text for text, _, out, _ in answers}
    assert len(held) == 5 * writers
    assert problems(database, embedded=False) == []
    longest = max(seconds for *_, seconds in answers)
    figure(
        f"{writers} processes × 5 adds, all at once to a new database",
        f"{len(held)} notes, 0 errors, longest {longest:.1f} s from opening it to closing it",
    )


def _adder(number, database, folder, ready, gate, told):
    from memora_cli import memory

    class Timed(memory.Memory):
        """The memory that a command opens; how long it is open is how long an add takes, its waiting included."""

        def __init__(self, config):
            self.opened = time.monotonic()
            super().__init__(config)

        def close(self):
            super().close()
            open_for.append(time.monotonic() - self.opened)

    open_for = []
    memory.Memory = Timed
    os.environ.update({"MEMORA_CONFIG": str(Path(folder, "config.toml")), "HOME": folder})
    out = Path(folder, f"out-{number}")
    # What a program loads when it starts is no waiting.
    _command(["--db", str(Path(folder, f"other-{number}.db")), "add", "first", "--no-embed"], out)
    os.environ["MEMORA_DB"] = database
    ready.release()
    gate.wait()
    for turn in range(5):
        text = f"note {turn} of process {number}"
        code, said = _command(["add", text, "--no-embed"], out)
        told.put((text, code, said.strip(), open_for[-1]))


def _command(arguments, out):
    """Run the program in this process, output and errors to a file; exit code and what was printed."""
    from memora_cli.cli import main

    sys.argv = ["memora", *arguments]
    with out.open("w+", encoding="utf-8") as stream:
        sys.stdout = sys.stderr = stream
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        else:
            code = 0
        sys.stdout.flush()
        stream.seek(0)
        return code, stream.read()


@pytest.fixture(scope="module")
def two_hundred(tmp_path_factory):
    """A file with 200 notes and their vectors."""
    folder = tmp_path_factory.mktemp("hostile")
    lines = folder / "notes.jsonl"
    lines.write_text(
        "".join(
            json.dumps({"text": f"Boat {n} lay in harbour {n % 9}", "topics": [f"t{n % 5}"]}) + "\n" for n in range(200)
        )
    )
    environment = os.environ | {"MEMORA_DB": str(folder / "memora.db")}
    subprocess.run(
        [sys.executable, "-m", "memora_cli", "import", lines],
        check=True,
        capture_output=True,
        env=environment,
        cwd=ROOT,
    )
    connection = connect(folder / "memora.db")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return folder / "memora.db"


@pytest.mark.slow
def test_a_thousand_flipped_bytes_never_crash_and_end_with_5_and_the_name_of_doctor_or_with_success(
    tmp_path, two_hundred, figure
):
    counts = {0: 0, 5: 0}
    queue = CONTEXT.Queue()
    for batch in range(FLIPS // PER_PROCESS):
        process = CONTEXT.Process(target=_flipper, args=(str(two_hundred), str(tmp_path), batch, queue))
        process.start()
        ended = [queue.get(timeout=300) for _ in range(PER_PROCESS * len(COMMANDS))] if process.is_alive() else []
        process.join(300)
        assert process.exitcode == 0, "the interpreter crashed"
        for place, command, code, said in ended:
            assert code in counts, (place, command, code, said)
            assert code == 0 or "memora doctor" in said, (place, command, said)
            counts[code] += 1
    assert sum(counts.values()) == FLIPS * len(COMMANDS)
    figure(
        "1,000 flipped bytes", f"0 crashes; of {sum(counts.values())} commands {counts[5]} exit 5, {counts[0]} succeed"
    )


def _flipper(source, folder, batch, queue):
    data = Path(source).read_bytes()
    chance = random.Random(batch)
    path = Path(folder, f"flipped-{batch}.db")
    os.environ.update({"MEMORA_DB": str(path), "MEMORA_CONFIG": str(Path(folder, "config.toml")), "HOME": folder})
    for _ in range(PER_PROCESS):
        place = chance.randrange(len(data))
        flipped = bytearray(data)
        flipped[place] ^= 1 << chance.randrange(8)
        for command in COMMANDS:
            for suffix in ("-wal", "-shm", ""):
                path.with_name(path.name + suffix).unlink(missing_ok=True)
            path.write_bytes(flipped)
            try:
                code, said = _command(list(command), Path(folder, f"said-{batch}"))
            except Exception as error:
                code, said = -1, repr(error)
            queue.put((place, command[0], code, said))


# Models


def test_a_planted_pickle_is_never_opened(memora, monkeypatch, tmp_path, figure):
    import shutil

    from memora_cli import models

    witness = tmp_path / "opened"

    class Planted:
        def __reduce__(self):
            return os.system, (f"touch {witness}",)

    shutil.copytree(models.BUNDLED, tmp_path / "models")
    names = ("pytorch_model.bin", "model.pkl", "model.pt", "tokenizer.pkl", "optimizer.pt", "training_args.bin")
    for folder in (tmp_path / "models").iterdir():
        if folder.is_dir():
            for name in names:
                (folder / name).write_bytes(pickle.dumps(Planted()))
    monkeypatch.setattr(models, "BUNDLED", tmp_path / "models")
    memora("add", "Alice works at Google")
    assert memora("search", "Alice", "--json").json["degraded"] == []
    memora("doctor")
    model = tmp_path / "models" / "all-MiniLM-L6-v2" / "model.onnx"
    model.write_bytes(pickle.dumps(Planted()).ljust(model.stat().st_size, b"\0"))
    memora("add", "Bob sings", code=None)
    assert memora("search", "Bob", "--json").json["results"]
    memora("doctor", code=6)
    assert not witness.exists()
    figure("models", f"{2 * len(names) + 1} planted pickles, 0 opened")


@pytest.mark.parametrize("signum", [signal.SIGINT])
def test_an_interrupt_while_a_batch_is_embedded_ends_within_a_second(tmp_path, signum):
    lines = tmp_path / "long.jsonl"
    lines.write_text("".join(json.dumps({"text": f"{n} " + "word " * 4000}) + "\n" for n in range(64)))
    process = start(["import", lines], tmp_path, os.environ | {"MEMORA_DB": str(tmp_path / "memora.db")})
    begun(process, tmp_path)
    process.join(3)
    assert process.exitcode is None
    began = time.monotonic()
    os.kill(process.pid, signum)
    process.join(30)
    assert process.exitcode == 130
    assert time.monotonic() - began < 10  # far less than the batch takes, on however busy a machine


DROPPED = """
import signal, time, weakref
from memora_cli.cli.interrupts import obey_interrupts
obey_interrupts()
class Thing: pass
thing = Thing()
kept = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))
del thing
time.sleep(30)
"""


def test_an_interrupt_that_python_would_drop_is_obeyed_all_the_same():
    ended = subprocess.run([sys.executable, "-c", DROPPED], capture_output=True, check=False, timeout=60)
    assert (ended.returncode, ended.stderr) == (130, b"")


BAD_ROWS = {
    "no number": lambda row: numpy.full_like(row, numpy.nan),
    "infinite": lambda row: numpy.full_like(row, numpy.inf),
    "too short": lambda row: row[:, :-1],
    "too long": lambda row: numpy.concatenate([row, row], axis=1),
    "empty": lambda row: row * 0.0,
    "not of unit length": lambda row: row * 7.0,
}


@pytest.mark.parametrize("how", BAD_ROWS)
def test_a_model_that_gives_bad_vectors_has_none_of_them_stored(memory, monkeypatch, how, figure):
    from memora_cli.models.onnx import OnnxModel

    memory.add(Draft("before"), NOW)
    forward = OnnxModel._forward
    monkeypatch.setattr(OnnxModel, "_forward", lambda self, encoding: BAD_ROWS[how](forward(self, encoding)))
    calls = (
        lambda: memory.add(Draft("after"), NOW),
        lambda: memory.edit(1, lambda old: replace(old, body="before, edited"), NOW),
        lambda: list(memory.reindex()),
    )
    for call in calls:
        with suppress(ModelUnusable):
            call()
    with memory.database.read() as connection:
        stored = connection.exec_driver_sql("SELECT vector, dimension FROM vectors").all()
        assert unfit(connection, None) == []
    assert {dimension for _, dimension in stored} == {384}
    for vector, _ in stored:
        assert abs(float(numpy.linalg.norm(numpy.frombuffer(vector, "<f4"))) - 1.0) < 1e-3
    figure("models", f"vectors {how}: 0 stored")


@pytest.mark.parametrize("how", ["no number", "infinite", "empty", "not of unit length"])
def test_the_store_takes_no_bad_vector_from_anybody(memory, how):
    memory.add(Draft("text"), NOW, embed=False)
    row = BAD_ROWS[how](numpy.eye(1, 8, dtype="<f4"))
    with pytest.raises(ValueError, match="never stored"), memory.database.write() as connection:
        vectors.write(memory.database, connection, memory.space, "model@1", [1], row)
    with memory.database.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM vectors").scalar_one() == 0


@pytest.mark.parametrize(
    "harm",
    [
        "UPDATE notes SET created_at = '2025-13-01 00:00:00.000000'",
        "UPDATE notes SET created_at = CAST(x'32303235ff' AS TEXT)",
    ],
)
def test_a_value_that_cannot_be_is_told_as_damage(memora, home, harm):
    memora("add", "one note")
    connection = connect(home / "memora.db")
    connection.execute(harm)
    connection.commit()
    connection.close()
    outcome = memora("list", code=5)
    assert outcome.out == ""
    assert "memora doctor" in outcome.err
    assert outcome.err.count("\n") == 1
