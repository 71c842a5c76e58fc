"""The promises of an edit: the same note, its past kept, and of the indexes only what changed made anew."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta

import pytest
from conftest import NOW
from fakes import BagOfWords, ask, contents, found, listed, reindexed, with_fakes
from postgres_server import places

from memora_cli.errors import EmptyNote, NoSuchNote
from memora_cli.values import Draft, Filters, Window

LONG = "\n\n".join(
    f"Paragraph {n} is about {what}. " + "More words follow here. " * 30 for n, what in enumerate("abcd")
)


class Counting(BagOfWords):
    """An embedder that remembers what it was given."""

    def __init__(self):
        self.seen = []

    def embed(self, texts, *, query=False):
        self.seen += texts
        return super().embed(texts, query=query)


@pytest.fixture
def counting(memory):
    """A memory, and what its embedder is given."""
    embedder = Counting()
    with_fakes(memory, embedder)
    return memory, embedder.seen


def rows(memory, table, number):
    place = {"passages": 2, "mentions": 2, "keywords": 1, "topics": 1, "mentioned_times": 1}[table]
    return [row for row in contents(memory.database.address)[table] if row[place] == number]


def check(memory):
    """Every index agrees with the notes."""
    if places.server:
        held = contents(memory.database.address)
        assert {row[1] for row in held["vectors"]} == {row[1] for row in held["passages"]}
        assert {row[1] for row in held["embeddings"]} == {row[1] for row in held["passages"] if row[2] > 0}
        return
    with memory.database.write() as connection:
        connection.exec_driver_sql("INSERT INTO keywords_fts(keywords_fts, rank) VALUES('integrity-check', 1)")
        passages = set(connection.exec_driver_sql("SELECT id FROM passages").scalars())
        assert set(connection.exec_driver_sql("SELECT passage_id FROM vectors").scalars()) == passages
        present = set(connection.exec_driver_sql("SELECT id FROM passages WHERE note_id > 0").scalars())
        names = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE sql LIKE '%USING vec0%'").scalars()
        for name in list(names):
            assert set(connection.exec_driver_sql(f"SELECT passage_id FROM {name}").scalars()) == present


def test_an_edit_keeps_the_id_and_is_found_by_its_new_words_only(counting):
    memory, _ = counting
    number = memory.add(Draft("Alice drinks coffee", topics=("habits",)), NOW).id
    assert memory.edit(number, lambda old: replace(old, body="Alice drinks rooibos"), NOW).changed
    (note,) = memory.notes(Filters())
    assert (note.id, note.body, note.topics) == (number, "Alice drinks rooibos", ("habits",))
    assert found(ask(memory, "rooibos", NOW)) == [number]
    assert listed(ask(memory, "coffee", NOW), "keyword") == []
    check(memory)


def test_every_field_can_be_edited_and_the_others_stay(counting):
    memory, _ = counting
    number = memory.add(Draft("text", title="Old", topics=("a",), context="here", entities=("Anna",)), NOW).id
    window = Window(NOW - timedelta(days=3), NOW - timedelta(days=2), "", "day")
    changes = {"title": "New", "topics": ("B b", "c"), "kind": "opinion", "context": "there", "entities": ("Bob",)}
    for name, value in {**changes, "occurred": window}.items():
        before = memory.view([number])[0]
        assert memory.edit(number, lambda old, name=name, value=value: replace(old, **{name: value}), NOW).changed
        after = memory.view([number])[0]
        assert after != before
    assert (after.note.title, after.note.topics, after.note.kind) == ("New", ("b-b", "c"), "opinion")
    assert (after.note.context, after.note.body) == ("there", "text")
    assert (after.note.occurred_start, after.note.occurred_end) == (window.start, window.end)
    assert "Bob" in after.entities
    assert "Anna" not in after.entities


def test_an_edit_that_changes_nothing_writes_nothing(counting):
    memory, seen = counting
    number = memory.add(Draft("text", title="Title"), NOW).id
    before, embedded = contents(memory.database.address), len(seen)
    assert not memory.edit(number, lambda old: replace(old, body="text\n", title=" Title "), NOW).changed
    assert contents(memory.database.address) == before
    assert len(seen) == embedded


def test_an_unchanged_text_embeds_nothing_and_keeps_its_passages(counting):
    memory, seen = counting
    number = memory.add(Draft(LONG), NOW).id
    passages, embedded = rows(memory, "passages", number), len(seen)
    memory.edit(number, lambda old: replace(old, topics=("new",), kind="agent", context="x", entities=("Eve",)), NOW)
    assert len(seen) == embedded
    assert rows(memory, "passages", number) == passages
    assert "Eve" in memory.view([number])[0].entities
    check(memory)


def test_only_the_passages_that_changed_are_embedded_again(counting):
    memory, seen = counting
    number = memory.add(Draft(LONG), NOW).id
    old, embedded = {row[1] for row in rows(memory, "passages", number)}, len(seen)
    memory.edit(
        number, lambda draft: replace(draft, body="# A beginning\n\nAnd its text.\n\n" + draft.body[:-1] + "!"), NOW
    )
    kept = old & {row[1] for row in rows(memory, "passages", number)}
    assert len(kept) >= 2
    assert 0 < len(seen) - embedded < 4
    body = memory.view([number])[0].note.body
    texts = [body[row[3] : row[4]] for row in sorted(rows(memory, "passages", number), key=lambda row: row[3])]
    assert texts[0].startswith("# A beginning")
    assert "".join("".join(texts).split()) == "".join(body.split())
    check(memory)


def test_going_back_to_an_older_text_embeds_nothing(counting):
    memory, seen = counting
    number = memory.add(Draft("the first text"), NOW).id
    memory.edit(number, lambda old: replace(old, body="another text"), NOW)
    embedded = len(seen)
    memory.edit(number, lambda old: replace(old, body="the first text"), NOW)
    memory.undo(NOW)
    memory.undo(NOW)
    assert len(seen) == embedded
    assert memory.notes(Filters())[0].body == "the first text"
    check(memory)


def test_names_times_and_causes_follow_the_text(counting):
    memory, _ = counting
    cause = memory.add(Draft("It was cold", title="Frost"), NOW).id
    other = memory.add(Draft("It was dry", title="Drought"), NOW).id
    number = memory.add(Draft("Then Alice left on 3 May 2020 because [[Frost]]"), NOW).id
    assert [edge.target for edge in memory.view([number])[0].links if edge.relation == "caused-by"] == [cause]
    memory.edit(number, lambda old: replace(old, body="Then Carol left on 9 July 2021 because [[Drought]]"), NOW)
    view = memory.view([number])[0]
    assert [edge.target for edge in view.links if edge.relation == "caused-by"] == [other]
    assert "Carol" in view.entities
    assert "Alice" not in view.entities
    assert [str(row[3])[:10] for row in rows(memory, "mentioned_times", number)] == ["2021-07-09"]


def test_a_link_that_a_person_made_survives_an_edit(counting):
    memory, _ = counting
    one, other = (memory.add(Draft(text), NOW).id for text in ("frost", "a burst pipe"))
    memory.link(one, "causes", other, NOW)
    memory.edit(other, lambda old: replace(old, body="a burst pipe in the cellar"), NOW)
    assert [edge.target for edge in memory.view([other])[0].links if edge.relation == "caused-by"] == [one]


def test_a_title_that_notes_wait_for_gets_their_links(counting):
    memory, _ = counting
    waiting = memory.add(Draft("The cellar is wet because [[Burst pipe]]"), NOW).id
    number = memory.add(Draft("It burst"), NOW).id
    memory.edit(number, lambda old: replace(old, title="Burst pipe"), NOW)
    assert [edge.target for edge in memory.view([number])[0].links if edge.relation == "causes"] == [waiting]


def test_an_edit_without_a_model_waits_for_its_vectors_and_reindex_makes_them(counting):
    memory, _ = counting
    number = memory.add(Draft("first"), NOW).id
    memory.edit(number, lambda old: replace(old, body="second"), NOW, embed=False)
    assert ask(memory, "second", NOW).waiting == 1
    assert reindexed(memory) == 1
    assert ask(memory, "second", NOW).waiting == 0
    check(memory)


def test_what_others_write_while_a_model_works_is_not_lost(counting):
    memory, _ = counting
    number = memory.add(Draft("text", topics=("old",)), NOW).id

    class Meddling(BagOfWords):
        calls = 0

        def embed(self, texts, *, query=False):
            Meddling.calls += 1
            if Meddling.calls == 1:
                memory.edit(number, lambda old: replace(old, topics=("theirs",)), NOW, embed=False)
            return super().embed(texts, query=query)

    memory.__dict__["embedder"] = Meddling()
    memory.edit(number, lambda old: replace(old, body="new text"), NOW)
    note = memory.view([number])[0].note
    assert (note.body, note.topics) == ("new text", ("theirs",))


def test_an_edit_of_nothing_or_of_no_note_is_refused_and_leaves_all_as_it_was(counting):
    memory, _ = counting
    number = memory.add(Draft("text"), NOW).id
    before = contents(memory.database.address)
    with pytest.raises(EmptyNote):
        memory.edit(number, lambda old: replace(old, body=" \n"), NOW)
    with pytest.raises(NoSuchNote):
        memory.edit(number + 1, lambda old: replace(old, body="x"), NOW)
    assert contents(memory.database.address) == before


# As a user types it


def test_edit_by_options_changes_what_they_name(memora):
    memora("add", "Alice works at Google", "--title", "Job", "--topic", "people", "--no-embed")
    options = ("--title", "", "--topic", "Work", "--type", "agent", "--occurred", "2024-05-03", "--no-embed")
    memora("edit", "#1", *options)
    memora("edit", 1, "--body", "-", "--no-embed", stdin="Alice works at Meta\n")
    note = memora("show", 1, "--json").json["notes"][0]
    assert (note["body"], note["title"], note["topics"]) == ("Alice works at Meta", "", ["work"])
    assert (note["kind"], note["occurred_start"][:10]) == ("agent", "2024-05-03")
    memora("edit", 1, "--occurred", "none", "--no-embed")
    assert memora("show", 1, "--json").json["notes"][0]["occurred_start"] is None
    assert memora("edit", 1, "--type", "agent", "--no-embed", "--json").json == {
        "version": 1,
        "id": 1,
        "changed": False,
    }


@pytest.mark.parametrize(
    "arguments", [("edit", "1x", "--title", "t"), ("edit", 1), ("edit", 1, "--type", "x"), ("add",)]
)
def test_what_cannot_be_carried_out_is_a_usage_error(memora, arguments):
    memora("add", "text", "--no-embed")
    assert memora(*arguments, code=2).out == ""


@pytest.mark.parametrize("arguments", [("edit", 9, "--title", "t"), ("forget", 1, 9), ("restore", 9), ("history", 9)])
def test_an_unknown_id_exits_with_3_and_writes_nothing(memora, home, arguments):
    memora("add", "text", "--no-embed")
    before = contents(home / "memora.db")
    assert memora(*arguments, code=3).out == ""
    assert contents(home / "memora.db") == before


@pytest.mark.parametrize("command", ["show", "pin", "unpin", "forget", "history", "restore"])
def test_a_number_sign_before_an_id_is_taken_and_anything_else_is_told(memora, command):
    memora("add", "text", "--no-embed")
    if command == "restore":
        memora("forget", 1)
    memora(command, "#1")
    for wrong in ("one", "#", "1.5", "##1", "9" * 5000):
        assert "no note id" in memora(command, wrong, code=2).err


def test_number_signs_are_taken_where_ids_are_options_too(memora):
    memora("add", "old", "--no-embed")
    memora("add", "new", "--supersedes", "#1", "--no-embed")
    memora("add", "newer", "--no-embed")
    memora("supersede", "#2", "#3")
    memora("explain", "old", "--note", "#1")
    assert memora("show", "#1", "--json").json["notes"][0]["superseded_by"] == 2


def test_add_reads_a_file(memora, home):
    path = home / "note.md"
    path.write_bytes("﻿# Title\r\n\r\nText é\n".encode())
    memora("add", "--file", path, "--no-embed")
    assert memora("show", 1, "--json").json["notes"][0]["body"] == "# Title\n\nText é"
    assert "cannot be read" in memora("add", "--file", home / "none.md", code=2).err
    assert "not both" in memora("add", "text", "--file", path, code=2).err


def in_terminal(editor, *arguments):
    """Run memora on a terminal with an editor that is a shell command with the file as `$1`; its code and output."""
    ours, theirs = pty.openpty()
    script = f"sh -c '{editor}' sh"
    process = subprocess.Popen(
        [sys.executable, "-m", "memora_cli", *map(str, arguments)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=os.environ | {"VISUAL": script, "NO_COLOR": "1"},
    )
    os.close(theirs)
    data = b""
    try:
        while chunk := os.read(ours, 65536):
            data += chunk
    except OSError:
        pass  # on Linux the end of a terminal is an error
    os.close(ours)
    return process.wait(timeout=60), data.decode()


def test_add_and_edit_open_the_editor_on_a_terminal(memora, tmp_path):
    code, out = in_terminal('printf "written by hand" > "$1"', "add", "--no-embed", "--topic", "hand")
    assert (code, out.split()) == (0, ["1"])
    code, out = in_terminal('printf " and changed" >> "$1"', "edit", 1, "--no-embed")
    assert code == 0, out
    note = memora("show", 1, "--json").json["notes"][0]
    assert (note["body"], note["topics"]) == ("written by hand\n and changed", ["hand"])
    code, out = in_terminal("true", "edit", 1, "--no-embed")
    assert (code, "as it was" in out) == (0, True)


def test_an_editor_that_fails_or_an_empty_text_changes_nothing(memora):
    memora("add", "stays", "--no-embed")
    for editor, arguments in (
        ("exit 3", ("edit", 1)),
        ("exit 3", ("add",)),
        (': > "$1"', ("edit", 1)),
        ("true", ("add",)),
    ):
        assert in_terminal(editor, *arguments)[0] == 2
    assert memora("list", "--json").json["notes"][0]["body"] == "stays"


def test_purge_on_a_terminal_is_asked_for(memora):
    memora("add", "a secret", "--no-embed")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "memora_cli", "purge", "1"], stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.write(ours, b"n\n")
    assert process.wait(timeout=60) == 1
    os.close(ours)
    os.close(theirs)
    assert memora("list", "--ids").out == "1\n"


# References


def references(memory, number):
    return {edge.target for edge in memory.view([number])[0].links if edge.relation == "references"}


def test_a_note_refers_to_the_notes_that_its_text_links_to(memory):
    memory.add(Draft("how to bleed a radiator", title="Radiators"), NOW, embed=False)
    memory.add(Draft("see [[radiators]] and [[Boiler|the boiler]]"), NOW, embed=False)
    assert references(memory, 2) == {1}
    memory.add(Draft("the boiler is in the cellar", title="Boiler"), NOW, embed=False)
    assert references(memory, 2) == {1, 3}


def test_an_edit_refreshes_the_references_of_a_note_and_undo_brings_them_back(memory):
    memory.add(Draft("one", title="One"), NOW, embed=False)
    memory.add(Draft("two", title="Two"), NOW, embed=False)
    memory.add(Draft("[[One]] and [[Later]]"), NOW, embed=False)
    memory.edit(3, lambda old: replace(old, body="[[Two]] and [[Later]]"), NOW, embed=False)
    assert references(memory, 3) == {2}
    memory.undo(NOW)
    assert references(memory, 3) == {1}
    memory.edit(3, lambda old: replace(old, body="nothing"), NOW, embed=False)
    memory.add(Draft("later", title="Later"), NOW, embed=False)
    assert references(memory, 3) == set()


def test_a_title_that_an_edit_gives_is_found_by_what_waited_for_it(memory):
    memory.add(Draft("see [[Radiators]], because [[Radiators]] leak"), NOW, embed=False)
    memory.add(Draft("how to bleed one"), NOW, embed=False)
    memory.edit(2, lambda old: replace(old, title="Radiators"), NOW, embed=False)
    assert references(memory, 1) == {2}


def test_notes_imported_as_lines_refer_to_one_another(memory):
    drafts = [("1", Draft("see [[Second]]")), ("2", Draft("a text", title="Second"))]
    list(memory.import_all(drafts, NOW))
    assert references(memory, 1) == {2}
