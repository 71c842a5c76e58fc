"""Commands answered by the worker are those that this process would do itself, whatever happens to the worker."""

from __future__ import annotations

import json
import os
import pty
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from soundness import problems

from memora_cli import client, wire

HERE = str(Path(wire.__file__).parents[1])
PROGRAM = f"import sys; sys.path.insert(0, {HERE!r}); from memora_cli.client import main; main()"
MEMORA = [sys.executable, "-P", "-c", PROGRAM]  # the one that these tests import: a worker of another would not answer


@pytest.fixture(scope="module")
def runtime():
    """A short path for sockets, where workers of these tests live and end with them."""
    folder = Path(tempfile.mkdtemp(prefix="memora-"))
    yield folder
    subprocess.run([*MEMORA, "worker", "stop"], env=os.environ | {"XDG_RUNTIME_DIR": str(folder)}, check=False)
    shutil.rmtree(folder)


@pytest.fixture
def warm(home, runtime, monkeypatch):
    """Run commands with a worker: `warm("search", …)`; `warm.cold` runs them without one."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    monkeypatch.setenv("MEMORA_WORKER", "true")
    return Warm()


class Warm:
    def __init__(self):
        assert subprocess.run([*MEMORA, "worker", "start"], check=False, capture_output=True).returncode == 0

    def __call__(self, *arguments, **options):
        return self.run(arguments, os.environ, options)

    def cold(self, *arguments, **options):
        return self.run(arguments, os.environ | {"MEMORA_WORKER": "false"}, options)

    def run(self, arguments, environment, options):
        given = options.pop("input", b"")
        environment = {**environment, **options.pop("environment", {})}
        done = subprocess.run(
            [*MEMORA, *map(str, arguments)],
            **{"input": given, "capture_output": True, "env": environment, "check": False, "timeout": 60, **options},
        )
        return done.returncode, done.stdout, done.stderr

    @property
    def status(self):
        return json.loads(self("worker", "status", "--json")[1])

    def at_terminal(self, *arguments, environment=None, size=(24, 80)):
        """What a terminal of that size receives, and the exit code."""
        pid, ours = pty.fork()
        if pid == 0:
            os.environ.update(environment or {})
            os.execv(sys.executable, [*MEMORA, *map(str, arguments)])
        import fcntl
        import struct
        import termios

        fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        received = b""
        try:
            while part := os.read(ours, 1 << 16):
                received += part
        except OSError:
            pass
        os.close(ours)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), received


def served(warm, run):
    """How many commands the worker answered while that ran."""
    before = warm.status["commands"]
    run()
    return warm.status["commands"] - before


@pytest.fixture
def notes(memory):
    """A few notes with all that commands show of them."""
    from conftest import NOW

    from memora_cli.values import Draft

    texts = (
        "Alice works at Google on maps",
        "Google has a new office in Zürich",
        "Alice works at Apple",
        "Rain again \x1b[31m",
    )
    for text in texts:
        memory.add(Draft(body=text, topics=("work",)), NOW)
    memory.supersede(1, 3, NOW)
    return memory


COMMANDS = (
    ("search", "Where does Alice work?"),
    ("search", "Where does Alice work?", "--json", "--at", "2025-12-01"),
    ("search", "Rain", "--ids"),
    ("search", ""),
    ("search", "nothing like it", "-e", "--no-rerank"),
    ("search", "x", "--type", "nonsense"),
    ("explain", "Alice's office", "--at", "2025-12-01"),
    ("explain", "Alice", "--note", "2", "--at", "2025-12-01"),
    ("show", "3"),
    ("show", "99"),
    ("list",),
    ("list", "--json"),
    ("topics",),
    ("entities",),
    ("graph", "1"),
    ("history", "3"),
    ("when", "last spring", "--at", "2025-12-01"),
    ("pin", "2"),
    ("unpin", "2"),
    ("supersede", "1", "3"),
    ("add", "Rain again \x1b[31m"),
    ("add",),
    ("pin",),
    ("list", "--nonsense"),
)


@pytest.mark.sqlite
def test_output_and_exit_code_are_those_of_a_run_without_a_worker(warm, notes, figure):
    before = warm.status["commands"]
    for arguments in COMMANDS:
        cold, hot = warm.cold(*arguments), warm(*arguments)
        assert [_untimed(part) for part in hot] == [_untimed(part) for part in cold], arguments
    assert warm.status["commands"] - before == len(COMMANDS)
    figure("worker: commands with the output of a run without one", len(COMMANDS))


def _untimed(part):
    """The output up to the milliseconds that stages took."""
    return re.split(rb'"timings_ms"|\nstage\t', part)[0] if isinstance(part, bytes) else part


@pytest.mark.parametrize("size", [(24, 80), (60, 120), (24, 40)])
def test_a_terminal_receives_what_it_would_without_a_worker(warm, notes, size):
    for arguments in (("search", "Where does Alice work?"), ("list",), ("show", "3")):
        plain = {"PAGER": "cat", "TERM": "xterm-256color"}
        hot = warm.at_terminal(*arguments, environment=plain, size=size)
        cold = warm.at_terminal(*arguments, environment=plain | {"MEMORA_WORKER": "false"}, size=size)
        assert hot == cold
        assert b"\x1b[" in hot[1]
        assert b"\x1b[31m" not in hot[1]


def test_a_long_output_goes_through_the_pager_of_the_terminal(warm, notes, tmp_path):
    pager = tmp_path / "pager"
    pager.write_text(f"#!/bin/sh\ncat > {tmp_path}/paged\n")
    pager.chmod(0o700)
    assert (
        served(warm, lambda: warm.at_terminal("show", 1, 2, 3, 4, environment={"PAGER": str(pager)}, size=(5, 80))) == 1
    )
    assert "Alice works at Apple" in (tmp_path / "paged").read_text()


def test_what_takes_an_editor_is_done_at_the_terminal(warm, notes, tmp_path):
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\ntest -t 0 && echo written by hand > $1\n")
    editor.chmod(0o700)
    code, told = warm.at_terminal("add", environment={"EDITOR": str(editor), "VISUAL": str(editor)})
    assert code == 0
    assert b"written by hand" in warm("show", told.split()[-1].decode())[1]


def test_each_command_has_its_own_folder_environment_zone_and_configuration(warm, home, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        code, told, _ = warm("--db", "notes.db", "add", f"note of {name}", cwd=tmp_path / name)
        assert (code, told) == (0, b"1\n")
    assert b"note of one" in warm("--db", "notes.db", "list", cwd=tmp_path / "one")[1]
    zone = {"TZ": "America/New_York"}
    assert b"-04:00" in warm("when", "2025-07-04", "--json", environment=zone)[1]
    assert b"+00:00" in warm("when", "2025-07-04", "--json")[1]
    (home / "config.toml").write_text("limit = 1\n")
    for text in ("rain one", "rain two"):
        warm("add", text)
    assert len(warm("search", "rain", "--ids")[1].split()) == 1
    (home / "config.toml").write_text("nonsense = 1\n")
    code, told, err = warm("search", "rain")
    assert (code, told) == (2, b"")
    assert b"nonsense" in err
    assert warm("search", "rain", environment={"MEMORA_CONFIG": str(tmp_path / "none")})[0] == 0


def test_standard_input_reaches_the_worker_once(warm, home):
    assert served(warm, lambda: warm("add", "-", input="from a pipe é\n".encode())) == 1
    assert "from a pipe é" in warm("show", "1")[1].decode()
    assert warm("add", "-", input=b"") == warm.cold("add", "-", input=b"")
    long = b"word " * (client.MOST_INPUT // 5 + 10)
    assert warm("add", "-", input=long) == warm.cold("add", "-", input=long)


def test_a_file_that_takes_the_place_of_the_database_is_the_database(warm, home, tmp_path):
    warm("add", "the old file")
    path = home / "memora.db"
    warm("backup", tmp_path / "copy.db")
    warm("add", "a second note of the old file")
    path.unlink()
    for beside in ("-wal", "-shm"):
        path.with_name(path.name + beside).unlink(missing_ok=True)
    shutil.copy(tmp_path / "copy.db", path)
    assert warm("list", "--ids")[1] == b"1\n"
    assert warm("add", "a note of the new file")[1] == b"2\n"
    assert problems(path) == []
    path.unlink()
    assert warm("list")[0] == 0
    assert warm("add", "a note of an empty file")[1] == b"1\n"


def test_answers_of_two_terminals_at_once_are_those_of_one_after_the_other(warm, notes):
    questions = [f"{word} {number}" for number in range(6) for word in ("Alice", "Google", "rain")]
    alone = {text: warm("search", text, "--ids")[1] for text in questions}
    together = {}

    def ask(some):
        for text in some:
            together[text] = warm("search", text, "--ids")[1]

    threads = [threading.Thread(target=ask, args=(questions[start::3],)) for start in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone


@pytest.mark.slow
def test_commands_whose_worker_is_killed_in_their_midst_are_done_all_the_same(warm, home, figure):
    told, over, kills = [], threading.Event(), Counter()
    picked = random.Random(7)

    def kill():
        while not over.is_set():
            time.sleep(picked.uniform(0.01, 0.25))
            for pid in (home / "pids").read_text().split():
                try:
                    os.kill(int(pid), signal.SIGKILL)
                    kills["killed"] += 1
                except ProcessLookupError:
                    pass
            wire.start()
            until = time.monotonic() + 20
            while not over.is_set() and time.monotonic() < until and not (found := _status()):
                time.sleep(0.02)
            (home / "pids").write_text(str(found["pid"]) if found else "")

    (home / "pids").write_text(str(warm.status["pid"]))
    killer = threading.Thread(target=kill)
    killer.start()
    try:
        for number in range(25):
            code, out, _ = warm("add", f"note number {number} of many")
            assert code == 0
            told.append(int(out))
    finally:
        over.set()
        killer.join()
    assert sorted(int(number) for number in warm.cold("list", "--ids", "-n", 0)[1].split()) == sorted(told)
    assert problems(home / "memora.db") == []
    assert kills["killed"] > 2
    figure(
        "worker: adds done while workers were killed", f"{len(told)} with {kills['killed']} kills, none lost or twice"
    )


def _status():
    path = wire.address()
    connection = wire.connect(path, 1.0) if path else None
    if connection is None:
        return None
    try:
        wire.send(connection, {"ask": "status"})
        return wire.receive(connection)
    except wire.Lost:
        return None
    finally:
        connection.close()


def test_a_worker_that_does_not_move_is_left_alone(warm, notes):
    pid = warm.status["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        code, out, err = warm("search", "Alice", "--ids")
    finally:
        os.kill(pid, signal.SIGCONT)
    assert (code, err) == (0, b"")
    assert out.split()
    assert warm.status["pid"] == pid


class Impostor:
    """Something else that listens where the worker would."""

    def __init__(self, path, answer):
        self.asked = 0
        self._answer = answer
        self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listening.bind(path)
        self._listening.listen(5)
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self.asked += 1
            with connection:
                connection.recv(1 << 16)
                connection.sendall(self._answer)

    def close(self):
        self._listening.close()


def frame(body):
    return len(body).to_bytes(4, "big") + body


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\n\r\n",
        (wire.MOST_BYTES + 1).to_bytes(4, "big") + b"x" * 100,
        frame(b"no json"),
        frame(b"[1, 2]"),
        frame(b'{"accepted": true}'),
        frame(b'{"accepted": true}') + frame(b'{"out": [1, "half of an ans'),
        frame(b'{"accepted": true}') + frame(b'{"out": [1, "a whole line without an end"]}'),
        frame(b'{"refused": "another version"}'),
    ],
)
def test_whatever_else_answers_the_command_is_done_here_and_says_nothing_of_it(notes, monkeypatch, answer):
    folder = tempfile.mkdtemp(prefix="memora-")
    monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
    monkeypatch.setenv("MEMORA_WORKER", "true")
    impostor = Impostor(wire.address(), answer)
    try:
        done = subprocess.run([*MEMORA, "list", "--ids"], capture_output=True, check=False, timeout=60)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"4\n3\n2\n1\n", b"")
        assert impostor.asked == 1
    finally:
        impostor.close()
        shutil.rmtree(folder)


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("runuser"), reason="only root can act as another user")
def test_the_socket_of_another_user_is_not_asked_and_another_user_is_not_answered(warm, home):
    path = wire.address()
    script = (
        "import socket, sys; s = socket.socket(socket.AF_UNIX); "
        "s.connect(sys.argv[1]); s.sendall(b'\\0\\0\\0\\2{}'); print(len(s.recv(9)))"
    )
    as_nobody = ["runuser", "-u", "nobody", "--", "/usr/bin/env", "python3", "-c", script, path]
    kept = os.umask(0)
    try:
        refused = subprocess.run(as_nobody, capture_output=True, check=False, timeout=60)
        assert refused.returncode != 0  # the folder is closed to others
        Path(path).parent.chmod(0o711)
        Path(path).parent.parent.chmod(0o755)
        Path(path).chmod(0o666)
        assert wire.address() is None  # and a folder that is open to others is not used
        reached = subprocess.run(as_nobody, capture_output=True, check=False, timeout=60)
        assert reached.stdout.strip() in (b"0", b"")  # whoever comes in is known by the system, and sent away
    finally:
        os.umask(kept)
        Path(path).chmod(0o600)
        Path(path).parent.chmod(0o700)
        Path(path).parent.parent.chmod(0o700)
    assert warm.status["running"]


def test_folder_and_socket_are_closed_to_others_whatever_the_umask(monkeypatch, home):
    runtime = Path(tempfile.mkdtemp(prefix="memora-"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    old = os.umask(0)
    try:
        subprocess.run([*MEMORA, "worker", "start"], check=True, capture_output=True)
    finally:
        os.umask(old)
    try:
        found = {path.relative_to(runtime).suffix: path.stat().st_mode & 0o777 for path in runtime.rglob("*")}
        assert found.pop("") == 0o700
        assert set(found.values()) == {0o600}
        (runtime / "memora").chmod(0o755)
        assert wire.address() is None
        (runtime / "memora").chmod(0o700)
    finally:
        subprocess.run([*MEMORA, "worker", "stop"], check=True, capture_output=True)
        shutil.rmtree(runtime)


def test_an_interrupt_ends_the_command_and_not_the_worker(warm, notes, home):
    pid, ended = warm.status["pid"], Counter()
    picked = random.Random(3)
    for number in range(12):
        process = subprocess.Popen(
            [*MEMORA, *(("search", "Alice at Google") if number % 2 else ("add", f"interrupted {number}"))],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        time.sleep(picked.uniform(0.0, 0.12))
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        if b"Traceback" not in err:  # before Python has begun to run the program it has no say
            ended[process.returncode] += 1
    assert set(ended) <= {0, 130, -signal.SIGINT}
    assert ended
    assert warm("search", "Alice", "--ids")[0] == 0
    assert warm.status["pid"] == pid
    assert problems(home / "memora.db") == []


def test_it_ends_itself_when_nobody_asks_and_leaves_no_socket(monkeypatch, home):
    runtime = Path(tempfile.mkdtemp(prefix="memora-"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    monkeypatch.setenv("MEMORA_WORKER_IDLE", "0.02")
    subprocess.run([*MEMORA, "worker", "start"], check=True, capture_output=True)
    path, until = Path(wire.address()), time.monotonic() + 20
    while path.exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not path.exists()
    shutil.rmtree(runtime)


def test_the_first_command_starts_one_unless_the_configuration_wants_none(monkeypatch, home):
    runtime = Path(tempfile.mkdtemp(prefix="memora-"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    monkeypatch.delenv("MEMORA_WORKER")
    (home / "config.toml").write_text("worker = false\n")
    subprocess.run([*MEMORA, "list"], check=True, capture_output=True)
    assert _status() is None
    assert list(runtime.rglob("*.lock")) == []
    (home / "config.toml").write_text("worker = true\n")
    subprocess.run([*MEMORA, "list"], check=True, capture_output=True)
    until = time.monotonic() + 30
    while _status() is None and time.monotonic() < until:
        time.sleep(0.05)
    assert _status()
    subprocess.run([*MEMORA, "worker", "stop"], check=True, capture_output=True)
    assert _status() is None
    shutil.rmtree(runtime)


def test_commands_that_do_more_when_done_twice_are_done_here():
    forwarded = [("search", "x"), ("--db", "x", "add", "text"), ("--db=x", "list"), ("when", "today")]
    assert [
        arguments for arguments in forwarded if not client.may_forward(list(arguments))
    ] == forwarded  # switched off
    os.environ["MEMORA_WORKER"] = "true"
    try:
        assert [arguments for arguments in forwarded if not client.may_forward(list(arguments))] == []
        here = [("undo",), ("add", "x", "--force"), ("edit", "1"), ("import", "x"), ("search", "--open", "x"), ()]
        here += [("--help",), ("search", "--help"), ("when", "-"), ("--db", "search"), ("worker", "stop")]
        assert [arguments for arguments in here if client.may_forward(list(arguments))] == []
    finally:
        os.environ["MEMORA_WORKER"] = "false"


@given(st.dictionaries(st.text(), st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists)))
def test_frames_arrive_as_they_were_sent_whatever_they_hold(message):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sender = threading.Thread(target=wire.send, args=(ours, message))
        sender.start()
        assert wire.receive(theirs) == message
        sender.join()


@given(st.binary(max_size=200))
def test_bytes_that_are_no_frame_end_the_talk_and_nothing_else(sent):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.settimeout(5)
        ours.sendall(sent)
        ours.close()
        with pytest.raises(wire.Lost):
            _ = [wire.receive(theirs) for _ in range(len(sent) + 1)]


def test_a_command_that_the_worker_answers_loads_next_to_nothing(warm, notes):
    code, out, err = warm.run(("list", "--ids"), {**os.environ, "PYTHONPROFILEIMPORTTIME": "1"}, {})
    loaded = {line.split(b"|")[-1].strip() for line in err.splitlines() if line.startswith(b"import time:")}
    assert (code, out) == (0, b"4\n3\n2\n1\n")
    assert b"memora_cli.client" in loaded
    assert loaded.isdisjoint({b"typing", b"dataclasses", b"pathlib", b"subprocess", b"typer", b"sqlalchemy", b"rich"})


@pytest.mark.postgres
def test_a_memory_on_a_server_is_asked_as_who_the_environment_says(warm, server):
    name = server.create()
    try:
        address = server.address(name)
        assert warm("--db", address, "add", "rain on the server")[:2] == (0, b"1\n")
        assert warm("--db", address, "search", "rain", "--ids")[1] == b"1\n"
        assert warm("--db", address, "list", "--json") == warm.cold("--db", address, "list", "--json")
        wrong = server.address(name, "nobody_known", "no password")
        assert warm("--db", wrong, "list")[0] == 4
        with server.connect() as connection:  # the worker's own connection is lost, and made anew
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))
        assert warm("--db", address, "search", "rain", "--ids") == (0, b"1\n", b"")
    finally:
        with server.connect() as connection:
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))
        server.drop(name)


def test_a_folder_that_is_gone_is_told_as_without_a_worker(warm, notes, tmp_path):
    script = 'mkdir gone && cd gone && rmdir ../gone && "$@"'
    for environment in (os.environ, os.environ | {"MEMORA_WORKER": "false"}):
        done = subprocess.run(
            ["sh", "-c", script, "sh", *MEMORA, "list", "--ids"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"4\n3\n2\n1\n", b"")
