"""Reads what is imported: folders of Markdown, Markdown files and JSON lines become drafts."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from memora_cli.errors import Usage
from memora_cli.memory import kept
from memora_cli.memory.folders import MARKDOWN, Left, files
from memora_cli.memory.kept import BESIDE, Kept
from memora_cli.memory.lines import FRONT_MATTER, Record, from_line, from_record, is_record
from memora_cli.text.markdown import Page, parse
from memora_cli.text.moments import local, read_moment, read_window
from memora_cli.values import KINDS, Draft, Window

LINES = frozenset({".jsonl", ".ndjson"})
NOTES_CAP = 1_000_000  # of one import
FILE_CAP = 64 * 1024 * 1024  # bytes of one Markdown file that are read at all


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to import by name: a draft, what memora exported (a note, or something beside), or why there is none.

    `harmless` says that nothing is lost by what is left out. `page` is what a Markdown file holds besides its note,
    `path` how the file is known.
    """

    name: str
    draft: Draft | None = None
    record: Record | None = None
    kept: Kept | None = None
    problem: str = ""
    harmless: bool = False
    page: Page | None = None
    path: str = ""

    @property
    def beside(self) -> bool:
        """Whether it is exported, and no note of the day on which it was."""
        return self.kept is not None or (self.record is not None and self.record.note.forgotten_at is not None)


def count(path: Path) -> int | None:
    """How many items an import of the path has, for a progress bar; None where only reading tells."""
    try:
        if path.is_dir():
            return sum(1 for _ in files(path))
        if path.suffix.lower() not in LINES:
            return 1
        if not path.is_file():
            return None
        with path.open("rb") as file:
            return sum(1 for line in file if line.strip())
    except OSError:
        return None


def capped(items: Iterator[Item], cap: int = NOTES_CAP) -> Iterator[Item]:
    """The items up to the cap; the first one over it is named, and the rest is not read."""
    taken = 0
    for item in items:
        if taken == cap:
            yield Item(item.name, problem=f"this and what follows are over the cap of {cap:,} notes of one import")
            return
        taken += not (item.beside or item.problem)
        yield item


def read(path: Path, at: datetime, week_start: int = 0) -> Iterator[Item]:
    """The items of a folder of Markdown, a Markdown file or a file of JSON lines. Raises `Usage` for any other."""
    try:
        is_folder = stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        reason = "leads nowhere" if path.is_symlink() else "does not exist"
        raise Usage(f"{path} {reason}") from None
    except OSError as error:
        raise Usage(f"{path} cannot be read: {error.strerror}") from None
    if is_folder:
        exported: list[Item] = []
        for file in files(path):
            if isinstance(file, Left):
                yield Item(file.name, problem=file.reason, harmless=file.harmless)
                continue
            item = _read_markdown(file, file.relative_to(path).as_posix(), at, week_start)
            if item.record:
                exported.append(item)
            else:
                yield item
        # In the order in which they were added, so that what depends on it comes out as it was.
        yield from sorted(exported, key=lambda item: item.record.note.id if item.record else 0)
    elif path.suffix.lower() in LINES:
        try:
            with path.open("rb") as stream:
                yield from read_lines(stream, path.name, at, week_start)
        except OSError as error:
            yield Item(str(path), problem=error.strerror or str(error))
    elif path.suffix.lower() in MARKDOWN:
        yield _read_markdown(path, path.name, at, week_start)
    else:
        raise Usage(f"{path} is neither a folder nor a .md, .txt or .jsonl file")


def read_lines(stream: Iterable[bytes], name: str, at: datetime, week_start: int = 0) -> Iterator[Item]:
    """The items of JSON lines; empty lines are passed over."""
    for number, line in enumerate(stream, start=1):
        if not line.strip():
            continue
        where = f"{name}:{number}"
        try:
            yield _read_line(where, json.loads(line.decode("utf-8-sig", "replace")), at, week_start)
        except (ValueError, Usage) as error:
            yield Item(where, problem=str(error))
        except RecursionError:
            yield Item(where, problem="brackets within brackets, too deep to be read")


def _read_line(where: str, line: Any, at: datetime, week_start: int) -> Item:
    if isinstance(line, dict) and isinstance(name := line.get("record"), str) and not {"text", "body"} & set(line):
        if name in ("past", "forgotten"):
            return Item(where, record=from_record(line))
        if name in BESIDE:
            return Item(where, kept=kept.from_line(line))
        return Item(where, problem=f'a record "{name}" of a newer memora', harmless=True)
    if isinstance(line, dict) and is_record(line):
        return Item(where, record=from_line(line))
    return Item(where, draft=_from_json(line, at, week_start))


def _read_markdown(path: Path, name: str, at: datetime, week_start: int) -> Item:
    known = identity(path)
    try:
        information = path.stat()
        if not stat.S_ISREG(information.st_mode):
            return Item(name, problem="not a regular file", path=known)
        if information.st_size > FILE_CAP:
            size = f"{information.st_size:,} bytes are more than the cap of {FILE_CAP:,}"
            return Item(name, problem=size, path=known)
        page = parse(decode(path.read_bytes()), path=name, at=at, week_start=week_start)
        if not page.draft.body.strip():
            return Item(name, problem="it is empty", harmless=True, path=known)
        if is_record(page.fields):
            fields = {FRONT_MATTER.get(key, key): value for key, value in page.fields.items()}
            return Item(name, record=from_line({**fields, "text": page.draft.body}), path=known)
        observed = datetime.fromtimestamp(information.st_mtime, at.tzinfo)
        created_at = page.draft.created_at or local(observed, at.tzinfo)
        draft = replace(page.draft, created_at=created_at, source=known, revises=True)
        return Item(name, draft=draft, page=page, path=known)
    except OSError as error:
        return Item(name, problem=error.strerror or str(error), path=known)
    except (ValueError, OverflowError, Usage) as error:
        return Item(name, problem=str(error), path=known)


def identity(path: Path) -> str:
    """The whole path of a file, wherever it was imported from, as text; bytes that are none are spelled out."""
    try:
        whole = path.resolve()
    except (OSError, RuntimeError):  # RuntimeError is a loop of links, until Python 3.13
        whole = path.absolute()
    return os.fsencode(whole).decode("utf-8", "backslashreplace")


def decode(data: bytes) -> str:
    """Text from bytes: UTF-8, or UTF-16 where it says so; what is neither keeps U+FFFD in the broken places."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8-sig", "replace")


def _from_json(line: Any, at: datetime, week_start: int) -> Draft:
    """The draft of an import line; see the JSON shapes in the manual. Raises ValueError or `Usage`."""
    if not isinstance(line, dict):
        raise ValueError("not a JSON object")
    text = line.get("text", line.get("body"))
    if not isinstance(text, str):
        raise ValueError('no "text" in it')
    kind = _text(line, "kind") or "world"
    if kind not in KINDS:
        raise ValueError(f'"kind" is one of {", ".join(KINDS)}, not "{kind}"')
    topics = line.get("topics") or []
    if not isinstance(topics, list) or not all(isinstance(topic, str) for topic in topics):
        raise ValueError('"topics" is a list of texts')
    pinned = line.get("pinned")
    if pinned is not None and not isinstance(pinned, bool):
        raise ValueError('"pinned" is true or false')
    created, occurred = _text(line, "created_at"), _text(line, "occurred")
    start, end = (_text(line, key) for key in ("occurred_start", "occurred_end"))
    happened = read_window(occurred, at, week_start=week_start) if occurred else None
    if not occurred and (start or end):
        happened = Window(read_moment(start, at) if start else None, read_moment(end, at) if end else None, "")
    return Draft(
        body=text,
        title=_text(line, "title"),
        topics=tuple(topics),
        kind=kind,
        context=_text(line, "context"),
        created_at=read_moment(created, at, week_start=week_start) if created else None,
        occurred=happened,
        pinned=bool(pinned),
        source=_text(line, "source") or _text_or_number(line, "id"),
    )


def _text(line: Mapping[str, Any], key: str) -> str:
    value = line.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f'"{key}" is a text')
    return value


def _text_or_number(line: Mapping[str, Any], key: str) -> str:
    value = line.get(key)
    if isinstance(value, bool) or not isinstance(value, (str, int, float, type(None))):
        raise ValueError(f'"{key}" is a text or a number')
    return "" if value is None else str(value)
