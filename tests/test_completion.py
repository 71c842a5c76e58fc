"""The Tab key: what is completed in each shell, that notes cannot act through it, and that it is quick and silent."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NASTY = "\\\" <(touch owned) $(touch owned) `touch owned` 'x' [/red] \x1b[31m\u202e"


@pytest.fixture
def tab(memora, monkeypatch):
    """What a shell is told when Tab is pressed at the end of a line."""

    def press(line, shell="bash"):
        with monkeypatch.context() as patch:
            patch.setenv("_MEMORA_COMPLETE", f"complete_{shell}")
            patch.setenv("COMP_WORDS", line)
            patch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
            patch.setenv("_TYPER_COMPLETE_ARGS", line)
            patch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
            ended = memora(code=None)
        assert ended.err == ""
        return ended.out

    return press


@pytest.fixture
def notes(memora):
    memora("add", "first line\nsecond", "--topic", "home", "--entity", "New York", "--no-embed", "--at", "2024-01-01")
    memora("add", "text", "--title", "Alice: her job", "--topic", "work", "--no-embed", "--at", "2024-02-01")
    memora("add", "elsewhere", "--space", "club", "--topic", "chess", "--no-embed")


def test_ids_come_newest_first_and_with_titles_where_the_shell_shows_them(notes, tab):
    assert tab("memora show ").split() == ["2", "1"]
    assert tab("memora show ", "fish") == "2\tAlice: her job\n1\tfirst line\n"
    assert '"2":"Alice\\\\: her job"\n"1":"first line"' in tab("memora show ", "zsh")


def test_ids_are_completed_by_their_beginning_and_once(notes, tab):
    assert tab("memora show 2").split() == ["2"]
    assert tab("memora show 2 ").split() == ["1"]
    assert tab("memora show x").split() == []
    assert tab("memora show %").split() == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("memora list --topic ", ["home", "work"]),
        ("memora search tea --topic w", ["work"]),
        ("memora list --space club --topic ", ["chess"]),
        ("memora list --space ", ["club", "default"]),
        ("memora graph ", ["2", "1"]),
        ("memora explain tea --note ", ["2", "1"]),
        ("memora search --set weights.g", ["weights.graph="]),
        ("memora list --sort t", ["title"]),
        ("memora list --type ", ["world", "agent", "opinion"]),
        ("memora gr", ["graph"]),
        ("memora search --half", ["--half-life"]),
    ],
)
def test_names_are_completed_in_their_space(notes, tab, line, expected):
    assert tab(line).split() == expected


def test_the_database_of_the_line_is_read(notes, tab, memora, home):
    memora("--db", home / "other.db", "add", "one", "--topic", "other", "--no-embed")
    assert tab(f"memora --db {home / 'other.db'} list --topic ").split() == ["other"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_no_character_of_a_note_can_act_in_a_shell(memora, tab, shell):
    memora("add", NASTY, "--title", NASTY, "--topic", NASTY, "--no-embed")
    for line in ("memora show ", "memora list --topic "):
        said = tab(line, shell)
        assert "\x1b" not in said
        if shell == "zsh":
            assert not any(active in said.replace("_arguments '*: :((", "").replace("))'", "") for active in "`$<>'[]")
            assert "\\" not in said.replace("\\\\:", "")
    if shell == "bash":
        assert "(" not in tab("memora list --topic ").replace("\\(", "")


@pytest.mark.parametrize(
    "state",
    [
        *("missing", "empty", "folder", "postgresql", "bad setting"),
        *(pytest.param(state, marks=pytest.mark.sqlite) for state in ("damaged", "newer")),
    ],
)
def test_completion_is_silent_whatever_the_database_is(tab, memora, home, monkeypatch, state):
    memora("add", "one", "--no-embed")
    file = home / "memora.db"
    if state == "missing":
        monkeypatch.setenv("MEMORA_DB", str(home / "nowhere" / "x.db"))
    elif state == "empty":
        monkeypatch.setenv("MEMORA_DB", str(home / "empty.db"))
        (home / "empty.db").touch()
    elif state == "damaged":
        data = bytearray(file.read_bytes())
        data[100:] = b"\xff" * (len(data) - 100)
        file.write_bytes(data)
    elif state == "folder":
        monkeypatch.setenv("MEMORA_DB", str(home))
    elif state == "postgresql":
        monkeypatch.setenv("MEMORA_DB", "postgresql://nobody@localhost/none")
    elif state == "bad setting":
        (home / "config.toml").write_text("limit = [", encoding="utf-8")
    elif state == "newer":
        file.write_bytes(b"SQLite format 3\0" + file.read_bytes()[16:].replace(b"deleted_at", b"went_away1"))
    for line in ("memora show ", "memora list --topic ", "memora list --space "):
        assert tab(line).strip() in ("", "default")


@pytest.mark.parametrize(
    "line", ["memora show x ", "memora show --bogus ", "memora nothing ", "memora list -n x ", "'"]
)
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_silent_whatever_was_typed_before(notes, tab, line, shell):
    tab(line, shell)


def test_only_what_is_there_is_completed_and_restore_completes_the_trash(notes, tab, memora):
    memora("forget", 2)
    assert tab("memora show ").split() == ["1"]
    assert tab("memora list --topic ").split() == ["home"]
    assert tab("memora restore ").split() == ["2"]
    memora("edit", 1, "--title", "New", "--no-embed")
    assert tab("memora show ", "fish") == "1\tNew\n"
    assert tab("memora restore ").split() == ["2"]


@pytest.mark.sqlite
def test_completion_waits_for_no_writer(tab, memora, home):
    from memora_cli.store.sqlite import driver

    memora("add", "one", "--no-embed")
    writer = driver().connect(str(home / "memora.db"), isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")
    writer.execute("DELETE FROM notes")
    assert tab("memora show ").split() in ([], ["1"])
    writer.execute("ROLLBACK")
    writer.close()


def test_completion_leaves_no_file_behind(tab, memora, home):
    memora("add", "one", "--no-embed")
    before = sorted(path.name for path in home.iterdir())
    assert tab("memora show ").split() == ["1"]
    assert sorted(path.name for path in home.iterdir()) == before


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completing_an_id_imports_nothing_but_the_driver(memora, shell):
    memora("add", "one", "--no-embed")
    env = os.environ | {
        "_MEMORA_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": "memora show ",
        "COMP_CWORD": "2",
        "_TYPER_COMPLETE_ARGS": "memora show ",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    program = (
        "import sys, atexit\n"
        "atexit.register(lambda: sys.stderr.write('MODULES ' + ' '.join(sorted(sys.modules))))\n"
        "sys.argv[0] = 'memora'\n"
        "from memora_cli.cli import main\n"
        "main()\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=env)
    assert "1" in ended.stdout
    heavy = {"sqlalchemy", "numpy", "onnxruntime", "tokenizers", "tiktoken", "sqlite_vec", "dateparser", "yaml"}
    heavy |= {"rich.table", "rich.console", "memora_cli.memory", "memora_cli.store", "memora_cli.models"}
    assert set(ended.stderr.rpartition("MODULES ")[2].split()) & heavy == set()


@pytest.fixture
def command_path(tmp_path):
    installed = Path(sys.executable).with_name("memora")
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "memora").symlink_to(installed)
    return os.pathsep.join((str(folder), os.environ["PATH"]))


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
def test_bash_completes_ids_and_names_with_spaces(memora, command_path, notes):
    script = f"""
        . {ROOT}/completions/memora.bash
        COMP_WORDS=(memora show ""); COMP_CWORD=2; _memora_completion memora; echo "${{COMPREPLY[*]}}"
        COMP_WORDS=(memora list --topic h); COMP_CWORD=3; _memora_completion memora; echo "${{COMPREPLY[*]}}"
    """
    ended = subprocess.run(
        ["bash", "-c", script], env=os.environ | {"PATH": command_path}, capture_output=True, check=True, text=True
    )
    assert ended.stdout.splitlines() == ["2 1", "home"]


@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed")
def test_fish_completes_ids_with_titles(memora, command_path, notes):
    script = f"source {ROOT}/completions/memora.fish; complete -C 'memora show '"
    ended = subprocess.run(
        ["fish", "-N", "-c", script],
        env=os.environ | {"PATH": command_path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert sorted(ended.stdout.splitlines()) == ["1\tfirst line", "2\tAlice: her job"]


@pytest.mark.skipif(not shutil.which("zsh"), reason="zsh is not installed")
def test_zsh_offers_ids_with_titles(memora, command_path, notes):
    script = f"""
        compdef() {{ }}
        _arguments() {{ print -r -- "$@" }}
        . {ROOT}/completions/memora.zsh
        words=(memora show ""); CURRENT=3; _memora_completion
    """
    ended = subprocess.run(
        ["zsh", "-f", "-c", script], env=os.environ | {"PATH": command_path}, capture_output=True, text=True, check=True
    )
    assert '"1":"first line"' in ended.stdout
