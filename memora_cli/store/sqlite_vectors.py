"""Finds the nearest of very many vectors of a file: by their signs, and then exactly."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, Connection, func, select

from memora_cli.store import conditions, schema, signs

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray


OWNED = (schema.notes.c.space == schema.passages.c.space) & (schema.notes.c.id == schema.passages.c.note_id)


def owners_of(connection: Connection, where: ColumnElement[bool], ids: Sequence[int]) -> dict[int, int]:
    """The note of each passage that is one of these and passes."""
    passages, notes = schema.passages, schema.notes
    given = func.json_each(json.dumps(ids)).table_valued("value")
    found = connection.execute(
        select(passages.c.id, notes.c.number).join(notes, OWNED).where(where, passages.c.id.in_(select(given.c.value)))
    )
    return {row.id: row.number for row in found}


def nearest_by_product(
    connection: Connection, space: str, model: str, matrix: NDArray[numpy.float32], limit: int
) -> list[list[tuple[int, int, float]]]:
    """The nearest to each row by comparing it with every stored vector, all in one product."""
    import numpy

    rows = connection.exec_driver_sql(
        "SELECT passage_id, vector FROM vectors WHERE space = ? AND model = ? AND dimension = ? ORDER BY passage_id",
        (space, model, matrix.shape[1]),
    ).all()
    if not rows:
        return [[] for _ in matrix]
    ids = numpy.array([row[0] for row in rows])
    cosines = matrix @ numpy.frombuffer(b"".join(row[1] for row in rows), "<f4").reshape(len(rows), -1).T
    some = min(limit, len(rows))
    nearest = numpy.argpartition(-cosines, some - 1, axis=1)[:, :some]
    owners = owners_of(connection, conditions.in_space(space), numpy.unique(ids[nearest]).tolist())
    found = []
    for row, places in zip(cosines, nearest, strict=True):
        best = sorted(((float(row[place]), int(ids[place])) for place in places), key=_nearest_first)
        found.append([(number, owners[number], cosine) for cosine, number in best if number in owners])
    return found


def nearest_by_signs(
    connection: Connection,
    loaded: signs.Signs,
    space: str,
    model: str,
    vector: NDArray[numpy.float32],
    where: ColumnElement[bool] | None,
    limit: int,
) -> list[tuple[int, int, float]]:
    """The nearest by their signs, compared exactly; a filter that leaves few of these is asked for all it lets by."""
    import numpy

    here = schema.passages.c.space == space
    places = loaded.nearest(vector, limit)
    if where is not None:
        ids = loaded.ids[places]
        passing = owners_of(connection, here & where, ids.tolist())
        places = places[numpy.isin(ids, list(passing))]
        if len(places) < max(signs.LEAST_FINE, signs.FINE * limit):
            allowed = connection.execute(
                select(schema.passages.c.id).join(schema.notes, OWNED).where(here, where)
            ).scalars()
            places = loaded.nearest(vector, limit, numpy.isin(loaded.ids, list(allowed)))
    ids = loaded.ids[loaded.finest(vector, places, limit)]
    given = func.json_each(json.dumps(ids.tolist())).table_valued("value")
    stored = schema.vectors
    rows = connection.execute(
        select(stored.c.passage_id, stored.c.vector).where(
            stored.c.space == space, stored.c.model == model, stored.c.passage_id.in_(select(given.c.value))
        )
    ).all()
    if not rows:
        return []
    matrix = numpy.frombuffer(b"".join(row.vector for row in rows), "<f4").reshape(len(rows), -1)
    best = sorted(zip((matrix @ vector).tolist(), (row.passage_id for row in rows), strict=True), key=_nearest_first)
    passages = schema.passages  # those of today, whose notes have their numbers for ids
    given = func.json_each(json.dumps([number for _, number in best[:limit]])).table_valued("value")
    owned = select(passages.c.id, passages.c.note_id).where(here, passages.c.id.in_(select(given.c.value)))
    owners = {row[0]: row[1] for row in connection.execute(owned)}
    return [(number, owners[number], cosine) for cosine, number in best[:limit] if number in owners]


def _nearest_first(found: tuple[float, int]) -> tuple[float, int]:
    return -found[0], found[1]


def held(connection: Connection, space: str, model: str) -> int:
    """How many vectors of the model are stored."""
    stored = schema.vectors
    here = (stored.c.space == space) & (stored.c.model == model)
    return int(connection.execute(select(func.count()).select_from(stored).where(here)).scalar_one())
