"""What tests stand on: an empty home, an open memory, and the command line run in this process."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from postgres_server import CannotRun, Server, empty, launch, places
from sqlalchemy import Engine, event
from statements import unbound

from memora_cli.config import load
from memora_cli.memory import Memory

NOW = datetime(2025, 11, 24, 14, 54, 57, tzinfo=UTC)
os.environ["MEMORA_WORKER"] = "false"
SHARED = Path(os.environ.get("MEMORA_SHARED", Path(__file__).parents[2] / "shared"))


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


BEHAVIOUR = (
    *("test_search", "test_queries", "test_temporal", "test_entities", "test_explain", "test_suggestions"),
    *("test_notes", "test_edit", "test_history", "test_listings", "test_looking"),
    *("test_export", "test_import", "test_bad_input", "test_schemas", "test_eval", "test_reindex", "test_purge"),
    *("test_untrusted", "test_changes_machine", "test_completion", "test_doctor"),
)
"""The files whose promises hold on every database; `sqlite` marks those of their tests that look into a file."""


def _is_of_files(item: pytest.Item) -> bool:
    """Whether a test is about SQLite: marked so, showing scores of its bm25, or making a file for each example."""
    shows_scores = "looks_like_this" in item.name
    made_up = item.path.stem == "test_export" and getattr(item.obj, "is_hypothesis_test", False)  # type: ignore[attr-defined]
    return bool(item.get_closest_marker("sqlite") or shows_scores or made_up)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--database", choices=("sqlite", "postgres"), default="sqlite", help="what behaviour runs on")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With `--database postgres`: what concerns no file, on a server, and what concerns servers."""
    if config.getoption("--database") == "postgres":
        items[:] = [
            item
            for item in items
            if item.get_closest_marker("postgres") or (item.path.stem in BEHAVIOUR and not _is_of_files(item))
        ]


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A PostgreSQL server for all tests."""
    try:
        running = launch()
    except CannotRun as reason:
        pytest.skip(f"PostgreSQL does not run here: {reason}")
    yield running
    running.close()


@pytest.fixture(scope="session", autouse=True)
def everywhere(request: pytest.FixtureRequest) -> Iterator[Server | None]:
    """The server on which every memory of the tests is opened, None for files."""
    if request.config.getoption("--database") == "sqlite":
        yield None
        return
    places.server = request.getfixturevalue("server")
    yield places.server
    places.server = None


@pytest.fixture
def database(request: pytest.FixtureRequest, everywhere: Server | None, tmp_path: Path) -> str:
    """The address of an empty database: a file, or a database on the server, which is emptied for each test."""
    if everywhere is None or request.node.get_closest_marker("postgres"):
        return str(tmp_path / "home" / "memora.db")
    address = places.address("the database of every test")
    empty(address)
    request.getfixturevalue("every_statement")
    return address


@pytest.fixture
def every_statement() -> Iterator[list[str]]:
    """Every statement that this test issues; one without its space fails the test."""
    issued: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        issued.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    yield issued
    event.remove(Engine, "before_cursor_execute", note)
    strays = {statement: tables for statement in issued if (tables := unbound(statement))}
    assert not strays, "a distributed database would ask every server"


@pytest.fixture(autouse=True)
def home(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, database: str, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """An empty home and a fixed zone: nothing of the machine's own configuration is read."""
    for name in list(os.environ):
        if name.startswith(("MEMORA_", "XDG_")) and name not in ("MEMORA_SHARED", "MEMORA_TEST_POSTGRES"):
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("MEMORA_CONFIG", str(folder / "config.toml"))
    monkeypatch.setenv("MEMORA_DB", database)
    monkeypatch.setenv("MEMORA_WORKER", "false")  # tests/test_worker.py has its own
    monkeypatch.setenv("TZ", "UTC")
    # Only models are told of there: which files were hashed before.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
    return folder


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    """A new memory, open."""
    with Memory(load()) as opened:
        yield opened


@pytest.fixture
def memora(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Outcome]:
    """Run `memora ARGUMENTS` in this process, as a pipe would see it."""

    def run(*arguments: object, stdin: str | bytes = b"", code: int | None = 0) -> Outcome:
        from memora_cli.cli import main

        out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
        data = stdin.encode() if isinstance(stdin, str) else stdin
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["memora", *map(str, arguments)])
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), "utf-8"))
            ended = 0
            try:
                main()
            except SystemExit as stop:
                ended = int(stop.code or 0)
        for stream in (out, err):
            stream.flush()
        outcome = Outcome(ended, *(stream.buffer.getvalue().decode() for stream in (out, err)))
        if code is not None:
            assert outcome.code == code, outcome.err
        return outcome

    return run


@pytest.fixture
def screen(memora: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Outcome]:
    """Run a command as a wide terminal without colours would see it."""

    class Screen(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    def run(*arguments: object, code: int | None = 0) -> Outcome:
        with monkeypatch.context() as patch:
            patch.setattr(io, "TextIOWrapper", Screen)
            patch.setenv("TERM", "xterm")
            patch.setenv("NO_COLOR", "1")
            patch.setenv("COLUMNS", "250")
            outcome = memora(*arguments, code=code)
        styles = re.compile(r"\x1b\[(?:0|1|2|3)(?:;[123])*m")  # bold, dim, italic: what the program itself writes
        return replace(outcome, out=styles.sub("", outcome.out), err=styles.sub("", outcome.err))

    return run


@pytest.fixture
def shell() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Run `memora ARGUMENTS` as a process of its own."""

    def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "memora_cli", *map(str, arguments)],
            capture_output=True,
            check=False,
            timeout=120,
            **({"stdin": subprocess.DEVNULL} if "input" not in options else {}),
            **options,
        )

    return run


@pytest.fixture
def figure(request: pytest.FixtureRequest) -> Callable[[str, object], None]:
    """Tell what a promise was measured to be; all such figures stand at the end of the tests' report."""

    def tell(promise: str, value: object) -> None:
        request.node.user_properties.append(("figure", f"{promise}\t{value}"))

    return tell


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The figures of all tests, also those that ran in other processes."""
    reports = [
        report
        for outcome in ("passed", "failed")
        for report in terminalreporter.getreports(outcome)
        if report.when == "call"
    ]
    told: dict[str, list[str]] = {}
    for report in reports:
        for name, value in report.user_properties:
            if name == "figure":
                promise, _, measured = str(value).partition("\t")
                told.setdefault(promise, []).append(measured)
    if told:
        terminalreporter.section("figures")
        for promise, measured in sorted(told.items()):
            terminalreporter.write_line(f"{promise}: {'; '.join(sorted(measured))}")


@pytest.fixture
def shared() -> Path:
    """The folder of public evaluation data, which the project does not carry."""
    if not (SHARED / "eval").is_dir():
        pytest.skip("the evaluation data is not here (set MEMORA_SHARED to its folder)")
    return SHARED
