"""The promises of explain: every table and number, a note found, missed or cut; and what people see, kept in files.

`MEMORA_UPDATE_GOLDEN=1` writes the files in `golden/` anew: read the difference before you keep it.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from conftest import NOW
from fakes import Failing, ask, found, query_of, with_fakes

from memora_cli.errors import ModelUnusable
from memora_cli.render import shapes
from memora_cli.render.account import print_account
from memora_cli.render.explain import print_explanation
from memora_cli.render.explained import explain as explained_shape
from memora_cli.render.notes import print_list, print_view
from memora_cli.render.results import print_results
from memora_cli.render.terminal import console
from memora_cli.values import Draft, Filters, Window

GOLDEN = Path(__file__).resolve().parent / "golden"
UPDATE = bool(os.environ.get("MEMORA_UPDATE_GOLDEN"))  # read before the tests clear the environment
STRATEGIES = ("semantic", "keyword", "graph", "temporal")


def day(text):
    return datetime.fromisoformat(text).replace(hour=9, tzinfo=UTC)


@pytest.fixture
def diary(memory):
    """Nine notes with made-up models: a correction, a pin, an event, a cause, brackets and a long note."""
    with_fakes(memory)
    trip = Window(day("2024-04-20"), day("2024-04-22"), "", "range")
    drafts = [
        Draft("Alice works as a software engineer at Google", created_at=day("2023-02-10"), topics=("people",)),
        Draft("Google released a new phone", title="Phone", created_at=day("2023-12-06")),
        Draft("Alice rowed over the lake with Dan", created_at=day("2024-05-01"), occurred=trip),
        Draft("Alice drinks coffee", title="Drink", created_at=day("2024-04-02"), topics=("people", "food")),
        Draft("Now she takes tea", title="Tea", created_at=day("2025-01-15"), supersedes=(4,)),
        Draft("The door code of Alice is [4711]", created_at=day("2025-10-01"), pinned=True),
        Draft("Bread needs flour, water and salt", title="Bread", created_at=day("2022-03-03"), topics=("food",)),
        Draft(
            "Alice told a long story. " + "It had a beginning and an end. " * 12,
            title="Story",
            created_at=day("2024-09-09"),
        ),
        Draft("The lake froze because [[Phone]]", title="Ice", created_at=day("2021-01-20")),
    ]
    for draft in drafts:
        memory.add(draft, NOW)
    return memory


QUESTION = "What did Alice drink last spring?"


@pytest.fixture
def paper(monkeypatch):
    """What a function prints: on a terminal of a fixed width without colours, or in a pipe."""

    class Screen(io.StringIO):
        def isatty(self):
            return True

    def printed(write, *, width=120, terminal=True):
        stream = Screen() if terminal else io.StringIO()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", stream)
            patch.setattr(sys, "stderr", stream)
            patch.setenv("TERM", "xterm")
            patch.setenv("NO_COLOR", "1")
            patch.setenv("COLUMNS", str(width))
            write()
        text = re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())
        return "".join(line.rstrip() + "\n" for line in text.splitlines())

    return printed


def same_as_file(text, name):
    path = GOLDEN / name
    if UPDATE:
        GOLDEN.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def explained(memory, paper, question=QUESTION, width=120, every=False, filters=None, terminal=True, **settings):
    trace = ask(memory, question, NOW, filters, **settings)
    return paper(
        lambda: print_explanation(trace, console(), timings=False, every=every), width=width, terminal=terminal
    )


def account(memory, paper, number, question=QUESTION, terminal=True, **settings):
    trace = ask(memory, question, NOW, **settings)
    return paper(lambda: print_account(memory.account(trace, number), trace, console()), terminal=terminal)


# What people see


def test_an_explanation_looks_like_this(diary, paper):
    same_as_file(explained(diary, paper, max_tokens=60, limit=5), "explain.txt")


def test_a_narrow_explanation_looks_like_this(diary, paper):
    text = explained(diary, paper, "coffee", width=80)
    assert max(map(len, text.splitlines())) <= 80
    same_as_file(text, "explain-narrow.txt")


def test_an_explanation_in_a_pipe_looks_like_this(diary, paper):
    same_as_file(explained(diary, paper, "coffee", terminal=False), "explain-pipe.txt")


def test_the_account_of_a_note_in_a_pipe_looks_like_this(diary, paper):
    same_as_file(account(diary, paper, 4, "coffee", terminal=False), "explain-note-pipe.txt")


def test_an_explanation_of_a_degraded_search_looks_like_this(diary, paper):
    with diary.database.write() as connection:
        connection.exec_driver_sql("DROP TABLE keywords_fts")
    with_fakes(diary, reranker=Failing(RuntimeError("the file is gone")))
    same_as_file(explained(diary, paper, "coffee"), "explain-degraded.txt")


def test_the_account_of_a_note_that_was_found_looks_like_this(diary, paper):
    same_as_file(account(diary, paper, 3), "explain-note-found.txt")


def test_the_account_of_a_note_that_was_missed_looks_like_this(diary, paper):
    same_as_file(account(diary, paper, 7, "phone", thinking_budget=1), "explain-note-missed.txt")


def test_the_account_of_a_note_that_was_cut_looks_like_this(diary, paper):
    same_as_file(
        account(diary, paper, 8, "the story of Alice", max_tokens=40, pinned_bonus=3.0), "explain-note-cut.txt"
    )


def test_the_account_of_a_note_that_was_clamped_looks_like_this(diary, paper):
    same_as_file(account(diary, paper, 4, "coffee"), "explain-note-stale.txt")


def test_results_on_a_terminal_look_like_this(diary, paper):
    trace = ask(diary, QUESTION, NOW, limit=4)
    same_as_file(paper(lambda: print_results(trace, console()), width=80), "search-terminal.txt")


def test_results_in_a_pipe_look_like_this(diary, paper):
    trace = ask(diary, QUESTION, NOW, limit=4)
    same_as_file(paper(lambda: print_results(trace, console()), terminal=False), "search-pipe.txt")


def test_a_list_looks_like_this(diary, paper):
    notes = diary.notes(Filters())
    text = paper(lambda: print_list(notes, UTC, console()), width=80)
    same_as_file(text + "\n" + paper(lambda: print_list(notes, UTC, console()), terminal=False), "list.txt")


def test_a_note_looks_like_this(diary, paper):
    view = diary.view([4])[0]
    text = paper(lambda: print_view(view, UTC, console()), width=80)
    same_as_file(text + "\n" + paper(lambda: print_view(view, UTC, console()), terminal=False), "show.txt")


# What must be in it


def test_every_table_is_there_with_what_it_must_say(diary, paper):
    text = explained(diary, paper, max_tokens=60, limit=3, every=True, width=200)
    for title in (*STRATEGIES, "fusion", "rerank", "score", "cut"):
        assert any(line.startswith(title) for line in text.splitlines()), title
    for word in ("words", "window", "entities", "keyword by", "vectors by", "embedder", "reranker", "degraded"):
        assert any(line.split("  ")[0] == word for line in text.splitlines()), word
    for word in ("logit", "sigmoid", "→", "recency", "pin", "penalty", "limit", "budget", "tokens", "alice"):
        assert word in text
    assert "rank → weight·score/best; weights 1 semantic, 1 keyword, 0.3 graph, 0.5 temporal" in text
    assert "1 → 1.00000" in text
    by_rank = explained(diary, paper, fusion="rrf", every=True, width=200)
    assert "rank → weight/(60+rank); weights 1 semantic, 1 keyword, 1 graph, 1 temporal" in by_rank
    assert "1 → 0.01639" in by_rank
    assert "2024-03-01 to before 2024-06-01" in text


def test_a_clamped_note_says_from_where_to_where_and_below_what(diary, paper):
    diary.add(Draft("It is water again", created_at=NOW, supersedes=(5,)), NOW)
    trace = ask(diary, "drinks coffee tea", NOW)
    (moved,) = [candidate for candidate in trace.candidates if candidate.move]
    assert (moved.note.id, moved.move.below) == (4, (5, 10))
    assert moved.move.place_after > moved.move.place_before
    text = explained(diary, paper, "drinks coffee tea")
    assert f"{moved.move.place_before} → {moved.move.place_after}, below #5, #10" in text
    assert [candidate.note.id for candidate in trace.candidates[-2:]] == [5, 4]


def test_time_is_shown_by_stage_and_only_where_asked(diary, paper):
    trace = ask(diary, QUESTION, NOW)
    stages = ["understand", *STRATEGIES]
    stages += ["read", "fuse", "complete", "rerank", "update", "adjust", "clamp", "cut"]
    assert [stage for stage, _ in trace.milliseconds] == stages
    assert all(value >= 0.0 for _, value in trace.milliseconds)
    text = paper(lambda: print_explanation(trace, console()))
    assert all(f"\n{stage} " in text for stage in stages)
    assert "understand" not in explained(diary, paper)


def test_long_tables_are_cut_unless_all_rows_are_asked_for(memory, paper):
    with_fakes(memory)
    memory.add_all([Draft(f"coffee number {n}", created_at=NOW - timedelta(days=9 * n)) for n in range(40)], NOW)
    short, long = (explained(memory, paper, "coffee", every=every) for every in (False, True))
    assert "25 more (--all shows them)" in short
    assert "#40" in long
    assert "--all" not in long


# One note


def test_a_found_note_tells_its_rank_score_and_reason_in_each_strategy(diary):
    trace = ask(diary, QUESTION, NOW)
    told = diary.account(trace, 3)
    assert told.fate == f"returned as result {found(trace).index(3) + 1}"
    assert [verdict.strategy for verdict in told.verdicts] == list(STRATEGIES)
    for verdict, ranked in zip(told.verdicts, trace.lists, strict=True):
        assert verdict.hit == next((hit for hit in ranked.hits if hit.note_id == 3), None)


def verdicts(memory, trace, number):
    return {verdict.strategy: verdict for verdict in memory.account(trace, number).verdicts}


def test_a_missed_note_tells_which_strategies_missed_it_and_by_how_much(diary):
    trace = ask(diary, "coffee in winter 2022", NOW, semantic_floor=0.3)
    told = verdicts(diary, trace, 7)
    assert diary.account(trace, 7).fate != ""
    semantic = told["semantic"]
    assert semantic.hit is None
    assert semantic.needed == 0.3
    assert f"{semantic.needed - semantic.score:.3f}" in semantic.reason
    assert "coffee" in told["keyword"].reason
    assert told["graph"].reason


def test_a_note_far_from_the_window_tells_how_far(memory):
    with_fakes(memory)
    memory.add(Draft("a party", created_at=day("2024-05-05")), NOW)
    far = memory.add(Draft("a wedding", created_at=day("2001-05-05")), NOW).id
    told = verdicts(memory, ask(memory, "party on 5 May 2024", NOW), far)["temporal"]
    assert told.hit is None
    assert "8401 days before" in told.reason
    assert told.score < told.needed == 0.1


def test_a_note_behind_the_last_place_of_a_strategy_tells_what_it_needed(memory):
    with_fakes(memory)
    for number in range(6):
        memory.add(Draft(f"coffee {'word ' * number}", created_at=NOW - timedelta(days=9 * number)), NOW)
    trace = ask(memory, "coffee", NOW, strategy_limit=2, semantic_floor=0.0)
    told = verdicts(memory, trace, 6)
    for strategy in ("semantic", "keyword"):
        last = next(ranked for ranked in trace.lists if ranked.strategy == strategy).hits[-1]
        assert told[strategy].hit is None
        assert told[strategy].needed == last.score > told[strategy].score


def test_a_note_that_the_filters_leave_out_says_so(diary):
    trace = ask(diary, "Alice", NOW, Filters(topics=("food",)))
    assert {verdict.reason for verdict in diary.account(trace, 1).verdicts} == {"the filters leave it out"}


def test_a_note_that_the_graph_did_not_reach_tells_how_far_it_is(memory):
    with_fakes(memory)
    memory.add(Draft("start", entities=("Zenobia",), created_at=day("2020-01-01")), NOW)
    for number in range(1, 40):
        old = day("2020-01-01") + timedelta(hours=23 * number)
        memory.add(Draft(f"step {number}", created_at=old), NOW)
    told = verdicts(memory, ask(memory, "zenobia", NOW), 40)["graph"]
    assert told.hit is None
    assert told.reason


@pytest.mark.parametrize(
    ("rule", "settings"),
    [("limit", {"limit": 1}), ("budget", {"max_tokens": 12}), ("min-score", {"min_score": 0.99})],
)
def test_a_cut_note_tells_its_place_and_the_rule(diary, rule, settings):
    trace = ask(diary, "Alice story", NOW, **settings)
    (cut, *_) = [candidate for candidate in trace.candidates if candidate.cut == rule]
    told = diary.account(trace, cut.note.id)
    assert told.place == trace.candidates.index(cut) + 1
    assert told.fate == f"cut at place {told.place} by {rule}"


def test_a_stale_note_that_is_not_wanted_is_cut_by_that_rule(diary):
    assert diary.account(ask(diary, "coffee", NOW, current_only=True), 4).fate.endswith("by current")


def test_a_note_that_was_brought_along_says_by_which(diary, paper):
    text = account(diary, paper, 5, "coffee")
    assert "brought by #4" in text


def test_a_note_without_a_vector_is_told_to_wait(diary):
    number = diary.add(Draft("Alice again"), NOW, embed=False).id
    told = verdicts(diary, ask(diary, "bread", NOW), number)
    assert "vector" in told["semantic"].reason


@pytest.mark.sqlite
def test_a_note_can_be_explained_when_parts_are_missing(diary):
    with diary.database.write() as connection:
        connection.exec_driver_sql("DROP TABLE keywords_fts")
    with_fakes(diary, Failing(ModelUnusable("gone")))
    told = verdicts(diary, ask(diary, "bread", NOW), 1)
    assert told["semantic"].reason.startswith("did not run")
    assert "bread" in told["keyword"].reason


# JSON


def test_the_json_of_an_explanation_has_what_the_manual_promises(diary):
    value = explained_shape(ask(diary, QUESTION, NOW, limit=3))
    assert {"version", "query", "results", "strategies", "stages", "scores", "timings_ms"} <= set(value)
    assert value["version"] == 1
    assert set(value["strategies"]) == set(STRATEGIES)
    for hits in value["strategies"].values():
        assert all({"rank", "id", "score", "reason", "contribution"} <= set(hit) for hit in hits)
        assert all(hit["reason"] for hit in hits)
    names = ["fuse", "complete", "rerank", "update", "adjust", "clamp", "cut"]
    assert [stage["stage"] for stage in value["stages"]] == names
    assert value["stages"][-1]["order"] == [item["id"] for item in value["scores"]]
    kept = [item["id"] for item in value["scores"] if item["cut"] is None]
    assert kept == [item["id"] for item in value["results"]]
    assert value["omitted"]["limit"] == sum(item["cut"] == "limit" for item in value["scores"]) > 0


def test_the_place_before_and_after_reranking_are_places_in_the_stages(diary):
    value = explained_shape(ask(diary, QUESTION, NOW))
    order = {stage["stage"]: stage["order"] for stage in value["stages"]}
    for item in value["scores"]:
        if item["rerank"]:
            assert order["complete"][item["rerank"]["before"] - 1] == item["id"]
            assert order["rerank"][item["rerank"]["after"] - 1] == item["id"]
        if item["clamp"]:
            assert order["adjust"][item["clamp"]["before"] - 1] == item["id"]
            assert order["clamp"][item["clamp"]["after"] - 1] == item["id"]


def test_the_json_of_one_note_stands_beside_the_whole(memora):
    memora("add", "Alice drinks coffee", "--at", "2024-01-01")
    memora("add", "Bread needs flour", "--at", "2024-02-01")
    options = ("coffee", "--at", "2025-11-24", "--json")
    whole = memora("explain", *options).json
    value = memora("explain", *options, "--note", 2).json
    assert set(value) == set(whole) | {"note"}
    assert (value["note"]["id"], [v["strategy"] for v in value["note"]["verdicts"]]) == (2, list(STRATEGIES))
    found_note = memora("explain", *options, "--note", 1).json["note"]
    assert (found_note["place"], found_note["fate"]) == (1, "returned as result 1")
    assert found_note["scores"] == whole["scores"][0]


def test_explain_prints_the_tables_from_the_command_line_too(memora):
    memora("add", "Alice drinks coffee")
    text = memora("explain", "coffee").out
    assert all(title in text for title in (*STRATEGIES, "fusion", "rerank", "score", "cut", "time"))
    assert "returned as result 1" in memora("explain", "coffee", "--note", 1).out


def test_in_a_pipe_names_are_whole_and_tables_are_columns_between_tabs(memora):
    name = "coffee " * 60 + "end"
    memora("add", name)
    rows = [line.split("\t") for line in memora("explain", "coffee").out.splitlines()]
    assert ["rank", "id", "note", "score", "reason"] in rows
    assert sum(name in row for row in rows) >= 4
    assert memora("explain", "coffee", "--note", 1).out.splitlines()[0] == f"#1  {name}"


def test_explain_prints_as_search_does_ids_and_json_lines_and_its_exit_status(memora):
    memora("add", "Alice drinks coffee", "--at", "2024-01-01")
    memora("add", "Bob grinds coffee", "--at", "2024-02-01")
    options = ("coffee", "--at", "2025-11-24")
    assert memora("explain", *options, "--ids").out == memora("search", *options, "--ids").out
    scores = [json.loads(line) for line in memora("explain", *options, "--jsonl").out.splitlines()]
    assert scores == memora("explain", *options, "--json").json["scores"]
    (one,) = map(json.loads, memora("explain", *options, "--note", 1, "--jsonl").out.splitlines())
    assert one["id"] == 1
    for command in ("search", "explain"):
        memora(command, *options, "-e")
        memora(command, *options, "--topic", "none", "-e", code=1)


def test_explaining_changes_nothing_of_the_search(diary):
    query = query_of(diary, QUESTION, NOW)
    first = diary.search(query)
    diary.account(first, 1)
    assert shapes.search(diary.search(query)) == shapes.search(first)
