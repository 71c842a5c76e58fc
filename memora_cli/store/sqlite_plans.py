"""Tells SQLite how selective its indexes are, so that it looks up by ids and never walks through a whole space.

SQLite knows nothing of a table before ANALYZE, and then takes `space = ?` for as good a condition as any. The same
numbers for every file, written when its tables are made, keep plans from depending on when somebody ran ANALYZE.
"""

from __future__ import annotations

from sqlalchemy import Connection

ROWS = 1_000_000
PER_VALUE = {
    "space": ROWS,
    "model": ROWS,
    "deleted_at": ROWS // 2,
    "relation": ROWS // 4,
    "topic": 1000,
    "start": 100,
    "end": 100,
    "entity_id": 20,
    "note_id": 5,
    "source_id": 5,
    "target_id": 5,
}
"""Rows that share a value of a column, about, in a table of `ROWS`; of any other column few do."""
FEW = 2


def state(connection: Connection) -> None:
    """Write the statistics of every index of the ordinary tables, as ANALYZE would."""
    connection.exec_driver_sql("ANALYZE sqlite_schema")  # makes the table of statistics, and reads it again below
    connection.exec_driver_sql("DELETE FROM sqlite_stat1")
    tables = connection.exec_driver_sql("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
    rows = []
    for (table,) in tables.all():
        if table.startswith("sqlite_"):
            continue
        indexes = connection.exec_driver_sql('SELECT name, "unique" FROM pragma_index_list(?)', (table,)).all()
        for index, unique in indexes:
            columns = connection.exec_driver_sql("SELECT name FROM pragma_index_info(?) ORDER BY seqno", (index,))
            rows.append((table, index, _selectivity([name for (name,) in columns], unique=bool(unique))))
    connection.exec_driver_sql("INSERT INTO sqlite_stat1(tbl, idx, stat) VALUES (?, ?, ?)", rows)
    connection.exec_driver_sql("ANALYZE sqlite_schema")


def _selectivity(columns: list[str], *, unique: bool) -> str:
    """Rows in all, and how many share the first column, the first two, and so on."""
    numbers = [ROWS]
    for name in columns:
        numbers.append(min(numbers[-1], PER_VALUE.get(name, FEW)))
    if unique:
        numbers[-1] = 1
    return " ".join(map(str, numbers))
