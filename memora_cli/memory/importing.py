"""Reads what is imported: folders of Markdown, Markdown files and JSON lines become drafts."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from memora_cli.errors import Usage
from memora_cli.text.markdown import parse
from memora_cli.text.moments import local, read_moment, read_window
from memora_cli.values import KINDS, Draft

MARKDOWN = frozenset({".md", ".markdown", ".mdown", ".txt"})
LINES = frozenset({".jsonl", ".ndjson"})
FILE_CAP = 64 * 1024 * 1024  # bytes of one Markdown file that are read at all


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to import by name: a draft, or the reason why there is none."""

    name: str
    draft: Draft | None = None
    problem: str = ""


def count(path: Path) -> int:
    """How many items an import of the path has, for a progress bar."""
    if path.is_dir():
        return sum(1 for _ in _files(path))
    if path.suffix.lower() in LINES:
        with path.open("rb") as file:
            return sum(1 for _ in file)
    return 1


def read(path: Path, at: datetime) -> Iterator[Item]:
    """The items of a folder of Markdown, a Markdown file or a file of JSON lines. Raises `Usage` for any other."""
    if path.is_dir():
        for file in _files(path):
            yield _read_markdown(file, file.relative_to(path).as_posix(), at)
    elif path.suffix.lower() in LINES:
        try:
            with path.open("rb") as stream:
                yield from read_lines(stream, path.name, at)
        except OSError as error:
            yield Item(str(path), problem=error.strerror or str(error))
    elif path.suffix.lower() in MARKDOWN:
        yield _read_markdown(path, path.name, at)
    elif path.exists():
        raise Usage(f"{path} is neither a folder nor a .md, .txt or .jsonl file")
    else:
        raise Usage(f"{path} does not exist")


def read_lines(stream: IO[bytes], name: str, at: datetime) -> Iterator[Item]:
    """The items of JSON lines; empty lines are passed over."""
    for number, line in enumerate(stream, start=1):
        if not line.strip():
            continue
        where = f"{name}:{number}"
        try:
            yield Item(where, draft=_from_json(json.loads(line.decode("utf-8-sig", "replace")), at))
        except (ValueError, Usage) as error:
            yield Item(where, problem=str(error))


def _files(folder: Path) -> Iterator[Path]:
    """Markdown files below the folder, in order of their names; hidden ones and links that lead away are left out."""
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith(".") and Path(name).suffix.lower() in MARKDOWN:
                yield Path(parent) / name


def _read_markdown(path: Path, name: str, at: datetime) -> Item:
    try:
        information = path.stat()
        if not stat.S_ISREG(information.st_mode):
            return Item(name, problem="not a regular file")
        if information.st_size > FILE_CAP:
            return Item(name, problem=f"{information.st_size:,} bytes are more than the cap of {FILE_CAP:,}")
        draft = parse(decode(path.read_bytes()), path=name)
    except OSError as error:
        return Item(name, problem=error.strerror or str(error))
    except ValueError as error:
        return Item(name, problem=str(error))
    created_at = draft.created_at or datetime.fromtimestamp(information.st_mtime, at.tzinfo)
    dated = draft.created_at is not None
    return Item(name, draft=replace(draft, created_at=local(created_at, at.tzinfo), source=name, dated=dated))


def decode(data: bytes) -> str:
    """Text from bytes: UTF-8, or UTF-16 where it says so; what is neither keeps U+FFFD in the broken places."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8-sig", "replace")


def _from_json(line: Any, at: datetime) -> Draft:
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
    created, occurred, number = _text(line, "created_at"), _text(line, "occurred"), line.get("id")
    return Draft(
        body=text,
        title=_text(line, "title"),
        topics=tuple(topics),
        kind=kind,
        context=_text(line, "context"),
        created_at=read_moment(created, at) if created else None,
        occurred=read_window(occurred, at) if occurred else None,
        pinned=bool(line.get("pinned")),
        source=_text(line, "source") or ("" if number is None else str(number)),
    )


def _text(line: Mapping[str, Any], key: str) -> str:
    value = line.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f'"{key}" is a text')
    return value
