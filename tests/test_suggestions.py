"""The promises of suggesting: what seems to update an older note is told, and never superseded by itself."""

from __future__ import annotations

import pytest

UPDATES = [
    ("I drink coffee every morning", "I drink tea every morning", "what do I drink every morning?"),
    ("The deploy takes 40 minutes", "The deploy takes 12 minutes", "how long does the deploy take?"),
    (
        "Dentist appointment on Monday at 10:00",
        "Dentist appointment moved to Friday at 14:00",
        "when is the dentist appointment?",
    ),
]
OTHERS = [
    ("Bob's birthday is 3 May", "Alice's birthday is 4 June"),
    ("Alice works at Google", "Bob works at Google"),
    ("Google makes Search and Android", "Alice works as an engineer at Google"),
]


@pytest.mark.parametrize(("old", "new", "question"), UPDATES)
def test_add_and_search_suggest_the_supersession_and_leave_it_to_the_user(memora, old, new, question):
    memora("add", old, "--no-date", "--at", "2024-01-01")
    added = memora("add", new, "--no-date")
    assert added.out == "2\n"
    assert f'it seems to update note 1, "{old}"; if it does: memora supersede 1 2' in added.err
    asked = memora("search", question, "--json").json
    assert [result["id"] for result in asked["results"]] == [2, 1]
    assert asked["suggestions"] == [{"old": 1, "new": 2, "command": "memora supersede 1 2"}]
    assert "if it does: memora supersede 1 2" in memora("search", question).err
    assert memora("show", 1, "--json").json["notes"][0]["superseded_by"] is None


@pytest.mark.parametrize(("old", "new"), OTHERS)
def test_notes_about_different_things_suggest_nothing(memora, old, new):
    memora("add", old, "--no-date", "--at", "2024-01-01")
    assert "supersede" not in memora("add", new, "--no-date").err


def test_what_is_superseded_is_suggested_no_more(memora):
    old, new, question = UPDATES[0]
    memora("add", old, "--at", "2024-01-01")
    memora("add", new, "--supersedes", 1)
    assert memora("search", question, "--json").json["suggestions"] == []
    assert "supersede" not in memora("add", "I drink water every morning").err.replace("supersede 2 3", "")


def test_explain_shows_the_pair_and_what_tells_them_apart(memora):
    old, new, question = UPDATES[1]
    memora("add", old, "--at", "2024-01-01")
    memora("add", new)
    scores = {item["id"]: item for item in memora("explain", question, "--json").json["scores"]}
    assert scores[2]["update"] == {"old": 1, "shared": ["deploy", "take"], "values": ["12"]}
    out = memora("explain", question).out
    assert "\n#2\tThe deploy takes 12 minutes\t#1\tdeploy, take\t12\t" in out
    assert "seems to update #1: both hold deploy, take" in memora("explain", question, "--note", 2).out


def test_updates_can_be_left_out(memora):
    old, new, question = UPDATES[1]
    memora("add", old, "--at", "2024-01-01")
    memora("add", new)
    value = memora("explain", question, "--set", "updates=false", "--json").json
    assert value["suggestions"] == []
    assert all(item["update"] is None for item in value["scores"])
