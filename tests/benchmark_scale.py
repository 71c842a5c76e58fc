"""Measures the stages of a search, import, memory and size as a memory grows, in one run: one table in Markdown.

`python tests/benchmark_scale.py --keep FOLDER` keeps the databases that it makes (`benchmark_data`) for the next run;
`--sizes 1000 10000` says of how many notes. The notes and queries are those of `MEMORA_SHARED/eval`. At a million notes
only storage, keyword and vector look-ups are measured: their vectors are synthetic, near real ones.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy
from benchmark_data import LIGHT, NOW, database, items, queries

from memora_cli.config import load
from memora_cli.memory import Memory
from memora_cli.memory.writing import BATCH, prepare
from memora_cli.retrieve.keyword import telling
from memora_cli.store import conditions, sqlite_words, vectors
from memora_cli.text.words import query_words
from memora_cli.values import Query, Settings

SIZES = (1_000, 10_000, 100_000, 1_000_000)
ASKED = 100
WANTED = 200  # passages asked for, as a search asks first
STAGES = ("understand", "semantic", "keyword", "graph", "temporal", "read", "fuse", "rerank")
PUBLISHED = {"understand": 12, "semantic": 35, "keyword": 8, "graph": 42, "fuse": 2, "rerank": 35, "all": 135}


def spread(values: Sequence[float]) -> str:
    """Median and 95th percentile."""
    ordered = sorted(values)
    return f"{statistics.median(ordered):.1f} / {ordered[int(0.95 * (len(ordered) - 1))]:.1f}"


def stages(memory: Memory, asked: Sequence[str], *, rerank: bool) -> dict[str, list[float]]:
    """Milliseconds of every stage, and of all together, in a warm process."""
    found: dict[str, list[float]] = {}
    for place, text in enumerate([*asked[:5], *asked]):
        if place == 5:
            found.clear()
            getattr(memory.embedder, "_asked", {}).clear()  # a query asked again would cost nothing
        start = time.perf_counter()
        trace = memory.search(Query(text, NOW, settings=Settings(rerank=rerank)))
        whole = (time.perf_counter() - start) * 1e3
        for name, value in (*trace.milliseconds, ("all", whole)):
            found.setdefault(name, []).append(value)
    return found


def look_up_vectors(memory: Memory, asked: Sequence[str]) -> dict[str, object]:
    """Vector look-ups in milliseconds, numpy's own exact scan beside them, and recall against it."""
    with memory.database.read() as connection:
        model = vectors.models(connection, "default")[0]
        rows = connection.exec_driver_sql("SELECT passage_id, vector FROM vectors ORDER BY passage_id")
        ids, parts = [], []
        while some := rows.fetchmany(50_000):
            ids += [row[0] for row in some]
            parts.append(numpy.frombuffer(b"".join(row[1] for row in some), "<f4").reshape(len(some), -1))
    held, numbers = numpy.concatenate(parts), numpy.array(ids)
    del parts
    index = memory.database.index
    ours, exact, recalls = [], [], []
    for place, text in enumerate([asked[0], *asked]):
        vector = memory.embedder.embed([text], query=True)[0]
        with memory.database.read() as connection:
            start = time.perf_counter()
            found = index.nearest(connection, "default", model, vector, None, WANTED)
            middle = time.perf_counter()
            cosines = held @ vector
            best = numpy.argpartition(-cosines, WANTED)[:WANTED]
            best = best[numpy.argsort(-cosines[best])]
            end = time.perf_counter()
            by = index.vectors_by(connection, "default", model)
        if place:
            ours.append((middle - start) * 1e3)
            exact.append((end - middle) * 1e3)
            recalls.append(len({row[0] for row in found[:10]} & set(numbers[best[:10]].tolist())) / 10)
    return {"by": by, "ours": ours, "numpy": exact, "recall": statistics.mean(recalls)}


def look_up_words(memory: Memory, asked: Sequence[str]) -> dict[str, object]:
    """Keyword look-ups in milliseconds, and the share whose ten best are those of all the words together."""
    lasted, best = [], {}
    most, everything = sqlite_words.MOST_ROWS, sys.maxsize
    for rows in (most, everything):
        sqlite_words.MOST_ROWS = rows
        for place, text in enumerate([asked[0], *asked]):
            with memory.database.read() as connection:
                here, words = conditions.in_space("default"), telling(query_words(text))
                start = time.perf_counter()
                found = memory.database.index.match(connection, "default", words, here, 100)
                if place and rows == most:
                    lasted.append((time.perf_counter() - start) * 1e3)
            best[rows, text] = [row[0] for row in found[:10]]
    sqlite_words.MOST_ROWS = most
    return {"words": lasted, "same": statistics.mean(best[most, text] == best[everything, text] for text in asked)}


def importing(shared: Path, folder: Path, count: int) -> tuple[float, float]:
    """Notes a second of an import into an empty memory, and of embedding the same passages alone."""
    drafts = [item for item in items(shared) if item.draft and item.draft.body.strip()][:count]
    texts = [prepare(item.draft).texts for item in drafts if item.draft]
    rates: list[float] = []
    with Memory(load({"db": str(folder / "import.db")}, environment={})) as memory:
        memory.embedder.embed(["warm up"])
        start = time.perf_counter()
        for _ in memory.intake(NOW).take(drafts):
            pass
        rates.append(len(drafts) / (time.perf_counter() - start))
        start = time.perf_counter()
        for place in range(0, len(texts), BATCH):
            memory.embedder.embed([text for held in texts[place : place + BATCH] for text in held])
        rates.append(len(drafts) / (time.perf_counter() - start))
    return rates[0], rates[1]


def measure(path: Path, shared: Path, size: int) -> dict[str, object]:
    """All that is measured of one size; in a process of its own, so that its memory is known."""
    asked = queries(shared, ASKED)
    start = time.perf_counter()
    with Memory(load({"db": str(path)}, environment={})) as memory:
        opened = (time.perf_counter() - start) * 1e3
        found: dict[str, object] = {"size": size, "open": opened, "bytes": path.stat().st_size / size}
        if size < LIGHT:
            found["stages"] = stages(memory, asked, rerank=True)
            found["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        found |= look_up_words(memory, asked) | look_up_vectors(memory, asked)
    return found


def row(name: str, cells: Sequence[str]) -> None:
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


def growth(found: Sequence[dict[str, object]], values: Sequence[float | None]) -> str:
    """The exponent by which a time grows with the number of notes, from the smallest to the largest."""
    pairs = [(float(str(one["size"])), value) for one, value in zip(found, values, strict=True) if value]
    if len(pairs) < 2:
        return ""
    (least, low), (most, high) = pairs[0], pairs[-1]
    return f"{math.log(high / low) / math.log(most / least):.2f}"


def report(found: list[dict[str, object]], rates: tuple[float, float] | None) -> None:
    row("p50 / p95 in ms", [*(f"{int(str(one['size'])):,} notes" for one in found), "grows as n^", "published"])
    row("---", ["---"] * (len(found) + 2))

    def line(name: str, values: list[list[float] | None], bound: object = "") -> None:
        middle = [statistics.median(one) if one else None for one in values]
        row(name, [*(spread(one) if one else "" for one in values), growth(found, middle), str(bound)])

    for stage in (*STAGES, "all"):
        times = [dict(one.get("stages", {})).get(stage) for one in found]  # type: ignore[call-overload]
        line(stage, times, PUBLISHED.get(stage, ""))
    line("look-up of vectors", [one["ours"] for one in found])  # type: ignore[misc]
    line("numpy's exact scan, in memory", [one["numpy"] for one in found])  # type: ignore[misc]
    line("look-up of words", [one["words"] for one in found])  # type: ignore[misc]
    row("vectors by", [*(str(one["by"]) for one in found), "", ""])
    row("recall@10 against exact", [*(f"{one['recall']:.3f}" for one in found), "", ""])
    row("top 10 as by all the words", [*(f"{one['same']:.2f}" for one in found), "", ""])
    row("opening, ms", [*(f"{one['open']:.0f}" for one in found), "", ""])
    row("memory of the process, MB", [*(f"{one['memory']:.0f}" if "memory" in one else "" for one in found), "", ""])
    row("bytes on disk a note", [*(f"{one['bytes']:,.0f}" for one in found), "", ""])
    if rates:
        print(f"\nImport: {rates[0]:.1f} notes/s, embedding alone {rates[1]:.1f}: share {rates[0] / rates[1]:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, help="a folder for the databases; without it they are made and deleted")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--import", dest="imported", type=int, default=2000, help="notes to import; 0 leaves it out")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    shared = Path(os.environ.get("MEMORA_SHARED", Path(__file__).parents[2] / "shared"))
    if given.one:
        print(json.dumps(measure(given.one, shared, given.sizes[0])))
        return
    with tempfile.TemporaryDirectory() as folder:
        keep = given.keep or Path(folder)
        keep.mkdir(exist_ok=True)
        found = []
        for size in given.sizes:
            path = database(keep, shared, size)
            command = [sys.executable, __file__, "--one", str(path), "--sizes", str(size)]
            ran = subprocess.run(command, check=True, stdout=subprocess.PIPE)
            found.append(json.loads(ran.stdout))
        rates = importing(shared, Path(folder), given.imported) if given.imported else None
    load_now = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(f"{platform.machine()}, {os.cpu_count()} cores{load_now}, Python {platform.python_version()}\n")
    report(found, rates)


if __name__ == "__main__":
    main()
