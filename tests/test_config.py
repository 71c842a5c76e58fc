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
