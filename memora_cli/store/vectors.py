"""Reads and writes the vectors of passages, and finds which notes still wait for theirs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select

from memora_cli.store.database import Database
from memora_cli.store.remembered import remembered
from memora_cli.store.schema import notes, passages, vectors

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

LOOSEST_NORM = 1e-3  # how far the length of a vector may be from 1


def write(
    database: Database,
    connection: Connection,
    space: str,
    model: str,
    passage_ids: Sequence[int],
    matrix: NDArray[numpy.float32],
    *,
    indexed: bool = True,
) -> None:
    """Store vectors, one row for each passage, and index them; those of past texts are stored only.

    Raises ValueError for one that is not finite or not of unit length.
    """
    import numpy

    if not passage_ids:
        return
    matrix = numpy.ascontiguousarray(matrix, dtype="<f4")
    if matrix.shape[0] != len(passage_ids):
        raise ValueError("one vector for each passage")
    if not numpy.isfinite(matrix).all() or (abs(numpy.linalg.norm(matrix, axis=1) - 1.0) > LOOSEST_NORM).any():
        raise ValueError("a vector that is not finite or not of unit length is never stored")
    pairs = [(number, row.tobytes()) for number, row in zip(passage_ids, matrix, strict=True)]
    connection.execute(
        insert(vectors),
        [
            {"space": space, "passage_id": number, "model": model, "dimension": matrix.shape[1], "vector": blob}
            for number, blob in pairs
        ],
    )
    if indexed:
        database.index.index_vectors(connection, space, model, pairs, matrix.shape[1])


def insert_known(
    database: Database, connection: Connection, space: str, known: Mapping[tuple[int, str], bytes]
) -> None:
    """Store and index vectors that were stored before, by passage id and model."""
    by_model: dict[str, list[tuple[int, bytes]]] = {}
    for (number, model), blob in known.items():
        by_model.setdefault(model, []).append((number, blob))
    for model, pairs in by_model.items():
        dimension = len(pairs[0][1]) // 4
        connection.execute(
            insert(vectors),
            [
                {"space": space, "passage_id": number, "model": model, "dimension": dimension, "vector": blob}
                for number, blob in pairs
            ],
        )
        database.index.index_vectors(connection, space, model, pairs, dimension)


def of_texts(
    connection: Connection, space: str, note_id: int, text_of: Callable[[str, str], str]
) -> dict[tuple[str, str], bytes]:
    """The vectors that a note's passages have, and had in its past texts, by `text_of(title, passage)` and model."""
    rows = connection.execute(
        select(notes.c.title, notes.c.body, passages.c.start, passages.c.end, vectors.c.model, vectors.c.vector)
        .join(passages, (passages.c.space == notes.c.space) & (passages.c.note_id == notes.c.id))
        .join(vectors, (vectors.c.space == passages.c.space) & (vectors.c.passage_id == passages.c.id))
        .where(notes.c.space == space, notes.c.number == note_id)
    )
    return {(text_of(row.title, row.body[row.start : row.end]), row.model): row.vector for row in rows}


def of_passages(connection: Connection, space: str, model: str, ids: Collection[int]) -> dict[int, bytes]:
    """The stored vectors of these passages that have one of that model."""
    here = (vectors.c.space == space) & (vectors.c.model == model) & vectors.c.passage_id.in_(ids)
    return {row.passage_id: row.vector for row in connection.execute(select(vectors).where(here))}


def remove(database: Database, connection: Connection, space: str, ids: Collection[int]) -> None:
    """Delete the vectors of passages, and take them out of the indexes."""
    here = (vectors.c.space == space) & vectors.c.passage_id.in_(ids)
    models = list(connection.execute(select(vectors.c.model).distinct().where(here)).scalars())
    connection.execute(delete(vectors).where(here))
    database.index.remove_vectors(connection, space, models, list(ids))


def scan(
    connection: Connection,
    model: str,
    vector: NDArray[numpy.float32],
    where: ColumnElement[bool],
    limit: int | None = None,
) -> list[tuple[int, int, float]]:
    """`(passage id, note id, cosine)` by comparing every stored vector: exact, and needs no index."""
    import numpy

    rows = connection.execute(
        select(passages.c.id, notes.c.number, vectors.c.vector)
        .join(passages, (passages.c.space == vectors.c.space) & (passages.c.id == vectors.c.passage_id))
        .join(notes, (notes.c.space == passages.c.space) & (notes.c.id == passages.c.note_id))
        .where(vectors.c.model == model, vectors.c.dimension == len(vector), where)
    ).all()
    if not rows:
        return []
    matrix = numpy.frombuffer(b"".join(row.vector for row in rows), dtype="<f4").reshape(len(rows), -1)
    cosines = matrix @ vector
    order = numpy.argsort(-cosines, kind="stable")[:limit]
    return [(rows[place].id, rows[place].number, float(cosines[place])) for place in order]


def _lacks_vector(space: str, model: str, *, past: bool = False) -> ColumnElement[bool]:
    """The condition over `passages` of the space without a vector of that model; `past` adds trash and past texts."""
    has_vector = (
        select(vectors.c.passage_id)
        .where(vectors.c.space == passages.c.space, vectors.c.passage_id == passages.c.id, vectors.c.model == model)
        .exists()
    )
    note = (notes.c.space == passages.c.space) & (notes.c.id == passages.c.note_id)
    owned = select(notes.c.id).where(note if past else note & notes.c.deleted_at.is_(None)).exists()
    return (passages.c.space == space) & ~has_vector & owned


def waiting(connection: Connection, space: str, model: str) -> int:
    """How many notes have a passage without a vector of that model."""
    count = select(func.count(func.distinct(passages.c.note_id))).where(_lacks_vector(space, model))
    return remembered(connection, ("waiting", space, model), lambda: int(connection.execute(count).scalar_one()))


def any_of(connection: Connection, space: str, model: str) -> bool:
    """Whether any passage has a vector of that model."""
    here = (vectors.c.space == space) & (vectors.c.model == model)
    return connection.execute(select(vectors.c.passage_id).where(here).limit(1)).first() is not None


def lacking(connection: Connection, space: str, model: str, limit: int, *, past: bool = False) -> list[int]:
    """Up to `limit` notes that have a passage without a vector of that model, oldest first.

    With `past` those in the trash and the texts that notes had, which have ids below zero, are among them.
    """
    lacks = _lacks_vector(space, model, past=past)
    found = select(passages.c.note_id).distinct().where(lacks).order_by(passages.c.note_id)
    return list(connection.execute(found.limit(limit)).scalars())


def models(connection: Connection, space: str) -> list[str]:
    """The ids of the models that have vectors in the space, in order; a few look-ups in the index, however many."""
    return remembered(connection, ("models", space), lambda: _models(connection, space))


def _models(connection: Connection, space: str) -> list[str]:
    found: list[str] = []
    here = vectors.c.space == space
    while True:
        beyond = here & (vectors.c.model > found[-1]) if found else here
        name = connection.execute(select(func.min(vectors.c.model)).where(beyond)).scalar()
        if name is None:
            return found
        found.append(name)


def spaces(connection: Connection, model: str) -> list[str]:
    """The spaces that have vectors of that model."""
    found = select(vectors.c.space).distinct().where(vectors.c.model == model).order_by(vectors.c.space)
    return list(connection.execute(found).scalars())


def answering(connection: Connection, space: str, wanted: str) -> str:
    """The model whose vectors answer: the wanted one, or the one before it that has more while vectors are made."""
    others = [model for model in models(connection, space) if model != wanted]
    if not others or not waiting(connection, space, wanted):
        return wanted

    def held(model: str) -> int:
        here = (vectors.c.space == space) & (vectors.c.model == model)
        return int(connection.execute(select(func.count()).select_from(vectors).where(here)).scalar_one())

    return max((wanted, *others), key=lambda model: (held(model), model == wanted, model))


def drop(database: Database, connection: Connection, space: str, model: str) -> None:
    """Forget a model's vectors, in the space, and their index."""
    connection.execute(delete(vectors).where(vectors.c.space == space, vectors.c.model == model))
    database.index.drop_vectors(connection, space, model)
