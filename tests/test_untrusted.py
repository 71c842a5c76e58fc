"""The promises about texts that mean harm: no command passes them on, no query or filter takes them as code."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys

import pytest
from conftest import NOW
from fakes import ask, open_at, with_fakes
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memora_cli.errors import EmptyQuery
from memora_cli.values import Draft, Filters

ACTING = [
    *map(chr, [*range(1, 9), 11, 12, *range(14, 32), *range(127, 160)]),
    *"\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff",
]
CORPUS = "".join(ACTING) + "\x1b]52;c;ZXZpbA==\x07\x1b]8;;http://evil\x1b\\x\x1b]8;;\x1b\\\x9b31m\x9d0;x\x9c\x1bc"
PRINTING = [
    *(("list",), ("show", 1), ("search", "boat"), ("explain", "boat"), ("explain", "boat", "--note", 1), ("topics",)),
    *(("entities",), ("graph", 1), ("graph", 1, "--dot"), ("history", 1), ("alias",), ("stats",), ("config",)),
    *(("doctor",), ("when", CORPUS), ("export", "-"), ("restore",), ("forget", 2), ("undo",), ("edit", 1, "--pin")),
]


def acts(text):
    return {hex(ord(letter)) for letter in text if letter in ACTING}


@pytest.mark.parametrize("text", ["corpus", *range(4)])
def test_no_printing_command_passes_on_what_could_act(memora, text, figure):
    harm = CORPUS if text == "corpus" else "".join(random.Random(text).choices([*ACTING, *"ab ["], k=40))
    draft = ("add", f"boat {harm} end", "--title", f"t {harm}", "--topic", f"p{harm}", "--context", harm)
    memora(*draft, "--entity", f"Name{harm}", "--no-embed")
    memora("add", f"boat two {harm} because [[t {harm}]]", "--no-embed")
    memora("alias", f"Name{harm}", f"Other{harm}")
    for command in PRINTING:
        outcome = (
            memora(*command, "--set", "rerank=false", code=None)
            if command[0] == "search"
            else memora(*command, code=None)
        )
        assert acts(outcome.out) == set(), command
        assert acts(outcome.err) == set(), command
    figure("terminal, in a pipe", f"{len(PRINTING)} commands: none of {len(ACTING)} characters comes out")


@pytest.mark.parametrize("command", ["list", "show", "topics", "entities", "history"])
def test_on_a_terminal_only_the_programs_own_colours_come_out(memora, home, command, figure):
    import re

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


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.one_of(st.sampled_from(ACTING), st.characters(codec="utf-8", exclude_characters="\0\r")), min_size=1))
def test_json_gives_every_text_back_exactly(memora, harm):
    number = memora("add", "-", "--no-embed", "--force", stdin=f"a{harm}b").out.strip()
    shown = memora("show", number, "--json")
    assert shown.out.isascii()
    import unicodedata

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
def test_wildcards_are_text_in_every_filter(tmp_path, wild):
    with open_at(tmp_path / "memora.db") as memory:
        with_fakes(memory)
        memory.add_all([Draft("boat one", topics=("ab", "a1")), Draft("boat two", topics=(f"x{wild}",))], NOW)
        for backend in ("auto", "like"):
            for topic, expected in ((wild, []), (f"x{wild}", [2])):
                found = ask(memory, "boat", NOW, Filters(topics=(topic,)), backend=backend, rerank=False)
                assert [one.note.id for one in found.results] == expected
                assert [note.id for note in memory.notes(Filters(topics=(topic,)))] == expected
        assert memory.notes(Filters(space=wild)) == []
