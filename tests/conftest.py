"""What tests stand on: an empty home, an open memory, and the command line run in this process."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memora_cli.config import load
from memora_cli.memory import Memory

NOW = datetime(2025, 11, 24, 14, 54, 57, tzinfo=UTC)
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


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home and a fixed zone: nothing of the machine's own configuration is read."""
    for name in list(os.environ):
        if name.startswith(("MEMORA_", "XDG_")) and name != "MEMORA_SHARED":
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("MEMORA_CONFIG", str(folder / "config.toml"))
    monkeypatch.setenv("MEMORA_DB", str(folder / "memora.db"))
    monkeypatch.setenv("TZ", "UTC")
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
