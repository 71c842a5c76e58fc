"""The promises of history: every change is kept and told, undo takes the last one back, and the past can be asked."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from conftest import NOW
from fakes import ask, contents, found, listed, query_of, with_fakes

from memora_cli.errors import NoSuchNote, SupersessionRefused, Usage
from memora_cli.store import changes
from memora_cli.values import Draft, Filters

DAY = timedelta(days=1)


@pytest.fixture
def diary(memory):
    """Day 0: coffee, and what Google makes; day 2: the first is edited; day 4: superseded; day 6: another forgotten."""
    with_fakes(memory)
    memory.add(Draft("Alice drinks coffee with Bob", topics=("habits",)), NOW)
    memory.add(Draft("Google makes Search", title="Google"), NOW)
    memory.edit(1, lambda old: replace(old, body="Alice drinks rooibos with Carol", topics=("drinks",)), NOW + 2 * DAY)
    memory.add(Draft("Alice drinks water now", supersedes=(1,)), NOW + 4 * DAY)
    memory.forget([2], NOW + 6 * DAY)
    return memory


def known(memory, text, day, **filters):
    """The search as of a day, asked much later."""
    return ask(memory, text, NOW + 90 * DAY, Filters(as_of=NOW + day * DAY, **filters))


# As of


def test_a_search_as_of_a_day_finds_the_text_that_a_note_had_then_by_words_meaning_and_names(diary):
    for day, word, other, name in ((1, "coffee", "rooibos", "Bob"), (3, "rooibos", "coffee", "Carol")):
        trace = known(diary, f"{word} {name}", day)
        for strategy in ("semantic", "keyword", "graph"):
            assert 1 in listed(trace, strategy), (day, strategy)
        best = trace.results[0]
        assert (best.note.id, word in best.note.body, word in best.text, word in best.passage) == (1, True, True, True)
        assert listed(known(diary, other, day), "keyword") == []


def test_a_search_as_of_a_day_knows_no_note_that_came_later_and_finds_one_that_was_forgotten_later(diary):
    assert set(found(known(diary, "Alice Google drinks Search", 3))) == {1, 2}
    assert set(found(known(diary, "Alice Google drinks Search", 5))) == {1, 2, 3}
    assert set(found(known(diary, "Alice Google drinks Search", 7))) == {1, 3}
    assert found(known(diary, "Alice Google drinks Search", -1)) == []


def test_a_search_as_of_a_day_knows_only_the_supersessions_made_by_then(diary):
    assert {c.note.id: c.note.superseded_by for c in known(diary, "Alice drinks", 3).results} == {1: ()}
    trace = known(diary, "rooibos", 5)
    assert (found(trace), trace.results[1].note.superseded_by) == ([3, 1], (3,))


def test_filters_as_of_a_day_are_over_what_was_said_then(diary):
    assert found(known(diary, "Alice", 1, topics=("habits",))) == [1]
    assert found(known(diary, "Alice", 3, topics=("habits",))) == []
    assert found(known(diary, "Alice", 3, topics=("drinks",))) == [1]


def test_no_strategy_reaches_through_a_note_that_was_not_there_then(memory):
    with_fakes(memory)
    memory.add(Draft("Alice lives here"), NOW)
    memory.add(Draft("the flat is small"), NOW)
    memory.add(Draft("a bridge between the two"), NOW + 3 * DAY)
    memory.link(1, "causes", 3, NOW + 3 * DAY)
    memory.link(3, "causes", 2, NOW + 3 * DAY)
    assert 2 in listed(known(memory, "Alice", 4), "graph")
    assert listed(known(memory, "Alice", 1), "graph") == [1]


def test_what_was_forgotten_and_restored_was_away_in_between(memory):
    with_fakes(memory)
    memory.add(Draft("coffee"), NOW)
    memory.forget([1], NOW + 2 * DAY)
    memory.restore([1], NOW + 4 * DAY)
    assert [found(known(memory, "coffee", day)) for day in (1, 3, 5)] == [[1], [], [1]]


def test_what_was_taken_back_later_was_so_until_then(memory):
    with_fakes(memory)
    memory.add(Draft("coffee"), NOW)
    memory.add(Draft("tea", supersedes=(1,)), NOW + 2 * DAY)
    memory.undo(NOW + 4 * DAY)
    memory.edit(1, lambda old: replace(old, body="coffee with milk"), NOW + 6 * DAY)
    memory.undo(NOW + 8 * DAY)
    assert [found(known(memory, "coffee", day)) for day in (1, 3, 5)] == [[1], [2, 1], [1]]
    assert [found(known(memory, "milk", day)) for day in (5, 7, 9)] == [[], [1], []]


def test_as_of_the_present_is_the_search_of_the_present(diary):
    for text in ("Alice drinks", "Google Search", "water"):
        assert found(known(diary, text, 50)) == found(ask(diary, text, NOW + 90 * DAY))


def test_explain_of_a_note_as_of_a_day_tells_of_its_text_of_then(diary):
    trace = diary.search(query_of(diary, "coffee", NOW + 90 * DAY, Filters(as_of=NOW + DAY)))
    assert diary.account(trace, 1).note.body == "Alice drinks coffee with Bob"
    with pytest.raises(NoSuchNote):
        diary.account(trace, 3)
    assert diary.account(ask(diary, "coffee", NOW), 3).candidate is None


def test_search_takes_a_day_that_is_whole(memora):
    memora("add", "coffee", "--at", "2025-03-01T10:00", "--no-embed")
    assert memora("search", "coffee", "--as-of", "2025-03-01", "--ids").out == "1\n"
    assert memora("search", "coffee", "--as-of", "2025-02-28", "--ids").out == ""
    assert memora("search", "coffee", "--as-of", "2025-03-01T09:00", "--ids").out == ""
    assert memora("search", "coffee", "--as-of", "March 2025", "--json").json["as_of"].startswith("2025-03-31T23:59")
    assert memora("search", "coffee", "--json").json["as_of"] is None
    assert "no time understood" in memora("search", "coffee", "--as-of", "blue", code=2).err


# Undo


def state(memory):
    """What a person sees of the notes: without the history, and without the order in which things were written."""
    entries = sorted(memory.notes(Filters()), key=lambda note: note.id)
    views = memory.view([note.id for note in entries])
    causes = [[(e.source, e.target, e.relation) for e in view.links if e.weight == 1.0] for view in views]
    return [(view.note, sorted(view.entities), view.supersedes) for view in views], causes, memory.aliases()


CHANGES = {
    "add": lambda m, at: m.add(Draft("Dave knows Alice", supersedes=(3,)), at),
    "edit": lambda m, at: m.edit(1, lambda old: replace(old, body="Eve eats", title="T", kind="agent"), at),
    "pin": lambda m, at: m.pin([1, 3], at, pinned=True),
    "supersede": lambda m, at: m.supersede(3, 4, at),
    "forget": lambda m, at: m.forget([5], at),
    "restore": lambda m, at: m.restore([2], at),
    "link": lambda m, at: m.link(1, "caused-by", 4, at),
    "unlink": lambda m, at: m.unlink(3, 4, None, at),
    "alias": lambda m, at: m.alias("Alice", "Carol", at),
    "unalias": lambda m, at: m.unalias("Bobby", at),
    "import": lambda m, at: list(m.import_all([(f"{n}", Draft(f"imported {n}")) for n in range(70)], at)),
}


@pytest.fixture
def settled(diary):
    """The diary with two notes more, a link and an alias."""
    diary.add(Draft("Bobby likes Alice and Carol"), NOW + 7 * DAY)
    diary.add(Draft("Nothing worth keeping"), NOW + 7 * DAY)
    diary.link(3, "prevents", 4, NOW + 7 * DAY)
    diary.alias("Bob", "Bobby", NOW + 7 * DAY)
    return diary


@pytest.mark.parametrize("what", CHANGES)
def test_undo_takes_back_what_any_command_did(settled, what):
    before = state(settled)
    CHANGES[what](settled, NOW + 8 * DAY)
    changed = state(settled)
    assert changed != before
    undone = settled.undo(NOW + 9 * DAY)
    assert {change.action for change in undone.changes} & {what, "add", "supersede"}
    assert state(settled) == before


def test_undoing_again_takes_back_the_one_before_until_nothing_is_left(settled):
    states, at = [state(settled)], NOW + 8 * DAY
    for change in CHANGES.values():
        change(settled, at)
        states.append(state(settled))
    for expected in reversed(states[:-1]):
        settled.undo(at)
        assert state(settled) == expected
    while settled.undo(at):
        pass
    assert settled.notes(Filters()) == []
    assert settled.aliases() == []
    assert {note.id for note in settled.forgotten()} >= {1, 2, 3, 4}


def test_what_is_done_after_an_undo_is_what_the_next_undo_takes_back(diary):
    diary.undo(NOW)
    diary.pin([3], NOW, pinned=True)
    assert [change.action for change in diary.undo(NOW).changes] == ["pin"]
    assert [change.action for change in diary.undo(NOW).changes] == ["add", "supersede"]


def test_a_change_that_changed_nothing_is_not_kept(diary):
    before = contents(diary.database.address)["changes"]
    diary.pin([1], NOW, pinned=False)
    diary.supersede(1, 3, NOW)
    diary.add(Draft("Alice drinks water now"), NOW)
    diary.edit(1, lambda old: old, NOW)
    assert contents(diary.database.address)["changes"] == before


def test_what_was_purged_is_not_brought_back_and_undo_says_so(diary):
    diary.pin([3], NOW, pinned=True)
    diary.purge([1], NOW)
    undone = diary.undo(NOW)
    assert ([change.action for change in undone.changes], undone.purged) == (["pin"], (1,))
    while diary.undo(NOW):
        pass
    assert {note.id for note in diary.forgotten()} == {2, 3}


@pytest.mark.sqlite
@pytest.mark.parametrize("action", ["pin", "edit", "forget", "supersede", "alias", "link"])
def test_a_change_is_kept_in_the_transaction_that_makes_it(settled, action):
    with settled.database.write() as connection:
        connection.exec_driver_sql(
            "CREATE TRIGGER boom BEFORE INSERT ON changes BEGIN SELECT RAISE(ABORT, 'boom'); END"
        )
    before = contents(settled.database.address)
    with pytest.raises(Exception, match="boom"):
        CHANGES[action](settled, NOW)
    assert contents(settled.database.address) == before


def test_undo_says_what_it_took_back(memora):
    memora("add", "coffee", "--no-embed")
    memora("edit", 1, "--body", "tea", "--no-embed")
    assert memora("undo").out == 'taken back: #1 text "coffee" → "tea"\n'
    assert memora("show", 1, "--json").json["notes"][0]["body"] == "coffee"
    assert [change["action"] for change in memora("undo", "--json").json["undone"]] == ["add"]
    nothing = memora("undo")
    assert (nothing.out, "nothing is left" in nothing.err) == ("", True)


def test_an_import_is_undone_as_one_change(memora, home):
    folder = home / "notes"
    folder.mkdir()
    for number in range(70):
        (folder / f"{number}.md").write_text(f"Note number {number}")
    memora("import", folder)
    (folder / "3.md").write_text("Note number three")
    (folder / "new.md").write_text("A new one")
    assert memora("import", folder).out == "1 added, 1 updated, 69 unchanged, 0 gone, 0 left out\n"
    memora("undo")
    bodies = [note["body"] for note in memora("list", "-n", 0, "--json").json["notes"]]
    assert (len(bodies), "Note number 3" in bodies, "A new one" in bodies) == (70, True, False)
    assert memora("undo").out == "taken back: add of 70 notes\n"
    assert memora("list").out == ""


# History


def test_history_tells_who_replaced_what_and_when_with_the_texts_that_were(diary):
    value = diary.history(1)
    assert [(change.action, change.at) for change in value.changes] == [
        ("add", NOW),
        ("edit", NOW + 2 * DAY),
        ("supersede", NOW + 4 * DAY),
    ]
    assert value.changes[1].before == {"body": "Alice drinks coffee with Bob", "topics": ["habits"]}
    assert value.changes[1].after == {"body": "Alice drinks rooibos with Carol", "topics": ["drinks"]}
    (chain,) = value.chains
    assert (chain.note.id, [(one.note.id, one.replaced_at) for one in chain.replaced]) == (3, [(1, NOW + 4 * DAY)])
    assert diary.history(3).chains == value.chains


def test_a_note_that_two_notes_replaced_has_its_own_chain_told_once(memory):
    with_fakes(memory)
    for text in ("one", "two", "three", "four"):
        memory.add(Draft(text), NOW)
    for old, new in ((1, 2), (2, 3), (2, 4)):
        memory.supersede(old, new, NOW)
    first, second = memory.history(1).chains
    assert ([first.note.id, second.note.id], second.replaced[0].repeated) == ([3, 4], True)
    assert ([one.note.id for one in first.replaced[0].replaced], second.replaced[0].replaced) == ([1], ())


def test_history_of_a_forgotten_note_can_be_read(diary):
    value = diary.history(2)
    assert (value.note.title, value.note.forgotten_at) == ("Google", NOW + 6 * DAY)
    assert [change.action for change in value.changes] == ["add", "forget"]


def test_history_in_a_pipe_is_whole_lines_and_as_json_one_object(memora):
    memora("add", "coffee " * 40, "--at", "2025-01-01", "--no-embed")
    memora("edit", 1, "--title", "Drinks", "--at", "2025-02-01", "--no-embed")
    memora("supersede", 1, "--with", "tea", "--at", "2025-03-01", "--no-embed")
    memora("undo", "--at", "2025-04-01")
    memora("supersede", 1, "--with", "water", "--at", "2025-05-01", "--no-embed")
    assert memora("history", 1).out.splitlines() == [
        "change\t2025-01-01 00:00\tadd\t\tadded",
        'change\t2025-02-01 00:00\tedit\t\ttitle none → "Drinks"',
        "change\t2025-03-01 00:00\tsupersede\tundone\tsuperseded by #2",
        "change\t2025-04-01 00:00\tunsupersede\tundo\tno longer superseded by #2",
        "change\t2025-05-01 00:00\tsupersede\t\tsuperseded by #3",
        "chain\t0\t3\t2025-05-01\t\t\twater",
        "chain\t1\t1\t2025-01-01\t2025-05-01\t\tDrinks",
    ]
    told = memora("history", "#3", "--json").json
    assert (told["id"], [change["action"] for change in told["changes"]]) == (3, ["add", "supersede"])
    assert told["chains"][0]["replaced"][0]["id"] == 1


# Links and aliases


def test_a_link_is_followed_by_searches_and_unlink_takes_it_away(memory):
    with_fakes(memory)
    memory.add(Draft("Frost in the night"), NOW)
    memory.add(Draft("A burst pipe"), NOW)
    memory.link(2, "caused-by", 1, NOW)
    assert set(listed(ask(memory, "Frost", NOW), "graph")) == {1, 2}
    memory.unlink(1, 2, "causes", NOW)
    assert 2 not in listed(ask(memory, "Frost", NOW), "graph")
    with pytest.raises(Usage, match="no link"):
        memory.unlink(1, 2, None, NOW)
    with pytest.raises(Usage, match="itself"):
        memory.link(1, "causes", 1, NOW)


def test_notes_with_either_name_are_found_by_both_and_names_part_again(memory):
    with_fakes(memory)
    memory.add(Draft("Then Robert Miller came"), NOW)
    memory.add(Draft("Then Bob left"), NOW)
    memory.add(Draft("Then Bob met Robert Miller"), NOW)
    memory.add(Draft("a plain note", entities=("Bob",)), NOW)
    memory.alias("Robert Miller", "Bob", NOW)
    memory.add(Draft("Later Bob slept"), NOW)
    for name in ("Robert Miller", "Bob"):
        assert set(listed(ask(memory, f"What about {name}?", NOW), "graph")) == {1, 2, 3, 4, 5}
    assert memory.statistics(NOW).links["entities"] == 1
    memory.unalias("bob", NOW)
    assert set(listed(ask(memory, "What about Robert Miller?", NOW, entry_floor=1.0), "graph")) >= {1, 3}
    assert {number: set(memory.view([number])[0].entities) for number in range(1, 6)} == {
        1: {"Robert Miller"},
        2: {"Bob"},
        3: {"Robert Miller", "Bob"},
        4: {"Bob"},
        5: {"Bob"},
    }


def test_an_alias_of_an_alias_means_the_same_and_a_name_cannot_mean_two(memory):
    with_fakes(memory)
    memory.add(Draft("Then Rob spoke to Bob and Ann"), NOW)
    memory.alias("Bob", "Rob", NOW)
    memory.alias("Robert Miller", "Bob", NOW)
    assert memory.aliases() == [("Robert Miller", "Bob"), ("Robert Miller", "Rob")]
    assert set(memory.view([1])[0].entities) == {"Robert Miller", "Ann"}
    memory.alias("Rob", "Robbie", NOW)
    assert memory.aliases("rob") == memory.aliases()
    with pytest.raises(Usage, match="already"):
        memory.alias("Ann", "Bob", NOW)
    with pytest.raises(Usage, match="one name"):
        memory.alias("Ann", "ann", NOW)
    with pytest.raises(Usage, match="no alias"):
        memory.unalias("Ann", NOW)


def test_a_restored_note_cannot_close_a_circle(memory):
    with_fakes(memory)
    for text in ("one", "two", "three"):
        memory.add(Draft(text), NOW)
    memory.supersede(1, 2, NOW)
    memory.supersede(2, 3, NOW)
    memory.forget([3], NOW)
    memory.forget([2], NOW)
    memory.restore([3], NOW)
    with pytest.raises(SupersessionRefused):
        memory.supersede(3, 1, NOW)


def test_changes_of_one_space_are_not_told_or_taken_back_in_another(memory):
    with_fakes(memory)
    memory.add(Draft("here"), NOW)
    memory.space = "work"
    assert memory.undo(NOW) is None
    with pytest.raises(NoSuchNote):
        memory.history(1)
    with memory.database.read() as connection:
        assert changes.every(connection, "work") == []
