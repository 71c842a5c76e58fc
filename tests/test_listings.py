"""What people see of every listing command: on terminals of 40 and 200 columns, with colours and without, in a pipe.

`MEMORA_UPDATE_GOLDEN=1` writes the files in `golden/` anew: read the difference before you keep it.
"""
# ruff: noqa: F811  # fixtures are imported, then asked for by name

from __future__ import annotations

import io
import re
import sys
from dataclasses import replace
from datetime import UTC

import pytest
from conftest import NOW
from fakes import ask
from test_explain import QUESTION, diary, same_as_file  # noqa: F401  # diary is a fixture

from memora_cli.render.graph import dot, print_graph
from memora_cli.render.notes import print_list, print_tallies, print_view
from memora_cli.render.results import print_results
from memora_cli.render.statistics import print_statistics
from memora_cli.render.terminal import console, say
from memora_cli.values import Draft, Filters

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
WIDTHS = (30, 40, 80, 200)


class Screen(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def printed(monkeypatch):
    """What a function prints, on a terminal of a width or, without one, in a pipe."""

    def run(write, width=None, colours=False):
        stream = Screen() if width else io.StringIO()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", stream)
            patch.setattr(sys, "stderr", stream)
            patch.setenv("TERM", "xterm-256color")
            patch.setenv("COLUMNS", str(width or 80))
            patch.delenv("NO_COLOR", raising=False)
            if not colours:
                patch.setenv("NO_COLOR", "1")
            write()
        return stream.getvalue()

    return run


NOTE = """# Bread

Mix **flour** and `water`
and wait.

- rye
- wheat <b>not spelt</b>

1. knead
2. bake

> slowly

```python
print("[x]")
```

![oven](https://example.org/oven.png) and [a link](https://example.org) and [[Drink]].

| day | loaves |
|-----|--------|
| Mon | 2      |

<div>kept</div>
"""


@pytest.fixture
def rich_diary(diary):
    diary.add(Draft(NOTE, title="Baking", created_at=NOW, topics=("food",)), NOW)
    return diary


def listings(memory):
    """Each listing command by name, as a function that prints it."""
    trace = ask(memory, QUESTION, NOW, limit=5)
    notes = memory.notes(Filters())
    statistics = replace(
        memory.statistics(NOW),
        bytes=2_500_000,
        database="/notes/memora.db",
        driver="pysqlite3 3.53.0",
        embedder="all-MiniLM-L6-v2@012345678901",
        reranker="memora-reranker@012345678901",
        months={f"{2022 + month // 12}-{month % 12 + 1:02}": month * month for month in range(1, 40)},
    )
    return {
        "search": lambda: print_results(trace, console()),
        "list": lambda: print_list(notes, UTC, console()),
        "show": lambda: [print_view(view, UTC, console()) for view in memory.view([10, 4, 9])],
        "topics": lambda: print_tallies(memory.topics(Filters()), "topics", console()),
        "entities": lambda: print_tallies(memory.entities(Filters()), "entities", console()),
        "graph": lambda: print_graph(memory.neighbourhood(4, 2, 3), console()),
        "stats": lambda: print_statistics(statistics, console()),
    }


NAMES = ("search", "list", "show", "topics", "entities", "graph", "stats")


@pytest.mark.parametrize("name", NAMES)
def test_a_listing_looks_like_this(rich_diary, printed, name):
    write = listings(rich_diary)[name]
    papers = {
        "40 columns": printed(write, 40),
        "40 columns, colours": printed(write, 40, colours=True),
        "200 columns": printed(write, 200),
        "200 columns, colours": printed(write, 200, colours=True),
        "pipe": printed(write),
    }
    text = "".join(f"=== {title}\n{paper.replace(chr(27), '␛')}" for title, paper in papers.items())
    same_as_file(re.sub(r" +(?=(?:␛\[0m)?$)", "", text, flags=re.MULTILINE), f"listing-{name}.txt")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_a_listing_fits_its_terminal_and_colours_change_no_character(rich_diary, printed, name, width):
    write = listings(rich_diary)[name]
    plain, coloured = printed(write, width), printed(write, width, colours=True)
    assert max(map(len, ESCAPE.sub("", plain).splitlines())) <= width
    assert ESCAPE.sub("", coloured) == ESCAPE.sub("", plain)
    assert re.search(r"\x1b\[(?:\d+;)*3\d", plain) is None, "a colour although NO_COLOR is set"


@pytest.mark.parametrize("name", NAMES)
def test_a_pipe_gets_no_colour_and_no_width(rich_diary, printed, name):
    write = listings(rich_diary)[name]
    assert printed(write) == printed(write, colours=True)
    assert "\x1b" not in printed(write)


def test_a_drawing_of_a_graph_looks_like_this(rich_diary, printed):
    same_as_file(printed(lambda: [say(line) for line in dot(rich_diary.neighbourhood(4, 2))]), "graph.dot")


def test_a_list_of_what_was_forgotten_is_the_trash(memora):
    for text in ("one", "two", "three"):
        memora("add", text, "--no-embed")
    memora("forget", 1, "--at", "2030-01-01")
    memora("forget", 3, "--at", "2030-01-02")
    assert memora("list", "--forgotten", "--ids").out == "3\n1\n"
    assert memora("list", "--forgotten").out == memora("restore").out
    assert memora("list", "--forgotten", "--json").json == memora("restore", "--json").json
    assert memora("list", "--forgotten", "--topic", "x", code=2).out == ""


def test_an_option_without_its_value_points_to_the_help_of_its_command(memora):
    assert memora("list", "-n", code=2).err == "memora: option '-n' requires an argument; see memora list --help\n"
