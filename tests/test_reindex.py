"""Promises of a change of the embedder: the old vectors answer until all new ones are there, and none ever meet."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy
import pytest
from conftest import NOW
from fakes import ask, listed, reindexed
from handmade import make_embedder, sentence

from memora_cli.config import load, models_folder
from memora_cli.memory import Memory
from memora_cli.models import find_model_id, load_embedder
from memora_cli.store import graph, marks, vectors
from memora_cli.store.sqlite import driver
from memora_cli.values import Draft, Filters, Floors, Trace

EVERYTHING = {"semantic_floor": -1.0, "strategy_limit": 4096, "rerank": False}


@pytest.fixture
def pair(home: Path, memora: Callable[..., Any]) -> tuple[str, str]:
    """The ids of two installed embedders, "one" and "two", of which the first is in use."""
    folders = [make_embedder(models_folder() / name, seed) for seed, name in enumerate(("one", "two"))]
    memora("models", "use", "one")
    return load_embedder(str(folders[0])).id, load_embedder(str(folders[1])).id


def fill(count: int) -> None:
    with Memory(load()) as memory:
        memory.add_all([Draft(sentence(number)) for number in range(count)], NOW)


def consistent(memory: Memory, text: str) -> Trace:
    """A search whose cosines are all those of the model that it says answered."""
    trace = ask(memory, text, NOW, **EVERYTHING)
    folder = find_model_id(trace.backend.embedder or "", (models_folder(),))
    assert folder is not None, trace.degraded
    embedder = load_embedder(str(folder.path))
    query = embedder.embed([text], query=True)[0]
    hits = {hit.note_id: hit.score for ranked in trace.lists if ranked.strategy == "semantic" for hit in ranked.hits}
    bodies = {candidate.note.id: candidate.note.body for candidate in trace.candidates if candidate.note.id in hits}
    cosines = embedder.embed([bodies[note_id] for note_id in hits]) @ query
    numpy.testing.assert_allclose(list(hits.values()), cosines, atol=1e-5)
    return trace


def test_the_old_vectors_answer_until_the_reindex_is_done_and_the_search_says_so(pair, memora) -> None:
    one, two = pair
    fill(30)
    said = memora("models", "use", "two")
    assert "30 notes wait" in said.err
    assert "memora reindex" in said.err
    with Memory(load()) as memory:
        trace = consistent(memory, sentence(3))
        assert (trace.backend.embedder, trace.awaited, trace.waiting) == (one, two, 30)
        assert len(listed(trace, "semantic")) == 30
    outcome = memora("search", sentence(3))
    assert f"30 notes wait for vectors of {two}" in outcome.err
    assert f"{one} answers" in outcome.err
    assert memora("search", sentence(3), "--json").json["awaited"] == two
    stats = memora("stats", "--json").json
    assert (stats["embedder"], stats["answering"], stats["waiting"]) == (two, one, 30)
    assert memora("reindex").out == "30 notes got vectors, 30 were linked anew\n"
    with Memory(load()) as memory:
        trace = consistent(memory, sentence(3))
        assert (trace.backend.embedder, trace.awaited, trace.waiting) == (two, "", 0)
        assert len(listed(trace, "semantic")) == 30
        with memory.database.read() as connection:
            assert vectors.models(connection, memory.space) == [two]
    assert memora("search", sentence(3)).err == ""


def test_a_note_added_meanwhile_is_found_at_once_and_gets_its_new_vector_too(pair, memora) -> None:
    one, two = pair
    fill(5)
    memora("models", "use", "two")
    with Memory(load()) as memory:
        added = memory.add(Draft(sentence(77)), NOW).id
        trace = consistent(memory, sentence(77))
        assert listed(trace, "semantic")[0] == added
        assert (trace.backend.embedder, trace.waiting) == (one, 6)
        assert reindexed(memory) == 6
        trace = consistent(memory, sentence(77))
        assert listed(trace, "semantic")[0] == added
        assert trace.backend.embedder == two


def test_going_back_to_the_first_model_needs_no_new_vectors(pair, memora) -> None:
    one, _ = pair
    fill(100)
    memora("models", "use", "two")
    with Memory(load()) as memory:
        next(memory.reindex())
    memora("models", "use", "one")
    with Memory(load()) as memory:
        assert consistent(memory, sentence(3)).backend.embedder == one
        assert reindexed(memory) == 0
        with memory.database.read() as connection:
            assert vectors.models(connection, memory.space) == [one]


def test_without_the_old_model_its_vectors_are_not_touched_and_words_still_find(pair, memora) -> None:
    _, two = pair
    fill(5)
    memora("models", "use", "two")
    memora("models", "remove", "one", "--force")
    with Memory(load()) as memory:
        trace = ask(memory, sentence(3), NOW, **EVERYTHING)
        assert (trace.backend.embedder, trace.waiting, listed(trace, "semantic")) == (two, 5, [])
        assert [problem.part for problem in trace.degraded] == ["vectors"]
        assert 4 in listed(trace, "keyword")
        assert reindexed(memory) == 5
        assert len(listed(consistent(memory, sentence(3)), "semantic")) == 5


def test_a_space_changes_its_model_without_the_others(pair, memora) -> None:
    one, two = pair
    fill(3)
    memora("add", sentence(9), "--space", "work")
    memora("models", "use", "two")
    memora("reindex", "--space", "work")
    with Memory(load()) as memory:
        assert ask(memory, sentence(3), NOW, **EVERYTHING).backend.embedder == one
    with Memory(load({"space": "work"})) as memory:
        assert ask(memory, sentence(9), NOW, **EVERYTHING).backend.embedder == two


def links(memory: Memory) -> set[tuple[int, int, float]]:
    with memory.database.read() as connection:
        rows = connection.exec_driver_sql(
            "SELECT source_id, target_id, weight FROM links WHERE space = 'default' AND relation = 'semantic'"
        )
        return {(row.source_id, row.target_id, round(row.weight, 4)) for row in rows}


def test_links_by_meaning_are_those_of_the_new_model(pair, memora) -> None:
    fill(60)
    memora("models", "use", "two")
    with Memory(load()) as memory:
        old = links(memory)
        reindexed(memory)
        new = links(memory)
        embedder = memory.embedder
        matrix = embedder.embed([sentence(number) for number in range(60)])
    assert new
    assert new != old
    for source, target, weight in new:
        assert weight == pytest.approx(float(matrix[source - 1] @ matrix[target - 1]), abs=1e-3)
        assert weight >= 0.7


def test_prefixes_stand_before_what_is_asked_and_what_is_kept(home, memora) -> None:
    folder = make_embedder(models_folder() / "asymmetric", 3, query_prefix="ask ", passage_prefix="keep ")
    plain = load_embedder(str(make_embedder(home / "asymmetric", 3)))
    memora("models", "use", "asymmetric")
    fill(3)
    with Memory(load()) as memory:
        trace = ask(memory, sentence(1), NOW, **EVERYTHING)
        hits = {hit.note_id: hit.score for hit in trace.lists[0].hits}
    expected = plain.embed([f"keep {sentence(1)}"])[0] @ plain.embed([f"ask {sentence(1)}"])[0]
    assert hits[2] == pytest.approx(float(expected), abs=1e-5)
    assert load_embedder(str(folder)).id != plain.id, "vectors made with another prefix are other vectors"


def test_floors_are_estimated_from_the_notes_and_those_set_by_hand_win(home, memora) -> None:
    make_embedder(models_folder() / "narrow", 5, floors=Floors(0.9, 0.95, 0.99, "sample"), shift=2.0)
    memora("models", "use", "narrow")
    assert memora("stats", "--json").json["floors"]["origin"] == "sample"
    fill(40)
    memora("reindex")
    floors = memora("stats", "--json").json["floors"]
    assert floors["origin"] == "estimated"
    with Memory(load()) as memory:
        matrix = memory.embedder.embed([sentence(number) for number in range(40)])
        known = load_embedder().embed([sentence(number) for number in range(40)])
    pairs = numpy.triu_indices(40, 1)
    passed = [float(((m @ m.T)[pairs] >= floor).mean()) for m, floor in ((known, 0.3), (matrix, floors["semantic"]))]
    assert passed[0] == pytest.approx(passed[1], abs=0.01), "it lets through as many pairs as the bundled model's does"
    assert floors["semantic"] <= floors["entry"] <= floors["link"] < 1
    memora("config", "set", "semantic_floor", "0.123")
    assert memora("stats", "--json").json["floors"] == {**floors, "semantic": 0.123, "origin": "settings"}
    assert memora("search", "amber", "--set", "entry_floor=0.5", "--json").code == 0
    explained = memora("explain", "amber", "--json").json["settings"]["floors"]
    assert explained == {**floors, "semantic": 0.123, "origin": "settings"}


def test_the_floors_of_the_bundled_embedder_are_the_chosen_ones(memory) -> None:
    with memory.database.read() as connection:
        floors = memory.floors(connection, memory.embedder.id, memory.config.settings)
    assert floors == Floors(0.3, 0.5, 0.7, "chosen")


def test_few_notes_say_nothing_about_a_model(home, memora) -> None:
    given = Floors(0.9, 0.95, 0.99, "sample")
    make_embedder(models_folder() / "narrow", 5, floors=given)
    memora("models", "use", "narrow")
    fill(5)
    memora("reindex")
    with Memory(load()) as memory, memory.database.read() as connection:
        assert memory.floors(connection, memory.embedder.id, memory.config.settings) == given


def progress(path: str, model: str) -> tuple[int, int]:
    """How many vectors of the model are there, and how far the links have come: -1 before, many thousands after."""
    connection = driver().connect(f"file:{path}?mode=ro", uri=True)
    try:
        connection.execute("PRAGMA busy_timeout = 5000")
        made = connection.execute("SELECT count(*) FROM vectors WHERE model = ?", (model,)).fetchone()[0]
        (linked,) = connection.execute("SELECT max(value) FROM counters WHERE name = ?", (marks.LINKED,)).fetchone()
        left = connection.execute("SELECT count(*) FROM vectors WHERE model <> ?", (model,)).fetchone()[0]
    finally:
        connection.close()
    return made, (-1 if left else 1_000_000) if linked is None else linked


@pytest.mark.slow
@pytest.mark.sqlite
def test_killed_at_twenty_moments_a_reindex_resumes_and_no_search_between_mixes_vectors(pair, memora, home) -> None:
    notes, path = 1000, str(home / "memora.db")
    one, two = pair
    fill(notes)
    memora("models", "use", "two")
    kills, before = 0, 0
    # A moment is reached when so many vectors are made, or after the change of models so many notes are linked.
    moments = [(made, -1) for made in (0, 0, *range(1, 921, 84), 999, 1000)] + [
        (notes, made) for made in (0, 1, 300, 600, 900)
    ]
    for moment in moments:
        running = subprocess.Popen(
            [sys.executable, "-m", "memora_cli", "reindex"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        while progress(path, two) < moment and running.poll() is None:
            time.sleep(0.002)
        if moment == (0, -1):
            time.sleep(0.3 * kills)  # somewhere in its start, or in making the indexes anew
        running.kill()
        _, err = running.communicate()
        kills += running.returncode == -9
        assert running.returncode in (0, -9), err
        made, _ = progress(path, two)
        assert made >= before, "what was done is not done again"
        before = made
        with Memory(load()) as memory:
            text = sentence(len(moments) * 31 % notes)
            trace = consistent(memory, text)
            assert len(listed(trace, "semantic")) == notes, "every note is found by its vector, whatever the moment"
            assert trace.backend.embedder in (one, two)
            with memory.database.write() as connection:
                connection.exec_driver_sql("INSERT INTO keywords_fts(keywords_fts, rank) VALUES('integrity-check', 1)")
                assert connection.exec_driver_sql("PRAGMA integrity_check").scalar_one() == "ok"
    assert kills >= 20
    memora("reindex")
    with Memory(load()) as memory:
        trace = consistent(memory, sentence(1))
        assert (trace.backend.embedder, trace.waiting, trace.degraded) == (two, 0, ())
        assert len(listed(trace, "semantic")) == notes
        linked = links(memory)
        with memory.database.read() as connection:
            assert vectors.models(connection, memory.space) == [two]
            assert marks.read(connection, memory.space, marks.LINKED) is None
        with memory.database.write() as connection:
            graph.unlink_all(connection, memory.space, "semantic")
            marks.put(connection, memory.space, {marks.LINKED: 0})
        assert reindexed(memory) == 0
        assert links(memory) == linked != set(), "as if nobody had stopped it"


def test_past_texts_and_the_trash_get_the_new_vectors_too(pair, memora) -> None:
    _, two = pair
    fill(3)
    with Memory(load()) as memory:
        memory.edit(2, lambda old: replace(old, body=sentence(50)), NOW + timedelta(days=2))
        memory.forget([3], NOW + timedelta(days=2))
    memora("models", "use", "two")
    with Memory(load()) as memory:
        assert reindexed(memory) == 2, "notes that are there"
        memory.restore([3], NOW + timedelta(days=3))
        then = Filters(space=memory.space, as_of=NOW + timedelta(days=1))
        trace = ask(memory, sentence(1), NOW + timedelta(days=3), then, **EVERYTHING)
        assert trace.backend.embedder == two
        cosines = {hit.note_id: hit.score for hit in trace.lists[0].hits}
        assert cosines[2] == pytest.approx(1.0, abs=1e-5), "the text of then is compared by the model of now"
        now = consistent(memory, sentence(50))
        assert (sorted(listed(now, "semantic")), now.waiting) == ([1, 2, 3], 0)
        assert listed(now, "semantic")[0] == 2
