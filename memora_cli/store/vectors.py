"""Reads and writes the vectors of passages, and finds which notes still wait for theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select

from memora_cli.store.database import Database
from memora_cli.store.schema import notes, passages, vectors

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray


def write(
    database: Database,
    connection: Connection,
    space: str,
    model: str,
    passage_ids: Sequence[int],
    matrix: NDArray[numpy.float32],
) -> None:
    """Store vectors, one row for each passage, and index them.

    Raises ValueError for one that is not finite or not of unit length.
    """
    import numpy

    if not passage_ids:
        return
    matrix = numpy.ascontiguousarray(matrix, dtype="<f4")
    if matrix.shape[0] != len(passage_ids):
        raise ValueError("one vector for each passage")
    if not numpy.isfinite(matrix).all() or (abs(numpy.linalg.norm(matrix, axis=1) - 1.0) > 1e-3).any():
        raise ValueError("a vector that is not finite or not of unit length is never stored")
    pairs = [(number, row.tobytes()) for number, row in zip(passage_ids, matrix, strict=True)]
    connection.execute(
        insert(vectors),
        [
            {"space": space, "passage_id": number, "model": model, "dimension": matrix.shape[1], "vector": blob}
            for number, blob in pairs
        ],
    )
    database.index.index_vectors(connection, space, model, pairs, matrix.shape[1])


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
        select(passages.c.id, passages.c.note_id, vectors.c.vector)
        .join(passages, (passages.c.space == vectors.c.space) & (passages.c.id == vectors.c.passage_id))
        .join(notes, (notes.c.space == passages.c.space) & (notes.c.id == passages.c.note_id))
        .where(vectors.c.model == model, vectors.c.dimension == len(vector), where)
    ).all()
    if not rows:
        return []
    matrix = numpy.frombuffer(b"".join(row.vector for row in rows), dtype="<f4").reshape(len(rows), -1)
    cosines = matrix @ vector
    order = numpy.argsort(-cosines, kind="stable")[:limit]
    return [(rows[place].id, rows[place].note_id, float(cosines[place])) for place in order]


def _lacks_vector(space: str, model: str) -> ColumnElement[bool]:
    """The condition over `passages` of the space that it has no vector of that model."""
    has_vector = (
        select(vectors.c.passage_id)
        .where(vectors.c.space == passages.c.space, vectors.c.passage_id == passages.c.id, vectors.c.model == model)
        .exists()
    )
    return (passages.c.space == space) & ~has_vector


def waiting(connection: Connection, space: str, model: str) -> int:
    """How many notes have a passage without a vector of that model."""
    count = select(func.count(func.distinct(passages.c.note_id))).where(_lacks_vector(space, model))
    return int(connection.execute(count).scalar_one())


def any_of(connection: Connection, space: str, model: str) -> bool:
    """Whether any passage has a vector of that model."""
    here = (vectors.c.space == space) & (vectors.c.model == model)
    return connection.execute(select(vectors.c.passage_id).where(here).limit(1)).first() is not None


def lacking(connection: Connection, space: str, model: str, limit: int) -> list[int]:
    """Up to `limit` notes that have a passage without a vector of that model, oldest first."""
    found = select(passages.c.note_id).distinct().where(_lacks_vector(space, model)).order_by(passages.c.note_id)
    return list(connection.execute(found.limit(limit)).scalars())


def models(connection: Connection, space: str) -> list[str]:
    """The ids of the models that have vectors in the space, in order; a few look-ups in the index, however many."""
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


def read(connection: Connection, space: str, model: str, passage_ids: Sequence[int]) -> dict[int, bytes]:
    """The vectors of these passages, as little-endian float32; one that has none is left out."""
    here = (vectors.c.space == space) & (vectors.c.model == model) & vectors.c.passage_id.in_(passage_ids)
    return {
        row.passage_id: row.vector
        for row in connection.execute(select(vectors.c.passage_id, vectors.c.vector).where(here))
    }


def drop(database: Database, connection: Connection, space: str, model: str) -> None:
    """Forget a model's vectors, in the space, and their index."""
    connection.execute(delete(vectors).where(vectors.c.space == space, vectors.c.model == model))
    database.index.drop_vectors(connection, space, model)
