"""The promises of export: notes go out whole, to JSON lines or Markdown, and come back the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from conftest import NOW
from fakes import open_at
from hypothesis import given, settings
from hypothesis import strategies as st

from memora_cli.errors import MemoraError
from memora_cli.memory.exporting import line_of, write_folder
from memora_cli.memory.importing import read, read_lines
from memora_cli.memory.lines import to_line
from memora_cli.render.shapes import dumps
from memora_cli.store import graph
from memora_cli.values import Draft, Filters, Window

NASTY = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("\n\r\t\0\x1b\x85\u2028\ufeff\u200b\u202e\u0301\ud800-'\"#:[]{}|>&*!%@`\\,? "),
        st.sampled_from(
            ["---", "...", "null", "yes", "a: b", "- x", "```", "because [[X]]", "#tag", "\n\n", "1e5"]
        ).map(lambda text: text[0]),
    ),
    max_size=60,
)
SNIPPETS = st.lists(
    NASTY | st.sampled_from(["\n---\n", "\n...\n", "a: b", "null", "because [[X]]", "# Title\n", "\r\n", "{{", "- x"]),
    min_size=1,
    max_size=4,
).map("".join)
MOMENTS = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)).map(lambda moment: moment.replace(tzinfo=UTC))


@st.composite
def windows(draw):
    start = draw(MOMENTS)
    end = start + timedelta(seconds=draw(st.integers(0, 10**8)))
    return draw(st.sampled_from([None, Window(start, end, ""), Window(start, None, ""), Window(None, end, "")]))


DRAFTS = st.builds(
    Draft,
    body=SNIPPETS,
    title=NASTY,
    topics=st.lists(NASTY, max_size=3).map(tuple),
    kind=st.sampled_from(["world", "agent", "opinion"]),
    context=SNIPPETS,
    created_at=st.none() | MOMENTS,
    occurred=windows(),
    entities=st.lists(NASTY, max_size=2).map(tuple),
    pinned=st.booleans(),
    source=NASTY,
    dated=st.booleans(),
)


def lines_of(memory, space=None):
    found = memory.export(Filters(space=space or memory.space), every_space=space is None)
    return [dumps(to_line(record)) for record in found]


def archive_of(memory):
    return [dumps(line_of(one)) for one in memory.archive(every_space=True)]


def take(memory, items):
    """Import items without vectors; what was left out."""
    intake, found = memory.intake(NOW, embed=False), list(items)
    left = [(item.name, item.problem) for item in found if item.problem]
    readable = [item for item in found if not item.problem]
    left += [
        (taken.item.name, str(taken.outcome))
        for taken in intake.take(readable)
        if isinstance(taken.outcome, MemoraError)
    ]
    return left + intake.unrelated


def fill(memory, drafts, data):
    """Add what can be added, and relate some of it."""
    ids = []
    for draft in drafts:
        try:
            ids.append(memory.add(draft, NOW, embed=False, force=True).id)
        except MemoraError:
            continue
    for _ in range(min(4, len(ids))):
        one, other = data.draw(st.sampled_from(ids)), data.draw(st.sampled_from(ids))
        relation = data.draw(st.sampled_from(["causes", "enables", "prevents", "references", "supersedes"]))
        if relation == "supersedes":
            if one < other:
                memory.supersede(one, other, NOW)
        elif one != other:
            with memory.database.write() as connection:
                graph.link(connection, memory.space, [graph.Link(one, other, relation, 0.5)])


@contextmanager
def memories():
    """Two empty memories, and the folder that they are in."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with open_at(folder / "one.db") as one, open_at(folder / "two.db") as two:
            yield one, two, folder


@given(st.lists(DRAFTS, max_size=5), st.data())
@settings(max_examples=40, deadline=None)
def test_json_lines_of_any_notes_read_back_to_the_same_notes_with_ids_and_relations(drafts, data):
    with memories() as (one, two, _):
        fill(one, drafts, data)
        exported = lines_of(one)
        assert take(two, read_lines([line.encode() for line in exported], "-", NOW)) == []
        assert lines_of(two) == exported


@given(st.lists(DRAFTS, max_size=5), st.data())
@settings(max_examples=40, deadline=None)
def test_a_folder_of_markdown_of_any_notes_reads_back_to_the_same_notes(drafts, data):
    with memories() as (one, two, folder):
        fill(one, drafts, data)
        exported = lines_of(one)
        write_folder(folder / "out", one.export(Filters(), every_space=True), force=False)
        assert len(list((folder / "out").iterdir())) == len(exported)
        assert take(two, read(folder / "out", NOW)) == []
        assert lines_of(two) == exported


def change(memory, data, at):
    """Change something that can be changed, as drawn."""
    ids = [note.id for note in memory.notes(Filters())] or [1]
    one, other = data.draw(st.sampled_from(ids)), data.draw(st.sampled_from(ids))
    name = st.sampled_from(["Alice", "Bob", "alice", "Robert", "habits"])
    text = st.sampled_from(["Alice met Bob", "alice drinks tea with Robert", "because [[T]] Bob paints", "x"])
    trash = [note.id for note in memory.forgotten()] or [1]
    act = data.draw(
        st.sampled_from(
            [
                lambda: memory.edit(one, lambda old: replace(old, body=data.draw(text)), at, embed=False),
                lambda: memory.edit(one, lambda old: replace(old, title="T", entities=("Bob",)), at, embed=False),
                lambda: memory.add(Draft(data.draw(text), topics=("habits",)), at, embed=False, force=True),
                lambda: memory.add(Draft(data.draw(text), supersedes=(one,)), at, embed=False, force=True),
                lambda: memory.forget([one], at),
                lambda: memory.restore([data.draw(st.sampled_from(trash))], at),
                lambda: memory.purge([one], at),
                lambda: memory.pin([one], at, pinned=data.draw(st.booleans())),
                lambda: memory.supersede(one, other, at),
                lambda: memory.link(one, "caused-by", other, at),
                lambda: memory.alias(data.draw(name), data.draw(name), at),
                lambda: memory.unalias(data.draw(name), at),
                lambda: memory.undo(at),
            ]
        )
    )
    with suppress(MemoraError):
        act()


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_json_lines_of_any_memory_read_back_to_the_same_memory_with_its_history(data):
    with memories() as (one, two, _):
        for memory in (one, two):
            memory.__dict__["_embedder"] = lambda _wanted: (None, "")
        for text in ("Alice met Bob", "Robert paints", "tea"):
            one.add(Draft(text), NOW, embed=False)
        for hour in range(data.draw(st.integers(0, 12))):
            change(one, data, NOW + timedelta(hours=hour + 1))
        exported = archive_of(one)
        assert take(two, read_lines([line.encode() for line in exported], "-", NOW)) == []
        assert archive_of(two) == exported
        everything = [note.id for note in (*one.notes(Filters()), *one.forgotten())]
        assert [two.history(number) for number in everything] == [one.history(number) for number in everything]
        assert (two.forgotten(), two.aliases()) == (one.forgotten(), one.aliases())
        for hour in range(14):
            as_of = Filters(as_of=NOW + timedelta(hours=hour, minutes=30))
            assert two.notes(as_of) == one.notes(as_of)
        for _ in range(3):
            later = NOW + timedelta(days=2)
            assert two.undo(later) == one.undo(later)
            assert archive_of(two) == archive_of(one)


@pytest.fixture
def filled(memora):
    """A memory with a bit of everything."""
    memora("add", "Alice works at Google", "--topic", "people", "--entity", "GOOG", "--at", "2024-03-04", "--no-embed")
    memora("supersede", 1, "--with", "Alice works at Meta", "--no-embed")
    memora("add", "The pipe burst", "--title", "Frost / ice: 2024?", "--occurred", "last winter", "--no-embed")
    memora("add", "A note of work", "--space", "work", "--pin", "--no-embed")


def use(monkeypatch, home, name):
    monkeypatch.setenv("MEMORA_DB", str(home / name))


def test_export_prints_a_line_of_json_for_each_note_of_the_space(memora, filled):
    lines = [json.loads(line) for line in memora("export", "-", "--no-history").out.splitlines()]
    assert [(line["id"], line["text"]) for line in lines] == [
        (1, "Alice works at Google"),
        (2, "Alice works at Meta"),
        (3, "The pipe burst"),
    ]
    assert lines[0]["entities"] == ["GOOG"]
    assert lines[1]["supersedes"][0]["uid"] == lines[0]["uid"]
    assert len(memora("export", "-", "--all-spaces", "--no-history").out.splitlines()) == 4
    records = [json.loads(line).get("record", "note") for line in memora("export", "-").out.splitlines()]
    assert list(dict.fromkeys(records)) == ["memory", "names", "note", "change"]


@pytest.mark.parametrize("target", ["notes.jsonl", "folder"])
def test_every_space_goes_out_and_comes_back(memora, filled, home, monkeypatch, target):
    before = memora("export", "-", "--all-spaces", "--no-history").out
    history = ", 5 of history" if target == "notes.jsonl" else ""
    assert memora("export", home / target, "--all-spaces").out == f"4 written, 0 unchanged{history}\n"
    use(monkeypatch, home, "other.db")
    counts = "4 added, 0 updated, 0 unchanged, 0 gone, 0 left out"
    assert memora("import", home / target, "--no-embed").out == f"{counts}{history}\n"
    assert memora("export", "-", "--all-spaces", "--no-history").out == before
    assert memora("list", "--space", "work", "--ids").out == "4\n"
    assert memora("import", home / target).out == "0 added, 0 updated, 4 unchanged, 0 gone, 0 left out\n"


def test_exported_notes_can_be_brought_into_another_space(memora, filled, home):
    memora("export", home / "notes.jsonl")
    memora("import", home / "notes.jsonl", "--space", "copy", "--no-embed")
    notes = memora("list", "--space", "copy", "--json").json["notes"]
    assert [note["id"] for note in notes if note["superseded_by"]] == [5]
    assert sorted(note["id"] for note in notes) == [5, 6, 7]  # the ids 1 to 3 are taken


def test_into_a_memory_in_use_notes_come_under_new_ids_with_their_relations(memora, filled, home, monkeypatch):
    memora("export", home / "notes.jsonl")
    use(monkeypatch, home, "other.db")
    memora("add", "something else", "--no-embed")
    memora("add", "The pipe burst", "--title", "Frost", "--no-embed")
    assert memora("import", home / "notes.jsonl", "--no-embed").out.startswith("2 added, 0 updated, 1 unchanged")
    notes = {note["body"]: note for note in memora("list", "--json").json["notes"]}
    assert notes["Alice works at Google"]["superseded_by"] == notes["Alice works at Meta"]["id"]
    assert notes["something else"]["id"] == 1


def test_an_exported_note_that_has_another_text_by_now_is_kept_as_it_is_and_named(memora, filled, home):
    memora("export", home / "out")
    file = home / "out" / "Alice works at Meta.md"
    file.write_text(file.read_text(encoding="utf-8").replace("at Meta", "at home"), encoding="utf-8")
    outcome = memora("import", home / "out", code=1)
    assert outcome.out == "0 added, 0 updated, 2 unchanged, 0 gone, 1 left out\n"
    assert "Alice works at Meta.md was left out: note 2 is this one with another text" in outcome.err


def test_filters_choose_what_is_exported(memora, filled):
    def texts(*options):
        return [json.loads(line)["text"] for line in memora("export", "-", *options).out.splitlines()]

    assert texts("--topic", "people", "--current") == ["Alice works at Meta"]
    assert texts("--until", "2024-12-31") == ["Alice works at Google"]
    assert texts("--space", "work", "--pinned") == ["A note of work"]
    assert texts("--type", "opinion") == []


def test_a_relation_to_a_note_that_was_not_exported_is_told_and_the_rest_is_there(memora, filled, home, monkeypatch):
    memora("export", home / "notes.jsonl", "--current")
    use(monkeypatch, home, "other.db")
    outcome = memora("import", home / "notes.jsonl", "--no-embed")
    assert outcome.out.startswith("2 added")
    assert "a relation was left out" in outcome.err


def test_an_imported_note_is_found_by_meaning_at_once(memora, filled, home, monkeypatch):
    memora("export", home / "notes.jsonl")
    use(monkeypatch, home, "other.db")
    memora("import", home / "notes.jsonl")
    assert memora("stats", "--json").json["waiting"] == 0
    assert memora("search", "water damage in the cold season", "--ids", "-n", 1).out == "3\n"


def test_file_names_say_what_a_note_is_and_are_safe_and_unique(memora, home):
    for text, title in [
        ("one", "CON"), ("two", "a/b: c?"), ("three", "A/B: C"), ("four", "..hidden."), ("five", "x" * 300),
        ("six", "-rf"), ("# \x1b", ""), ("八" * 100, ""), ("line one\nline two", ""),
    ]:  # fmt: skip
        memora("add", text, "--title", title, "--no-embed")
    memora("export", home / "out")
    names = {path.name for path in (home / "out").iterdir()}
    assert names == {
        "_CON.md", "a b c.md", "A B C (3).md", "hidden.md", "x" * 120 + ".md", "_-rf.md", "note 7.md",
        "八" * 40 + ".md", "line one.md",
    }  # fmt: skip


def test_a_note_from_a_file_goes_out_under_the_name_of_that_file(memora, home):
    (home / "vault").mkdir()
    (home / "vault" / "2024-05-03-trip.md").write_text("# A long way\n\n[[other]]\n", encoding="utf-8")
    (home / "vault" / "other.md").write_text("the other\n", encoding="utf-8")
    memora("import", home / "vault", "--no-embed")
    memora("export", home / "out")
    assert sorted(path.name for path in (home / "out").iterdir()) == ["2024-05-03-trip.md", "other.md"]


def test_what_is_written_is_for_its_owner_alone(memora, filled, home):
    memora("export", home / "deep" / "out")
    memora("export", home / "notes.jsonl")
    modes = {path.name: path.stat().st_mode & 0o777 for path in [home / "deep" / "out", *(home / "deep/out").iterdir()]}
    assert modes.pop("out") == 0o700
    assert set(modes.values()) == {0o600}
    assert (home / "notes.jsonl").stat().st_mode & 0o777 == 0o600


def test_what_is_in_the_way_is_never_written_over(memora, filled, home):
    (home / "out").mkdir()
    (home / "out" / "Alice works at Google.md").write_text("my own words", encoding="utf-8")
    (home / "out" / "alice works at meta.MD").write_text("my own words", encoding="utf-8")
    memora("export", home / "out", "--force")
    assert (home / "out" / "Alice works at Google.md").read_text(encoding="utf-8") == "my own words"
    assert (home / "out" / "alice works at meta.MD").read_text(encoding="utf-8") == "my own words"
    assert len(list((home / "out").iterdir())) == 5
    (home / "notes.jsonl").write_text("mine", encoding="utf-8")
    assert "--force" in memora("export", home / "notes.jsonl", code=2).err
    assert (home / "notes.jsonl").read_text(encoding="utf-8") == "mine"
    memora("export", home / "notes.jsonl", "--force")
    for target in ("notes.txt", "notes.csv"):
        assert target in memora("export", home / target, code=2).err
    (home / "plain").write_text("mine", encoding="utf-8")
    assert "is a file" in memora("export", home / "plain", code=2).err


def test_a_second_export_changes_nothing_and_asks_before_it_writes_over_changed_files(memora, filled, home):
    memora("export", home / "out")
    file = home / "out" / "Alice works at Meta.md"
    before = {path: path.stat().st_mtime_ns for path in (home / "out").iterdir()}
    assert memora("export", home / "out").out == "0 written, 3 unchanged\n"
    assert {path: path.stat().st_mtime_ns for path in (home / "out").iterdir()} == before
    file.write_text(file.read_text(encoding="utf-8") + "by hand\n", encoding="utf-8")
    memora("add", "a new note", "--no-embed")
    assert "Alice works at Meta.md" in memora("export", home / "out", code=2).err
    assert len(list((home / "out").iterdir())) == 3
    assert memora("export", home / "out", "--force").out == "2 written, 2 unchanged\n"
    outcome = memora("export", home / "out", "--topic", "people", "--json")
    assert outcome.json["stray"] == ["Frost ice 2024.md", "a new note.md"]


def test_export_asks_where_to(memora):
    assert "FILE.jsonl" in memora("export", code=2).err
    assert memora("export", "-", "--space", "x", "--all-spaces", code=2).out == ""


def test_a_reader_that_goes_away_is_no_error(memora, filled, home):
    ended = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m memora_cli export - | head -1"],
        capture_output=True,
        check=False,
        env=os.environ,
    )
    assert (ended.stderr, ended.stdout.count(b"\n")) == (b"", 1)


@pytest.mark.parametrize(
    "change",
    [
        {"id": 0}, {"id": "x"}, {"id": True}, {"created_at": None}, {"created_at": "2024-05-03"}, {"kind": "feeling"},
        {"topics": "a"}, {"links": [1]}, {"links": [{"id": 1, "uid": "x", "relation": "causes", "weight": "NaN"}]},
        {"pinned": "perhaps"}, {"text": ""}, {"text": 5}, {"occurred_end": 5}, {"id": 2**63},
    ],
)  # fmt: skip
def test_an_exported_line_that_was_broken_is_named(memora, filled, home, monkeypatch, change):
    lines = [json.loads(line) for line in memora("export", "-", "--no-history").out.splitlines()]
    lines[1] |= change
    text = "".join(json.dumps(line) + "\n" for line in lines)
    use(monkeypatch, home, "other.db")
    outcome = memora("import", "-", "--no-embed", "--json", stdin=text, code=1)
    assert outcome.json["added"] == 2
    assert outcome.json["failed"][0]["name"] == "-:2"


@pytest.mark.parametrize(
    "line",
    [
        {"record": "past", "number": 1, "until": "2024-05-03T08:00:00+00:00"},
        {"record": "forgotten", "note": {}},
        {"record": "alias", "name": "Alice"},
        {"record": "memory", "counters": {"note": "many"}},
        {"record": "names", "names": "Alice"},
        {"record": "ended", "old": 1, "new": True, "at": "2024-05-03T08:00:00+00:00"},
        {"record": "change", "id": 1, "batch": 1, "at": "2024-05-03T08:00:00+00:00", "action": "burn"},
        {"record": "change", "id": 1, "batch": 1, "at": "now", "action": "add"},
        {"record": "change", "id": 1, "batch": 1, "at": "2024-05-03T08:00:00+00:00", "action": "add", "before": [1]},
    ],
)
def test_a_broken_line_of_history_is_named_and_the_notes_are_there(memora, line):
    text = json.dumps(line) + "\n" + json.dumps({"text": "a note"})
    outcome = memora("import", "-", "--no-embed", "--json", stdin=text, code=1).json
    assert (outcome["added"], outcome["failed"][0]["name"]) == (1, "-:1")


def test_a_record_of_a_newer_program_is_passed_over(memora):
    outcome = memora("import", "-", "--no-embed", stdin='{"record": "dream", "space": "default"}')
    assert (outcome.out, "newer memora" in outcome.err) == (
        "0 added, 0 updated, 0 unchanged, 0 gone, 1 left out\n",
        True,
    )


@pytest.fixture
def lived(memora, filled):
    """A memory with edits, an alias, something in the trash and something taken back."""
    memora("edit", 3, "--body", "The pipe froze near Meadow", "--at", "2030-01-02", "--no-embed")
    memora("alias", "Meta", "Facebook", "--at", "2030-01-03")
    memora("forget", 1, "--at", "2030-01-04")
    memora("pin", 2, "--at", "2030-01-05")
    memora("undo", "--at", "2030-01-06")


def test_a_whole_memory_comes_into_an_empty_one_as_it_was(memora, lived, home, monkeypatch):
    def told():
        looks = [("list", "--json"), ("history", 2), ("history", 3), ("restore",), ("alias",), ("show", 2, 3)]
        past = ("search", "the pipe burst", "--as-of", "2030-01-01", "--at", "2031-01-01", "--ids")
        return [memora(*look).out for look in (*looks, past, ("undo",), ("undo",), ("list", "--json"), ("restore",))]

    memora("export", home / "notes.jsonl", "--all-spaces")
    before = told()
    use(monkeypatch, home, "other.db")
    assert memora("import", home / "notes.jsonl").out.startswith("3 added, 0 updated, 0 unchanged, 0 gone, 0 left out,")
    assert told() == before
    added = memora("import", home / "notes.jsonl", code=None).out
    assert added.startswith("0 added")


def test_into_a_memory_in_use_notes_bring_their_changes_and_undo_takes_the_import_back(
    memora, lived, home, monkeypatch
):
    memora("export", home / "notes.jsonl")
    use(monkeypatch, home, "other.db")
    memora("add", "something else", "--no-embed")
    memora("import", home / "notes.jsonl", "--no-embed")
    frozen = next(note["id"] for note in memora("list", "--json").json["notes"] if "froze" in note["body"])
    assert [change["action"] for change in memora("history", frozen, "--json").json["changes"]] == [
        "add",
        "edit",
        "add",
    ]
    memora("undo")
    assert memora("list", "--ids").out == "1\n"
    assert memora("alias").out == ""


def test_past_texts_are_found_by_meaning_after_an_import_and_a_reindex(memora, lived, home, monkeypatch):
    memora("export", home / "notes.jsonl")
    ask = ("search", "water damage in the cold season", "--as-of", "2030-01-01", "--at", "2031-01-01", "--ids", "-n", 1)
    for options, then in (((), ()), (("--no-embed",), ("reindex",))):
        use(monkeypatch, home, f"other{len(options)}.db")
        memora("import", home / "notes.jsonl", *options)
        if then:
            memora(*then)
        assert memora(*ask).out == "3\n"


@pytest.mark.slow
def test_real_notes_go_in_and_out_and_in_again_as_the_same_notes(memora, shared, home, monkeypatch):
    vault = home / "til"
    for number, line in enumerate((shared / "eval/til/corpus_with_titles.jsonl").open(encoding="utf-8")):
        note = json.loads(line)
        file = vault / note["topics"][0] / f"{number}-{note['id'].rsplit('/', 1)[-1].removesuffix('.md')}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        front = (
            f"title: {json.dumps(note['title'])}\ntags: {json.dumps(note['topics'])}\ncreated: {note['created_at']}\n"
        )
        file.write_text(f"---\n{front}---\n{note['text']}\n", encoding="utf-8")
    count = number + 1
    assert count > 1500
    added = memora("import", vault, "--no-embed", "--json").json
    assert (added["added"] + added["unchanged"], added["failed"], added["unread"]) == (count, [], [])
    before = memora("export", "-", "--no-history").out
    again = memora("import", vault, "--no-embed", "--json").json
    assert (again["added"], again["updated"], again["unchanged"], again["gone"]) == (0, 0, count, [])
    assert memora("export", "-", "--no-history").out == before
    notes = len(before.splitlines())
    memora("export", home / "notes.jsonl")
    memora("export", home / "out")
    use(monkeypatch, home, "other.db")
    assert memora("import", home / "out", "--no-embed", "--json").json["added"] == notes
    assert memora("export", "-", "--no-history").out == before
    for name in ("out", "notes.jsonl"):
        assert memora("import", home / name, "--no-embed", "--json").json["unchanged"] == notes
    assert memora("export", "-", "--no-history").out == before
