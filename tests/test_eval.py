"""The promises of `memora eval`: the measures, the report, settings side by side, and the worst questions."""

from __future__ import annotations

import json
import math
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memora_cli.memory.metrics import estimate, measure

NOTES = [
    {"id": "job", "text": "Alice works as a software engineer at Google", "created_at": "2024-03-04"},
    {"id": "tea", "text": "I drink tea every morning", "created_at": "2025-02-01"},
    {"id": "coffee", "text": "I drink coffee every morning", "created_at": "2024-02-01"},
    {"id": "boiler", "text": "The boiler wants a service each autumn", "created_at": "2025-03-15"},
]
QUESTIONS = [
    {"id": "q1", "text": "What does Alice do?", "relevant": ["job"], "category": "work", "asked_at": "2025-06-01"},
    {
        "id": "q2",
        "text": "What do I drink every morning?",
        "relevant": ["tea", "coffee"],
        "stale": ["coffee"],
        "current": ["tea"],
        "category": "habit",
    },
    {"id": "q3", "text": "unknowable", "relevant": []},
    {"id": "q4", "text": "…", "relevant": ["boiler"]},
]


@pytest.fixture
def files(tmp_path):
    corpus, questions = tmp_path / "corpus.jsonl", tmp_path / "questions.jsonl"
    corpus.write_text("".join(json.dumps(line) + "\n" for line in NOTES))
    questions.write_text("".join(json.dumps(line) + "\n" for line in QUESTIONS))
    return corpus, questions


def test_the_measures_of_a_ranking_by_hand():
    found = measure(["a", "x", "b", "b"], {"a", "b", "c"}, 10)
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    assert found == pytest.approx({"ndcg": (1 + 1 / math.log2(4)) / ideal, "recall": 2 / 3, "mrr": 1.0, "hit": 1.0})
    assert measure([], {"a"}, 10) == {"ndcg": 0.0, "recall": 0.0, "mrr": 0.0, "hit": 0.0}


@given(st.lists(st.integers(0, 30).map(str), unique=True), st.sets(st.integers(0, 30).map(str), min_size=1))
def test_measures_stay_in_range_and_a_perfect_ranking_has_the_best(ranking, relevant):
    assert all(0.0 <= value <= 1.0 for value in measure(ranking, relevant, 10).values())
    perfect = measure([*sorted(relevant), *ranking], relevant, 10)
    assert perfect["ndcg"] == perfect["mrr"] == perfect["hit"] == 1.0


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=30))
def test_an_interval_holds_its_mean_and_is_the_same_in_each_run(values):
    found = estimate(values)
    assert found.low - 1e-9 <= found.mean <= found.high + 1e-9
    assert found == estimate(values)


def test_eval_has_the_shape_of_the_contract(memora, files):
    corpus, questions = files
    value = memora("eval", questions, "--corpus", corpus, "--json").json
    assert (value["version"], value["queries"], value["skipped"]) == (1, 3, 1)
    assert list(value["strategies"]) == ["semantic", "keyword", "graph", "temporal", "fused", "reranked", "final"]
    for metrics in value["strategies"].values():
        assert list(metrics) == ["ndcg@10", "recall@10", "mrr@10", "hit@10"]
    assert value["updates"] == {"n": 1, "current_above_stale": 1.0, "current_first": 1.0}
    assert value["strategies"]["final"]["hit@10"] == pytest.approx(2 / 3)  # a query without a word finds nothing
    assert 0.0 < value["recall_within_budget"]["mean"] <= 1.0


def test_eval_of_the_open_database_asks_at_the_time_of_the_question(memora, files):
    corpus, questions = files
    memora("import", corpus)
    value = memora("eval", questions, "--json", "--show-worst", 3).json
    by_id = {item["id"]: item for item in value["worst"]}
    assert by_id["q4"]["ndcg"] == 0.0
    assert by_id["q4"]["place"] is None
    assert "--at 2025-06-01T00:00:00+00:00" in by_id["q1"]["explain"]


def test_settings_are_compared_side_by_side_with_the_change_of_each_question(memora, files):
    corpus, questions = files
    value = memora(
        "eval",
        questions,
        "--corpus",
        corpus,
        "--set",
        "weights.keyword=0,weights.semantic=0,weights.graph=0",
        "--set",
        "rerank=0",
        "--json",
    ).json
    nothing, unread = value["variants"]
    assert nothing["settings"] == "weights.keyword=0,weights.semantic=0,weights.graph=0"
    assert nothing["change"]["recall@10"]["mean"] < 0.0 == unread["change"]["recall@10"]["mean"]


def test_the_worst_questions_are_ready_to_paste_into_explain(memora, files, tmp_path):
    corpus, questions = files
    kept = tmp_path / "kept"
    out = memora("eval", questions, "--corpus", corpus, "--keep", kept, "--show-worst", 1).out
    line = next(line for line in out.splitlines() if line.strip().startswith("memora "))
    words = shlex.split(line)
    assert words[:3] == ["memora", "--db", str(kept / "corpus.db")]
    questions.write_text(json.dumps(QUESTIONS[0]))
    value = memora("eval", questions, "--corpus", corpus, "--keep", kept, "--show-worst", 1, "--json").json
    assert "job" not in memora(*shlex.split(value["worst"][0]["explain"])[1:]).err


def test_eval_groups_by_any_key_and_prints_plain_lines_in_a_pipe(memora, files):
    corpus, questions = files
    out = memora("eval", questions, "--corpus", corpus, "--by", "category").out
    assert "\nhabit\t1\t" in out
    assert "\nwork\t1\t" in out
    assert "\nnone\t1\t" in out
    assert "1 updated facts: the current statement stands above the stale one in 1.00" in out


def test_a_kept_corpus_is_imported_once(memora, files, tmp_path):
    corpus, questions = files
    kept = tmp_path / "kept"
    first = memora("eval", questions, "--corpus", corpus, "--keep", kept, "--json").json
    corpus.write_text("")
    assert memora("eval", questions, "--corpus", corpus, "--keep", kept, "--json").json == first


def test_a_folder_of_sets_is_asked_one_set_at_a_time_and_averaged_over_all_questions(memora, files, tmp_path):
    corpus, questions = files
    for name in ("one", "two"):
        folder = tmp_path / "sets" / name
        folder.mkdir(parents=True)
        (folder / "corpus.jsonl").write_bytes(corpus.read_bytes())
        (folder / "queries.jsonl").write_bytes(questions.read_bytes())
    alone = memora("eval", tmp_path / "sets" / "one", "--json").json
    both = memora("eval", tmp_path / "sets", "--json", "--keep", tmp_path / "kept").json
    assert both["queries"] == 2 * alone["queries"]
    assert both["strategies"]["final"] == pytest.approx(alone["strategies"]["final"])
    assert {file.name for file in (tmp_path / "kept").glob("*.db")} == {"sets-one.db", "sets-two.db"}
    assert memora("eval", tmp_path / "sets", "--json", "--sample", 2).json["queries"] == 2
    assert "leave --corpus out" in memora("eval", tmp_path / "sets", "--corpus", corpus, code=2).err
    assert "no queries.jsonl" in memora("eval", tmp_path / "kept", code=2).err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no question"),
        ('{"id": 1, "text": "x", "relevant": []}', "no question"),
        ("{", "line 1"),
        ('{"relevant": ["a"]}', "line 1"),
        ('{"text": "a", "relevant": "b"}', 'line 1 of the questions cannot be used: "relevant" is a list of ids'),
        ('{"text": "a", "relevant": ["b"], "asked_at": "never ever"}', "line 1"),
    ],
)
def test_questions_that_cannot_be_used_are_told_by_their_line(memora, tmp_path, text, told):
    path = tmp_path / "questions.jsonl"
    path.write_text(text)
    assert told in memora("eval", path, code=2).err


def test_a_file_of_questions_that_is_not_there_is_a_usage_error(memora, tmp_path):
    assert "cannot be read" in memora("eval", tmp_path / "none.jsonl", code=2).err
    assert "--corpus" in memora("eval", tmp_path / "none.jsonl", "--keep", tmp_path / "x.db", code=2).err
