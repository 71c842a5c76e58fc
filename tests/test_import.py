"""The promises of import: folders of Markdown and JSON lines become notes, once, and what cannot be read is named."""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
import subprocess
import sys

import pytest
from conftest import NOW
from fakes import contents


def write(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def lines(folder, *values, name="notes.jsonl"):
    return write(folder, name, "".join(json.dumps(value) + "\n" for value in values))


def all_notes(memora, *options, below=None):
    """Notes by their source; by the path below a folder, when they came from one."""
    notes = memora("list", "-n", 0, "--json", *options).json["notes"]
    return {os.path.relpath(note["source"], below.resolve()) if below else note["source"]: note for note in notes}


def outcome_of(outcome):
    """What an import counts."""
    return tuple(outcome.json[key] for key in ("added", "unchanged", "updated"))


@pytest.fixture
def vault(tmp_path):
    """A small folder of notes as people keep them."""
    folder = tmp_path / "vault"
    front = "---\ntitle: Moving house\ntags: [Home, Big Plans]\ndate: 2023-04-05T10:00:00+02:00\n---\n"
    write(folder, "moving.md", front + "We signed for the flat.\n\nNext: [[Anna Berg]] has the keys. #keys\n")
    write(folder, "2024-05-03 Dentist.md", "The dentist found nothing.\n")
    write(folder, "people/anna.md", "# Anna Berg\n\nAnna lives in Oslo.\n")
    write(folder, "people/2021-02-03.md", "A day without a title.\n")
    write(folder, "flood.md", "The cellar flooded because [[Anna Berg]] left the tap on.\n")
    write(folder, "plain.txt", "Only text\r\nwith old line ends\r\n")
    write(folder, ".obsidian/workspace.md", "not a note")
    write(folder, ".hidden.md", "not a note")
    write(folder, "picture.png", b"\x89PNG")
    return folder


def test_a_folder_of_markdown_becomes_notes_with_titles_tags_and_dates(memora, vault):
    outcome = memora("import", vault, "--json")
    assert outcome.json == {
        "version": 1, "added": 6, "updated": 0, "unchanged": 0, "gone": [], "failed": [], "skipped": [], "unread": [],
        "unrelated": [], "history": 0,
    }  # fmt: skip
    notes = all_notes(memora, below=vault)
    assert set(notes) == {
        "moving.md", "2024-05-03 Dentist.md", "people/anna.md", "people/2021-02-03.md", "flood.md", "plain.txt"
    }  # fmt: skip
    moving = notes["moving.md"]
    assert (moving["title"], moving["topics"]) == ("Moving house", ["home", "big-plans", "keys"])
    assert moving["created_at"] == "2023-04-05T08:00:00+00:00"
    assert "---" not in moving["body"]
    dentist = notes["2024-05-03 Dentist.md"]
    assert (dentist["title"], dentist["created_at"]) == ("Dentist", "2024-05-03T00:00:00+00:00")
    assert notes["people/anna.md"]["title"] == "Anna Berg"
    assert notes["people/2021-02-03.md"]["created_at"] == "2021-02-03T00:00:00+00:00"
    assert notes["plain.txt"]["body"] == "Only text\nwith old line ends"


def test_a_file_without_a_date_is_as_old_as_the_file(memora, tmp_path):
    path = write(tmp_path / "vault", "note.md", "undated")
    os.utime(path, (1_600_000_000, 1_600_000_000))
    memora("import", path.parent)
    assert all_notes(memora, below=path.parent)["note.md"]["created_at"] == "2020-09-13T12:26:40+00:00"


def test_links_between_files_connect_their_notes_in_whatever_order_they_come(memora, vault):
    memora("import", vault)
    notes = all_notes(memora, below=vault)
    anna, flood, moving = (notes[name]["id"] for name in ("people/anna.md", "flood.md", "moving.md"))
    shown = {note["id"]: note for note in memora("show", anna, flood, moving, "--json").json["notes"]}
    assert {"id": anna, "relation": "caused-by", "weight": 1.0} in shown[flood]["links"]
    assert all("Anna Berg" in shown[number]["entities"] for number in (anna, flood, moving))


def test_an_imported_note_is_found_by_meaning_words_and_topic(memora, vault):
    memora("import", vault)
    notes = all_notes(memora, below=vault)
    assert (
        memora("search", "a doctor for my teeth", "--ids", "-n", 1).out == f"{notes['2024-05-03 Dentist.md']['id']}\n"
    )
    assert memora("search", "flat", "--topic", "Big Plans", "--ids").out == f"{notes['moving.md']['id']}\n"


def test_importing_a_folder_twice_adds_nothing(memora, vault, home):
    memora("import", vault)
    before = contents(home / "memora.db")
    assert memora("import", vault, "--json").json["unchanged"] == 6
    assert contents(home / "memora.db") == before
    for path in vault.rglob("*.md"):
        os.utime(path, (1_600_000_000, 1_600_000_000))
    assert memora("import", vault, "--json").json["unchanged"] == 6
    assert contents(home / "memora.db") == before


def test_files_that_are_gone_are_named_with_what_forgets_their_notes_and_nothing_is_forgotten(memora, vault):
    memora("import", vault)
    notes = all_notes(memora, below=vault)
    (vault / "plain.txt").unlink()
    (vault / "people" / "anna.md").rename(vault / "people" / "berg.md")
    outcome = memora("import", vault)
    assert outcome.out == "1 added, 0 updated, 4 unchanged, 2 gone, 0 left out\n"
    anna, plain = notes["people/anna.md"]["id"], notes["plain.txt"]["id"]
    assert f"people/anna.md is gone; its note {anna} stays" in outcome.err
    assert f"memora forget {anna} {plain}\n" in outcome.err
    assert memora("import", vault, "--json").json["gone"] == [
        {"name": "people/anna.md", "id": anna},
        {"name": "plain.txt", "id": plain},
    ]
    assert {anna, plain} <= {note["id"] for note in all_notes(memora).values()}


def test_what_was_not_imported_from_the_folder_or_cannot_be_read_now_is_not_gone(memora, vault, tmp_path):
    memora("import", vault)
    memora("import", write(tmp_path, "vault-2/else.md", "from a folder whose name begins alike"))
    memora("add", "typed by hand", "--no-embed")
    write(vault, "moving.md", "---\ntitle: [unclosed\n---\ntext\n")
    (tmp_path / "vault-2" / "else.md").unlink()
    assert memora("import", vault, "--json", code=1).json["gone"] == []
    memora("import", vault / "plain.txt")
    assert [file["name"] for file in memora("import", vault.parent / "vault-2", "--json").json["gone"]] == ["else.md"]


def references(memora, notes, name):
    """The notes that the file's note refers to, by name."""
    links = memora("show", notes[name]["id"], "--json").json["notes"][0]["links"]
    names = {note["id"]: name for name, note in notes.items()}
    return {names[link["id"]] for link in links if link["relation"] == "references"}


def test_links_lead_to_notes_by_title_file_name_path_and_alias(memora, tmp_path):
    folder = tmp_path / "vault"
    write(
        folder,
        "index.md",
        "[[Anna Berg|Anna]] [[boat-trip#packing]] [[2024-05-03]] [[Big Blue]] [[work/plan]] [[Nobody]]\n",
    )
    write(folder, "people/anna.md", "# Anna Berg\n\nAnna lives in Oslo.\n")
    write(folder, "boat-trip.md", "# Summer\n\n## packing\n\nrope\n")
    write(folder, "daily/2024-05-03.md", "rain all day\n")
    write(folder, "ibm.md", "---\naliases: [Big Blue]\n---\ncomputers\n")
    write(folder, "work/plan.md", "the plan at work\n")
    write(folder, "home/plan.md", "the plan at home, see [[plan]] and [[index]]\n")
    write(folder, "work/todo.md", "follow the [[plan]]\n")
    memora("import", folder, "--no-embed")
    notes = all_notes(memora, below=folder)
    assert references(memora, notes, "index.md") == {
        *("people/anna.md", "boat-trip.md", "daily/2024-05-03.md", "ibm.md", "work/plan.md")
    }
    assert references(memora, notes, "home/plan.md") == {"index.md"}
    assert references(memora, notes, "work/todo.md") == {"work/plan.md"}


def test_links_follow_the_file_when_it_changes(memora, vault, home):
    write(vault, "moving.md", "See [[Anna Berg]].\n")
    memora("import", vault, "--no-embed")
    notes = all_notes(memora, below=vault)
    assert references(memora, notes, "moving.md") == {"people/anna.md"}
    before = contents(home / "memora.db")
    memora("import", vault, "--no-embed")
    assert contents(home / "memora.db") == before
    write(vault, "moving.md", "See [[plain]].\n")
    memora("import", vault, "--no-embed")
    notes = all_notes(memora, "--current", below=vault)
    assert references(memora, notes, "moving.md") == {"plain.txt"}


def test_a_single_file_keeps_the_links_that_only_its_folder_can_tell(memora, tmp_path):
    folder = tmp_path / "vault"
    file = write(folder, "a.md", "See [[Big Blue]].\n")
    write(folder, "ibm.md", "---\naliases: [Big Blue]\n---\ncomputers\n")
    memora("import", folder, "--no-embed")
    memora("import", file, "--no-embed")
    assert references(memora, all_notes(memora, below=folder), "a.md") == {"ibm.md"}


def test_front_matter_that_is_not_understood_is_told_by_file_and_key_and_the_note_is_there(memora, vault):
    write(vault, "odd.md", "---\ndate: some day\ntags: [a]\npinned: maybe\n---\nan odd note\n")
    write(vault, "late.md", "---\ndate: 9999-12-31\n---\nmuch later\n")
    outcome = memora("import", vault)
    assert "odd.md: date was not understood and is left out: some day\n" in outcome.err
    assert "odd.md: pinned was not understood" in outcome.err
    assert "late.md: date was not understood" in outcome.err
    note = all_notes(memora, below=vault)["odd.md"]
    assert (note["topics"], note["pinned"]) == (["a"], False)
    assert {item["key"] for item in memora("import", vault, "--json").json["unread"]} == {"date", "pinned"}


def test_a_changed_file_updates_its_note_and_history_keeps_the_older_text(memora, vault):
    memora("import", vault)
    old = all_notes(memora, below=vault)["plain.txt"]
    write(vault, "plain.txt", "Other text")
    assert outcome_of(memora("import", vault, "--json")) == (0, 5, 1)
    new = all_notes(memora, below=vault)["plain.txt"]
    assert (new["id"], new["uid"], new["body"]) == (old["id"], old["uid"], "Other text")
    assert new["created_at"] == old["created_at"]
    edit = memora("history", new["id"], "--json").json["changes"][-1]
    assert (edit["action"], edit["before"]["body"]) == ("edit", old["body"])
    assert memora("search", "Other text", "-n", 1, "--ids").out == f"{new['id']}\n"
    assert len(all_notes(memora)) == 6


def test_changed_front_matter_alone_updates_the_note(memora, tmp_path):
    path = write(tmp_path / "vault", "a.md", "---\ntags: [one]\n---\nThe text\n")
    memora("import", path)
    write(tmp_path / "vault", "a.md", "---\ntags: [two]\ntitle: Named\ndate: 2024-05-03\n---\nThe text\n")
    assert outcome_of(memora("import", path, "--json")) == (0, 0, 1)
    (note,) = all_notes(memora).values()
    assert (note["title"], note["topics"], note["created_at"][:10]) == ("Named", ["two"], "2024-05-03")
    assert outcome_of(memora("import", path, "--json")) == (0, 1, 0)


def test_what_a_person_edited_stays_until_the_file_itself_changes(memora, tmp_path):
    path = write(tmp_path / "vault", "a.md", "From the file\n")
    memora("import", path)
    memora("edit", 1, "--body", "By hand", "--topic", "mine", "--no-embed")
    assert outcome_of(memora("import", path, "--json")) == (0, 1, 0)
    assert memora("list", "--json").json["notes"][0]["body"] == "By hand"
    write(tmp_path / "vault", "a.md", "From the file again\n")
    assert outcome_of(memora("import", path, "--json")) == (0, 0, 1)
    memora("undo")
    assert memora("list", "--json").json["notes"][0]["body"] == "By hand"


def test_a_file_that_is_changed_back_is_current_with_what_it_says_now(memora, vault):
    for text in ("first text", "second text", "first text"):
        write(vault, "plain.txt", text)
        memora("import", vault)
    assert all_notes(memora, "--current", below=vault)["plain.txt"]["body"] == "first text"
    assert outcome_of(memora("import", vault, "--json")) == (0, 6, 0)


def test_a_file_is_the_same_from_whichever_folder_it_is_imported(memora, vault, tmp_path, monkeypatch):
    memora("import", vault)
    (tmp_path / "link").symlink_to(vault)
    monkeypatch.chdir(vault)
    for path in (vault / "people", vault / "people" / "anna.md", tmp_path / "link", ".", "people/../people/anna.md"):
        assert memora("import", path, "--json").json["added"] == 0


def test_file_names_that_differ_only_in_bytes_that_are_no_text_are_two_files(memora, tmp_path):
    for name in (b"caf\xe8.md", b"caf\xe9.md"):
        write(tmp_path / "vault", os.fsdecode(name), f"text of {name!r}")
    memora("import", tmp_path / "vault")
    assert len(memora("list", "--current", "--ids").out.split()) == 2


def test_files_of_the_same_name_in_two_folders_are_two_notes_that_both_hold(memora, tmp_path):
    write(tmp_path / "work", "todo.md", "Call the bank")
    write(tmp_path / "home", "todo.md", "Paint the door")
    memora("import", tmp_path / "work")
    memora("import", tmp_path / "home")
    assert len(memora("list", "--current", "--ids").out.split()) == 2


def test_two_files_with_the_same_text_are_both_there_after_any_number_of_imports(memora, tmp_path):
    write(tmp_path / "vault", "a.md", "same text")
    write(tmp_path / "vault", "b.md", "same text")
    memora("import", tmp_path / "vault")
    assert memora("import", tmp_path / "vault", "--json").json["added"] == 0
    assert len(memora("list", "--current", "--ids").out.split()) == 2


def test_one_file_can_be_imported(memora, vault):
    memora("import", vault / "people" / "anna.md")
    assert [note["title"] for note in all_notes(memora).values()] == ["Anna Berg"]


def test_json_lines_become_notes_with_all_they_say(memora, tmp_path):
    path = lines(
        tmp_path,
        {
            "text": "We bought a boat",
            "title": "Boat",
            "topics": ["Water Sports"],
            "created_at": "2024-05-03T10:00:00+02:00",
            "occurred": "2024-04",
            "kind": "agent",
            "context": "diary",
            "pinned": True,
            "id": "abc",
        },
        {"body": "The other key for the text", "source": "mail 7"},
        {"text": "number as id", "id": 17},
    )
    assert memora("import", path, "--json").json["added"] == 3
    notes = all_notes(memora)
    assert set(notes) == {"abc", "mail 7", "17"}
    boat = notes["abc"]
    assert (boat["title"], boat["topics"], boat["kind"], boat["context"], boat["pinned"]) == (
        "Boat", ["water-sports"], "agent", "diary", True
    )  # fmt: skip
    assert boat["created_at"] == "2024-05-03T08:00:00+00:00"
    assert (boat["occurred_start"], boat["occurred_end"]) == ("2024-04-01T00:00:00+00:00", "2024-05-01T00:00:00+00:00")


def test_json_lines_are_read_from_standard_input(memora):
    text = '\ufeff{"text": "one"}\n\n{"text": "two"}'
    assert memora("import", "-", "--json", stdin=text).json["added"] == 2


def test_importing_json_lines_twice_adds_nothing_and_a_changed_line_is_another_note(memora, tmp_path, home):
    path = lines(tmp_path, {"id": "a", "text": "one"}, {"id": "b", "text": "two"}, {"text": "three"})
    memora("import", path)
    before = contents(home / "memora.db")
    assert memora("import", path, "--json").json["unchanged"] == 3
    assert contents(home / "memora.db") == before
    lines(tmp_path, {"id": "a", "text": "one, corrected"}, {"id": "b", "text": "two"})
    assert outcome_of(memora("import", path, "--json")) == (1, 1, 0)
    bodies = {note["body"] for note in memora("list", "--current", "--json").json["notes"]}
    assert bodies == {"one", "one, corrected", "two", "three"}


def test_the_same_id_in_two_files_of_lines_is_two_notes_that_both_hold(memora, tmp_path):
    for name in ("a.jsonl", "b.jsonl"):
        memora("import", lines(tmp_path, {"id": 1, "text": f"text of {name}"}, name=name))
    assert len(memora("list", "--current", "--ids").out.split()) == 2


def test_times_in_lines_and_texts_take_the_first_day_of_the_week(memora, monkeypatch):
    monkeypatch.setenv("MEMORA_WEEK_START", "sunday")
    line = json.dumps({"text": "The bill was paid last week", "occurred": "last week", "created_at": "2025-11-24"})
    memora("import", "-", "--at", "2025-11-24", stdin=line)
    assert all_notes(memora)[""]["occurred_start"][:10] == "2025-11-16"


def test_the_same_line_twice_in_one_file_is_one_note(memora, tmp_path):
    path = lines(tmp_path, *[{"text": "same"}] * 3)
    value = memora("import", path, "--json").json
    assert (value["added"], value["unchanged"]) == (1, 2)


def test_more_than_a_batch_is_imported_in_order(memora, tmp_path):
    path = lines(tmp_path, *({"text": f"note number {n}", "id": n} for n in range(150)))
    assert memora("import", path, "--json").json["added"] == 150
    notes = all_notes(memora)
    assert [notes[str(n)]["id"] for n in range(150)] == sorted(note["id"] for note in notes.values())


# What cannot be read

BAD_LINES = [
    "not json",
    "[1, 2]",
    '{"title": "no text"}',
    '{"text": 7}',
    '{"text": ""}',
    '{"text": "   \\n "}',
    '{"text": "x", "kind": "feeling"}',
    '{"text": "x", "topics": "a"}',
    '{"text": "x", "created_at": "no time at all"}',
    '{"text": "x", "created_at": 5}',
    '{"text": "x", "title": ["a"]}',
    '{"text": "x", "pinned": "false"}',
    '{"text": "x", "pinned": 1}',
    '{"text": "x", "id": ["a"]}',
    '{"text": "x", "id": true}',
    '{"text": "x", "created_at": "0001-01-01T00:00+14:00"}',
    '{"text": ' + "[" * 100_000,
    '{"text": "unfinished',
    '{"text": "x", "created_at": "9999-12-31"}',
    '{"text": "x", "occurred": "9999-12-31"}',
    "[" * 100_000,
    json.dumps({"text": "x" * 1_000_001}),
]


@pytest.mark.parametrize("bad", BAD_LINES, ids=range(len(BAD_LINES)))
def test_a_bad_line_is_named_the_rest_is_imported_and_the_end_is_1(memora, tmp_path, bad):
    path = write(tmp_path, "notes.jsonl", f'{{"text": "good one"}}\n{bad}\n{{"text": "good two"}}\n')
    outcome = memora("import", path, "--json", code=1)
    (failed,) = outcome.json["failed"]
    assert failed["name"] == "notes.jsonl:2"
    assert failed["reason"]
    assert "notes.jsonl:2" in outcome.err
    assert [note["body"] for note in memora("list", "--json").json["notes"]] == ["good two", "good one"]


def test_an_unreadable_file_is_named_the_rest_is_imported_and_the_end_is_1(memora, vault):
    write(vault, "broken.md", "---\ntitle: [unclosed\n---\ntext\n")
    (vault / "dangling.md").symlink_to(vault / "nowhere.md")
    (vault / "loop.md").symlink_to(vault / "loop.md")
    os.mkfifo(vault / "pipe.md")
    write(vault, "huge.md", "word " * 250_000)
    outcome = memora("import", vault, "--json", code=1)
    failed = {item["name"].split(":")[0] for item in outcome.json["failed"]}
    bad = {"broken.md", "dangling.md", "loop.md", "pipe.md", "huge.md"}
    assert failed == bad
    assert outcome.json["added"] == 6
    assert all(name in outcome.err for name in bad)


def test_an_empty_file_is_named_and_is_no_failure(memora, vault):
    write(vault, "empty.md", "")
    write(vault, "blank.md", "---\ntitle: only a title\n---\n \n")
    outcome = memora("import", vault, "--json")
    assert (outcome.json["added"], outcome.json["failed"]) == (6, [])
    assert [item["name"] for item in outcome.json["skipped"]] == ["blank.md", "empty.md"]
    assert "blank.md" in outcome.err
    assert memora("import", vault).out == "0 added, 0 updated, 6 unchanged, 0 gone, 2 left out\n"


def test_links_that_lead_out_of_the_folder_are_named_and_files_reached_twice_are_read_once(memora, vault, tmp_path):
    write(tmp_path, "private/diary.md", "a secret")
    (vault / "out.md").symlink_to(tmp_path / "private" / "diary.md")
    (vault / "outer").symlink_to(tmp_path / "private")
    (vault / "again.md").symlink_to(vault / "plain.txt")
    (vault / "folk").symlink_to(vault / "people")
    write(vault, ".attic/old.md", "from the attic")
    (vault / "old.md").symlink_to(vault / ".attic" / "old.md")
    outcome = memora("import", vault, "--json", code=1)
    assert outcome.json["added"] == 7
    assert {item["name"] for item in outcome.json["failed"]} == {"out.md", "outer"}
    assert {item["name"] for item in outcome.json["skipped"]} == {"again.md", "folk"}
    assert all(name in outcome.err for name in ("out.md", "outer", "again.md", "folk"))
    assert "a secret" not in memora("list").out


def test_the_count_for_the_progress_bar_is_what_is_imported(vault, tmp_path):
    from memora_cli.memory.importing import count, read

    path = write(tmp_path, "notes.jsonl", '\n{"text": "one"}\n  \n\nbroken\n{"text": "two"}')
    (vault / "again.md").symlink_to(vault / "plain.txt")
    for source in (path, vault, vault / "plain.txt"):
        assert count(source) == sum(1 for _ in read(source, NOW))


def test_without_a_model_the_import_says_once_that_its_notes_wait_and_why(memora, vault, monkeypatch):
    monkeypatch.setenv("MEMORA_EMBEDDER", "no-such-model")
    outcome = memora("import", vault)
    assert outcome.out.startswith("6 added")
    assert outcome.err.count("no vectors yet for 6") == outcome.err.count("memora reindex") == 1
    assert "no-such-model" in outcome.err


def test_bytes_that_are_no_text_are_kept_as_far_as_they_are(memora, tmp_path):
    folder = tmp_path / "vault"
    write(folder, "latin.md", "caf\u00e9 au lait".encode("latin-1"))
    write(folder, "utf16.md", "caf\u00e9 noir".encode("utf-16"))
    write(folder, "nul.md", b"before\0after")
    memora("import", folder)
    notes = all_notes(memora, below=folder)
    assert notes["latin.md"]["body"] == "caf\ufffd au lait"
    assert notes["utf16.md"]["body"] == "caf\u00e9 noir"
    assert notes["nul.md"]["body"] == "before\ufffdafter"


@pytest.mark.parametrize("name", ["missing", "picture.png", "missing.jsonl", "missing.md"])
def test_a_path_that_cannot_be_imported_is_an_error_with_its_name(memora, tmp_path, name):
    write(tmp_path, "picture.png", b"\x89PNG")
    outcome = memora("import", tmp_path / name, code=None)
    assert outcome.code in (1, 2)
    assert name in outcome.err
    assert memora("list").out == ""


def test_an_empty_folder_imports_nothing(memora, tmp_path):
    (tmp_path / "empty").mkdir()
    assert memora("import", tmp_path / "empty", "--json").json["added"] == 0


@pytest.mark.skipif(not shutil.which("setpriv"), reason="needs setpriv to lay down what root may do")
@pytest.mark.parametrize("what", ["file", "folder", "lines", "closed"])
def test_what_the_user_may_not_read_is_named(tmp_path, what):
    write(tmp_path, "notes/good.md", "a good note")
    target = tmp_path / "notes"
    if what == "file":
        write(tmp_path, "notes/secret.md", "a secret").chmod(0)
    elif what == "folder":
        write(tmp_path, "notes/secret/deep.md", "a secret")
        (tmp_path / "notes/secret").chmod(0)
    elif what == "closed":
        target = write(tmp_path, "notes/secret/deep.md", "a secret")
        target.parent.chmod(0)
    else:
        target = lines(tmp_path, {"text": "a secret"}, name="secret.jsonl")
        target.chmod(0)
    powers = "-dac_override,-dac_read_search"
    bare = ["setpriv", f"--bounding-set={powers}", f"--inh-caps={powers}"] if os.geteuid() == 0 else []
    command = [*bare, sys.executable, "-m", "memora_cli", "import", target]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    (tmp_path / "notes/secret").chmod(0o700) if what in ("folder", "closed") else None
    assert "Traceback" not in ended.stderr
    assert "secret" in ended.stderr
    assert ended.returncode == (2 if what in ("lines", "closed") else 1)


def test_what_leads_elsewhere_or_is_no_file_is_named_and_the_rest_is_imported(memora, tmp_path, figure):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("a secret of somebody else")
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    (folder / "good.md").write_text("a good note [[../outside/secret]] [[/etc/passwd]]")
    (folder / "deep" / "better.md").write_text("a better note")
    bad = {
        "up.md": "../outside/secret.md",
        "absolute.md": str(outside / "secret.md"),
        "away": str(outside),
        "itself.md": "itself.md",
        "one.md": "other.md",
        "other.md": "one.md",
        "zero.md": "/dev/zero",
        "nowhere.md": "nothing.md",
    }
    for name, target in bad.items():
        (folder / name).symlink_to(target)
    (folder / "deep" / "round").symlink_to("..")
    os.mkfifo(folder / "pipe.md")
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(folder / "socket.md"))
    devices = []
    if os.geteuid() == 0:
        os.mknod(folder / "device.md", 0o600 | stat.S_IFCHR, os.makedev(1, 5))
        devices = ["device.md"]
    outcome = memora("import", folder, "--json", "--no-embed", code=1)
    listening.close()
    named = sorted([*bad, "pipe.md", "socket.md", *devices])
    assert sorted(item["name"] for item in outcome.json["failed"]) == named
    assert [item["name"] for item in outcome.json["skipped"]] == ["deep/round"]
    assert outcome.json["added"] == 2
    assert "secret of somebody" not in memora("export", "-").out
    figure("import", f"{len(named)} links out, loops, pipes, sockets and devices named, 0 read, the rest imported")


def test_the_caps_on_the_size_and_the_number_of_notes_are_said(memora, tmp_path, monkeypatch):
    from memora_cli.memory import importing

    lines = [*("x " * size for size in (2, 600_000, 3)), "one over", "two over"]
    (tmp_path / "many.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in lines))
    monkeypatch.setattr(importing.capped, "__defaults__", (3,))
    outcome = memora("import", tmp_path / "many.jsonl", "--no-embed", code=1)
    assert "many.jsonl:2 was left out: the note has 1,200,000 bytes and the cap is 1,000,000" in outcome.err
    assert "many.jsonl:4 was left out: this and what follows are over the cap of 3 notes of one import" in outcome.err
    assert outcome.out == "2 added, 0 updated, 0 unchanged, 0 gone, 2 left out\n"
