"""The promises about texts that mean harm: no command passes them on, no query or filter takes them as code."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import unicodedata

import pytest
import typer
from conftest import NOW
from fakes import ask, open_at, with_fakes
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memora_cli.cli.app import app
from memora_cli.errors import EmptyQuery
from memora_cli.values import Draft, Filters

ACTING = [
    *map(chr, [*range(1, 9), 11, 12, *range(14, 32), *range(127, 160)]),
    *"\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff",
]
CORPUS = "".join(ACTING) + "\x1b]52;c;ZXZpbA==\x07\x1b]8;;http://evil\x1b\\x\x1b]8;;\x1b\\\x9b31m\x9d0;x\x9c\x1bc"
NAME = "\x1b]0;x\x07\u202e\x9b"  # short enough for a file


def calls(harm, folder):
    """Every way in which each command prints, in an order in which all of them have something to print."""
    (folder / f"{NAME}.md").write_text(f"---\ntitle: t {harm!r}\ndate: {harm!r}\n---\nboat {harm} md [[{harm}]]\n")
    (folder / "lines.jsonl").write_text(json.dumps({"text": f"boat {harm} line", "topics": [harm], "kind": harm}))
    (folder / "eval.jsonl").write_text(
        json.dumps({"text": f"boat {harm}", "relevant": [f"#1{harm}", "#1"], "by": harm})
    )
    draft = ("add", f"boat {harm} end", "--title", f"t {harm}", "--topic", f"p{harm}", "--about", harm, "--no-embed")
    return [
        *((*draft, "--entity", f"Name{harm}"), draft, (*draft, "--at", harm), ("add", "--file", folder / NAME)),
        *(
            ("add", f"boat two {harm} because [[t {harm}]]", "--no-embed"),
            ("add", f"the boat {harm} end", "--no-embed"),
        ),
        ("supersede", 2, "--with", f"boat {harm} newer", "--topic", harm, "--no-embed"),
        *(("alias", f"Name{harm}", f"Other{harm}"), ("alias", harm, harm), ("alias",), ("alias", f"Name{harm}")),
        *(("pin", 1), ("unpin", 1), ("link", 1, "causes", 2), ("unlink", 1, harm, 2), ("link", 1, harm, 2)),
        *(("list",), ("list", "--topic", harm), ("list", "--format", "{id} {title} {body}"), ("list", "--ids")),
        *(("list", "--space", harm), ("show", 1), ("show", 1, "--raw"), ("show", 1, "--format", "{title}{text}")),
        *(
            ("search", f"boat {harm}", "--no-rerank"),
            ("search", harm, "--since", harm),
            ("search", "boat", "--set", harm),
        ),
        *(("explain", f"boat {harm}", "--no-rerank"), ("explain", "boat", "--note", 1, "--no-rerank")),
        *(
            ("topics",),
            ("topics", "--format", "{name}"),
            ("entities",),
            ("graph", 1),
            ("graph", 1, "--dot"),
            ("stats",),
        ),
        *(("stats", "--space", harm), ("history", 1), ("when", harm), ("when", f"in June {harm}"), ("schema", harm)),
        *(("export", "-"), ("export", folder / f"{NAME}.jsonl"), ("export", folder / f"{NAME}-folder")),
        *(("import", folder / f"{NAME}.md", "--no-embed"), ("import", folder / "lines.jsonl", "--no-embed")),
        *(("import", folder / "none" / NAME), ("backup", folder / f"{NAME}.db"), ("backup", folder / f"{NAME}.db")),
        *(("restore-backup", folder / f"{NAME}-none.db"), ("restore-backup", folder / f"{NAME}.md", "--yes")),
        *(("eval", folder / "eval.jsonl", "--show-worst", 3, "--set", "rerank=false"), ("eval", folder / NAME)),
        *(("edit", 1, "--title", f"new {harm}", "--no-embed"), ("edit", 1, "--body", f"{harm} new", "--no-embed")),
        *(
            ("forget", 2, 1),
            ("list", "--forgotten"),
            ("restore",),
            ("restore", 1),
            ("undo",),
            ("undo",),
            ("show", harm),
        ),
        *(("purge", 2, "--yes"), ("purge", harm, "--yes"), ("reindex", "--space", harm), ("doctor",)),
        *(("models", "list"), ("models", "import", folder / NAME), ("models", "use", harm), ("models", "remove", harm)),
        *(("models", "verify", harm), ("models", "verify"), ("config", "list"), ("config", "get", harm)),
        *(
            ("config", "set", "space", harm),
            ("config", "set", harm, harm),
            ("config", "list"),
            ("config", "get", "space"),
        ),
        *(("worker", "status"), ("worker", "start", harm), ("worker", "stop", harm)),
        *(("config", "unset", harm), ("config", "unset", "space"), ("config", "path"), ("config", "edit")),
        *((harm,), ("list", f"--{harm}"), ("list", harm), ("--db", folder / NAME / "no.db", "stats")),
    ]


WITH_BAR = ("import", "eval", "reindex", "models")
BAR = re.compile(r"\x1b\[(\?25[lh]|2K|1A|[0-9;]*m)")  # what a progress bar does to the cursor and the colours


def leaves(command, path=()):
    """The names of every command of the program."""
    if not hasattr(command, "commands"):
        return {path}
    return set().union(*(leaves(below, (*path, name)) for name, below in command.commands.items()))


def acts(text):
    return {hex(ord(letter)) for letter in text if letter in ACTING}


def printed(run, harm, folder):
    """Run every command; how many there were, and which of them printed something of the harm, made visible."""
    every = {" ".join(path) for path in leaves(typer.main.get_command(app))}
    made = calls(harm, folder)
    named = {" ".join(map(str, call[: 2 if call[0] in ("models", "config", "worker") else 1])) for call in made}
    assert every <= named, "a command that this test does not run"
    telling = set()
    for call in made:
        outcome = run(*(str(part).replace("\0", "") for part in call), code=None)
        for said in (outcome.out, outcome.err):
            assert acts(BAR.sub("", said) if call[0] in WITH_BAR else said) == set(), call
            assert "Traceback" not in said, call
            if "\u241b" in said or "\\x1b" in said or "\\u001b" in said:
                telling.add(call[0])
    return len(made), telling


@pytest.mark.parametrize("seen", ["memora", pytest.param("screen", marks=pytest.mark.slow)])
def test_no_command_passes_on_what_could_act(request, monkeypatch, tmp_path, seen, figure):
    monkeypatch.setenv("PAGER", "cat")
    monkeypatch.setenv("EDITOR", "true")
    count, telling = printed(request.getfixturevalue(seen), CORPUS, tmp_path)
    assert len(telling) > 15
    where = {"memora": "in a pipe", "screen": "on a terminal"}[seen]
    figure(f"terminal, {where}", f"{count} calls of every command: none of {len(ACTING)} characters comes out")


@pytest.mark.slow
@settings(max_examples=5, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    harm=st.text(st.one_of(st.sampled_from(ACTING), st.characters(codec="utf-8", exclude_characters="\0")), min_size=1)
)
def test_no_text_acts_through_any_command(memora, tmp_path_factory, harm):
    folder = tmp_path_factory.mktemp("untrusted")
    os.environ["MEMORA_DB"] = str(folder / "memora.db")
    printed(memora, harm, folder)


@pytest.mark.parametrize("command", ["list", "show", "topics", "entities", "history"])
def test_on_a_terminal_only_the_programs_own_colours_come_out(memora, home, command, figure):
    memora(
        "add", f"boat {CORPUS} end", "--title", f"t {CORPUS}", "--topic", f"p{CORPUS}", "--entity", "X", "--no-embed"
    )
    arguments = [command, "1"] if command in ("show", "history") else [command]
    run = [sys.executable, "-m", "memora_cli", *arguments]
    pty = [sys.executable, "-c", "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)", *run]
    environment = os.environ | {"PAGER": "cat", "TERM": "xterm"}
    ended = subprocess.run(pty, capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=60, env=environment)
    shown = re.sub(r"\x1b\[[0-9;]*m", "", ended.stdout.decode()).replace("\r\n", "\n").replace("^D\b\b", "")
    assert ended.returncode == 0
    assert acts(shown) == set()
    figure("terminal, on a pty", command)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.one_of(st.sampled_from(ACTING), st.characters(codec="utf-8", exclude_characters="\0\r")), min_size=1))
def test_json_gives_every_text_back_exactly(memora, harm):
    number = memora("add", "-", "--no-embed", "--force", stdin=f"a{harm}b").out.strip()
    shown = memora("show", number, "--json")
    assert shown.out.isascii()
    assert unicodedata.normalize("NFC", json.loads(shown.out)["notes"][0]["body"]) == unicodedata.normalize(
        "NFC", f"a{harm}b".removeprefix("\ufeff")
    )


NASTY = [
    "'",
    '"',
    "%",
    "_",
    "\\",
    "*",
    "(",
    ")",
    "NEAR(",
    "AND",
    "OR NOT",
    "title:",
    "^a",
    "--",
    ";",
    "\0",
    "{",
    "+",
    "-a",
    "€",
]


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["auto", "like"])
def test_no_string_of_thousands_is_an_error_as_a_query(tmp_path, backend, figure):
    chance = random.Random(backend)
    alphabet = [*map(chr, range(1, 128)), *ACTING, *"éß召回ёα🦊\u0301\ud800"]
    queries = ["".join(chance.choices(alphabet, k=chance.randrange(1, 30))) for _ in range(2500)]
    queries += ["boat " + "".join(chance.sample(NASTY, chance.randrange(1, 6))) for _ in range(200)]
    with open_at(tmp_path / "memora.db") as memory:
        with_fakes(memory)
        memory.add_all([Draft(f"boat {n} 50% a_b c\\d") for n in range(20)], NOW)
        for query in queries:
            try:
                ask(memory, query, NOW, backend=backend, rerank=False)
            except EmptyQuery:
                continue
    figure("queries", f"{backend}: {len(queries)} strings, 0 exceptions")


@pytest.mark.parametrize("wild", ["%", "_", "\\", "a%", "a_", "a\\", "%a%"])
def test_wildcards_are_text_in_every_filter(tmp_path, wild, figure):
    with open_at(tmp_path / "memora.db") as memory:
        with_fakes(memory)
        memory.add_all([Draft("boat one", topics=("ab", "a1")), Draft("boat two", topics=(f"x{wild}",))], NOW)
        for backend in ("auto", "like"):
            for topic, expected in ((wild, []), (f"x{wild}", [2])):
                found = ask(memory, "boat", NOW, Filters(topics=(topic,)), backend=backend, rerank=False)
                assert [one.note.id for one in found.results] == expected
                assert [note.id for note in memory.notes(Filters(topics=(topic,)))] == expected
        assert memory.notes(Filters(space=wild)) == []
    figure("filters", f"{wild} is text")
