"""Measures retrieval on public sets through the whole pipeline: `python tests/evaluate.py SET... [KEY=VALUE...]`.

A set is a folder of `MEMORA_SHARED/eval` with `corpus.jsonl` and `queries.jsonl`, or of such folders, searched one at a
time; `SET:100` takes a random hundred of its questions. Databases are kept in `--keep FOLDER` for the next run. A
KEY=VALUE is a setting, as `weights.temporal=0`; each set is measured with and without all of them.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memora_cli.config import load
from memora_cli.memory import Memory
from memora_cli.memory.importing import read
from memora_cli.values import Filters, Query, Trace

TOP = 10
UNDATED = datetime(2026, 1, 1, tzinfo=UTC)
COLUMNS = ("semantic", "keyword", "graph", "temporal", "fused", "reranked", "final")


def ndcg(ranking: Sequence[str], relevant: set[str]) -> float:
    """Binary nDCG@10."""
    gain = sum(1 / math.log2(place + 2) for place, name in enumerate(ranking[:TOP]) if name in relevant)
    return gain / sum(1 / math.log2(place + 2) for place in range(min(TOP, len(relevant))))


def folders(path: Path) -> list[Path]:
    """The folder itself, or those below it that hold a corpus."""
    return [path] if (path / "corpus.jsonl").exists() else sorted(file.parent for file in path.glob("*/corpus.jsonl"))


def questions(name: str, shared: Path) -> Iterator[tuple[Path, list[dict[str, Any]]]]:
    """The questions of a set that have an answer, by folder."""
    name, _, most = name.partition(":")
    found = []
    for folder in folders(shared / "eval" / name):
        lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
        found += [(folder, query) for query in map(json.loads, lines) if query["relevant"]]
    if most:
        found = random.Random(1).sample(found, min(int(most), len(found)))
    for folder in dict.fromkeys(folder for folder, _ in found):
        yield folder, [query for other, query in found if other == folder]


def open_corpus(folder: Path, keep: Path) -> Memory:
    """A memory of the folder's corpus, imported when it is not there yet."""
    path = keep / f"{folder.parent.name}-{folder.name}.db"
    fresh = not path.exists()
    memory = Memory(load({"db": str(path)}, environment={}, path=keep / "none.toml"))
    if fresh:
        drafts = ((item.name, item.draft) for item in read(folder / "corpus.jsonl", UNDATED) if item.draft)
        for _ in memory.import_all(drafts, UNDATED):
            pass
    return memory


def rankings(trace: Trace, names: Mapping[int, str]) -> dict[str, list[str]]:
    """The corpus ids in the order of each strategy and stage."""
    steps = {step.name: [names[candidate.note.id] for candidate in step.candidates] for step in trace.steps}
    lists = {ranked.strategy: [names[hit.note_id] for hit in ranked.hits] for ranked in trace.lists}
    return {**lists, "fused": steps["fuse"], "reranked": steps["rerank"], "final": steps["cut"]}


def measure(name: str, shared: Path, keep: Path, settings: Mapping[str, str]) -> list[dict[str, float]]:
    """nDCG@10 of each strategy and stage for each question; `window` is 1 where the question names a time."""
    rows = []
    for folder, queries in questions(name, shared):
        with open_corpus(folder, keep) as memory:
            config = load({**settings, "db": memory.config.db}, environment={}, path=keep / "none.toml")
            wide = replace(config.settings, limit=100, max_tokens=10_000_000)
            names = {note.id: note.source for note in memory.notes(Filters())}
            for query in queries:
                asked = query.get("asked_at")
                at = datetime.fromisoformat(asked).replace(tzinfo=UTC) if asked else UNDATED
                trace = memory.search(Query(query["text"], at, Filters(), wide))
                relevant = set(map(str, query["relevant"]))
                row = {column: ndcg(ranking, relevant) for column, ranking in rankings(trace, names).items()}
                rows.append(row | {"window": float(trace.understood.window is not None)})
    return rows


def show(label: str, rows: list[dict[str, float]]) -> None:
    """One line of the table."""
    means = (sum(row[column] for row in rows) / len(rows) for column in COLUMNS) if rows else ()
    print(f"| {label} | {len(rows)} | " + " | ".join(f"{mean:.3f}" for mean in means) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="+", metavar="SET | KEY=VALUE")
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    shared = Path(os.environ.get("MEMORA_SHARED", Path(__file__).parents[2] / "shared"))
    settings = dict(word.split("=", 1) for word in arguments.words if "=" in word)
    print("| set | questions | " + " | ".join(COLUMNS) + " |\n|---|---|" + "---|" * len(COLUMNS))
    with tempfile.TemporaryDirectory() as folder:
        keep = arguments.keep or Path(folder)
        keep.mkdir(parents=True, exist_ok=True)
        for name in (word for word in arguments.words if "=" not in word):
            for label, given in ((name, {}), (f"{name}, {' '.join(map('='.join, settings.items()))}", settings)):
                if given or label == name:
                    rows = measure(name, shared, keep, given)
                    show(label, rows)
                    show(f"{label}, naming a time", [row for row in rows if row["window"]])


if __name__ == "__main__":
    main()
