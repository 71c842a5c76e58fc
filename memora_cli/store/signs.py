"""The quantised pass over many vectors: the signs of their numbers, in chunks, and where those differ the least.

A vector of 384 numbers is 48 bytes here. What differs in few signs points the same way, roughly: of those, the ones
whose signs fit the query's numbers best are compared exactly by the caller.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from memora_cli.store.remembered import remembered

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

CHUNK = 1024  # passage ids in one row; those of a space may be few of them
BLOCK = 1 << 16  # vectors compared at a time, so that they stay in the processor's cache
COARSE = 15  # vectors near by signs, for each one wanted …
LEAST_COARSE = 2048
FINE = 2  # … and of these, by the query's numbers, the ones to be compared exactly
LEAST_FINE = 256
TABLE = """CREATE TABLE IF NOT EXISTS vector_signs (
  space TEXT NOT NULL, model TEXT NOT NULL, chunk INTEGER NOT NULL, places BLOB NOT NULL, signs BLOB NOT NULL,
  PRIMARY KEY (space, model, chunk))"""
# Chunk by chunk: the vectors of a model whose passages are those of today, with the chunk that each belongs to.
STORED = (
    f"SELECT passage_id / {CHUNK} AS chunk, passage_id, vector FROM vectors "
    "JOIN passages ON passages.space = vectors.space AND passages.id = passage_id AND note_id > 0 "
    "WHERE vectors.space = ? AND model = ? ORDER BY passage_id"
)


@dataclass(frozen=True, slots=True)
class Signs:
    """The signs of the vectors of a space: passage ids, ascending, and words of 64 signs, one row for each word."""

    ids: NDArray[numpy.int64]
    words: NDArray[numpy.uint64]

    def nearest(
        self, vector: NDArray[numpy.float32], limit: int, among: NDArray[numpy.bool_] | None = None
    ) -> NDArray[numpy.int64]:
        """The places of about `COARSE · limit` vectors that differ in the fewest signs, of those that count."""
        import numpy

        query = pack(vector[None, :]).view(numpy.uint64)[0]
        places = None if among is None else numpy.flatnonzero(among)
        words = self.words if places is None else self.words[:, places]
        wanted = max(LEAST_COARSE, COARSE * limit)
        if words.shape[1] > wanted:
            differing = _differing(words, query)
            totals = numpy.cumsum(numpy.bincount(differing))
            near = numpy.flatnonzero(differing <= numpy.searchsorted(totals, wanted))
        else:
            near = numpy.arange(words.shape[1])
        return near if places is None else places[near]

    def finest(self, vector: NDArray[numpy.float32], places: NDArray[numpy.int64], limit: int) -> NDArray[numpy.int64]:
        """About `FINE · limit` of these places: the ones whose signs fit the numbers of the vector best."""
        import numpy

        wanted = max(LEAST_FINE, FINE * limit)
        if len(places) <= wanted:
            return places
        packed = numpy.ascontiguousarray(self.words[:, places].T).view(numpy.uint8)
        signs = numpy.unpackbits(packed, axis=1, count=len(vector)).astype(numpy.float32)
        return places[numpy.argpartition(-(signs @ vector), wanted)[:wanted]]


def _differing(words: NDArray[numpy.uint64], query: NDArray[numpy.uint64]) -> NDArray[numpy.uint16]:
    """In how many signs each vector differs from the query."""
    import numpy

    differing = numpy.zeros(words.shape[1], numpy.uint16)
    for start in range(0, words.shape[1], BLOCK):
        block = differing[start : start + BLOCK]
        for row, word in zip(words, query, strict=True):
            block += numpy.bitwise_count(row[start : start + BLOCK] ^ word)
    return differing


def pack(matrix: NDArray[numpy.float32]) -> NDArray[numpy.uint8]:
    """The signs of each row as bits, filled up to whole words of 64."""
    import numpy

    packed = numpy.packbits(matrix > 0, axis=1)
    return numpy.ascontiguousarray(numpy.pad(packed, ((0, 0), (0, -packed.shape[1] % 8))))


def hold(connection: Connection, space: str, model: str) -> bool:
    """Whether the vectors of the model are searched by their signs."""
    there = connection.exec_driver_sql("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'vector_signs'")
    if there.first() is None:
        return False
    here = "SELECT 1 FROM vector_signs WHERE space = ? AND model = ? LIMIT 1"
    return connection.exec_driver_sql(here, (space, model)).first() is not None


def load(connection: Connection, space: str, model: str) -> Signs:
    """All signs of the space and model."""
    return remembered(connection, ("signs", space, model), lambda: _load(connection, space, model))


def _load(connection: Connection, space: str, model: str) -> Signs:
    import numpy

    rows = connection.exec_driver_sql(
        "SELECT chunk, places, signs FROM vector_signs WHERE space = ? AND model = ? ORDER BY chunk", (space, model)
    ).all()
    ids = [row[0] * CHUNK + numpy.frombuffer(row[1], "<u2").astype(numpy.int64) for row in rows]
    words = [numpy.frombuffer(row[2], "<u8").reshape(len(held), -1).T for row, held in zip(rows, ids, strict=True)]
    return Signs(numpy.concatenate(ids), numpy.ascontiguousarray(numpy.concatenate(words, axis=1)))


def fill(connection: Connection, space: str, model: str) -> None:
    """Make the signs anew from the stored vectors."""
    connection.exec_driver_sql(TABLE)
    drop(connection, space, model)
    for chunk, ids, signs in _chunks(connection, space, model):
        _put(connection, space, model, chunk, ids, signs)


def drop(connection: Connection, space: str, model: str) -> None:
    """Forget the signs of a model."""
    if hold(connection, space, model):
        connection.exec_driver_sql("DELETE FROM vector_signs WHERE space = ? AND model = ?", (space, model))


def add(connection: Connection, space: str, model: str, rows: Sequence[tuple[int, bytes]]) -> None:
    """Add vectors, given as `(passage id, float32 bytes)`."""
    import numpy

    for chunk, group in groupby(sorted(rows), lambda row: row[0] // CHUNK):
        given = list(group)
        matrix = numpy.frombuffer(b"".join(blob for _, blob in given), "<f4").reshape(len(given), -1)
        held = dict(zip((number for number, _ in given), pack(matrix), strict=True))
        merged = {**_get(connection, space, model, chunk), **held}
        ids = sorted(merged)
        _put(connection, space, model, chunk, ids, b"".join(merged[number].tobytes() for number in ids))


def remove(connection: Connection, space: str, model: str, ids: Collection[int]) -> None:
    """Take passages out."""
    for chunk, group in groupby(sorted(ids), lambda number: number // CHUNK):
        gone = set(group)
        held = _get(connection, space, model, chunk)
        left = [number for number in held if number not in gone]
        if len(left) < len(held):
            _put(connection, space, model, chunk, left, b"".join(held[number].tobytes() for number in left))


def differences(connection: Connection, space: str, model: str) -> int:
    """How many chunks are not what the stored vectors make of them."""
    stored = {chunk: (_places(ids), signs) for chunk, ids, signs in _chunks(connection, space, model)}
    rows = connection.exec_driver_sql(
        "SELECT chunk, places, signs FROM vector_signs WHERE space = ? AND model = ?", (space, model)
    )
    held = {row[0]: (row[1], row[2]) for row in rows}
    return sum(stored.get(chunk, (b"", b"")) != held.get(chunk, (b"", b"")) for chunk in stored.keys() | held.keys())


def _chunks(connection: Connection, space: str, model: str) -> Iterator[tuple[int, list[int], bytes]]:
    """The chunks that the stored vectors make: number, passage ids, signs."""
    import numpy

    rows: Any = connection.exec_driver_sql(STORED, (space, model))
    for chunk, group in groupby(rows, lambda row: row[0]):
        held = list(group)
        matrix = numpy.frombuffer(b"".join(row[2] for row in held), "<f4").reshape(len(held), -1)
        yield chunk, [row[1] for row in held], pack(matrix).tobytes()


def _get(connection: Connection, space: str, model: str, chunk: int) -> dict[int, NDArray[numpy.uint8]]:
    import numpy

    row = connection.exec_driver_sql(
        "SELECT places, signs FROM vector_signs WHERE space = ? AND model = ? AND chunk = ?", (space, model, chunk)
    ).first()
    if row is None or not row[0]:
        return {}
    places = numpy.frombuffer(row[0], "<u2")
    signs = numpy.frombuffer(row[1], numpy.uint8).reshape(len(places), -1)
    return {chunk * CHUNK + int(place): bits for place, bits in zip(places, signs, strict=True)}


def _put(connection: Connection, space: str, model: str, chunk: int, ids: Sequence[int], signs: bytes) -> None:
    """Write a chunk; one with nothing in it is kept, as it says that the model is searched by signs."""
    connection.exec_driver_sql(
        "INSERT INTO vector_signs(space, model, chunk, places, signs) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (space, model, chunk) DO UPDATE SET places = excluded.places, signs = excluded.signs",
        (space, model, chunk, _places(ids), signs),
    )


def _places(ids: Sequence[int]) -> bytes:
    import numpy

    return numpy.array([number % CHUNK for number in ids], "<u2").tobytes()
