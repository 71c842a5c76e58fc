"""The promises of a search: what is found, in which order, under which conditions, and when parts are missing."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from conftest import NOW
from fakes import Constant, Failing, ask, found, listed, open_at, query_of, reindexed, with_fakes
from hypothesis import given, settings
from hypothesis import strategies as st
from postgres_server import places

from memora_cli.errors import ModelUnusable
from memora_cli.render import explained, shapes
from memora_cli.store.sqlite import driver
from memora_cli.values import Draft, Filters, Settings, Window

STORY = (
    # (text, when, title, topics)
    ("Alice works as a software engineer at Google", "2023-02-10", "", ("people",)),
    ("Google released the Gemini assistant for phones", "2023-12-06", "", ()),
    ("Alice moved to Zurich and started to row on the lake", "2024-04-12", "", ("people",)),
    ("Bob grows tomatoes on his balcony", "2024-06-20", "Garden", ("garden",)),
    ("The car needs new winter tyres before November", "2024-10-02", "", ("car",)),
    ("Carol teaches physics at the grammar school", "2023-08-15", "", ("people",)),
    ("The password of the guest wifi is on the fridge", "2022-05-01", "", ()),
    ("Pasta carbonara: eggs, guanciale, pecorino, pepper, no cream", "2024-01-30", "Carbonara", ("recipes",)),
    ("Sourdough needs a long rest in the fridge", "2024-02-11", "", ("recipes",)),
    ("The dentist said to come back in half a year", "2025-03-03", "", ("health",)),
    ("I like coffee", "2023-03-01", "", ()),
    ("I drink tea now", "2025-05-05", "", ()),
    ("Dan repairs clocks in a small shop in Prague", "2021-09-09", "", ("people",)),
)


def day(text):
    return datetime.fromisoformat(text).replace(hour=12, tzinfo=UTC)


def tell(memory, story=STORY):
    for text, when, title, topics in story:
        memory.add(Draft(text, title=title, topics=topics, created_at=day(when)), NOW)
    return memory


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    """A dozen notes with the real models; note 12 replaces note 11. Nobody changes it."""
    with open_at(tmp_path_factory.mktemp("story") / "memora.db") as memory:
        tell(memory)
        memory.supersede(11, 12, NOW)
        yield memory


@pytest.fixture
def told(story, home, memora, monkeypatch):
    """A copy of the same notes behind the command line."""
    if places.server:
        story.database.engine.dispose()
        monkeypatch.setenv("MEMORA_DB", places.server.copy(story.database.address, "told"))
        return memora
    original = driver().connect(story.database.address)
    original.execute("VACUUM INTO ?", (str(home / "memora.db"),))
    original.close()
    return memora


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A memory with made-up models, for tests that take a space of their own."""
    with open_at(tmp_path_factory.mktemp("bare") / "memora.db") as memory:
        yield with_fakes(memory)


SPACES = iter(range(1_000_000))


def fresh(memory):
    """The same open memory in an empty space; ids go on counting."""
    memory.space = f"space-{next(SPACES)}"
    return memory


def put(memory, text, when=NOW, *, embed=False, force=True, **values):
    return memory.add(Draft(text, created_at=when, **values), NOW, embed=embed, force=force).id


# What is found


def test_a_question_in_other_words_has_its_note_first(story):
    assert found(ask(story, "Alice's job", NOW))[0] == 1
    assert found(ask(story, "What does Alice do for a living?", NOW))[0] == 1
    assert found(ask(story, "italian food with eggs", NOW))[0] == 8


def test_a_word_that_no_model_knows_is_found_by_keyword(memory):
    tell(memory, STORY[:4])
    number = put(memory, "the licence key is QX7731ZZ", embed=True)
    assert found(ask(memory, "qx7731zz", NOW))[0] == number


def test_the_graph_leads_over_a_shared_name_to_what_no_word_of_the_query_names(story):
    trace = ask(story, "What does Alice do?", NOW)
    paths = {hit.note_id: hit.reason for ranked in trace.lists if ranked.strategy == "graph" for hit in ranked.hits}
    assert paths[2].endswith("#1 → Google → #2")
    assert 2 in found(trace)
    assert 2 not in listed(trace, "keyword")
    assert 2 not in listed(trace, "semantic")


def test_a_name_is_an_entry_in_any_case(story):
    assert listed(ask(story, "what about alice", NOW), "graph")[0] in (1, 3)
    assert ask(story, "what about alice", NOW).understood.entities == ("alice",)


def test_a_causal_link_leads_from_either_end_to_the_other(bare):
    memory = fresh(bare)
    cause = put(memory, "heavy drops all week", day("2020-01-01"), title="Rain")
    effect = put(memory, "the cellar was flooded because [[Rain]]", day("2021-01-01"), entities=("Zenobia",))
    assert listed(ask(memory, "zenobia", NOW), "graph") == [effect, cause]
    other = put(memory, "sunshine", day("2022-01-01"), links=(("causes", "Rain"),), entities=("Yolanda",))
    trace = ask(memory, "yolanda", NOW)
    assert listed(trace, "graph") == [other, effect, cause]
    scores = [hit.score for ranked in trace.lists if ranked.strategy == "graph" for hit in ranked.hits]
    assert scores == [1.0, 1.0, 1.0]


def test_last_spring_fills_the_temporal_list_with_what_happened_then_first(story):
    trace = ask(story, "What did Alice do last spring?", NOW)
    window = trace.understood.window
    assert (window.start.isoformat()[:10], window.end.isoformat()[:10]) == ("2024-03-01", "2024-06-01")
    first = next(ranked for ranked in trace.lists if ranked.strategy == "temporal").hits[0]
    assert (first.note_id, first.score) == (3, 1.0)
    assert found(trace)[0] == 3


def test_the_time_of_the_event_counts_before_the_time_of_writing(memory):
    spring = Window(day("2024-04-10"), day("2024-04-11"), "", "day")
    happened = put(memory, "We walked along the river", NOW, occurred=spring)
    put(memory, "We walked along the canal", day("2023-04-10"))
    trace = ask(memory, "our walk last spring", NOW)
    assert listed(trace, "temporal")[0] == happened


def test_without_a_time_in_the_query_the_temporal_strategy_does_not_run(story):
    trace = ask(story, "coffee", NOW)
    assert [ranked.skipped for ranked in trace.lists if ranked.strategy == "temporal"] == ["the query names no time"]


def test_the_strategies_run_in_the_published_order(story):
    trace = ask(story, "coffee", NOW)
    assert [ranked.strategy for ranked in trace.lists] == ["semantic", "keyword", "graph", "temporal"]
    assert [step.name for step in trace.steps] == ["fuse", "complete", "rerank", "update", "adjust", "clamp", "cut"]


def test_a_note_that_several_strategies_find_stands_above_one_that_one_finds_as_well(bare):
    memory = fresh(bare)
    both = put(memory, "red apple", embed=True)
    other = put(memory, "red", embed=False)
    trace = ask(memory, "red apple", NOW, rerank=False)
    assert found(trace) == [both, other]


def test_a_long_note_leaves_the_other_notes_their_places_in_the_semantic_list(bare):
    memory = fresh(bare)
    long = put(memory, "\n\n".join(f"coffee beans {'x' * 500} {n}" for n in range(60)), embed=True)
    others = [put(memory, f"a word on coffee beans too {'y' * n}", embed=True) for n in range(1, 5)]
    trace = ask(memory, "coffee beans", NOW, strategy_limit=5, semantic_floor=0.1)
    assert set(listed(trace, "semantic")) == {long, *others}


def test_a_space_never_sees_another(bare):
    memory = fresh(bare)
    put(memory, "Alice likes pears", embed=True)
    other = fresh(memory)
    own = put(other, "Alice likes plums", embed=True)
    assert found(ask(other, "What does Alice like?", NOW)) == [own]


# Corrections


def test_a_stale_note_that_alone_matches_brings_its_correction_above_it(memora):
    memora("add", "I like coffee")
    memora("add", "I drink tea now", "--supersedes", 1)
    for options in ((), ("--no-rerank",), ("--backend", "like")):
        assert memora("search", "coffee", "--ids", *options).out.split() == ["2", "1"]
    result = memora("search", "coffee", "--json").json["results"]
    assert [(item["id"], item["superseded_by"]) for item in result] == [(2, None), (1, 2)]
    assert memora("search", "coffee", "--current", "--ids").out.split() == ["2"]


def test_a_correction_without_a_word_or_vector_in_common_is_brought_too(bare):
    memory = fresh(bare)
    old = put(memory, "I like coffee")
    new = put(memory, "zzz", supersedes=(old,))
    trace = ask(memory, "coffee", NOW)
    assert found(trace) == [new, old]
    assert [candidate.completes for candidate in trace.results] == [old, None]


def test_a_superseded_fact_stands_last_however_well_it_matches(bare):
    memory = fresh(bare)
    old = put(memory, "the code of the door is 4711", NOW, pinned=True, title="door code")
    new = put(memory, "door: now 0815", NOW - timedelta(days=4000), supersedes=(old,))
    other = put(memory, "a door", NOW - timedelta(days=9000))
    assert found(ask(memory, "door code 4711", NOW))[-1] == old
    assert set(found(ask(memory, "door code 4711", NOW))) == {old, new, other}


@settings(deadline=None, max_examples=25)
@given(
    st.lists(st.booleans(), min_size=2, max_size=6).filter(any),
    st.lists(st.integers(0, 3000), min_size=6, max_size=6),
    st.sets(st.integers(0, 5)),
    st.booleans(),
)
def test_a_chain_of_any_length_stays_in_order_whichever_of_its_notes_match(bare, matching, ages, pins, rerank):
    memory, chain = fresh(bare), []
    for place, matches in enumerate(matching):
        text = f"coffee {'coffee ' * (6 - place)}" if matches else f"other {place}"
        when = NOW - timedelta(days=ages[place])
        chain.append(put(memory, text, when, pinned=place in pins, supersedes=tuple(chain[-1:])))
    results = found(ask(memory, "coffee", NOW, rerank=rerank))
    assert results == sorted(results, key=chain.index, reverse=True)
    assert results[0] == chain[-1]
    assert {chain[place] for place, matches in enumerate(matching) if matches} <= set(results)


def test_a_link_that_is_missing_in_the_middle_of_a_chain_does_not_undo_its_order(bare):
    memory = fresh(bare)
    first = put(memory, "coffee", NOW, title="coffee", pinned=True)
    second = put(memory, "nothing to do with it", supersedes=(first,))
    third = put(memory, "some words and then coffee", NOW - timedelta(days=3000), supersedes=(second,))
    fourth = put(memory, "tea", supersedes=(third,))
    assert found(ask(memory, "coffee", NOW)) == [fourth, third, first]


def test_a_stale_note_goes_when_the_head_of_its_chain_does_not_fit(bare):
    memory = fresh(bare)
    first = put(memory, "coffee is what I like")
    second = put(memory, "nothing to do with it", supersedes=(first,))
    put(memory, "tea " * 300, supersedes=(second,))
    other = put(memory, "coffee coffee")
    assert found(ask(memory, "coffee", NOW, max_tokens=60)) == [other]


def test_a_stale_note_that_is_cut_takes_no_place_from_a_current_one(bare):
    memory = fresh(bare)
    best = put(memory, "coffee", title="coffee", pinned=True)
    old = put(memory, "coffee old")
    put(memory, "coffee " + "and other words " * 100, supersedes=(old,))
    third = put(memory, "a long sentence about many things and also about coffee " * 2)
    assert found(ask(memory, "coffee", NOW, max_tokens=100, limit=50)) == [best, third]
    assert found(ask(memory, "coffee", NOW, max_tokens=100, limit=2)) == [best, third]


def test_stale_notes_use_up_no_other_notes_place_in_a_strategys_limit(bare):
    memory = fresh(bare)
    for number in range(12):
        old = put(memory, "coffee", NOW, title=f"coffee {number}", embed=True)
        put(memory, f"unrelated {number}", supersedes=(old,))
    when = NOW - timedelta(days=100)
    current = {put(memory, f"long text with coffee and {n} more words", when, embed=True) for n in range(4)}
    trace = ask(memory, "coffee", NOW, strategy_limit=4, semantic_floor=0.1, limit=100)
    assert current <= set(listed(trace, "keyword"))
    assert current <= set(listed(trace, "semantic"))
    trace = ask(memory, "coffee in 2025", NOW, strategy_limit=4, semantic_floor=0.1, limit=100)
    assert current <= set(listed(trace, "temporal"))


def test_a_correction_is_brought_even_where_the_filters_would_leave_it_out(bare):
    memory = fresh(bare)
    old = put(memory, "I like coffee", topics=("drinks",))
    new = put(memory, "I drink tea now", supersedes=(old,))
    assert found(ask(memory, "coffee", NOW, Filters(memory.space, topics=("drinks",)))) == [new, old]


def test_results_say_what_replaced_a_note(told):
    plain = told("search", "coffee").out
    assert "superseded by #12" in next(line for line in plain.splitlines() if line.startswith("11\t"))
    assert told("search", "coffee", "--json").json["results"][-1]["superseded_by"] == 12


# Pins and age


def test_a_pin_lifts_a_note_above_its_equal(bare):
    memory = fresh(bare)
    pinned = put(memory, "milk and bread", NOW - timedelta(days=1), pinned=True)
    plain = put(memory, "milk and bread", NOW)
    assert found(ask(memory, "milk", NOW)) == [pinned, plain]
    assert found(ask(memory, "milk", NOW, pinned_bonus=0.0)) == [plain, pinned]


def test_of_two_equals_the_newer_stands_above(bare):
    memory = fresh(bare)
    new = put(memory, "milk and bread", NOW - timedelta(days=1))
    old = put(memory, "milk and bread", NOW - timedelta(days=400))
    assert found(ask(memory, "milk", NOW)) == [new, old]
    assert found(ask(memory, "milk", NOW, recency_weight=0.0)) == [new, old]


def test_recency_halves_with_each_half_life(bare):
    memory = fresh(bare)
    put(memory, "milk", NOW - timedelta(days=60))
    for half_life, expected in ((60.0, 0.1), (30.0, 0.05), (20.0, 0.025)):
        (candidate,) = ask(memory, "milk", NOW, recency_weight=0.2, half_life_days=half_life).results
        assert candidate.final.part("recency") == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "when",
    [datetime(1970, 1, 1, tzinfo=UTC), datetime(1, 1, 2, tzinfo=UTC), datetime(9998, 12, 31, tzinfo=UTC), NOW],
)
def test_no_timestamp_makes_a_score_leave_its_range(bare, when):
    memory = fresh(bare)
    put(memory, "milk", when)
    put(memory, "milk and more", NOW)
    for candidate in ask(memory, "milk", NOW).results:
        assert 0.0 < candidate.final.value <= 1.0 + 0.05
        assert 0.0 <= candidate.final.part("recency") <= 0.05


def test_a_note_from_the_future_is_as_new_as_one_from_now(bare):
    memory = fresh(bare)
    put(memory, "milk", NOW + timedelta(days=36_500))
    (candidate,) = ask(memory, "milk", NOW).results
    assert (candidate.age_days, candidate.final.part("recency")) == (0.0, 0.05)


def test_a_corpus_older_than_many_half_lives_is_searched_with_the_same_order(story):
    now = ask(story, "food in the fridge", NOW, limit=50)
    later = ask(story, "food in the fridge", NOW + timedelta(days=200_000), limit=50, half_life_days=1.0)
    without = ask(story, "food in the fridge", NOW, limit=50, recency_weight=0.0)
    assert found(later) == found(without)
    assert set(found(later)) == set(found(now))


# Filters

MANY = 420
THREE = {"topic": ("--topic", "rare"), "type": ("--type", "opinion"), "pinned": ("--pinned",)}
THREE |= {"dates": ("--since", "1999-01-01", "--until", "1999-12-31"), "space": ("--space", "small")}


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Hundreds of notes that all match, among which every filter leaves three; the three match worst."""
    path = tmp_path_factory.mktemp("many") / "memora.db"
    with open_at(path) as memory:
        with_fakes(memory)
        memory.add_all(
            [Draft(f"coffee note {n}", title="coffee", created_at=NOW - timedelta(hours=n)) for n in range(MANY)], NOW
        )
        old = datetime(1999, 6, 1, tzinfo=UTC)
        text = "a long text that mentions many other things and in the end also coffee, number"
        changes = {
            "topic": {"topics": ("rare",)},
            "type": {"kind": "opinion"},
            "pinned": {"pinned": True},
            "dates": {"created_at": old},
            "space": {},
        }
        groups = {}
        for name, values in changes.items():
            memory.space = "small" if name == "space" else "default"
            drafts = [Draft(f"{text} {name} {n}", **({"created_at": old} | values)) for n in range(3)]
            if name != "dates":
                drafts = [replace(draft, created_at=datetime(2001, 1, 1, tzinfo=UTC)) for draft in drafts]
            groups[name] = {added.id for added in memory.add_all(drafts, NOW)}
        memory.space = "default"
        yield path, groups


@pytest.mark.parametrize("name", THREE)
@pytest.mark.parametrize("backend", ["auto", "like"])
def test_a_filter_that_leaves_three_of_many_returns_these_three(memora, many, name, backend):
    path, groups = many
    outcome = memora("--db", places.address(path), "search", "coffee", "--ids", "--backend", backend, *THREE[name])
    assert {int(line) for line in outcome.out.split()} == groups[name]


@pytest.mark.parametrize("strategy", ["semantic", "keyword", "temporal"])
def test_a_filter_acts_inside_each_strategy_and_not_after_its_limit(many, strategy):
    path, groups = many
    with open_at(path) as memory:
        with_fakes(memory)
        trace = ask(memory, "coffee before 2020", NOW, Filters(topics=("rare",)), semantic_floor=0.01)
        assert set(listed(trace, strategy)) == groups["topic"]


def test_a_filter_acts_before_the_entries_of_the_graph_are_chosen(bare):
    memory = fresh(bare)
    old = NOW - timedelta(days=900)
    left = {put(memory, f"{n} pages, signed", old, entities=("Zenobia",), kind="opinion") for n in range(3)}
    for number in range(5):
        put(memory, f"call {number}", NOW - timedelta(days=number * 2), entities=("Zenobia",))
    trace = ask(memory, "zenobia", NOW, Filters(memory.space, kind="opinion"), thinking_budget=4)
    hits = {hit.note_id: hit.score for ranked in trace.lists if ranked.strategy == "graph" for hit in ranked.hits}
    assert hits == dict.fromkeys(left, 1.0)


def test_since_today_until_today_is_today_and_not_nothing(memora):
    memora("add", "milk early", "--at", "2025-11-24T00:00", "--no-embed")
    memora("add", "milk late", "--at", "2025-11-24T23:59", "--no-embed")
    memora("add", "milk before", "--at", "2025-11-23T23:59", "--no-embed")
    memora("add", "milk after", "--at", "2025-11-25T00:00", "--no-embed")
    options = ("--since", "today", "--until", "today", "--at", "2025-11-24T14:00", "--ids")
    assert set(memora("search", "milk", *options).out.split()) == {"1", "2"}


def test_an_event_that_reaches_into_the_range_is_in_it(bare):
    memory = fresh(bare)
    trip = put(memory, "milk run", occurred=Window(day("2024-01-20"), day("2024-02-10"), "", "range"))
    put(memory, "milk walk", occurred=Window(day("2024-03-20"), day("2024-03-21"), "", "day"))
    inside = Filters(memory.space, since=day("2024-02-01"), until=day("2024-03-01"))
    assert found(ask(memory, "milk", NOW, inside)) == [trip]


def test_several_topics_must_all_be_there(told):
    told("add", "Rye bread", "--topic", "recipes", "--topic", "health")
    assert told("search", "bread", "--topic", "recipes", "--topic", "health", "--ids").out.split() == ["14"]


def test_a_topic_alone_without_a_word_lists_its_notes_and_is_not_degraded(told):
    value = told("search", "", "--topic", "recipes", "--json").json
    assert {item["id"] for item in value["results"]} == {8, 9}
    assert value["degraded"] == []


# Limit and budget


@pytest.mark.parametrize("question", ["Alice", "fridge", "What did Alice do last spring?", "coffee", "health and food"])
def test_fewer_results_are_the_beginning_of_more(story, question):
    most = found(ask(story, question, NOW, limit=50))
    for limit in range(1, len(most) + 1):
        assert found(ask(story, question, NOW, limit=limit)) == most[:limit]


def test_two_runs_of_the_same_question_agree_on_everything(story, tmp_path):
    def run(memory):
        return explained.explain(ask(memory, "What did Alice do last spring?", NOW, limit=50)) | {"timings_ms": {}}

    first = run(story)
    assert run(story) == first
    with open_at(places.real(story.database.address)) as again:
        assert run(again) == first


def test_the_results_fit_the_token_budget(story):
    whole = ask(story, "Alice food coffee fridge", NOW, limit=50)
    total = sum(candidate.tokens for candidate in whole.results)
    assert total > 40
    for budget in (15, 25, 40):
        trace = ask(story, "Alice food coffee fridge", NOW, limit=50, max_tokens=budget)
        assert 0 < sum(candidate.tokens for candidate in trace.results) <= budget


def test_what_does_not_fit_is_passed_over_and_counted(bare):
    memory = fresh(bare)
    first = put(memory, "coffee", title="coffee")
    put(memory, "coffee and " + "much more " * 50, pinned=True)
    last = put(memory, "a sentence with coffee", NOW - timedelta(days=800))
    trace = ask(memory, "coffee", NOW, max_tokens=30, pinned_bonus=0.0)
    assert found(trace) == [first, last]
    assert shapes.search(trace)["omitted"]["budget"] == 1


def test_a_budget_below_the_best_note_gives_it_shortened_at_a_sentence_and_says_so(memora):
    text = "Coffee is grown in Kenya. It is roasted in Kiel. It is drunk in my kitchen every single morning."
    memora("add", text, "--no-embed")
    outcome = memora("search", "coffee", "--max-tokens", 16, "--json")
    (result,) = outcome.json["results"]
    assert result["shortened"] is True
    assert text.startswith(result["text"])
    assert result["text"].endswith((".", "Kiel"))
    assert 0 < result["tokens"] <= 16
    assert "shortened" in memora("search", "coffee", "--max-tokens", 16).err
    assert memora("search", "coffee", "--max-tokens", 1, "--ids").out == "1\n"


def test_tokens_are_counted_over_the_text_that_is_returned(story):
    from memora_cli.text.tokens import count_tokens

    for result in shapes.search(ask(story, "Alice", NOW))["results"]:
        assert result["tokens"] == count_tokens(result["text"])


# Confidence

NONSENSE = "glorp zanfil brimstone quuxification of the wuggle"


def test_a_nonsense_query_is_not_confident(story):
    trace = ask(story, NONSENSE, NOW, semantic_floor=-1.0)
    assert trace.results
    assert max(candidate.reranking.sigmoid for candidate in trace.results if candidate.reranking) < 0.3


def test_min_score_leaves_out_what_the_reranker_is_less_sure_of(story):
    assert found(ask(story, NONSENSE, NOW, semantic_floor=-1.0, min_score=0.3)) == []
    trace = ask(story, "Where does Alice work?", NOW, semantic_floor=-1.0, min_score=0.3, limit=50)
    assert found(trace)[0] == 1
    assert all(candidate.reranking.sigmoid >= 0.3 for candidate in trace.results)
    assert shapes.search(trace)["omitted"]["min_score"] == sum(c.cut == "min-score" for c in trace.candidates) > 0


def test_the_absolute_confidence_is_shown_with_each_result(told, monkeypatch):
    shown = told("search", "Where does Alice work?", "--json", "--at", "2025-11-24").json["results"][0]["confidence"]
    assert 0.5 < shown <= 1.0
    line = told("search", "Where does Alice work?", "--at", "2025-11-24").out.splitlines()[0]
    assert f"{shown:.2f}" in line or f"{shown:.0%}" in line


# Parts that are missing


def only_reason(trace, part):
    (reason,) = [problem.reason for problem in trace.degraded if problem.part == part]
    return reason


def test_nothing_is_degraded_when_all_is_well(story):
    trace = ask(story, "Alice", NOW)
    assert trace.degraded == ()
    assert (trace.backend.keyword, trace.backend.vectors) == (
        ("tsvector", "pgvector") if places.server else ("fts5", "sqlite-vec")
    )
    assert trace.backend.embedder == story.embedder.id
    assert trace.backend.reranker == story.reranker.id


@pytest.mark.sqlite
def test_without_the_keyword_index_words_are_searched_with_like(memory):
    tell(memory, STORY[:8])
    with memory.database.write() as connection:
        connection.exec_driver_sql("DROP TABLE keywords_fts")
    trace = ask(memory, "tomatoes", NOW)
    assert listed(trace, "keyword") == [4]
    assert trace.backend.keyword == "like"
    assert "LIKE" in only_reason(trace, "keyword")


def drop_vector_table(memory):
    with memory.database.write() as connection:
        names = connection.exec_driver_sql(
            "SELECT name FROM sqlite_master WHERE name LIKE 'vectors|_%' ESCAPE '|' AND sql LIKE 'CREATE VIRTUAL%'"
        ).scalars()
        for name in list(names):
            connection.exec_driver_sql(f"DROP TABLE {name}")


@pytest.mark.sqlite
def test_without_the_vector_index_every_vector_is_compared_with_the_same_result(memory):
    tell(memory, STORY[:8])
    before = ask(memory, "vegetables", NOW, semantic_floor=0.0)
    drop_vector_table(memory)
    after = ask(memory, "vegetables", NOW, semantic_floor=0.0)
    assert listed(after, "semantic") == listed(before, "semantic") != []
    assert (before.backend.vectors, after.backend.vectors) == ("sqlite-vec", "scan")
    assert only_reason(after, "vectors")


@pytest.mark.sqlite
def test_a_note_added_after_the_vector_index_was_lost_does_not_hide_the_older_ones(memory):
    tell(memory, STORY[:4])
    drop_vector_table(memory)
    put(memory, "Eve paints portraits", embed=True)
    assert set(listed(ask(memory, "plants", NOW, semantic_floor=-1.0), "semantic")) == {1, 2, 3, 4, 5}


@pytest.mark.parametrize("error", [ModelUnusable("gone"), RuntimeError("broken"), MemoryError()])
def test_a_reranker_that_fails_leaves_the_fused_order_and_is_named(bare, error):
    memory = fresh(bare)
    for number in range(6):
        put(memory, f"coffee {'word ' * number}", NOW - timedelta(days=50 * (6 - number)), embed=True)
    plain = ask(memory, "coffee word", NOW, rerank=False)
    memory.__dict__["reranker"] = Failing(error)
    try:
        trace = ask(memory, "coffee word", NOW)
    finally:
        with_fakes(memory)
    assert found(trace) == found(plain)
    assert [c.fused.value for c in trace.steps[1].candidates] == [c.fused.value for c in plain.steps[1].candidates]
    assert only_reason(trace, "reranker")
    assert trace.backend.reranker is None
    assert [c.note.id for c in trace.steps[2].candidates] == [c.note.id for c in trace.steps[1].candidates]


def test_without_a_reranker_the_order_is_not_by_date_alone(told, monkeypatch):
    monkeypatch.setenv("MEMORA_RERANKER", "no-such-model")
    value = told("search", "Where does Alice work at Google?", "--json").json
    assert value["results"][0]["id"] == 1
    assert [problem["part"] for problem in value["degraded"]] == ["reranker"]
    dates = [item["created_at"] for item in value["results"]]
    assert dates != sorted(dates, reverse=True)


def test_without_an_embedder_words_still_find_and_it_is_named(told, monkeypatch):
    monkeypatch.setenv("MEMORA_EMBEDDER", "no-such-model")
    outcome = told("search", "tomatoes", "--json")
    assert outcome.json["results"][0]["id"] == 4
    assert [problem["part"] for problem in outcome.json["degraded"]] == ["embedder"]
    assert outcome.json["backend"]["embedder"] is None
    assert "embedder" in told("search", "tomatoes").err


@pytest.mark.parametrize("error", [ModelUnusable("gone"), RuntimeError("broken")])
def test_an_embedder_that_fails_leaves_the_keywords(bare, error):
    memory = fresh(bare)
    number = put(memory, "coffee", embed=True)
    memory.__dict__["embedder"] = Failing(error)
    try:
        trace = ask(memory, "coffee", NOW)
    finally:
        with_fakes(memory)
    assert found(trace) == [number]
    assert only_reason(trace, "embedder")


def test_another_embedder_never_meets_the_vectors_of_the_first(bare):
    memory = fresh(bare)
    old = put(memory, "coffee", embed=True)
    memory.__dict__["embedder"] = Constant()
    try:
        trace = ask(memory, "tea", NOW, semantic_floor=-1.0)
        assert (listed(trace, "semantic"), trace.waiting) == ([], 1)
        assert reindexed(memory) == 1
        trace = ask(memory, "tea", NOW, semantic_floor=-1.0)
        assert (listed(trace, "semantic"), trace.waiting) == ([old], 0)
    finally:
        with_fakes(memory)


@pytest.mark.sqlite
def test_like_can_be_forced_finds_the_same_notes_and_is_not_degraded(told):
    for question in ("tomatoes", "fridge", "Alice", "grammar school"):
        values = [
            told("explain", question, "--backend", backend, "--json", "-n", 50).json for backend in ("fts5", "like")
        ]
        assert [value["backend"]["keyword"] for value in values] == ["fts5", "like"]
        assert values[1]["degraded"] == []
        fts5, like = ({hit["id"] for hit in value["strategies"]["keyword"]} for value in values)
        assert fts5 == like != set()


def test_an_unknown_backend_is_refused(told):
    assert told("search", "x", "--backend", "magic", code=2).out == ""


# What is printed

ALL_KNOBS = ("--rerank-weight", 0.5, "--recency-weight", 0.4, "--half-life", 30, "--pinned-bonus", 0.3, "--rrf-k", 10)


@pytest.mark.parametrize("options", [(), ("-n", 3, "--max-tokens", 30), ALL_KNOBS, ("--no-rerank",), ("--current",)])
@pytest.mark.parametrize("question", ["What did Alice do last spring?", "coffee"])
def test_search_and_explain_agree_to_the_last_digit_at_the_same_time(told, question, options):
    options = (question, "--at", "2025-11-24T14:54:57", "--json", *options)
    searched, explained = told("search", *options).json, told("explain", *options).json
    assert {key: explained[key] for key in searched} == searched


def test_a_search_prints_the_object_that_the_manual_promises(told):
    value = told("search", "What did Alice do last spring?", "--at", "2025-11-24", "--json").json
    promised = {"version", "query", "at", "words", "window", "backend", "degraded", "results", "omitted"}
    assert promised <= set(value)
    assert value["version"] == 1
    assert value["words"] == ["what", "did", "alice", "do", "last", "spring"]
    assert {"start", "end", "text"} <= set(value["window"])
    assert {"keyword", "vectors", "embedder", "reranker"} <= set(value["backend"])
    assert {"limit", "budget"} <= set(value["omitted"])
    fields = {"rank", "id", "title", "snippet", "text", "score", "relevance", "created_at", "pinned"}
    assert all(fields | {"superseded_by", "tokens"} <= set(item) for item in value["results"])
    assert [item["rank"] for item in value["results"]] == list(range(1, len(value["results"]) + 1))


def test_jsonl_is_one_result_a_line_and_ids_are_ids(told):
    options = ("coffee", "--at", "2025-11-24")
    results = told("search", *options, "--json").json["results"]
    assert [json.loads(line) for line in told("search", *options, "--jsonl").out.splitlines()] == results
    assert told("search", *options, "--ids").out.split() == [str(item["id"]) for item in results]
    assert [line.split("\t")[0] for line in told("search", *options).out.splitlines()] == [
        str(item["id"]) for item in results
    ]


def test_no_match_is_an_object_with_an_empty_list_and_only_e_makes_it_an_error(memora):
    value = memora("search", "anything", "--json").json
    assert value["results"] == []
    assert memora("search", "anything").out == ""
    assert memora("search", "anything", "-e", code=1).out == ""
    memora("add", "anything")
    assert memora("search", "anything", "-e", "--ids").out == "1\n"


# Every number again from its leaves

questions = st.sampled_from(
    ["What did Alice do last spring?", "coffee", "Alice at Google", "fridge", "food", "school in 2023", "clocks", "I"]
)
knobs = st.fixed_dictionaries(
    {
        "limit": st.integers(1, 20),
        "max_tokens": st.integers(1, 200),
        "fusion": st.sampled_from(["convex", "rrf"]),
        "rrf_k": st.integers(1, 100),
        "strategy_limit": st.integers(1, 20),
        "semantic_floor": st.floats(-1.0, 0.5),
        "rerank": st.booleans(),
        "rerank_top": st.integers(0, 20),
        "rerank_weight": st.floats(0.0, 1.0),
        "recency_weight": st.floats(0.0, 5.0),
        "half_life_days": st.floats(0.001, 100_000.0),
        "pinned_bonus": st.floats(0.0, 3.0),
        "current_only": st.booleans(),
        "weights": st.fixed_dictionaries(
            {name: st.just(0.0) | st.floats(0.01, 3.0) for name in ("semantic", "keyword", "graph", "temporal")}
        ),
    }
)


@settings(deadline=None, max_examples=25)
@given(questions, knobs, st.integers(-5000, 5000))
def test_every_score_of_an_explanation_can_be_computed_again_from_its_leaves(story, question, chosen, days):
    at = NOW + timedelta(days=days)
    trace = story.search(query_of(story, question, at, **chosen))
    value = json.loads(shapes.dumps(explained.explain(trace)))
    notes = {note.id: note for note in story.notes(Filters())}
    k, weights = chosen["rrf_k"], chosen["weights"]
    parts = {}
    for strategy, hits in value["strategies"].items():
        assert [hit["rank"] for hit in hits] == list(range(1, len(hits) + 1))
        for hit in hits:
            scored = weights[strategy] * max(0.0, hit["score"]) / value["best"][strategy]
            ranked = weights[strategy] / (k + hit["rank"])
            assert hit["contribution"] == (ranked if chosen["fusion"] == "rrf" else scored)
            if weights[strategy] > 0.0:
                parts.setdefault(hit["id"], []).append(hit["contribution"])
    scores = value["scores"]
    fused = {item["id"]: item["fused"]["value"] for item in scores}
    for item in scores:
        expected = fused[item["completes"]] if item["completes"] else math.fsum(parts[item["id"]])
        assert item["fused"]["value"] == expected
    best_fused = max(fused.values(), default=1.0) or 1.0
    sigmoids = {item["id"]: item["rerank"]["sigmoid"] for item in scores if item["rerank"]}
    for item in scores:
        leaves = [item["fused"]["value"] / best_fused]
        if sigmoids:
            leaves = [(1.0 - chosen["rerank_weight"]) * item["fused"]["value"] / best_fused]
            if item["rerank"]:
                logit = item["rerank"]["logit"]
                assert item["rerank"]["sigmoid"] == pytest.approx(1.0 / (1.0 + math.exp(-logit)), rel=1e-12)
                leaves.append(chosen["rerank_weight"] * item["rerank"]["sigmoid"] / max(sigmoids.values()))
        assert item["relevance"]["value"] == math.fsum(leaves)
    best = max((item["relevance"]["value"] for item in scores), default=1.0) or 1.0
    for item in scores:
        note = notes[item["id"]]
        age = max(0.0, (at - note.created_at).total_seconds() / 86_400)
        assert item["age_days"] == age
        text = item["relevance"]["value"] / best
        assert 0.0 <= text <= 1.0
        leaves = [text, chosen["recency_weight"] * 0.5 ** (age / chosen["half_life_days"])]
        leaves.append(item["final"]["parts"].get("update", 0.0))
        leaves.append(chosen["pinned_bonus"] if note.pinned else 0.0)
        leaves.append(-10.0 if note.superseded_by else 0.0)
        assert item["final"]["value"] == math.fsum(leaves) == math.fsum(item["final"]["parts"].values())
    by_score = {item["id"]: item["final"]["value"] for item in scores}
    shown = [by_score[item["id"]] for item in scores if not notes[item["id"]].superseded_by]
    assert shown == sorted(shown, reverse=True)
    for result in value["results"]:
        assert result["score"] == by_score[result["id"]]


def test_the_settings_of_the_tests_are_the_settings_of_the_program(story):
    assert story.config.settings == Settings()
