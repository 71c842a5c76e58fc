"""The promises of keeping notes: add, pin, unpin, supersede, show, list, stats."""

from __future__ import annotations

import json
import unicodedata

import pytest
from fakes import contents

NFC, NFD = "caf\u00e9 cr\u00e8me", unicodedata.normalize("NFD", "caf\u00e9 cr\u00e8me")


def add(memora, text, *options):
    return int(memora("add", text, "--no-embed", *options).out)


def show(memora, number):
    return memora("show", number, "--json").json["notes"][0]


def ids(memora, *options):
    return [int(line) for line in memora("list", "--ids", *options).out.split()]


def test_adding_prints_the_new_id_and_nothing_else(memora):
    outcome = memora("add", "Alice works at Google")
    assert (outcome.out, outcome.err) == ("1\n", "")
    assert memora("add", "Bob works at Apple").out == "2\n"


def test_adding_as_json_says_whether_the_note_is_new(memora):
    assert memora("add", "one", "--no-embed", "--json").json == {
        "version": 1,
        "id": 1,
        "created": True,
        "suggestions": [],
    }
    assert memora("add", "one", "--no-embed", "--json").json == {
        "version": 1,
        "id": 1,
        "created": False,
        "suggestions": [],
    }


def test_the_same_text_twice_is_one_note_and_its_id_is_told_again(memora, home):
    first = add(memora, "the same text")
    before = contents(home / "memora.db")
    again = memora("add", "the same text", "--no-embed")
    assert int(again.out) == first
    assert "already" in again.err
    assert contents(home / "memora.db") == before


@pytest.mark.parametrize("variant", [NFD, f"{NFC}\n", f"\n{NFC}", f"{NFC}\r\n"])
def test_the_same_text_in_another_normal_form_or_with_other_line_ends_is_one_note(memora, variant):
    first = add(memora, NFC)
    assert int(memora("add", "-", "--no-embed", stdin=variant).out) == first
    assert ids(memora) == [first]


def test_a_pin_on_a_text_that_is_there_already_pins_its_note_and_says_so(memora):
    number = add(memora, "the door code is 4711")
    again = memora("add", "the door code is 4711", "--pin", "--no-embed")
    assert int(again.out) == number
    assert "pinned now" in again.err
    assert ids(memora, "--pinned") == [number]
    assert "pinned" not in memora("add", "the door code is 4711", "--no-embed").err
    assert ids(memora, "--pinned") == [number]


def test_force_adds_the_same_text_again(memora):
    assert add(memora, "twice") != add(memora, "twice", "--force")


def test_the_same_text_in_another_space_is_another_note(memora):
    first, second = add(memora, "shared text"), add(memora, "shared text", "--space", "work")
    assert first != second
    assert (ids(memora), ids(memora, "--space", "work")) == ([first], [second])


def test_a_dash_reads_the_note_from_standard_input(memora):
    memora("add", "-", "--no-embed", stdin="line one\nline two\n")
    assert show(memora, 1)["body"] == "line one\nline two"


def test_everything_that_was_said_of_a_note_is_kept(memora):
    options = ["--title", "Move", "--topic", "Real Estate", "--topic", "money", "--type", "agent", "--context", "diary"]
    options += ["--at", "2024-05-03T10:30", "--occurred", "2024-04", "--entity", "Zillow", "--pin"]
    note = show(memora, add(memora, "We bought the house", *options))
    assert (note["title"], note["topics"]) == ("Move", ["real-estate", "money"])
    assert (note["kind"], note["context"], note["pinned"]) == ("agent", "diary", True)
    assert note["created_at"] == "2024-05-03T10:30:00+00:00"
    assert (note["occurred_start"], note["occurred_end"]) == ("2024-04-01T00:00:00+00:00", "2024-05-01T00:00:00+00:00")
    assert "Zillow" in note["entities"]


def test_a_note_has_the_fields_that_the_manual_promises(memora):
    promised = {"id", "uid", "space", "title", "body", "topics", "kind", "context", "created_at", "occurred_start"}
    promised |= {"occurred_end", "pinned", "superseded_by", "source"}
    assert promised <= set(show(memora, add(memora, "anything")))


def test_topics_are_one_topic_in_either_normal_form_and_case_and_keep_their_order(memora):
    number = add(memora, "x y", "--topic", "Zebra", "--topic", NFD.upper(), "--topic", NFC, "--topic", "zebra")
    assert show(memora, number)["topics"] == ["zebra", "caf\u00e9-cr\u00e8me"]
    assert ids(memora, "--topic", NFD) == [number]


def test_the_spelling_that_was_typed_is_the_one_shown(memora):
    text = "P\u0159\u00edli\u0161 \u017elu\u0165ou\u010dk\u00fd k\u016f\u0148 \u00dcBER Ma\u00dfe, ISTANBUL \u0130"
    number = add(memora, text)
    assert show(memora, number)["body"] == text
    assert text in memora("show", number).out
    assert text in memora("list").out


def test_times_are_shown_in_the_zone_of_the_user_with_their_offset(shell):
    import os

    zoned = {"env": os.environ | {"TZ": "Asia/Kolkata"}}
    shell("add", "noon in London", "--at", "2024-01-15T12:00+00:00", "--no-embed", **zoned)
    note = json.loads(shell("show", 1, "--json", **zoned).stdout)["notes"][0]
    assert note["created_at"] == "2024-01-15T17:30:00+05:30"
    assert b"2024-01-15 17:30 +0530" in shell("show", 1, **zoned).stdout


def test_an_offset_in_at_tells_the_moment_and_not_another_zone_for_the_user(memora):
    number = add(memora, "the flood", "--at", "2024-05-03T10:30+02:00", "--occurred", "2024-04")
    assert show(memora, number)["created_at"] == "2024-05-03T08:30:00+00:00"
    assert show(memora, number)["occurred_start"] == "2024-04-01T00:00:00+00:00"
    asked = memora("search", "flood", "--at", "2024-06-01T00:00+02:00", "--json").json
    assert (asked["at"], asked["results"][0]["created_at"]) == (
        "2024-05-31T22:00:00+00:00",
        "2024-05-03T08:30:00+00:00",
    )


def test_a_pin_can_be_set_and_taken_off_any_number_of_times(memora):
    first, second = add(memora, "one"), add(memora, "two")
    memora("pin", first, second)
    memora("pin", first)
    assert ids(memora, "--pinned") == [second, first]
    memora("unpin", first)
    memora("unpin", first)
    assert ids(memora, "--pinned") == [second]


@pytest.mark.parametrize("way", ["id", "with", "flag"])
def test_a_note_is_superseded_by_an_id_by_a_text_or_while_adding(memora, way):
    old = add(memora, "I like coffee")
    match way:
        case "id":
            new = add(memora, "I drink tea now")
            memora("supersede", old, new)
        case "with":
            new = int(memora("supersede", old, "--with", "I drink tea now", "--no-embed").out)
        case _:
            new = add(memora, "I drink tea now", "--supersedes", old)
    assert show(memora, old)["superseded_by"] == new
    assert show(memora, new)["supersedes"] == [old]
    assert f"#{new}" in memora("show", old).out
    assert ids(memora, "--current") == [new]
    assert ids(memora) == [new, old]


def test_one_note_may_replace_several_and_be_one_of_several_that_replace(memora):
    first, second = add(memora, "plan a"), add(memora, "plan b")
    both = add(memora, "plan c", "--supersedes", first, "--supersedes", second)
    other = int(memora("supersede", first, "--with", "plan d", "--no-embed").out)
    assert show(memora, both)["supersedes"] == [first, second]
    assert show(memora, first)["superseded_by"] == other
    assert ids(memora, "--current") == [other, both]


def test_superseding_twice_says_nothing_new(memora, home):
    old, new = add(memora, "old"), add(memora, "new")
    memora("supersede", old, new)
    before = contents(home / "memora.db")
    memora("supersede", old, new)
    assert contents(home / "memora.db") == before


@pytest.mark.parametrize(("old", "new"), [(1, 1), (3, 1), (3, 2), (2, 1)])
def test_a_note_never_replaces_itself_directly_or_in_a_circle(memora, home, old, new):
    for text in ("one", "two", "three"):
        add(memora, text)
    memora("supersede", 1, 2)
    memora("supersede", 2, 3)
    before = contents(home / "memora.db")
    refused = memora("supersede", old, new, code=2)
    assert refused.out == ""
    assert refused.err.startswith("memora: ")
    assert contents(home / "memora.db") == before


def test_adding_the_text_of_a_stale_note_as_its_own_correction_is_refused(memora, home):
    old = add(memora, "I like coffee")
    before = contents(home / "memora.db")
    memora("supersede", old, "--with", "I like coffee", "--no-embed", code=2)
    memora("add", "I like coffee", "--supersedes", old, "--no-embed", code=2)
    assert contents(home / "memora.db") == before


def test_going_back_to_an_older_text_is_refused_with_the_way_to_do_it(memora):
    coffee, tea = add(memora, "I drink coffee"), add(memora, "I drink tea now")
    memora("supersede", coffee, tea)
    back = ("supersede", tea, "--with", "I drink coffee", "--no-embed")
    assert "--force" in memora(*back, code=2).err
    new = int(memora(*back, "--force").out)
    assert ids(memora, "--current") == [new]
    assert int(memora(*back).out) == new


def test_a_correction_has_the_topics_and_the_kind_of_what_it_replaces_unless_others_are_given(memora):
    old = add(memora, "I like coffee", "--topic", "Hot Drinks", "--topic", "me", "--type", "opinion")
    new = show(memora, int(memora("supersede", old, "--with", "I like tea", "--no-embed").out))
    assert (new["topics"], new["kind"]) == (["hot-drinks", "me"], "opinion")
    options = ("--topic", "Water", "--type", "agent", "--no-embed")
    newest = show(memora, int(memora("supersede", new["id"], "--with", "I drink water", *options).out))
    assert (newest["topics"], newest["kind"]) == (["water"], "agent")
    for option in (("--topic", "x"), ("--type", "agent"), ("--no-date",), ("--force",)):
        assert "--with" in memora("supersede", old, newest["id"], *option, code=2).err


def test_a_correction_takes_the_date_that_it_states_about_itself_unless_told_not_to(memora):
    old = add(memora, "We live in Oslo")
    told = memora("supersede", old, "--with", "On 3 May 2024 we moved to Lisbon", "--no-embed")
    assert show(memora, int(told.out))["occurred_start"][:10] == "2024-05-03"
    assert "2024-05-03" in told.err
    untold = memora("supersede", old, "--with", "On 4 May 2024 we moved", "--no-embed", "--no-date")
    assert (show(memora, int(untold.out))["occurred_start"], untold.err) == (None, "")


def test_superseding_as_json_tells_the_note_that_holds_now(memora):
    old, new = add(memora, "old"), add(memora, "new")
    assert memora("supersede", old, new, "--json").json == {
        "version": 1,
        "id": new,
        "created": False,
        "suggestions": [],
    }
    value = memora("supersede", new, "--with", "newest", "--no-embed", "--json").json
    assert value == {"version": 1, "id": 3, "created": True, "suggestions": []}
    assert memora("supersede", old, new).out == ""


@pytest.mark.parametrize("arguments", [(1, 99), (99, 1), (99, "--with", "x", "--no-embed")])
def test_superseding_an_unknown_note_ends_with_3_and_writes_nothing(memora, home, arguments):
    add(memora, "one")
    before = contents(home / "memora.db")
    outcome = memora("supersede", *arguments, code=3)
    assert outcome.out == ""
    assert "99" in outcome.err
    assert contents(home / "memora.db") == before


def test_a_note_of_another_space_cannot_be_superseded_pinned_or_shown(memora):
    here, there = add(memora, "here"), add(memora, "there", "--space", "work")
    memora("supersede", here, there, code=3)
    memora("pin", there, code=3)
    memora("show", there, code=3)


@pytest.mark.parametrize("arguments", [(1,), (1, 2, "--with", "text")])
def test_superseding_takes_an_id_or_a_text_and_not_both(memora, arguments):
    add(memora, "one")
    add(memora, "two")
    assert memora("supersede", *arguments, code=2).out == ""


def test_several_notes_are_shown_in_the_order_asked(memora):
    for text in ("one", "two", "three"):
        add(memora, text)
    assert [note["id"] for note in memora("show", 3, 1, "--json").json["notes"]] == [3, 1]


def test_a_note_shows_what_it_is_connected_to(memora):
    cause = add(memora, "It rained for a week", "--title", "Rain")
    effect = add(memora, "The cellar flooded because [[Rain]]")
    assert {"id": cause, "relation": "caused-by", "weight": 1.0} in show(memora, effect)["links"]


def test_a_cause_may_be_named_before_its_note_exists(memora):
    effect = add(memora, "The cellar flooded because [[Rain]]")
    cause = add(memora, "It rained for a week", "--title", "Rain")
    assert {"id": cause, "relation": "caused-by", "weight": 1.0} in show(memora, effect)["links"]


def test_the_list_is_newest_first_and_20_long_unless_all_are_asked_for(memora):
    for day in range(1, 26):
        add(memora, f"note {day}", "--at", f"2024-01-{26 - day:02d}")
    assert ids(memora) == list(range(1, 21))
    assert ids(memora, "-n", 0) == list(range(1, 26))
    assert ids(memora, "-n", 3) == [1, 2, 3]


def test_notes_of_one_moment_are_listed_last_added_first(memora):
    for text in ("one", "two", "three"):
        add(memora, text, "--at", "2024-01-01T12:00")
    assert ids(memora) == [3, 2, 1]


def test_the_list_can_be_filtered(memora):
    add(memora, "a", "--topic", "red", "--type", "opinion")
    add(memora, "b", "--topic", "red", "--topic", "blue", "--pin")
    add(memora, "c", "--topic", "blue", "--supersedes", 1)
    assert ids(memora, "--topic", "red") == [2, 1]
    assert ids(memora, "--topic", "red", "--topic", "blue") == [2]
    assert ids(memora, "--type", "opinion") == [1]
    assert ids(memora, "--current", "--topic", "red") == [2]


def test_a_topic_is_matched_whole(memora):
    add(memora, "a", "--topic", "cat")
    add(memora, "b", "--topic", "catalogue")
    assert ids(memora, "--topic", "cat") == [1]
    assert ids(memora, "--topic", "%") == []


def test_a_list_in_a_pipe_is_one_line_a_note_and_cuts_nothing(memora):
    title = "word " * 100 + "end"
    number = add(memora, "body\nmore", "--title", title)
    line = memora("list").out.splitlines()
    assert len(line) == 1
    assert line[0].split("\t")[0] == str(number)
    assert line[0].split("\t")[-1] == title


def test_the_list_as_json_is_one_object_and_as_jsonl_one_note_a_line(memora):
    add(memora, "one")
    add(memora, "two")
    whole = memora("list", "--json").json
    assert whole["version"] == 1
    assert [json.loads(line) for line in memora("list", "--jsonl").out.splitlines()] == whole["notes"]


def test_an_empty_memory_lists_nothing(memora):
    assert memora("list").out == ""
    assert memora("list", "--json").json == {"version": 1, "notes": []}


def test_the_statistics_count_what_is_there(memora):
    add(memora, "Alice met Bob", "--topic", "people", "--pin", "--at", "2024-01-05")
    add(memora, "Bob left", "--supersedes", 1, "--at", "2024-02-05")
    add(memora, "elsewhere", "--space", "work")
    value = memora("stats", "--json").json
    assert (value["notes"], value["pinned"], value["superseded"], value["topics"]) == (2, 1, 1, 1)
    assert value["months"] == {"2024-01": 1, "2024-02": 1}
    assert value["waiting"] == 2
    assert "notes\t2" in memora("stats").out


def test_notes_added_without_vectors_get_them_from_reindex(memora):
    add(memora, "The quick brown fox")
    assert memora("stats", "--json").json["waiting"] == 1
    memora("reindex")
    assert memora("stats", "--json").json["waiting"] == 0
    assert [hit["id"] for hit in memora("explain", "speedy animals", "--json").json["strategies"]["semantic"]] == [1]
