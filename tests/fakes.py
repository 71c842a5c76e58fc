"""Stand-ins that force a number or a failure, and short ways to ask a memory and to look into its file."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy
from postgres_server import contents_of_server, places

from memora_cli.config import load
from memora_cli.memory import Memory
from memora_cli.store.sqlite import driver
from memora_cli.values import Filters, Query, Trace

NOWHERE = Path("/nonexistent/config.toml")


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


class BagOfWords:
    """An embedder whose vectors are counts of hashed words: the same on every machine."""

    id = "bag-of-words@1"
    dimension = 256

    def embed(self, texts: Sequence[str], *, query: bool = False) -> numpy.ndarray:  # noqa: ARG002  # asked and kept alike
        rows = numpy.zeros((len(texts), self.dimension), numpy.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in words(text):
                row[zlib.crc32(word.encode()) % self.dimension] += 1.0
            if not row.any():
                row[0] = 1.0
            row /= numpy.linalg.norm(row)
        return rows


class WordOverlap:
    """A reranker whose logit grows with the share of the query's words that the passage holds."""

    id = "word-overlap@1"

    def score(self, query: str, passages: Sequence[str], seconds: float = 0.0) -> numpy.ndarray:  # noqa: ARG002
        asked = set(words(query))
        shares = [len(asked & set(words(passage))) / max(1, len(asked)) for passage in passages]
        return numpy.array([8.0 * share - 4.0 for share in shares], numpy.float32)


class Constant:
    """An embedder that gives every text the same vector, or whatever it is told to."""

    id = "constant@1"
    dimension = 4

    def __init__(self, row: Sequence[float] = (1.0, 0.0, 0.0, 0.0)) -> None:
        self.row = row

    def embed(self, texts: Sequence[str], *, query: bool = False) -> numpy.ndarray:  # noqa: ARG002  # asked and kept alike
        return numpy.array([self.row] * len(texts), numpy.float32).reshape(len(texts), self.dimension)


class Failing:
    """A model that is there and fails at its work."""

    id = "failing@1"
    dimension = 4

    def __init__(self, error: Exception) -> None:
        self.error = error

    def embed(self, *_: object, **__: object) -> numpy.ndarray:
        raise self.error

    def score(self, *_: object) -> numpy.ndarray:
        raise self.error


def with_fakes(memory: Memory, embedder: object = None, reranker: object = None) -> Memory:
    """The memory with models of the tests' own."""
    memory.__dict__["embedder"] = embedder or BagOfWords()
    memory.__dict__["reranker"] = reranker or WordOverlap()
    return memory


def open_at(path: Path) -> Memory:
    """A memory in that file (see `places`), with default settings whatever the environment says."""
    return Memory(load({"db": places.address(path)}, {}, NOWHERE))


def query_of(memory: Memory, text: str, at: datetime, filters: Filters | None = None, **settings: object) -> Query:
    return Query(text, at, filters or Filters(space=memory.space), replace(memory.config.settings, **settings))


def ask(memory: Memory, text: str, at: datetime, filters: Filters | None = None, **settings: object) -> Trace:
    return memory.search(query_of(memory, text, at, filters, **settings))


def reindexed(memory: Memory) -> int:
    """How many notes got vectors from a reindex."""
    return sum(batch.notes for batch in memory.reindex() if batch.step == "vectors")


def found(trace: Trace) -> list[int]:
    """The ids of the results, best first."""
    return [candidate.note.id for candidate in trace.results]


def listed(trace: Trace, strategy: str) -> list[int]:
    """The ids in one strategy's list, best first."""
    return [hit.note_id for ranked in trace.lists if ranked.strategy == strategy for hit in ranked.hits]


def contents(path: Path | str) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every ordinary table of a database file, the index's own tables included.

    In a test that runs on a server: of the database there.
    """
    if places.server:
        named = places.real(str(path)) if "://" in str(path) else os.environ["MEMORA_DB"]
        return contents_of_server(named)
    connection = driver().connect(f"file:{path}?mode=ro", uri=True)
    try:
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name"
        ).fetchall()
        return {name: sorted(connection.execute(f'SELECT * FROM "{name}"').fetchall(), key=repr) for (name,) in tables}
    finally:
        connection.close()
