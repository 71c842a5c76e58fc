"""What stays fast: look-ups by index, statements that do not grow, very many vectors by their signs."""

from __future__ import annotations

import pydoc_data.topics
import re
import shutil
from contextlib import contextmanager
from datetime import timedelta

import numpy
import pytest
from conftest import NOW
from fakes import BagOfWords, ask, with_fakes
from hypothesis import given, strategies
from sqlalchemy import Engine, event

from memora_cli.config import load
from memora_cli.errors import MemoraError
from memora_cli.memory import Memory
from memora_cli.models import load_embedder
from memora_cli.models.onnx import OnnxModel
from memora_cli.store import conditions, signs, sqlite_index, sqlite_words
from memora_cli.text.words import stem
from memora_cli.values import Draft, Filters

pytestmark = pytest.mark.sqlite


FLOWERS = ("lilies", "roses", "roses")


@contextmanager
def statements():
    issued = []

    def note(_connection, _cursor, statement, parameters, *_):
        issued.append((statement, parameters))

    event.listen(Engine, "before_cursor_execute", note)
    yield issued
    event.remove(Engine, "before_cursor_execute", note)


def garden(memory: Memory, count: int, start: int = 0) -> list[int]:
    """Notes about plants, each with a word, a name and a day of its own beside those that all share."""
    drafts = [
        Draft(
            body=f"The gardener Anna Bell watered plant{n} and the {FLOWERS[n % 3]} on May {n % 28 + 1}, 2024.",
            created_at=NOW - timedelta(days=n),
            topics=("garden", "rare") if n % 100 == 7 else ("garden",),
        )
        for n in range(start, start + count)
    ]
    return [added.id for added in memory.add_all(drafts, NOW)]


@pytest.fixture
def by_signs(monkeypatch):
    """Six vectors are very many, and few candidates are compared exactly."""
    monkeypatch.setattr(sqlite_index, "SCANNED", 5)
    monkeypatch.setattr(sqlite_index, "CHUNK", 4)


def test_a_search_issues_no_more_statements_when_it_finds_more(memory):
    with_fakes(memory)
    garden(memory, 150)
    ask(memory, "Who watered the roses in May 2024?", NOW)
    with statements() as few:
        some = ask(memory, "Who watered the roses in May 2024?", NOW)
    garden(memory, 300, start=150)
    ask(memory, "Who watered the roses in May 2024?", NOW)
    with statements() as many:
        more = ask(memory, "Who watered the roses in May 2024?", NOW)
    assert len(more.candidates) > len(some.candidates) > 50
    assert len(many) <= len(few) + 5  # of the graph, which may be read in one step more


def test_no_look_up_of_a_search_walks_through_a_whole_space(memory):
    with_fakes(memory)
    garden(memory, 60)
    with statements() as issued:
        for text in ("Who watered the roses?", "Anna Bell plant5", "gardener lilies"):
            ask(memory, text, NOW)
    counted = ("count(", "min(vectors.model)", "LIMIT", "MATCH", "json_each", "sqlite_master", "PRAGMA", "SAVEPOINT")
    connection = memory.database.engine.raw_connection()
    walks = [
        (statement, step)
        for statement, parameters in issued
        if statement.startswith("SELECT") and not any(word in statement for word in counted)
        for *_, step in connection.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
        if "(space=?)" in step or step.startswith("SCAN notes")
    ]
    connection.close()
    assert walks == []


def test_the_same_notes_are_found_by_signs_whatever_was_added_edited_and_forgotten(home, by_signs, monkeypatch):
    texts = ("roses plant3", "lilies gardener", "plant17 watered", "a cold wind")
    found = {}
    for name, least in (("signs", 5), ("exact", 10**9)):
        monkeypatch.setattr(sqlite_index, "SCANNED", least)
        with with_fakes(Memory(load({"db": str(home / f"{name}.db")}))) as memory:
            ids = garden(memory, 40)
            memory.forget(ids[3:9], NOW)
            memory.edit(ids[20], lambda _: Draft(body="A cold wind blew the lilies down."), NOW)
            ids += garden(memory, 5, start=40)
            memory.restore([ids[4]], NOW)
            found[name] = [
                [(hit.note_id, pytest.approx(hit.score, abs=1e-5)) for hit in ask(memory, text, NOW).lists[0].hits]
                for text in texts
            ]
            assert ask(memory, "roses", NOW).backend.vectors == ("signs" if name == "signs" else "sqlite-vec")
            with memory.database.read() as connection:
                assert memory.database.index.drifted(connection) == []
    assert found["signs"] == found["exact"]


def test_a_filter_acts_inside_the_pass_by_signs(memory, by_signs, monkeypatch):
    monkeypatch.setattr(signs, "LEAST_COARSE", 8)
    monkeypatch.setattr(signs, "LEAST_FINE", 4)
    monkeypatch.setattr(signs, "COARSE", 1)
    with_fakes(memory)
    ids = garden(memory, 220)
    trace = ask(memory, "The gardener watered roses", NOW, filters=Filters(topics=("rare",)))
    assert {hit.note_id for hit in trace.lists[0].hits} == {ids[7], ids[107], ids[207]}


def test_signs_that_drifted_are_found_and_made_anew(memory, by_signs):
    with_fakes(memory)
    garden(memory, 12)
    with memory.database.write() as connection:
        connection.exec_driver_sql("UPDATE vector_signs SET signs = zeroblob(length(signs))")
    with memory.database.read() as connection:
        assert "differs" in memory.database.index.drifted(connection)[0]
    list(memory.reindex())
    with memory.database.read() as connection:
        assert memory.database.index.drifted(connection) == []


def test_what_is_taken_back_leaves_no_signs(memory, by_signs):
    with_fakes(memory)
    garden(memory, 12)
    with pytest.raises(MemoraError), memory.database.write() as connection:  # noqa: PT012  # all of it is taken back
        signs.remove(connection, "default", BagOfWords.id, [1, 2, 3])
        raise MemoraError
    with memory.database.read() as connection:
        assert memory.database.index.drifted(connection) == []


def test_recall_by_signs_on_real_embeddings(monkeypatch, figure):
    """English sentences of Python's own manual, embedded by the bundled model; exact look-ups are the measure."""
    monkeypatch.setattr(signs, "LEAST_FINE", 30)
    text = " ".join(" ".join(pydoc_data.topics.topics.values()).split())
    sentences = list(dict.fromkeys(one for one in re.split(r"(?<=[.!?]) ", text) if 40 < len(one) < 160))[:1000]
    vectors = load_embedder().embed(sentences)
    asked, held = vectors[::25], numpy.delete(vectors, numpy.s_[::25], axis=0)
    packed = numpy.ascontiguousarray(signs.pack(held).view(numpy.uint64).T)
    loaded = signs.Signs(numpy.arange(len(held)), packed)
    recalls = []
    for query in asked:
        exact = set(numpy.argsort(-(held @ query), kind="stable")[:10].tolist())
        near = loaded.finest(query, numpy.arange(len(held)), 10)
        coarse = numpy.argsort(signs._differing(loaded.words, signs.pack(query[None]).view(numpy.uint64)[0]))
        recalls.append(len(exact & set(near.tolist()) & set(coarse[: signs.COARSE * 10].tolist())) / 10)
    figure("recall@10 by signs, 1,000 sentences, 30 compared exactly", f"{numpy.mean(recalls):.3f}")
    assert numpy.mean(recalls) >= 0.98


def test_a_warm_memory_sees_at_once_what_another_wrote_and_a_file_that_took_its_place(home):
    with with_fakes(Memory(load())) as memory, with_fakes(Memory(load())) as other:
        garden(memory, 3)
        assert not ask(memory, "submarine", NOW).results
        memory.database.close()
        shutil.copy(home / "memora.db", home / "older.db")
        other.add(Draft(body="A submarine is a boat."), NOW)
        assert ask(memory, "submarine", NOW).results
        memory.add(Draft(body="A second submarine."), NOW)
        assert len(ask(other, "submarine", NOW).results) == 2
        other.database.close()
        memory.database.close()
        with memory.database.read():
            (home / "older.db").replace(home / "memora.db")
        assert not ask(memory, "submarine", NOW).results


def test_a_cross_encoder_that_has_no_time_says_how_far_it_came(memory):
    garden(with_fakes(memory, reranker=Slow()), 6)
    trace = ask(memory, "roses", NOW)
    assert [problem.part for problem in trace.degraded] == ["reranker"]
    assert "1 of 4 candidates were read in 10 s" in trace.degraded[0].reason
    assert sum(candidate.reranking is not None for candidate in trace.candidates) == 1


class Slow:
    id = "slow@1"

    def score(self, query, passages, seconds=0.0):  # noqa: ARG002
        return numpy.array([1.0] + [numpy.nan] * (len(passages) - 1), numpy.float32)


def test_the_model_stops_at_its_time_and_reads_the_first_texts_first():
    from memora_cli.models import load_reranker

    passages = ["short", "a somewhat longer passage of text"] * 12
    assert numpy.isnan(load_reranker().score("what", passages, 0.0)).all()
    assert numpy.isfinite(load_reranker().score("what", passages)).all()


def test_the_vector_of_a_query_is_kept(monkeypatch):
    embedder = load_embedder()
    ran = []
    run = OnnxModel.run
    monkeypatch.setattr(OnnxModel, "run", lambda self, texts, *rest: ran.append(texts) or run(self, texts, *rest))
    first, second = (embedder.embed(["where are the keys"], query=True) for _ in range(2))
    assert len(ran) == 1
    assert (first == second).all()


def test_of_too_many_common_words_the_rarest_are_searched(memory, monkeypatch):
    with_fakes(memory)
    ids = garden(memory, 30)
    before = [hit.note_id for hit in ask(memory, "watered roses plant7", NOW).lists[1].hits]
    monkeypatch.setattr(sqlite_words, "MOST_ROWS", 10)
    after = [hit.note_id for hit in ask(memory, "watered roses plant7", NOW).lists[1].hits]
    assert before[0] == after[0] == ids[7]
    assert len(after) < len(before)


@pytest.mark.parametrize("filters", [Filters(), Filters(topics=("rare",)), Filters(until=NOW - timedelta(days=90))])
def test_the_best_by_words_are_the_same_however_few_notes_are_looked_at(memory, monkeypatch, filters):
    garden(memory, 120)
    index = memory.database.index
    for words in (("roses",), ("watered",), ("plant7", "roses", "gardener"), ("nowhere",)):
        for limit in (1, 10, 100):
            found = []
            for read in (1, 3, 1000):
                monkeypatch.setattr(sqlite_words, "READ", read)
                with memory.database.read() as connection:
                    found.append(index.match(connection, "default", words, conditions.matching(filters), limit))
            assert found[0] == found[1] == found[2]


@given(strategies.text("aeiounstyzg", min_size=1, max_size=9))
def test_a_word_begins_with_its_stem_but_one_letter(word):
    assert word.startswith(stem(word)[:-1])
