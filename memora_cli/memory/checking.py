"""Checks everything that memora stands on, one function each; a new check is a function and its place in `CHECKS`."""

from __future__ import annotations

import glob
import importlib.util
import os
import platform
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from memora_cli.config import Config, config_path, load, masked
from memora_cli.errors import BadSetting, DatabaseDamaged, MemoraError, ModelUnusable
from memora_cli.models import find_model
from memora_cli.models.folder import ModelKind, read_folder, verify
from memora_cli.store import health, schema, sqlite, sqlite_file
from memora_cli.store.database import is_file, location, open_database

State = Literal["ok", "warning", "broken"]

OLDEST_SAFE = (3, 51, 3)  # older SQLite may lose what is written while its log is being reset


@dataclass(frozen=True, slots=True)
class Check:
    """What one check found; `remedy` is the command or deed that mends it, `code` how doctor ends when it is broken."""

    name: str
    state: State
    detail: str
    remedy: str = ""
    code: int = 0


def examine(flags: dict[str, str | None]) -> Iterator[Check]:
    """All checks in order, each as it is done; one that cannot be made because of another is left out."""
    yield from python()
    yield from driver()
    try:
        config = load(flags)
        yield Check("settings", "ok", f"{config_path()}{'' if config_path().exists() else ' (not there: defaults)'}")
    except BadSetting as error:
        yield Check("settings", "broken", str(error), "memora config edit", BadSetting.exit_code)
        try:
            config = load(flags, path=Path(os.devnull))
        except BadSetting:
            return
    for check in CHECKS:
        yield from check(config)


def python() -> Iterator[Check]:
    """The interpreter."""
    yield Check("python", "ok", f"{platform.python_version()} ({platform.machine()})")


def driver() -> Iterator[Check]:
    """SQLite, whether it can load extensions, and what it was built with."""
    module = sqlite.driver()
    said = f"{module.sqlite_version} through {module.__name__}"
    number = tuple(int(part) for part in module.sqlite_version.split("."))
    if number < OLDEST_SAFE:
        wanted = ".".join(map(str, OLDEST_SAFE))
        yield Check("sqlite", "warning", f"{said} is older than {wanted}", "pip install --upgrade pysqlite3")
    else:
        yield Check("sqlite", "ok", said)
    with closing(module.connect(":memory:")) as connection:
        try:
            connection.execute("CREATE VIRTUAL TABLE words USING fts5(word)")
            yield Check("keyword index", "ok", "FTS5 is there")
        except module.Error as error:
            detail = f"no FTS5 ({error}): words are searched with LIKE"
            yield Check("keyword index", "warning", detail, "pip install --upgrade pysqlite3")
        sqlite.load_extension(connection)
        try:
            version = connection.execute("SELECT vec_version()").fetchone()[0]
            yield Check("vector index", "ok", f"sqlite-vec {version}")
        except module.Error as error:
            can = hasattr(connection, "enable_load_extension")
            reason = str(error) if can else "this SQLite loads no extensions"
            remedy = "pip install sqlite-vec" if can else "pip install pysqlite3"
            yield Check("vector index", "warning", f"no sqlite-vec ({reason}): vectors are compared one by one", remedy)


def models(config: Config) -> Iterator[Check]:
    """The embedder and the cross-encoder: whether their files are those that were exported, and can be run."""
    runs = [name for name in ("onnxruntime", "tokenizers") if importlib.util.find_spec(name) is None]
    for kind, name in (("embedder", config.embedder), ("reranker", config.reranker)):
        known: ModelKind = "embedder" if kind == "embedder" else "reranker"
        try:
            folder = read_folder(find_model(name), known)
            verify(folder)
            if runs:
                raise ModelUnusable(f"{' and '.join(runs)} cannot be imported")
            yield Check(kind, "ok", folder.id)
        except ModelUnusable as error:
            yield Check(kind, "broken", str(error), "pip install --force-reinstall memora-cli", error.exit_code)


def database(config: Config) -> Iterator[Check]:
    """The file: whether it is there, whose it is, and whether all of it can be read and fits together."""
    if not is_file(config.db):
        yield from _contents(config, masked(config.db))
        return
    path = location(config.db)
    if not path.exists():
        yield Check("database", "ok", f"{path} is not there yet: the first note makes it")
        return
    sound = "memora restore-backup FILE"
    try:
        number = sqlite_file.version(path)
        if number > schema.VERSION:
            detail = f"{path} has schema version {number}, this memora knows {schema.VERSION}"
            yield Check("database", "broken", detail, "pip install --upgrade memora-cli", DatabaseDamaged.exit_code)
            return
        sqlite_file.check(path)
    except MemoraError as error:
        remedy = f"{health.REMEDY}, else {sound}"
        yield Check("database", "broken", str(error), remedy, DatabaseDamaged.exit_code)
        return
    if number < schema.VERSION:
        detail = f"{path} has schema version {number}; the next command that opens it takes it to {schema.VERSION}"
        yield Check("database", "warning", detail, "memora list")
        return
    yield from _contents(config, str(path))


def _contents(config: Config, place: str) -> Iterator[Check]:
    """What the database holds, and what its indexes lack."""
    copy = "memora restore-backup FILE" if is_file(config.db) else ""
    try:
        folder = read_folder(find_model(config.embedder), "embedder")
        model, dimension = folder.id, folder.dimension or 0
    except ModelUnusable:
        model, dimension = "", 0
    try:
        opened = open_database(config.db)
        with closing(opened), opened.read() as connection:
            notes, spaces = health.counts(connection)
            loose = health.loose(connection, (model, dimension) if model else None)
            drifted = opened.index.drifted(connection)
            waiting = health.waiting(connection, model) if model else 0
            lacks = opened.index.lacks(connection, config.space, model)
            runs_on = opened.driver if not is_file(config.db) else ""
    except MemoraError as error:
        remedy = f"{health.REMEDY}, else {copy}" if copy else ""
        yield Check("database", "broken", str(error), remedy, error.exit_code)
        return
    for what in drifted:
        remedy = health.REMEDY if copy else "memora reindex"
        yield Check("database", "broken", what, remedy, DatabaseDamaged.exit_code)
    if runs_on:
        yield Check("server", "ok", runs_on)
        for reason in lacks:
            yield Check("index", "warning", reason, "memora reindex")
        if not lacks:
            yield Check("index", "ok", "tsvector for words, pgvector for vectors")
    if not drifted:
        yield Check("database", "ok", f"{place}: schema {schema.VERSION}, whole, notes {notes}, spaces {spaces}")
    for item in loose:
        remedy = item.remedy if copy else ""  # a server's administrator has the copies
        yield Check("relations", "broken", f"{item.count} {item.what}", remedy, DatabaseDamaged.exit_code)
    if not loose:
        yield Check("relations", "ok", "every passage, vector, link and supersession has its other half")
    if waiting:
        yield Check("vectors", "warning", f"{waiting} waiting for vectors of {model}", "memora reindex")
    elif model:
        yield Check("vectors", "ok", "no note waits for any")


def modes(config: Config) -> Iterator[Check]:
    """Whether anybody but the user may read the files."""
    if os.name != "posix":
        return
    if not is_file(config.db):
        return
    path = location(config.db)
    folder = path.parent
    beside = folder.glob(f"{glob.escape(path.name)}[-.]*")  # the log, and copies that upgrades and repairs left
    loose = [file for file in [path, *sorted(beside), config_path()] if file.exists() and file.stat().st_mode & 0o077]
    for file in loose:
        mode = file.stat().st_mode & 0o777
        yield Check("privacy", "warning", f"{file} has mode {mode:o}: others may use it", f"chmod 600 {file}")
    if not path.exists():
        return
    mode = stat.S_IMODE(folder.stat().st_mode)
    replaceable = mode & 0o022 and not mode & stat.S_ISVTX
    if replaceable:
        detail = f"{folder} has mode {mode:o}: others may put files in the place of yours"
        yield Check("privacy", "warning", detail, f"chmod 700 {folder}")
    if not loose and not replaceable:
        listed = f"others may list {folder}, which has mode {mode:o}" if mode & 0o077 else "and list their folder"
        yield Check("privacy", "ok", f"only you may read the files, {listed}")


CHECKS: tuple[Callable[[Config], Iterator[Check]], ...] = (models, database, modes)
"""The checks that need settings, in the order in which they are shown."""


def is_repairable(found: list[Check]) -> bool:
    """Whether the database has something that its notes may heal."""
    return any(check.state != "ok" for check in found if check.name in ("database", "relations", "vectors"))


def exit_code(found: list[Check]) -> int:
    """How doctor ends: 0 when nothing is broken, else by the worst of what is: the database, a model, the settings."""
    codes = {check.code for check in found if check.state == "broken"}
    order = (DatabaseDamaged.exit_code, ModelUnusable.exit_code, *sorted(codes))
    return next((code for code in order if code in codes), 0)
