"""What the Tab key completes: ids with titles, topics, spaces, entities, settings; read straight from the database.

It runs at each press of a key, so it imports nothing but the database's driver, waits for no lock and for no server
longer than a moment, and is silent when anything is wrong.
"""

from __future__ import annotations

import contextlib
import os
import re
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import typer

MOST = 200  # suggestions
TITLE = 60  # characters of a title
COMPLETING = "_MEMORA_COMPLETE"
CONNECT_SECONDS = 2  # the least that libpq takes
ANSWER = "1s"

# A shell evaluates some of what a completion prints, and a note may come from anywhere.
_ACTIVE = str.maketrans({"\\": "/", '"': "”", "'": "’", "`": "’", "$": "S", "[": "(", "]": ")", "<": "‹", ">": "›"})
_PLAIN = re.compile(r"[^\x00-\x20\x7f\\\"'`$\[\](){}<>|&;!*?~#]+")
_QUIET = re.compile(r"[^\w@%+=:,./-]", re.ASCII)


def note_ids(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Ids of notes, newest first, with their titles or first lines; those given already are left out."""
    return _ids(context, incomplete, "deleted_at IS NULL")


def forgotten_ids(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """The same of notes in the trash; the texts that notes had have negative ids."""
    return _ids(context, incomplete, "deleted_at IS NOT NULL AND id > 0")


def _ids(context: typer.Context, incomplete: str, condition: str) -> list[tuple[str, str]]:
    rows = _read(
        context,
        "SELECT id, CASE WHEN title <> '' THEN title ELSE substr(ltrim(body, ' \t\n'), 1, 200) END"
        f" FROM notes WHERE space = ? AND {condition} AND CAST(id AS TEXT) LIKE ?"
        " ORDER BY created_at DESC, id DESC LIMIT ?",
        (re.sub(r"\D", "x", incomplete) + "%", MOST),
    )
    given = context.params.get("ids") or ()
    return [(str(number), _title(name)) for number, name in rows if number not in given]


def topics(context: typer.Context, incomplete: str) -> list[str]:
    """Topics of notes that are there, commonest first."""
    return _names(
        context,
        "SELECT topic FROM topics JOIN notes USING (space) WHERE space = ? AND id = note_id AND deleted_at IS NULL"
        " GROUP BY topic ORDER BY count(*) DESC, topic",
        incomplete,
    )


def entities(context: typer.Context, incomplete: str) -> list[str]:
    """Names of entities."""
    return _names(context, "SELECT name FROM entities WHERE space = ? ORDER BY name", incomplete)


def spaces(context: typer.Context, incomplete: str) -> list[str]:
    """Spaces that hold notes."""
    names = _names(
        context, "SELECT DISTINCT space FROM notes WHERE CAST(? AS TEXT) IS NOT NULL ORDER BY space", incomplete
    )
    return [name for name in names if name.startswith(incomplete)]


def setting_keys(incomplete: str) -> list[str]:
    """Keys of settings, ready for a value."""
    from memora_cli.config import KEYS

    return [f"{key}=" for key in KEYS if key.startswith(incomplete)]


def one_of(*values: str) -> Callable[[str], list[str]]:
    """A completion by fixed words."""

    def complete(incomplete: str) -> list[str]:
        return [value for value in values if value.startswith(incomplete)]

    return complete


def is_completing() -> bool:
    """Whether a shell runs the program to complete a line."""
    return os.environ.get(COMPLETING, "").startswith("complete")


def answer(app: Callable[..., Any]) -> None:
    """Complete the line, and end; whatever is wrong with what was typed so far, the shell hears nothing of it."""
    with contextlib.suppress(ImportError, AttributeError):
        from typer import _completion_classes

        # Typer would import Rich to take markup out of help, which has none here.
        _completion_classes._sanitize_help_text = lambda text: text
    with contextlib.suppress(Exception):
        app(prog_name="memora")


def _names(context: typer.Context, statement: str, incomplete: str) -> list[str]:
    """The values of the only column that begin as typed, whatever the case, in the way that the shell takes them."""
    begun = unicodedata.normalize("NFC", incomplete).lower()
    names = (name for (name,) in _read(context, statement, ()) if str(name).lower().startswith(begun))
    return [word for name in names if (word := _word(name, incomplete)) is not None][:MOST]


def _word(name: str, incomplete: str) -> str | None:
    """The name as the shell needs it; None for what it could not take unharmed, or would not match what is typed."""
    bash = os.environ.get(COMPLETING) == "complete_bash"
    if not name.isprintable() or not (bash or _PLAIN.fullmatch(name.replace(" ", ""))):
        return None
    word = incomplete + name[len(incomplete) :]  # as typed so far, since a shell goes on from there
    return _QUIET.sub(lambda match: match[0] if ord(match[0]) > 127 else "\\" + match[0], word) if bash else word


def _title(text: str) -> str:
    """A title on one line that no shell takes for more than text."""
    from memora_cli.text.display import visible_line

    name = visible_line(str(text).split("\n")[0]).translate(_ACTIVE)
    return name if len(name) <= TITLE else name[: TITLE - 1] + "…"


def _read(context: typer.Context, statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The rows of a statement whose first value is the space; none if anything is in the way."""
    try:
        from memora_cli.config import load

        given = context.find_root().params.get("db")
        config = load({"db": given, "space": context.params.get("space")})
        values = (unicodedata.normalize("NFC", config.space), *values)
        if config.db.startswith("postgres"):
            return _ask_server(config.db, statement, values)
        path = Path(config.db.removeprefix("sqlite:///")).expanduser()
        if "://" in config.db.removeprefix("sqlite:///") or not path.is_file():
            return []
        # Without a log beside the file nobody writes: then it needs no lock, nor files of its own.
        mode = "mode=ro" if path.with_name(path.name + "-wal").exists() else "mode=ro&immutable=1"
        connection = _driver().connect(f"file:{quote(str(path.absolute()))}?{mode}", timeout=0, uri=True)
        try:
            return list(connection.execute(statement, values))
        finally:
            connection.close()
    except Exception:  # whatever it is: a key was pressed, and nobody asked for an answer
        return []


def _ask_server(address: str, statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The rows of a statement on a server, which has a moment to answer."""
    import psycopg

    place = "postgresql://" + address.partition("://")[2]
    with psycopg.connect(place, connect_timeout=CONNECT_SECONDS, prepare_threshold=None) as connection:
        connection.read_only = True
        connection.execute(f"SET LOCAL statement_timeout = '{ANSWER}'")
        return connection.execute(statement.replace("?", "%s").encode(), values).fetchall()


def _driver() -> Any:
    """The driver of `store.sqlite.driver`, without the libraries that stand beside it."""
    try:
        import pysqlite3
    except ImportError:
        import sqlite3

        return sqlite3
    return pysqlite3
