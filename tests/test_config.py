"""Where settings come from, and which are refused."""

from __future__ import annotations

import pytest
from conftest import NOW

from memora_cli.config import KEYS, load
from memora_cli.errors import BadSetting
from memora_cli.text.times import Rules
from memora_cli.text.weeks import first_weekday


def write(home, text):
    (home / "config.toml").write_text(text, encoding="utf-8")


def test_flags_stand_over_environment_over_file_over_defaults(home, memora, monkeypatch):
    assert load().settings.recency_weight == 0.05
    write(home, "recency_weight = 0.2\nhalf_life_days = 30\n[weights]\ngraph = 0.5\n")
    assert load().settings.recency_weight == 0.2
    assert load().settings.weights["graph"] == 0.5
    monkeypatch.setenv("MEMORA_RECENCY_WEIGHT", "0.3")
    assert load().settings.recency_weight == 0.3
    assert load({"recency_weight": 0.4}).settings.recency_weight == 0.4
    origins = load({"recency_weight": 0.4}).origins
    assert origins["recency_weight"].origin == "--recency-weight"
    assert origins["half_life_days"].origin.endswith("config.toml")
    assert origins["limit"].origin == "default"


def test_config_shows_each_value_and_where_it_came_from(home, memora, monkeypatch):
    monkeypatch.setenv("MEMORA_WEIGHTS_TEMPORAL", "0.25")
    lines = dict(line.split("\t", 1) for line in memora("config").out.splitlines())
    assert set(lines) == set(KEYS)
    assert lines["weights.temporal"] == "0.25\tMEMORA_WEIGHTS_TEMPORAL"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("recency_wait = 1", "recency_wait"),
        ("limit = 0", "limit"),
        ("limit = 2.5", "limit"),
        ('limit = "many"', "limit"),
        ("half_life_days = 0", "half_life_days"),
        ("recency_weight = nan", "recency_weight"),
        ("recency_weight = inf", "recency_weight"),
        ("rerank = 3", "rerank"),
        ('backend = "google"', "backend"),
        ("weights.graph = -1", "weights.graph"),
        ("limit = = 3", "config.toml"),
        ("space = 5", "space"),
        ("limit = true", "limit"),
        ('time_parser = "bogus"', "time_parser"),
        ('time_parser = "t5:"', "time_parser"),
        ('db = "~nosuch/memora.db"', "~nosuch"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_by_its_name(home, memora, text, named):
    write(home, text)
    outcome = memora("list", code=2)
    assert named in outcome.err
    assert outcome.out == ""


def test_an_unknown_key_given_with_set_is_refused(memora):
    assert "no_such" in memora("search", "x", "--set", "no_such=1", code=2).err
    assert "KEY=VALUE" in memora("search", "x", "--set", "limit", code=2).err
    for pair in ("no_such=1", "limit=0"):
        error = memora("search", "x", "--set", pair, code=2).err
        assert "--set" in error
        assert "--limit" not in error.replace("--no-such", "--limit")


def test_what_decides_which_notes_there_are_is_not_given_with_set(memora):
    for key, place in {"db": "--db", "space": "--space", "embedder": "config.toml"}.items():
        assert place in memora("search", "x", "--set", f"{key}=other", code=2).err
    memora("search", "x", "--set", "week_start=sunday", "--set", "time_parser=rules", "--no-rerank")


def test_any_setting_can_be_given_with_set(memora):
    memora("add", "coffee", "--no-embed")
    assert (
        memora("explain", "coffee", "--set", "weights.keyword=0.5", "--json").json["settings"]["weights"]["keyword"]
        == 0.5
    )


def test_settings_under_which_a_superseded_note_could_win_are_refused():
    with pytest.raises(BadSetting):
        load({"recency_weight": 5.0, "pinned_bonus": 5.0})


@pytest.mark.parametrize(
    ("variables", "day"),
    [
        ({}, 0),
        ({"LANG": "C.UTF-8"}, 0),
        ({"LANG": "de_DE.UTF-8"}, 0),
        ({"LANG": "en_US.UTF-8"}, 6),
        ({"LANG": "en_US.UTF-8", "LC_TIME": "en_GB.UTF-8"}, 0),
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "pt_BR.UTF-8"}, 6),
        ({"LANG": "ar_EG"}, 5),
        ({"LANG": "en_US.UTF-8", "MEMORA_WEEK_START": "monday"}, 0),
    ],
)
def test_weeks_start_by_the_locale_and_on_monday_by_default(variables, day):
    config = load(environment=variables)
    assert first_weekday(config.week_start, config.locale) == day


def test_last_week_begins_on_the_first_day_of_the_week():
    monday, sunday = (Rules(day).read("last week", NOW)[0] for day in (0, 6))
    assert (monday.start.weekday(), sunday.start.weekday()) == (0, 6)


# The file is changed by commands

COMMENTED = """\
# how I like it
limit = 12  # a screen

space = "work"

[weights]
# the graph is noisy here
graph = 0.5
"""


def read(home):
    return (home / "config.toml").read_text(encoding="utf-8")


def test_setting_a_value_keeps_comments_and_order(home, memora):
    write(home, COMMENTED)
    memora("config", "set", "limit", "20")
    memora("config", "set", "weights.temporal", "2")
    memora("config", "set", "rerank", "no")
    memora("config", "set", "semantic_floor", "-0.5")
    text = read(home)
    assert text.startswith('# how I like it\nlimit = 20  # a screen\n\nspace = "work"\n')
    assert "# the graph is noisy here\ngraph = 0.5\ntemporal = 2" in text
    settled = load()
    assert (settled.settings.limit, settled.space, settled.settings.rerank) == (20, "work", False)
    assert (settled.settings.semantic_floor, dict(settled.settings.weights)["temporal"]) == (-0.5, 2.0)
    for key in ("rerank", "semantic_floor", "weights.temporal"):
        memora("config", "unset", key)
    assert read(home).split() == COMMENTED.replace("12", "20").split()


@pytest.mark.parametrize("text", ["weights = { graph = 0.5 }\n", "weights.graph = 0.5\n", '"weights"."graph" = 0.5\n'])
def test_a_weight_is_found_however_the_file_spells_its_table(home, memora, text):
    write(home, text)
    memora("config", "set", "weights.graph", "0.75")
    memora("config", "set", "weights.keyword", "0.25")
    assert (load().settings.weights["graph"], load().settings.weights["keyword"]) == (0.75, 0.25)
    memora("config", "unset", "weights.graph")
    assert load().settings.weight("graph") == 0.3


def test_get_prints_the_value_that_holds(home, memora, monkeypatch):
    write(home, "limit = 12\n")
    assert memora("config", "get", "limit").out == "12\n"
    assert memora("config", "get", "min_score").out == "\n"
    monkeypatch.setenv("MEMORA_LIMIT", "3")
    assert memora("config", "get", "limit", "--json").json["origin"] == "MEMORA_LIMIT"
    assert "MEMORA_LIMIT" in memora("config", "set", "limit", "5").err


def test_the_file_is_made_in_a_folder_for_its_owner_alone(home, memora, monkeypatch):
    monkeypatch.setenv("MEMORA_CONFIG", str(home / "deep" / "er" / "config.toml"))
    memora("config", "set", "limit", "5")
    file = home / "deep" / "er" / "config.toml"
    assert memora("config", "path").out == f"{file}\n"
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert [path.name for path in file.parent.iterdir()] == ["config.toml"]


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("limits", "5", "did you mean limit?"),
        ("half-life-days", "5", "did you mean half_life_days?"),
        ("limit", "many", "whole number"),
        ("limit", "0", "between 1 and"),
        ("rerank", "perhaps", "true or false"),
        ("pinned_bonus", "5", "superseded penalty"),
    ],
)
def test_a_value_that_cannot_be_changes_nothing(home, memora, key, value, said):
    write(home, COMMENTED)
    memora("config", "set", "recency_weight", "4")
    before = read(home)
    assert said in memora("config", "set", key, value, code=2).err
    assert read(home) == before
    assert sorted(path.name for path in home.iterdir()) == ["config.toml"]


def test_a_file_with_two_mistakes_can_be_mended_one_by_one(home, memora):
    write(home, "limit = 0\nrrf_k = 0\n")
    assert "rrf_k" in memora("config", "set", "limit", "5").err
    assert memora("config", "unset", "rrf_k").err == ""
    assert load().settings.limit == 5


def test_what_is_not_set_cannot_be_unset(memora):
    assert "does not set limit" in memora("config", "unset", "limit", code=2).err


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("limit = 5\n\nrrf_k = = 3\n", 3),
        ("limit = 5\nspace = 'open\n", 2),
        ("limit = 5\n# note\nhalf_life_day = 3\n", 3),
        ("limit = 5\nrerank = 3\n", 2),
        ("limit = 5\n[weights]\nkeyword = 1\ngraph = -1\n", 4),
        ("limit = 5\n\nweights = { graph = -1 }\n", 3),
        ("limit = 5\nweights . graph = -1\n", 2),
        ("limit = 5\n[elsewhere]\nspace = 'x'\n", 3),
        ("limit = 5\n[empty]\n[weights.graph]\nx = 1\n", 3),
    ],
)
def test_a_mistake_in_the_file_is_named_with_its_line(home, memora, text, line):
    write(home, text)
    assert f"config.toml:{line}: " in memora("list", code=2).err


def test_bytes_that_are_no_utf8_are_named_with_their_line(home, memora):
    (home / "config.toml").write_bytes(b"limit = 5\nspace = '\xe9'\n")
    assert "config.toml:2: this is not UTF-8" in memora("list", code=2).err


def editor(home, monkeypatch, script):
    path = home.parent / "editor"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(path))


def test_edit_opens_the_file_and_takes_what_holds(home, memora, monkeypatch):
    editor(home, monkeypatch, "echo 'limit = 3' >> \"$1\"")
    memora("config", "edit")
    assert load().settings.limit == 3
    assert "# half_life_days = 90.0\n" in read(home)  # a new file begins with every setting as a comment


def test_a_new_file_holds_the_defaults_when_its_comments_are_taken_away(home, memora, monkeypatch):
    editor(home, monkeypatch, "sed -i -e 1d -e '/=$/d' -e 's/^# //' \"$1\"")
    before = load()
    memora("config", "edit")
    assert "\nlimit = 8\n" in read(home)
    assert {key: value.value for key, value in load().origins.items()} == {
        key: value.value for key, value in before.origins.items()
    }


def test_edit_keeps_the_old_file_when_the_new_one_does_not_hold(home, memora, monkeypatch):
    write(home, COMMENTED)
    editor(home, monkeypatch, "echo 'graph = 3' >> \"$1\"")
    assert "config.toml:" in memora("config", "edit", code=2).err
    editor(home, monkeypatch, "exit 3")
    assert "ended with 3" in memora("config", "edit", code=2).err
    monkeypatch.setenv("VISUAL", "no-such-editor")
    assert "no-such-editor" in memora("config", "edit", code=2).err
    assert read(home) == COMMENTED
    assert [path.name for path in home.iterdir()] == ["config.toml"]
