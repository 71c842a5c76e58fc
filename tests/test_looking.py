"""The promises of list, show, topics, entities, graph, templates, the pager, hints and --open."""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import NOW
from fakes import ask, with_fakes
from hypothesis import given
from hypothesis import strategies as st

from memora_cli.errors import Usage
from memora_cli.render.graph import dot
from memora_cli.render.pager import pager
from memora_cli.render.template import read_template
from memora_cli.values import Draft, Filters


@pytest.fixture
def notes(memora):
    memora("add", "zebra", "--at", "2024-01-01", "--topic", "animals", "--type", "opinion", "--no-embed")
    memora("add", "long " * 40, "--title", "Éclair", "--at", "2024-02-01", "--topic", "food", "--no-embed")
    memora("add", "apple", "--at", "2024-03-01", "--occurred", "2020-05-05", "--topic", "food", "--pin", "--no-embed")
    memora("add", "Bob met Alice", "--at", "2024-04-01", "--topic", "food", "--topic", "people", "--no-embed")


def ids(memora, *arguments):
    return [int(line) for line in memora("list", "--ids", *arguments).out.split()]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), [4, 3, 2, 1]),
        (("-r",), [1, 2, 3, 4]),
        (("--sort", "occurred"), [4, 2, 1, 3]),
        (("--sort", "title"), [3, 4, 2, 1]),
        (("--sort", "title", "--reverse"), [1, 2, 4, 3]),
        (("--sort", "id"), [1, 2, 3, 4]),
        (("--sort", "length", "-n", 1), [2]),
        (("--topic", "food", "--topic", "people"), [4]),
        (("--type", "opinion"), [1]),
        (("--since", "2024-02", "--until", "2024-03"), [2]),
        (("--until", "2020"), [3]),
        (("--pinned",), [3]),
        (("-n", 2), [4, 3]),
        (("-n", 0, "--sort", "title", "-n", 2), [3, 4]),
    ],
)
def test_a_list_is_filtered_and_sorted(notes, memora, arguments, expected):
    assert ids(memora, *arguments) == expected


def test_an_order_that_is_none_is_refused_with_those_that_are(memora):
    assert "created, occurred, title, id, length" in memora("list", "--sort", "colour", code=2).err


def test_topics_and_entities_are_counted_commonest_first(notes, memora):
    assert memora("topics").out == "3\tfood\n1\tanimals\n1\tpeople\n"
    assert memora("topics", "--topic", "people").out == "1\tfood\n1\tpeople\n"
    assert memora("topics", "-n", 1, "--json").json == {"version": 1, "topics": [{"topic": "food", "notes": 3}]}
    assert {"Alice", "Bob"} <= {line.split("\t")[1] for line in memora("entities").out.splitlines()}
    assert memora("entities", "--topic", "animals").out == "1\tanimals\n"
    assert memora("topics", "--format", "{topic}={notes}", "-n", 1).out == "food=3\n"


def test_what_is_in_the_trash_is_counted_nowhere(notes, memora):
    memora("forget", 4, 1)
    assert memora("topics").out == "2\tfood\n"
    assert "Alice" not in memora("entities").out
    assert memora("stats", "--json").json["topics"] == 1
    assert ids(memora) == [3, 2]


def test_a_template_prints_fields_of_the_json_shape(notes, memora):
    assert (
        memora("list", "-n", 1, "--format", r"{id:>3}\t{name}\t{{{topics}}}\\").out
        == "  4\tBob met Alice\t{food,people}\\\n"
    )
    assert (
        memora("list", "--pinned", "--format", r"{pinned} {superseded_by}|{occurred_start:.10}").out
        == "true |2020-05-05\n"
    )
    assert memora("show", 2, 3, "--format", "{title}").out == "Éclair\n\n"
    assert re.fullmatch(
        r"1 0\.\d\d\d|1 1\.\d\d\d", memora("search", "zebra", "-n", 1, "--format", "{id} {score:.3f}").out.strip()
    )


@pytest.mark.parametrize("template", ["{nothing}", "{id", "{id!r}", "{id.real}", "{title:d}", "{}", "}", "{id:{id}}"])
def test_a_template_that_cannot_be_filled_is_refused(notes, memora, template):
    ended = memora("list", "--format", template, code=2)
    assert ended.out == ""
    assert ended.err.startswith("memora: --format")
    if template != "{title:d}":
        assert "id, uid, space, title" in ended.err


def test_one_form_at_a_time(notes, memora):
    for command in (("list",), ("topics",), ("show", 1), ("search", "zebra")):
        assert "one form at a time" in memora(*command, "--json", "--jsonl", code=2).err
    assert "one form at a time" in memora("search", "zebra", "--ids", "--format", "{id}", code=2).err


@given(st.text(), st.integers())
def test_a_filled_template_is_one_line_and_plain_text_stays_itself(text, number):
    try:
        made = read_template(text.replace("\\", ""), ("id", "title"))
    except Usage:
        return
    filled = made.fill({"id": number, "title": text})
    if "{" not in text and "}" not in text:
        assert filled == text.replace("\\", "")
    assert "\x1b" not in read_template("{title}", ("title",)).fill({"title": text})
    assert "\n" not in read_template("{title}", ("title",)).fill({"title": text})


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"PAGER": ""}, []),
        ({"PAGER": "cat"}, []),
        ({"PAGER": "more -s"}, ["more", "-s"]),
        ({"PAGER": "less -X"}, ["less", "-X", "-R"]),
        ({"PAGER": "less", "TERM": "dumb"}, []),
        ({"PAGER": "'unclosed"}, []),
    ],
)
def test_the_pager_is_the_users_and_may_be_none(environment, expected):
    assert pager(environment) == expected


def on_a_terminal(command, rows=10, **environment):
    """What a terminal of that many rows is sent; the pager marks what goes through it."""
    import fcntl
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 80, 0, 0))
    settings = {"TERM": "xterm", "PAGER": "sed s/^/paged:/", **environment}
    env = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")} | settings
    process = subprocess.Popen(
        [sys.executable, "-m", "memora_cli", *map(str, command)], stdin=theirs, stdout=theirs, stderr=theirs, env=env
    )
    os.close(theirs)
    data = b""
    try:
        while chunk := os.read(ours, 65536):
            data += chunk
    except OSError:
        pass  # on Linux the end of a terminal is an error
    os.close(ours)
    assert process.wait(timeout=60) == 0, data
    return data.decode().replace("\r\n", "\n")


def test_only_what_is_longer_than_the_screen_is_paged_and_colours_are_kept(notes, memora):
    long, short = on_a_terminal(["list"], rows=5), on_a_terminal(["list"], rows=20)
    assert all(line.startswith("paged:") for line in long.splitlines())
    assert "\x1b[1m" in long
    assert "paged:" not in short
    assert long.replace("paged:", "") == short
    for none in ("", "cat", "/nonexistent/pager"):
        assert on_a_terminal(["list"], rows=5, PAGER=none) == short


def test_a_pipe_is_never_paged(notes, memora, monkeypatch):
    monkeypatch.setenv("PAGER", "sed s/^/paged:/")
    assert "paged:" not in memora("list").out


def test_markdown_is_drawn_on_a_terminal_only_and_never_when_raw(memora):
    memora("add", "# Head\n\n- **bold** <b>kept</b>\n\none\ntwo \x1b[31m[/red]", "--no-embed")
    drawn = on_a_terminal(["show", 1], rows=50)
    assert "**" not in drawn
    assert "<b>kept</b>" in drawn
    assert re.search(r"one *\ntwo ␛\[31m\[/red\]", drawn)
    for text in (on_a_terminal(["show", 1, "--raw"], rows=50), memora("show", 1).out):
        assert "# Head\n\n- **bold** <b>kept</b>\n\none\ntwo ␛[31m[/red]" in text


def test_show_names_what_is_connected_from_its_own_side(memora):
    memora("add", "It rained", "--title", "Rain", "--no-embed")
    memora("add", "The cellar flooded because [[Rain]]", "--no-embed")
    memora("supersede", 2, "--with", "The cellar is dry", "--no-embed")
    assert "links\tcauses #2 (1.00) The cellar flooded because [[Rain]]\n" in memora("show", 1).out
    flooded = memora("show", 2).out
    assert "links\tcaused-by #1 (1.00) Rain\n" in flooded
    assert "superseded by\t#3 The cellar is dry\n" in flooded
    assert "supersedes\t#2 The cellar flooded because [[Rain]]\n" in memora("show", 3).out


# The graph


@pytest.fixture
def chain(memory):
    """1 causes 2, 2 causes 3, 3 causes 1; 4 shares a name with 1; 5 replaces 4; 6 is alone."""
    with_fakes(memory)
    drafts = [
        Draft("alpha", title="A", entities=("Zoe",), links=(("causes", "B"),)),
        Draft("beta", title="B", links=(("causes", "C"),)),
        Draft("gamma", title="C", links=(("causes", "A"),)),
        Draft("delta", title='D "quoted" \\N', entities=("Zoe",)),
        Draft("epsilon", supersedes=(4,)),
        Draft("zeta"),
    ]
    for draft in drafts:
        memory.add(draft, NOW)
    return memory


def reached(memory, number, depth, most=None):
    value = memory.neighbourhood(number, depth, most)
    return [(edge.source, edge.relation, edge.target) for edge in value.tree]


def test_a_graph_goes_as_many_steps_as_asked_and_ends_in_a_circle(chain):
    assert reached(chain, 2, 1) == [(2, "causes", 3), (2, "caused-by", 1)]
    two = reached(chain, 2, 2)
    assert two[:2] == reached(chain, 2, 1)
    assert (1, "entity", 4) in two
    assert {target for _, _, target in reached(chain, 2, 10)} == {1, 3, 4, 5}
    assert reached(chain, 6, 3) == []


def test_a_limit_counts_what_it_leaves_out(memory):
    with_fakes(memory)
    memory.add_all([Draft(f"note {n}", entities=("Zoe",)) for n in range(6)], NOW)
    value = memory.neighbourhood(1, 1, 2)
    assert (len(value.tree), value.omitted) == (2, {(1, "entity"): 3})


def test_a_note_in_the_trash_is_nobodys_neighbour(chain):
    chain.forget([4], NOW)
    assert {target for _, _, target in reached(chain, 1, 3)} == {2, 3}


DOT_STRING = r'"(?:[^"\\]|\\\\|\\")*"'


def test_a_drawing_is_valid_and_has_each_note_and_edge_once(chain):
    lines = list(dot(chain.neighbourhood(4, 10)))
    node = rf"  \d+ \[label={DOT_STRING}(?:, penwidth=2)?\];"
    edge = rf"  \d+ -> \d+ \[label={DOT_STRING}(?:, dir=none)?\];"
    assert all(re.fullmatch(f"{node}|{edge}", line) for line in lines[2:-1])
    assert len(set(lines)) == len(lines)
    assert '  4 [label="#4 D \\"quoted\\" \\\\N", penwidth=2];' in lines
    assert sum("causes" in line for line in lines) == 3
    assert '  5 -> 4 [label="supersedes"];' in lines


@pytest.mark.skipif(not shutil.which("dot"), reason="graphviz is not installed")
def test_graphviz_draws_it(chain):
    text = "\n".join(dot(chain.neighbourhood(4, 10)))
    drawn = subprocess.run(["dot", "-Tplain"], input=text, capture_output=True, text=True, check=True).stdout
    assert sum(line.startswith("node") for line in drawn.splitlines()) == 5


def test_the_json_of_a_graph_has_every_edge(chain, memora):
    value = memora("graph", 4, "--depth", 9, "--json").json
    assert (value["root"], len(value["notes"])) == (4, 5)
    assert {"from", "to", "relation", "via", "weight", "tree"} == set(value["edges"][0])
    memora("graph", 99, code=3)
    memora("graph", 4, "--json", "--dot", code=2)


# When nothing matched


def test_an_unknown_topic_is_answered_with_those_that_look_like_it(memora):
    memora("add", "roses", "--topic", "gardening", "--no-embed")
    assert (
        'no note has the topic "gardenin"; like it: gardening' in memora("search", "roses", "--topic", "gardenin").err
    )


def test_a_filter_that_keeps_notes_out_is_named_with_what_it_keeps_out(notes, memora):
    said = memora("search", "zebra", "--topic", "food").err
    assert 'without --topic food 1 note would match, the best is #1 "zebra"' in said
    said = memora("search", "zebra", "--since", "2024-03").err
    assert "without --since 2024-03-01 1 note would match" in said
    assert "without --until 2023-12-31 1 note would match" in memora("search", "zebra", "--until", "2023").err
    assert "without --pinned" in memora("search", "zebra", "--pinned").err


def test_the_nearest_note_is_named_when_nothing_is_near_enough(memory):
    with_fakes(memory)
    memory.add(Draft("alpha beta gamma delta epsilon zeta eta theta", title="Letters"), NOW)
    trace = ask(memory, "alpha", NOW, backend="like", semantic_floor=0.99, weights={"semantic": 1.0})
    missed = memory.near_miss(ask(memory, "omega", NOW))
    assert (missed.held, missed.passing) == (1, 1)
    assert missed.nearest.note.id == 1
    assert trace.candidates


def test_a_result_that_only_min_score_or_current_cut_is_named(memory):
    with_fakes(memory)
    memory.add(Draft("coffee in the morning"), NOW)
    trace = ask(memory, "coffee with an unlikely tail", NOW, min_score=0.999)
    assert not trace.results
    assert memory.near_miss(trace).below.note.id == 1


def test_an_empty_memory_and_a_topic_without_notes_have_no_near_miss(memory):
    with_fakes(memory)
    assert memory.near_miss(ask(memory, "anything", NOW)).held == 0
    memory.add(Draft("coffee"), NOW)
    missed = memory.near_miss(ask(memory, "", NOW, Filters(topics=("x",))))
    assert (missed.unknown, missed.nearest) == ((("x", ()),), None)


def test_hints_are_for_people_only(notes, memora):
    for form in ("--json", "--jsonl", "--ids"):
        assert "would match" not in memora("search", "zebra", "--topic", "food", form).err


# In the editor


def test_open_edits_the_best_result(notes, memora, tmp_path):
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\ncat "$1" >> opened\necho changed > "$1"\n', encoding="utf-8")
    editor.chmod(0o755)
    said = on_a_terminal(["search", "zebra", "-n", 1, "--open"], VISUAL=f"sh -c 'cd {tmp_path} && ./editor $0'")
    assert (tmp_path / "opened").read_text() == "zebra\n"
    assert "note 1 is changed" in said
    assert memora("show", 1, "--json").json["notes"][0]["body"].strip() == "changed"


def test_open_without_a_terminal_is_refused(notes, memora):
    assert "--open needs a terminal" in memora("search", "zebra", "--open", code=2).err


# With other programs


@pytest.mark.skipif(not shutil.which("fzf"), reason="fzf is not installed")
def test_the_fzf_recipe_of_the_readme_works_as_pasted(notes, tmp_path):
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    recipe = re.search(r"<!-- recipe: fzf -->\n```sh\n(.+?)```", readme, re.DOTALL)[1]
    (tmp_path / "memora").symlink_to(Path(sys.executable).with_name("memora"))
    path = os.pathsep.join((str(tmp_path), os.environ["PATH"]))

    def chosen(typed):
        # fzf without a person: it prints what matches the words that one would type.
        env = os.environ | {"PATH": path, "FZF_DEFAULT_OPTS": f"--filter='{typed}'"}
        return subprocess.run(["bash", "-c", recipe], env=env, capture_output=True, text=True, check=True).stdout

    assert chosen("zebr").startswith("#1\n")
    assert "\n\nzebra\n" in chosen("zebr")
    assert chosen("nothing like it") == ""
