"""Measures what the README states of PostgreSQL: `python tests/benchmark_postgres.py [PART]...`.

The parts are `clients`, `vectors` and `ranking`; all of them if none is named.
The server is the one that the tests start, or that MEMORA_TEST_POSTGRES names. `ranking` reads the notes of
`MEMORA_SHARED/eval`, and is left out where that folder is not; SETS names its folders.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import statistics
import sys
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy
from fakes import open_at, with_fakes
from postgres_server import Server, launch

from memora_cli.config import load
from memora_cli.memory import Memory
from memora_cli.store import health
from memora_cli.values import Draft, Filters, Floors, Query

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CLIENTS, OPERATIONS = 50, 20
PASSAGES, DIMENSION = int(os.environ.get("PASSAGES", "100000")), 384
QUERIES = int(os.environ.get("QUERIES", "200"))
NOTES = int(os.environ.get("NOTES", "1000000"))  # of a corpus, and those that are asked for


def row(what: str, measured: str, bound: str) -> None:
    print(f"| {what} | {measured} | {bound} |", flush=True)


def search(memory: Memory, text: str, **settings: object):
    settings = replace(memory.config.settings, **settings)
    return memory.search(Query(text, NOW, Filters(space=memory.space), settings))


def clients(server: Server) -> None:
    """Many people who add, edit, supersede, pin and search at once: nothing fails, nothing is lost."""
    address = server.address(server.create())
    open_at(address).close()
    start = time.perf_counter()
    # Processes, as people have them: threads of one program would wait for each other in Python.
    with multiprocessing.get_context("fork").Pool(CLIENTS) as pool:
        done = pool.starmap(client, [(address, number) for number in range(CLIENTS)], chunksize=1)
    whole = time.perf_counter() - start
    times = sorted(seconds for one in done for seconds in one.times)
    errors = [error for one in done for error in one.errors]
    with open_at(address) as memory:
        held = {note.id: note.body for note in memory.notes(Filters(memory.space))}
        with memory.database.read() as connection:
            loose = health.loose(connection)
    added = {number for one in done for number in one.added}
    edited = {number: text for one in done for number, text in one.edited.items()}
    lost = len(added - set(held)) + sum(held[number] != text for number, text in edited.items())
    row("errors", f"{len(errors)} of {len(times)}", "0")
    row("notes or edits lost, rows that hang loose", f"{lost}, {len(loose)}", "0, 0")
    p50, p95 = statistics.median(times), statistics.quantiles(times, n=20)[-1]
    row("p50, p95 of an operation", f"{p50:.2f} s, {p95:.2f} s, all in {whole:.0f} s", "-")
    for error in errors[:3]:
        print(error)


@dataclass
class Client:
    """What one person did: seconds of each operation, and what must be there afterwards."""

    times: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    added: list[int] = field(default_factory=list)
    edited: dict[int, str] = field(default_factory=dict)


def client(address: str, number: int) -> Client:
    """One person's operations, in a process of its own."""
    chance = random.Random(number)
    done = Client()
    with open_at(address) as memory:
        with_fakes(memory)
        for turn in range(OPERATIONS):
            known = len(done.added) > 1
            what = chance.choice(["add", "add", "search", "edit", "supersede", "pin"]) if known else "add"
            start = time.perf_counter()
            try:
                if what == "add":
                    text = f"client {number} says {turn} on {chance.random()}"
                    done.added.append(memory.add(Draft(text), NOW).id)
                elif what == "search":
                    search(memory, f"client {chance.randrange(CLIENTS)} says", rerank=False)
                elif what == "edit":
                    text = f"client {number} changed it in turn {turn}"
                    memory.edit(done.added[-1], lambda draft, text=text: replace(draft, body=text), NOW)
                    done.edited[done.added[-1]] = text
                elif what == "supersede":
                    memory.supersede(done.added[0], done.added[-1], NOW)
                else:
                    memory.pin([done.added[-1]], NOW, pinned=True)
            except Exception as error:  # each is counted and told
                done.errors.append(f"{what}: {error!r}"[:200])
            done.times.append(time.perf_counter() - start)
    return done


def vectors(server: Server) -> None:
    """The vector stage against the bare statement on the same table, and recall under a filter that leaves 1 %."""
    name = server.create()
    address = server.address(name)
    open_at(address).close()
    chance = numpy.random.default_rng(7)
    centres = chance.normal(size=(500, DIMENSION))
    matrix = (centres[chance.integers(0, 500, PASSAGES)] + 0.7 * chance.normal(size=(PASSAGES, DIMENSION))).astype(
        "<f4"
    )
    matrix /= numpy.linalg.norm(matrix, axis=1, keepdims=True)
    start = time.perf_counter()
    with server.connect(name) as connection, connection.cursor() as cursor:
        for statement in (
            "INSERT INTO notes (space, id, number, uid, title, body, kind, context, created_at, event_at, dated, "
            "pinned, source, tokens, content_hash) SELECT 'default', n, n, n, '', 'a', 'world', '', now(), now(), "
            "false, n % 100 = 0, '', 1, n FROM generate_series(1, {0}) AS n",
            "INSERT INTO passages SELECT 'default', n, n, 0, 1 FROM generate_series(1, {0}) AS n",
        ):
            cursor.execute(statement.format(PASSAGES))
        with cursor.copy("COPY vectors (space, passage_id, model, dimension, vector) FROM STDIN") as copy:
            for number, vector in enumerate(matrix, start=1):
                copy.write_row(("default", number, "m", DIMENSION, vector.tobytes()))
    with open_at(address) as memory:
        with memory.database.write() as connection:
            memory.database.index.rebuild(connection, "default", "m")
        with server.connect(name) as connection:
            connection.execute("ANALYZE")
        row(f"{PASSAGES:,} passages stored and indexed", f"{time.perf_counter() - start:.0f} s", "-")
        queries = matrix[chance.integers(0, PASSAGES, QUERIES)] + 0.02 * chance.normal(size=(QUERIES, DIMENSION))
        queries = (queries / numpy.linalg.norm(queries, axis=1, keepdims=True)).astype("<f4")
        _stage(memory, matrix, queries)


def _stage(memory: Memory, matrix: numpy.ndarray, queries: numpy.ndarray) -> None:
    from memora_cli.retrieve.semantic import semantic
    from memora_cli.retrieve.source import Source
    from memora_cli.values import Understood

    lookups, bare_times = _lookups(memory, queries)
    stage_times, few, recalls, whole = [], 0, [], []
    rare = numpy.arange(1, len(matrix) + 1) % 100 == 0
    for query in queries:
        cosines = matrix @ query
        understood = Understood(("a",), embedding=tuple(query.tolist()))
        for filters in (Filters(space="default"), Filters(space="default", pinned=True)):
            asked = Query("a", NOW, filters, memory.config.settings)
            with memory.database.read() as connection:
                start = time.perf_counter()
                hits = semantic(Source(memory.database, connection, asked, understood, "m")).hits
                taken = time.perf_counter() - start
            order = numpy.argsort(-numpy.where(rare, cosines, -9) if filters.pinned else -cosines)[:100] + 1
            floor = [number for number in order if cosines[number - 1] >= Floors().semantic]
            recall = len({hit.note_id for hit in hits} & set(floor)) / len(floor) if floor else 1.0
            if filters.pinned:
                few += len(hits) < len(floor)
                recalls.append(recall)
            else:
                stage_times.append(taken)
                whole.append(recall)
    bare_ms, lookup_ms, stage_ms = (statistics.median(times) * 1000 for times in (bare_times, lookups, stage_times))
    row("bare statement p50", f"{bare_ms:.1f} ms", "-")
    row("vector lookup p50", f"{lookup_ms:.1f} ms, {lookup_ms / bare_ms:.2f} ×", "1.5 ×")
    row("the whole semantic strategy p50", f"{stage_ms:.1f} ms, {stage_ms / bare_ms:.2f} ×", "-")
    row("recall of the whole space", f"{statistics.mean(whole):.3f}", "-")
    row("a filter that leaves 1 %: recall, answers too short", f"{statistics.mean(recalls):.3f}, {few}", "0.95, 0")


def _lookups(memory: Memory, queries: numpy.ndarray) -> tuple[list[float], list[float]]:
    """Seconds of a lookup through the index and of the bare statement: by turns, all queries at a time.

    Each query finds the pages as cold as in the other's turn, and the settings of the transaction are the same.
    """
    ours: list[float] = []
    bare: list[float] = []
    order = f"(embedding::vector({DIMENSION})) <=> %s"
    statement = f"SELECT passage_id FROM embeddings WHERE model = 'm' ORDER BY {order} LIMIT 100"
    for _ in range(3):
        for query in queries:
            with memory.database.read() as connection:
                connection.exec_driver_sql("SELECT 1")
                start = time.perf_counter()
                memory.database.index.nearest(connection, "default", "m", query, None, 100)
                ours.append(time.perf_counter() - start)
        for query in queries:
            said = "[" + ",".join(map(str, query.tolist())) + "]"
            with memory.database.read() as connection:
                connection.exec_driver_sql(
                    "SET LOCAL hnsw.iterative_scan = relaxed_order; SET LOCAL hnsw.ef_search = 100"
                )
                start = time.perf_counter()
                connection.exec_driver_sql(statement, (said,)).all()
                bare.append(time.perf_counter() - start)
    return ours, bare


class Remembering:
    """An embedder that embeds each text once."""

    known: dict[str, numpy.ndarray] = {}  # noqa: RUF012  # shared by both databases on purpose

    def __init__(self, embedder) -> None:
        self.id, self.dimension, self.embedder = embedder.id, embedder.dimension, embedder

    def embed(self, texts):
        fresh = [text for text in dict.fromkeys(texts) if text not in self.known]
        self.known.update(zip(fresh, self.embedder.embed(fresh), strict=True) if fresh else ())
        return numpy.array([self.known[text] for text in texts])


def ranking(server: Server) -> None:
    """The same notes and questions on both databases: how alike the fused ranks are, and their quality."""
    from tempfile import TemporaryDirectory

    from memora_cli.memory.evaluating import judge, names_of, rankings, read_questions
    from memora_cli.memory.importing import read

    shared = Path(os.environ.get("MEMORA_SHARED", ""), "eval")
    for name in os.environ.get("SETS", "longmemeval til").split():
        if not (shared / name).is_dir():
            print(f"{name} is not here: set MEMORA_SHARED")
            continue
        with (shared / name / "queries.jsonl").open("rb") as lines:
            questions = [question for question in read_questions(lines, NOW) if question.relevant]
        questions = random.Random(7).sample(questions, min(QUERIES, len(questions)))
        orders, quality = [], []
        with TemporaryDirectory() as folder:
            for address in (str(Path(folder, "memora.db")), server.address(server.create())):
                with Memory(load({"db": address}, {}, Path("/nonexistent"))) as memory:
                    memory.__dict__["embedder"] = Remembering(memory.embedder)
                    asked_for = {one for question in questions for one in question.relevant}
                    items = [item for item in read(shared / name / "corpus.jsonl", NOW) if item.draft]
                    items = [i for n, i in enumerate(items) if n < NOTES or i.draft.source in asked_for]
                    drafts = [(item.name, item.draft) for item in items]
                    for _ in memory.import_all(drafts, NOW):
                        pass
                    settings = replace(memory.config.settings, rerank=False)
                    judged = list(judge(memory, questions, settings, NOW, 10))
                    quality.append(
                        {r: statistics.mean(one.metrics[r]["ndcg"] for one in judged) for r in ("keyword", "fused")}
                    )
                    names = names_of(memory.notes(Filters(memory.space)))
                    asked = [
                        memory.search(Query(q.text, q.asked_at or NOW, Filters(memory.space), settings))
                        for q in questions
                    ]
                    orders.append([[min(names[number]) for number in rankings(trace)["fused"][:10]] for trace in asked])
        shares = [len(set(one) & set(other)) / max(1, len(one), len(other)) for one, other in zip(*orders, strict=True)]
        row(f"{name}, {len(questions)} questions: fused top 10 in common", f"{statistics.mean(shares):.3f}", "0.8")
        for which in ("fused", "keyword"):
            ours, theirs = (one[which] for one in quality)
            row(f"{name}: nDCG@10 of {which} on SQLite, on PostgreSQL", f"{ours:.4f}, {theirs:.4f}", "0.02 apart")


def main() -> None:
    print("| what | measured | bound |\n|---|---|---|")
    server = launch()
    try:
        for name in sys.argv[1:] or ["clients", "vectors", "ranking"]:
            {"clients": clients, "vectors": vectors, "ranking": ranking}[name](server)
    finally:
        server.close()


if __name__ == "__main__":
    main()
