"""The documents say what the program does: generated parts are compared, examples are run as they are typed.

`MEMORA_UPDATE_GOLDEN=1 pytest tests/test_documents.py` writes what is generated anew; read the diff before it is kept.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from memora_cli import __version__
from memora_cli.cli.app import app
from memora_cli.config import KEYS
from memora_cli.errors import EXIT_CODES
from memora_cli.render import manual as page
from memora_cli.render import program, reference

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
UPDATE = os.environ.get("MEMORA_UPDATE_GOLDEN") == "1"
PROGRAM: Any = typer.main.get_command(app)
COMMANDS: dict[str, Any] = dict(program.commands(PROGRAM))
RECORDED = "2025-11-24T14:54:57+00:00"
WIDTH = 100

SESSION = re.compile(r"(?<=<!-- session -->\n```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def assert_generated(path: Path, generated: str) -> None:
    if UPDATE:
        path.write_text(generated, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == generated, f"regenerate {path.name}: {__doc__}"


def assert_in_readme(name: str, generated: str) -> None:
    """The part of the README between `<!-- generated: NAME -->` and `<!-- end -->` is what was generated."""
    part = re.compile(rf"(?<=<!-- generated: {name} -->\n).*?(?=<!-- end -->)", re.DOTALL)
    text = README.read_text(encoding="utf-8")
    assert part.search(text), f"the README has no part {name!r}"
    assert_generated(README, part.sub(lambda _: generated, text, count=1))


def markdown_table(*rows: tuple[str, ...]) -> str:
    heading, *body = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([heading, "|" + "---|" * len(rows[0]), *body]) + "\n"


def test_manual_page_is_what_the_program_generates() -> None:
    assert_generated(ROOT / "man/memora.1", page.manual(PROGRAM))


@pytest.mark.skipif(not shutil.which("man"), reason="man is not installed")
def test_manual_page_has_no_warnings() -> None:
    command = ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", str(ROOT / "man/memora.1")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if "can't open" in ended.stderr or "No manual entry" in ended.stderr:
        pytest.skip(f"man cannot format here: {ended.stderr.strip()}")
    assert (ended.returncode, ended.stderr) == (0, "")


def test_manual_page_prints_text_as_it_is() -> None:
    assert page._roff(".a 'b' \"c\" \\d ~ ^ `e` é → -f") == (
        r"\&.a \(aqb\(aq \(dqc\(dq \ed \(ti \(ha \(gae\(ga \[u00E9] \[u2192] \-f"
    )


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_completions_are_what_the_program_generates(
    name: str, memora: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_MEMORA_COMPLETE", f"source_{name}")
    # Without the empty lines around it: zsh reads "#compdef" in the first line only.
    assert_generated(ROOT / f"completions/memora.{name}", memora().out.strip() + "\n")


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
def test_bash_completes_commands(command_path: str) -> None:
    script = f"""
        . {ROOT}/completions/memora.bash
        COMP_WORDS=(memora sea); COMP_CWORD=1
        _memora_completion memora
        echo "${{COMPREPLY[@]}}"
    """
    ended = subprocess.run(
        ["bash", "-c", script], env=os.environ | {"PATH": command_path}, capture_output=True, check=True, timeout=60
    )
    assert ended.stdout.split() == [b"search"]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name: str, memora: Callable[..., Any]) -> None:
    said = " ".join(memora(*name.split(), "--help").out.split())
    example = page.example(COMMANDS[name])
    assert example.startswith(f"memora {name}")
    assert f"Example: {example}" in said
    parameters = [parameter for parameter in COMMANDS[name].params if not parameter.hidden]
    assert [parameter.name for parameter in parameters if not parameter.help] == []


def test_every_setting_is_explained() -> None:
    assert tuple(reference.MEANINGS) == KEYS


def test_settings_in_the_readme_are_those_of_the_program() -> None:
    rows = [
        (
            f"`{setting.key}`",
            setting.default,
            ", ".join(f"`{flag}`" for flag in setting.flags.split(", ")) if setting.flags else "–",
            setting.values or "–",
            setting.meaning,
        )
        for setting in program.settings(PROGRAM)
    ]
    assert_in_readme("settings", markdown_table(("key", "default", "flag", "values", "meaning"), *rows))


def test_exit_codes_in_the_readme_are_those_of_the_program() -> None:
    rows = [(str(code), meaning) for code, meaning in EXIT_CODES.items()]
    assert_in_readme("exit codes", markdown_table(("code", "meaning"), *rows))


def test_every_command_is_in_the_readme() -> None:
    text = README.read_text(encoding="utf-8")
    assert [name for name in PROGRAM.commands if f"memora {name}" not in text] == []


def test_json_keys_in_the_manual_are_those_of_the_outputs(memora: Callable[..., Any], home: Path) -> None:
    lines = home / "notes.jsonl"
    lines.write_text('{"text": "Alice works at Google"}\n', encoding="utf-8")
    outputs = {
        "add and supersede --with": memora("add", "I drink tea now", "--topic", "food", "--json").json,
        "import": memora("import", lines, "--json").json,
        "export": memora("export", home / "out", "--json").json,
        "a line of export": json.loads(memora("export", "-", "--no-history").out.splitlines()[0]),
        "backup": memora("backup", home / "copy.db", "--json").json,
        "restore-backup": memora("restore-backup", home / "copy.db", "--yes", "--json").json,
        "doctor": memora("doctor", "--json").json,
        "edit": memora("edit", 1, "--title", "Drinks", "--json").json,
        "history": memora("history", 1, "--json").json,
        "undo": memora("undo", "--json").json,
        "alias": memora("alias", "--json").json,
        "restore (without ids)": memora("restore", "--json").json,
        "list": memora("list", "--json").json,
        "show": memora("show", 1, "--json").json,
        "topics": memora("topics", "--json").json,
        "a topic (a line of topics --jsonl)": memora("topics", "--jsonl").json,
        "entities": memora("entities", "--json").json,
        "an entity (a line of entities --jsonl)": memora("entities", "-n", 1, "--jsonl").json,
        "graph": memora("graph", 1, "--json").json,
        "a note (a line of list --jsonl)": memora("list", "-n", 1, "--jsonl").json,
        "search": memora("search", "tea", "--json").json,
        "a result (a line of search --jsonl)": memora("search", "tea", "-n", 1, "--jsonl").json,
        "explain": memora("explain", "tea", "--json").json,
        "eval": memora("eval", "-", "--json", stdin='{"text": "tea", "relevant": ["#1"]}').json,
        "stats": memora("stats", "--json").json,
        "when (a line for each line of when -)": memora("when", "last spring", "--json").json,
        "config": memora("config", "--json").json,
        "config get": memora("config", "get", "limit", "--json").json,
        "models, models list": memora("models", "list", "--json").json,
        "a model (and models import)": memora("models", "--json").json["models"][0],
        "worker, worker status": memora("worker", "status", "--json").json,
        "models verify": memora("models", "verify", "all-MiniLM-L6-v2", "--json").json,
    }
    assert set(outputs) == set(reference.SHAPES)
    for name, output in outputs.items():
        assert list(output) == list(reference.SHAPES[name]), name
    assert {*reference.NOTE, "entities", "links", "supersedes"} == set(outputs["show"]["notes"][0])
    assert {**outputs["import"], "added": 1, "failed": []} == outputs["import"]


@pytest.mark.parametrize("name", [name for name, command in PROGRAM.commands.items() if command.params])
def test_every_json_output_is_in_the_manual(name: str) -> None:
    if any("--json" in parameter.opts for parameter in PROGRAM.commands[name].params):
        assert any(name in shape.split() for shape in reference.SHAPES), (
            f"describe the JSON of {name} in render/reference.py"
        )


def test_import_lines_in_the_manual_are_read(memora: Callable[..., Any]) -> None:
    given = {"title": "Bread", "topics": ["food"], "kind": "opinion", "context": "kitchen", "source": "book"}
    line = {**given, "text": "Rye is best", "pinned": True, "created_at": "2024-05-03", "occurred": "2024-05-01"}
    assert {*line, "id", "uid"} == set(reference.IMPORT_LINE)
    memora("import", "-", stdin=json.dumps(line))
    note = memora("list", "--jsonl").json
    assert {key: note[key] for key in given} == given
    assert (note["body"], note["pinned"]) == ("Rye is best", True)
    assert (note["created_at"][:10], note["occurred_start"][:10]) == ("2024-05-03", "2024-05-01")


def test_changelog_has_the_current_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## \[{re.escape(__version__)}\]", text, re.MULTILINE)


@pytest.mark.parametrize("name", ["install", "test"])
def test_readme_commands_stand_below_their_markers(name: str) -> None:
    assert re.search(
        rf"^<!-- command: {name} -->\n```sh\npip install .+\n```$", README.read_text("utf-8"), re.MULTILINE
    )


def test_readme_links_lead_to_files() -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", README.read_text(encoding="utf-8"))
    assert [link for link in links if not (ROOT / link).exists()] == []


def project_files() -> Iterator[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    for name in listed.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            yield ROOT / name


@pytest.mark.skipif(not (ROOT / ".git").exists() or not shutil.which("git"), reason="this is no git checkout")
def test_no_file_names_a_path_of_a_machine() -> None:
    machine = re.compile(rb"(?<![\w.~])/(?:home|root|work)/\w")
    found = []
    for path in project_files():
        data = path.read_bytes()
        if b"\0" not in data[:8192]:
            found += [f"{path.relative_to(ROOT)}: {match[0].decode()}" for match in machine.finditer(data)]
    assert found == []


@pytest.fixture
def command_path(tmp_path: Path) -> str:
    """A PATH whose `memora` is the installed one."""
    installed = Path(sys.executable).with_name("memora")
    if not installed.exists():
        pytest.skip("the command memora is not installed beside Python")
    folder = tmp_path / "bin"
    folder.mkdir(exist_ok=True)
    (folder / "memora").symlink_to(installed)
    return os.pathsep.join((str(folder), os.environ["PATH"]))


@pytest.mark.skipif(sys.platform == "win32", reason="the examples are typed into a POSIX shell")
@pytest.mark.skipif(not shutil.which("bash") or not shutil.which("jq"), reason="the examples need bash and jq")
def test_readme_examples_print_what_the_readme_shows(command_path: str, tmp_path: Path) -> None:
    folder = tmp_path / "newcomer"
    folder.mkdir()
    stop_the_clock(Path(command_path.split(os.pathsep)[0]) / "memora")
    environment = {
        "HOME": str(folder),
        "PATH": command_path,
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
        "TERM": "xterm",
        "NO_COLOR": "1",
        "COLUMNS": str(WIDTH),
    }

    def rerun(session: re.Match[str]) -> str:
        typed = [line.removeprefix("$ ") for line in session[0].splitlines() if line.startswith("$ ")]
        assert typed, "a session without a command"
        return "".join(f"$ {line}\n{on_a_terminal(line, environment, folder)}" for line in typed)

    text = README.read_text(encoding="utf-8")
    run = SESSION.sub(rerun, text)
    if UPDATE:
        README.write_text(run, encoding="utf-8")
    for shown, printed in zip(SESSION.findall(text), SESSION.findall(run), strict=True):
        assert UPDATE or without_numbers(printed) == without_numbers(shown)


def stop_the_clock(command: Path) -> None:
    """Put a script in the place of `memora` that runs it at the time at which the README was recorded."""
    installed = command.resolve()
    command.unlink()
    command.write_text(
        f"""#!/bin/sh
command=$1
case $command in
    add | pin | edit | forget | restore | undo | supersede | import | search | explain | when)
        shift; exec {installed} "$command" --at {RECORDED} "$@" ;;
    *) exec {installed} "$@" ;;
esac
""",
        encoding="utf-8",
    )
    command.chmod(0o755)


def on_a_terminal(command: str, environment: dict[str, str], folder: Path) -> str:
    """What a terminal shows of a command, without bold and italics."""
    import pty

    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        ["bash", "-c", command], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=environment, cwd=folder
    )
    os.close(theirs)
    data = b""
    try:
        while chunk := os.read(ours, 65536):
            data += chunk
    except OSError:
        pass  # on Linux the end of a terminal is an error
    os.close(ours)
    process.wait(timeout=60)
    # What stands before the last "erase this line" is a progress bar that went.
    text = ESCAPE.sub("", data.decode().rpartition("\x1b[2K")[2])
    return "".join(f"{line.rstrip()}\n" for line in text.lstrip("\r\n").splitlines())


def without_numbers(text: str) -> str:
    """Scores differ in the last digits from processor to processor, and the columns with them."""
    return re.sub(r"[ \t─]+", " ", re.sub(r"-?\d+\.\d+|\d+%", "N", text))
