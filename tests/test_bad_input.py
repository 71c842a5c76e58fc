"""The promises about what goes wrong: each mistake has its exit code and its words, and nothing is half done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from conftest import NOW
from fakes import ask, contents, found, open_at, with_fakes

from memora_cli.store.sqlite import driver
from memora_cli.values import Draft, Filters

ROOT = Path(__file__).resolve().parents[1]

# Unknown notes and empty texts

NUMBERS = [99, 0, 2**31, 2**63 - 1, 2**63, 10**30]
WITH_ID = {
    "pin": ("pin", "ID"),
    "unpin": ("unpin", 1, "ID"),
    "show": ("show", "ID"),
    "supersede": ("supersede", "ID", 1),
    "by": ("supersede", 1, "ID"),
    "with": ("supersede", "ID", "--with", "a new text", "--no-embed"),
    "add": ("add", "a new text", "--supersedes", 1, "--supersedes", "ID", "--no-embed"),
    "explain": ("explain", "one", "--note", "ID"),
}


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("command", WITH_ID)
def test_an_unknown_id_ends_with_3_and_nothing_is_written(memora, home, command, number):
    memora("add", "one", "--no-embed", "--pin")
    before = contents(home / "memora.db")
    outcome = memora(*(number if part == "ID" else part for part in WITH_ID[command]), code=3)
    assert outcome.out == ""
    assert str(number) in outcome.err
    assert contents(home / "memora.db") == before


def test_pinning_known_and_unknown_notes_together_pins_none(memora, home):
    memora("add", "one", "--no-embed")
    memora("pin", 1, 99, code=3)
    assert memora("list", "--pinned").out == ""


EMPTY = [
    ("search", ""),
    ("search", "   "),
    ("search", "?!"),
    ("search",),
    ("explain", ""),
    ("explain", "*"),
    ("add", ""),
    ("add", " \n\t "),
    ("add", "-"),
    ("add",),
    ("supersede", 1, "--with", ""),
    ("supersede", 1, "--with", "-"),
    ("supersede", 1),
]


@pytest.mark.parametrize("arguments", EMPTY)
def test_an_empty_query_or_text_ends_with_2_and_nothing_on_standard_output(memora, home, arguments):
    memora("add", "one", "--no-embed")
    before = contents(home / "memora.db")
    outcome = memora(*arguments, code=2)
    assert outcome.out == ""
    assert outcome.err
    assert contents(home / "memora.db") == before


WRONG = [
    ("search", "one", "-n", "0"),
    ("search", "one", "-n", "many"),
    ("search", "one", "-n", 10**30),
    ("search", "one", "--max-tokens", "-1"),
    ("search", "one", "--half-life", "0"),
    ("search", "one", "--half-life", "nan"),
    ("search", "one", "--recency-weight", "inf"),
    ("search", "one", "--recency-weight", "-1"),
    ("search", "one", "--rerank-weight", "2"),
    ("search", "one", "--min-score", "nan"),
    ("search", "one", "--pinned-bonus", "100"),
    ("search", "one", "--type", "feeling"),
    ("search", "one", "--since", "no time at all"),
    ("search", "one", "--at", "gibberish"),
    ("search", "one", "--no-such-option"),
    ("search", "one", "--since", "2024-05-04", "--until", "2024-05-03"),
    ("search", "one", "--set", "limit=0"),
    ("search", "one", "--set", "db=other.db"),
    ("explain", "one", "--set", "space=work"),
    ("search", "one", "--set", "embedder=other"),
    ("search", "one", "--set", "time_parser=bogus"),
    ("add", "two", "--type", "feeling"),
    ("add", "two", "--at", "gibberish"),
    ("add", "two", "--occurred", "gibberish"),
    ("add", "two", "--supersedes", "two"),
    ("list", "-n", "-1"),
    ("no-such-command",),
]


@pytest.mark.parametrize("arguments", WRONG)
def test_a_call_that_cannot_be_understood_ends_with_2_and_writes_nothing(memora, home, arguments):
    memora("add", "one", "--no-embed")
    before = contents(home / "memora.db")
    outcome = memora(*arguments, code=2)
    assert outcome.out == ""
    assert outcome.err
    assert contents(home / "memora.db") == before


@pytest.mark.parametrize("number", [2**63, 10**30])
def test_a_list_may_be_asked_for_with_any_limit(memora, number):
    memora("add", "one", "--no-embed")
    assert memora("list", "-n", number, "--ids").out == "1\n"


ENDS = ["0001-01-01", "0001-01-01T00:00+14:00", "9999-12-31", "9999-12-31T23:59", "9999-12-31T23:59-12:00"]


@pytest.mark.parametrize("time", ENDS)
@pytest.mark.parametrize("option", ["--at", "--occurred"])
def test_a_note_from_the_ends_of_the_calendar_is_refused(memora, time, option):
    assert "no time understood" in memora("add", "an old note", option, time, "--no-embed", code=2).err
    assert memora("list").out == ""


@pytest.mark.parametrize("time", ["0002-01-01", "9998-12-31", "9998-12-31T23:59-12:00"])
def test_a_note_from_the_far_past_or_future_is_kept_and_found(memora, time):
    memora("add", "an old note", "--at", time, "--occurred", time, "--no-embed")
    memora("search", "old note", "--at", time, "--json")
    memora("explain", "old note last spring", "--at", time, "--json")
    memora("show", 1, "--json")


@pytest.mark.parametrize("time", ENDS)
@pytest.mark.parametrize("option", ["--at", "--since", "--until"])
def test_a_search_at_the_ends_of_the_calendar_is_refused(memora, time, option):
    memora("add", "an old note", "--no-embed")
    assert memora("search", "old note last spring", option, time, "--json", code=2).out == ""


@pytest.mark.parametrize("words", ["on 9999-12-31", "on 0001-01-01", "9999/12/31"])
def test_a_question_about_the_ends_of_the_calendar_names_no_time(memora, words):
    memora("add", "an old note", "--no-embed")
    assert memora("search", f"note {words}", "--json").json["window"] is None
    assert memora("when", words, "--json").json["start"] is None


def test_a_note_from_the_first_day_is_shown_in_every_zone(shell):
    shell("add", "an old note", "--at", "0001-01-01T00:00+00:00", "--no-embed")
    shell("add", "a far note", "--at", "9999-12-31T23:00+00:00", "--no-embed")
    for zone in ("Pacific/Midway", "Pacific/Kiritimati"):
        ended = shell("list", "--json", env=os.environ | {"TZ": zone})
        assert b"Traceback" not in ended.stderr
        assert ended.returncode == 0


# Databases that are none


def other_database(path, statements=("CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")):
    connection = driver().connect(str(path))
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def newer(path):
    subprocess.run(
        [sys.executable, "-m", "memora_cli", "--db", path, "add", "one", "--no-embed"], check=True, capture_output=True
    )
    other_database(path, ("PRAGMA user_version = 9999", "PRAGMA wal_checkpoint(TRUNCATE)"))


NO_DATABASES = {
    "garbage": lambda path: path.write_bytes(b"garbage" * 1000),
    "short": lambda path: path.write_bytes(b"x"),
    "text": lambda path: path.write_text("# My notes\n" * 200),
    "header": lambda path: path.write_bytes(b"SQLite format 3\0" + b"garbage " * 1000),
    "other": other_database,
    "other-version-1": lambda path: other_database(path, ("CREATE TABLE t (x)", "PRAGMA user_version = 1")),
    "other-application": lambda path: other_database(path, ("CREATE TABLE t (x)", "PRAGMA application_id = 77")),
    "other-empty": lambda path: other_database(path, ("PRAGMA application_id = 77",)),
    "other-wal": lambda path: other_database(path, ("PRAGMA journal_mode = WAL", "CREATE TABLE t (x)")),
    "newer": newer,
}
COMMANDS = [("search", "one"), ("add", "two", "--no-embed"), ("list",), ("stats",), ("import", "-")]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize("kind", NO_DATABASES)
def test_a_file_that_is_no_database_of_this_program_ends_with_5_and_keeps_every_byte(memora, tmp_path, kind, command):
    path = tmp_path / "file.db"
    NO_DATABASES[kind](path)
    before = path.read_bytes()
    outcome = memora("--db", path, *command, code=5)
    assert outcome.out == ""
    assert str(path) in outcome.err
    assert path.read_bytes() == before


def test_a_folder_is_no_database(memora, tmp_path):
    (tmp_path / "folder" / "inside").mkdir(parents=True)
    for command in COMMANDS:
        outcome = memora("--db", tmp_path / "folder", *command, code=5)
        assert outcome.out == ""
        assert "folder" in outcome.err
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["inside"]


@pytest.mark.slow
@pytest.mark.sqlite
def test_a_damaged_page_ends_with_5(memora, home):
    for number in range(60):
        memora("add", f"note {number} {'word ' * 200}", "--no-embed")
    path = home / "memora.db"
    other_database(path, ("PRAGMA wal_checkpoint(TRUNCATE)",))
    data = bytearray(path.read_bytes())
    data[8192 : len(data) // 2] = b"\xff" * (len(data) // 2 - 8192)
    path.write_bytes(data)
    outcome = memora("list", "-n", 0, code=5)
    assert (outcome.out, "damaged" in outcome.err) == ("", True)


def test_a_database_whose_folder_cannot_be_made_ends_with_4(memora, tmp_path):
    (tmp_path / "file").write_text("")
    assert memora("--db", tmp_path / "file" / "memora.db", "list", code=4).out == ""


def test_an_unknown_kind_of_database_is_refused(memora):
    assert "mysql" in memora("--db", "mysql://host/db", "list", code=2).err


def test_a_missing_database_in_a_missing_folder_is_made(memora, tmp_path):
    memora("--db", tmp_path / "a" / "b" / "memora.db", "add", "one", "--no-embed")
    assert (tmp_path / "a" / "b" / "memora.db").stat().st_mode & 0o077 == 0


# Times that are off


@pytest.mark.parametrize("when", ["1970-01-01", "1925-01-01", "2125-01-01", "3000-06-01"])
def test_a_note_of_any_time_keeps_its_score_in_range(memora, when):
    memora("add", "milk and honey", "--at", when, "--no-embed")
    memora("add", "milk and bread", "--at", "2025-11-20", "--no-embed")
    for item in memora("search", "milk", "--at", "2025-11-24", "--json").json["results"]:
        assert 0.0 < item["score"] <= 1.1


def test_clocks_a_century_off_that_jump_or_go_back_keep_scores_in_range_and_the_order(tmp_path, figure):
    berlin = ZoneInfo("Europe/Berlin")
    moments = [
        *(NOW, NOW - timedelta(days=36525), NOW + timedelta(days=36525), NOW - timedelta(days=1), NOW),
        *(datetime(2025, 3, 30, 1, 59, 59, tzinfo=berlin), datetime(2025, 3, 30, 3, 0, tzinfo=berlin)),
        *(datetime(2025, 3, 30, 2, 30, tzinfo=berlin), datetime(2025, 10, 26, 2, 30, tzinfo=berlin)),
        *(datetime(2025, 10, 26, 2, 30, fold=1, tzinfo=berlin), datetime(2024, 2, 29, tzinfo=berlin)),
    ]
    scores = []
    with open_at(tmp_path / "clock.db") as memory:
        with_fakes(memory)
        for at in moments:
            memory.add(Draft("milk and honey"), at, force=True)
        for at in moments:
            trace = ask(memory, "milk", at, limit=50)
            order = found(trace)
            made = {note.id: note.created_at for note in memory.notes(Filters())}
            assert len(order) == len(moments)
            assert found(ask(memory, "milk", at, limit=50)) == order
            assert found(ask(memory, "milk", at, limit=1)) == order[:1]
            # Alike in all but their times: the newer first, of notes of the same moment the one with the smaller id.
            assert order == sorted(order, key=lambda number: (-made[number].timestamp(), number))
            scores += [candidate.final.value for candidate in trace.results]
    assert len(scores) == len(moments) ** 2
    assert all(0.0 < score <= 1.1 for score in scores)
    figure("clock", f"{len(scores)} scores between {min(scores):.2f} and {max(scores):.2f}, the order stable")


# Brackets, controls

MARKUP = ["[x]", "list[str]", "[/items]", "src/[id].tsx", "[link=x]", "[bold]b[/bold]", "[red", "\\[x]", ":smile:"]


@pytest.mark.parametrize("text", MARKUP)
def test_square_brackets_are_shown_as_typed_everywhere(memora, screen, text):
    memora("add", f"body {text} end", "--title", f"title {text}", "--context", text, "--entity", text, "--no-embed")
    memora("add", "other words", "--topic", text, "--no-embed")
    for command in (("list",), ("show", 1), ("search", f"end {text}"), ("explain", f"end {text}")):
        for run in (memora, screen):
            assert f"title {text}" in run(*command).out
    for command in (("explain", f"end {text}", "--note", 1), ("explain", f"end {text}", "--note", 2)):
        assert f"end {text}" in screen(*command).out
    assert text.lower() in screen("list").out.lower()


@pytest.mark.parametrize("text", MARKUP)
def test_square_brackets_are_shown_as_typed_in_errors(memora, screen, text):
    for run in (memora, screen):
        assert text in run("search", "x", "--type", text, code=2).err.replace("\\\\", "\\")
        assert text in run("add", "x", "--at", text, code=2).err
        assert text in run("import", text, code=2).err
        assert text in run(text, code=2).err.replace("\\\\", "\\")


DANGEROUS = {
    "esc": "\x1b[31mred",
    "title": "\x1b]0;owned\x07",
    "link": "\x1b]8;;http://evil\x1b\\text\x1b]8;;\x1b\\",
    "clipboard": "\x1b]52;c;ZXZpbA==\x07",
    "c1": "\x9b31m\x9d0;x\x9c",
    "bidi": "abc\u202edef\u2066ghi",
    "backspace": "real\x08\x08\x08\x08fake",
    "return": "real\x0cfake\x0b",
    "delete": "a\x7fb",
    "hidden": "a\u200bb\u2060c\ufeff",
}


def harmless(text):
    return not any(
        (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 or c in "\u202e\u2066\u200b\u2060\ufeff" for c in text
    )


@pytest.mark.parametrize("name", DANGEROUS)
def test_controls_in_a_note_are_made_visible_wherever_it_is_shown(memora, screen, name):
    text = DANGEROUS[name]
    memora("add", f"body {text} end", "--title", f"title {text}", "--topic", text, "--context", text, "--no-embed")
    for command in (("list",), ("show", 1), ("search", f"end {text}"), ("explain", f"end {text}")):
        for run in (memora, screen):
            outcome = run(*command)
            assert harmless(outcome.out)
            assert harmless(outcome.err)
    for run in (memora, screen):
        assert harmless(run("explain", f"end {text}", "--note", 1).out)
        assert "body" in run("show", 1).out


@pytest.mark.parametrize("name", DANGEROUS)
def test_controls_in_an_argument_are_made_visible_in_errors(memora, name):
    text = DANGEROUS[name]
    for arguments in (
        ("search", "x", "--type", text),
        ("add", "x", "--at", text),
        ("show", text),
        ("import", text),
        (text,),
        ("list", "-n", text),
        ("search", "x", "--backend", text),
        ("search", "x", f"--{text}"),
        ("config", text),
        ("search", "x", "--set", text),
        ("search", "x", "--set", f"{text}=1"),
    ):
        assert harmless(memora(*arguments, code=2).err)


def test_a_progress_bar_moves_the_cursor_and_names_beside_it_do_not(screen, tmp_path):
    (tmp_path / "good.md").write_text("a note")
    (tmp_path / "bad\x1b[2J.md").write_text("---\ntitle: [unclosed\n---\n")
    shown = screen("import", tmp_path, code=1).err
    assert "2/2" in shown
    assert "\u241b[2K" not in shown
    assert "bad\u241b[2J.md was left out" in shown


def test_json_keeps_the_text_exactly_in_ascii(memora):
    for text in (*DANGEROUS.values(), *MARKUP):
        number = memora("add", f"{text} end", "--no-embed").out.strip()
        outcome = memora("show", number, "--json")
        assert outcome.out.isascii()
        assert outcome.json["notes"][0]["body"] == f"{text} end"


# Pipes, locales, encodings


def test_a_reader_that_leaves_early_causes_no_traceback(shell, memora, home):
    rows = "".join(json.dumps({"text": f"note {n} {'word ' * 50}"}) + "\n" for n in range(400))
    memora("import", "-", stdin=rows)
    program = f"{sys.executable} -m memora_cli"
    for command in ("list -n 0", "list -n 0 --json", "search note -n 300", "explain note --json"):
        ended = subprocess.run(
            ["bash", "-c", f"set -o pipefail; {program} {command} | head -c 20"],
            capture_output=True,
            check=False,
            cwd=ROOT,
        )
        assert ended.stderr == b""
        assert len(ended.stdout) == 20


def test_output_is_utf_8_and_json_valid_under_the_c_locale(shell):
    env = {key: value for key, value in os.environ.items() if not key.startswith("LC_")} | {"LC_ALL": "C"}
    env |= {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": ""}
    added = shell("add", "-", "--no-embed", "--json", input="žluťoučký 召回".encode(), env=env)
    assert json.loads(added.stdout)["created"] is True
    note = json.loads(shell("show", 1, "--json", env=env).stdout.decode("utf-8"))["notes"][0]
    assert note["body"] == "žluťoučký 召回"
    assert "žluťoučký 召回" in shell("list", env=env).stdout.decode("utf-8")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("caf\u00e9 au lait".encode("latin-1"), "caf\ufffd au lait"),
        ("caf\u00e9".encode("utf-16"), "caf\u00e9"),
        ("\ufeffcaf\u00e9".encode(), "caf\u00e9"),
        (b"a\0b", "a\ufffdb"),
        (b"one\r\ntwo\rthree", "one\ntwo\nthree"),
    ],
)
def test_bytes_on_standard_input_are_kept_as_text(memora, data, text):
    memora("add", "-", "--no-embed", stdin=data)
    assert memora("show", 1, "--json").json["notes"][0]["body"] == text


def test_bytes_in_an_argument_that_are_no_text_are_kept_or_refused(tmp_path):
    for arguments in (
        ("add", "caf\udce9 noir", "--no-embed"),
        ("add", "x", "--no-embed", "--entity", "\udce9", "--title", "\udce9"),
        ("add", "z", "--no-embed", "--topic", "\udce9", "--context", "\udce9"),
        ("add", "y", "--no-embed", "--space", "\udce9"),
        ("supersede", "1", "--with", "\udce9", "--no-embed"),
        ("search", "caf\udce9 noir"),
        ("explain", "caf\udce9", "--json"),
        ("search", "x", "--topic", "\udce9", "--space", "\udce9"),
        ("search", "x", "--set", "\udce9=1"),
        ("search", "x", "--since", "\udce9"),
        ("when", "\udce9", "--json"),
        ("import", "\udce9.md"),
        ("--db", "\udce9.db", "list"),
        ("list", "--topic", "\udce9"),
        ("list", "--space", "\udce9"),
    ):
        ended = subprocess.run(
            [
                sys.executable.encode(),
                b"-m",
                b"memora_cli",
                *(part.encode("utf-8", "surrogateescape") for part in arguments),
            ],
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )
        assert b"Traceback" not in ended.stderr
        assert ended.returncode in (0, 2)


BYTES = {
    "latin-1": "caf\u00e9".encode("latin-1"),
    "UTF-16 with BOM": "caf\u00e9".encode("utf-16"),
    "NUL": b"a\0b",
    "half surrogate pairs": b"a \xed\xa0\x80 b",
    "CRLF": b"one\r\ntwo\r\n",
    "a line of 50 MB": b"x" * 50_000_000,
    "every byte": bytes(range(256)),
}


@pytest.mark.slow
@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_whatever_the_bytes_and_the_locale_a_note_is_taken_or_refused_and_json_is_valid(shell, locale, figure):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG"))}
    environment |= {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    codes = {0: 0, 2: 0}
    for data in BYTES.values():
        ended = shell("add", "-", "--no-embed", "--json", input=data, env=environment)
        assert b"Traceback" not in ended.stderr
        codes[ended.returncode] += 1
        if not ended.returncode:
            assert json.loads(ended.stdout)["created"]
    listed = shell("list", "--json", env=environment)
    exported = shell("export", "-", env=environment)
    assert len(json.loads(listed.stdout)["notes"]) == codes[0] == len(BYTES) - 1
    assert all(json.loads(line) for line in exported.stdout.splitlines())
    figure("bytes", f"LC_ALL={locale}: {codes[0]} of {len(BYTES)} exit 0, {codes[2]} exit 2, JSON valid")


STREAMS = {
    "add - --no-embed <&-": (2, "empty note"),
    "import - <&-": (0, ""),
    "list >&-": (0, ""),
    "list 2>&-": (0, ""),
    "list >&- 2>&- <&-": (0, ""),
    "show 99 2>&-": (3, ""),
    "list >/dev/full": (1, "No space left"),
    "config --json >/dev/full": (1, "No space left"),
    "--db '~nosuch/x' list": (2, "~nosuch"),
}


@pytest.mark.parametrize("call", STREAMS)
def test_a_closed_or_full_stream_or_nobodys_home_ends_with_one_clear_line(memora, call):
    memora("add", "one", "--no-embed")
    command = f"{sys.executable} -m memora_cli {call}"
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, cwd=ROOT, timeout=60)
    code, said = STREAMS[call]
    assert ended.returncode == code
    assert said in ended.stderr
    assert len(ended.stderr.splitlines()) <= 1


def test_a_configuration_file_in_nobodys_home_is_refused(memora, monkeypatch):
    monkeypatch.setenv("MEMORA_CONFIG", "~nosuch/config.toml")
    assert "MEMORA_CONFIG" in memora("list", code=2).err


def test_a_note_over_the_cap_is_refused_whole(memora):
    outcome = memora("add", "-", "--no-embed", stdin="x" * 50_000_000, code=2)
    assert outcome.out == ""
    assert "1,000,000" in outcome.err
    assert memora("list").out == ""


# What is loaded, and what waits

HEAVY = ("onnxruntime", "tokenizers", "torch", "sentence_transformers", "transformers", "sqlite_vec", "numpy")


def loaded_by(*arguments):
    """The modules that a fresh interpreter has loaded when the command has ended."""
    program = (
        "import sys, json, atexit\n"
        "names = lambda: sorted(sys.modules)\n"
        "atexit.register(lambda: sys.stderr.write('MODULES' + json.dumps(names())))\n"
        "from memora_cli.cli import main\n"
        "main()\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert ended.returncode == 0, ended.stderr
    return set(json.loads(ended.stderr.rpartition("MODULES")[2]))


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("--version",),
        ("search", "--help"),
        ("list",),
        ("show", "1"),
        ("pin", "1"),
        ("add", "two words", "--no-embed"),
        ("supersede", "1", "--with", "other words", "--no-embed"),
        ("config",),
    ],
    ids=" ".join,
)
def test_what_needs_no_model_loads_no_model_library(memora, arguments):
    memora("add", "one", "--no-embed")
    loaded = loaded_by(*arguments)
    assert loaded & set(HEAVY) == set()
    if "postgresql" not in os.environ["MEMORA_DB"]:
        assert "sqlalchemy.dialects.postgresql" not in loaded


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("search", "--help")], ids=" ".join)
def test_help_loads_no_database_library_either(arguments):
    assert loaded_by(*arguments) & {"sqlalchemy", "pysqlite3", "tiktoken", "dateparser", "yaml"} == set()


def test_completion_loads_no_model_and_no_database_library(tmp_path):
    env = os.environ | {"_MEMORA_COMPLETE": "complete_bash", "COMP_WORDS": "memora se", "COMP_CWORD": "1"}
    program = (
        "import sys, atexit\n"
        "names = lambda: sorted({n.split('.')[0] for n in sys.modules})\n"
        "atexit.register(lambda: sys.stderr.write('MODULES ' + ' '.join(names())))\n"
        "sys.argv[0] = 'memora'\n"
        "from memora_cli.cli import main\n"
        "main()\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=env)
    assert "search" in ended.stdout
    assert set(ended.stderr.rpartition("MODULES ")[2].split()) & {*HEAVY, "sqlalchemy"} == set()


@pytest.mark.parametrize(
    "arguments", [(), ("add",), ("add", "-"), ("search",), ("explain",), ("import",), ("import", "-"), ("supersede", 1)]
)
def test_without_a_terminal_and_without_input_it_ends_at_once(shell, arguments):
    ended = shell(*arguments)
    assert ended.returncode in (0, 2)
    assert b"Traceback" not in ended.stderr


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see that it waits")
def test_an_interrupt_ends_with_130_and_without_a_traceback(tmp_path):
    import signal
    import time

    process = subprocess.Popen(
        [sys.executable, "-m", "memora_cli", "add", "-", "--no-embed"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    state = Path(f"/proc/{process.pid}/stat")
    calm = 0
    while state.exists() and calm < 5:  # it sleeps once it waits for its input
        time.sleep(0.1)
        calm = calm + 1 if state.read_text().rpartition(")")[2].split()[0] == "S" else 0
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (out, b"Traceback" in err) == (b"", False)
