"""Finds the Markdown files of a folder, each once, and says which it leaves out and why."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MARKDOWN = frozenset({".md", ".markdown", ".mdown", ".txt"})


@dataclass(frozen=True, slots=True)
class Left:
    """A file or folder that is left out by name, and why; `harmless` when its notes are found elsewhere."""

    name: str
    reason: str
    harmless: bool = False


def files(folder: Path) -> Iterator[Path | Left]:
    """Markdown files below the folder, in order of their names.

    Hidden ones are passed over; what cannot be listed, links that lead away and files reached twice are left out.
    """
    closed: list[OSError] = []
    links: list[Path] = []
    home = folder.resolve()
    seen: set[Path] = set()
    for parent, folders, names in os.walk(folder, onerror=closed.append):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        links += [path for name in folders if (path := Path(parent, name)).is_symlink()]
        for name in sorted(names):
            path = Path(parent, name)
            if name.startswith(".") or path.suffix.lower() not in MARKDOWN:
                continue
            if path.is_symlink():
                links.append(path)
            else:
                seen.add(home / path.relative_to(folder))
                yield path
    for link in links:
        name = link.relative_to(folder).as_posix()
        try:
            target = link.resolve(strict=True)
        except (OSError, RuntimeError) as error:  # RuntimeError is a loop, until Python 3.13
            yield Left(name, f"a link that leads nowhere: {getattr(error, 'strerror', 'it leads to itself')}")
            continue
        if not target.is_relative_to(home):
            yield Left(name, "a link that leads out of the folder; import what it leads to by itself")
        elif target in seen or target.is_dir():
            yield Left(name, f"the same as {target.relative_to(home).as_posix()}", harmless=True)
        else:
            seen.add(target)
            yield link
    for failure in closed:
        name = Path(failure.filename).relative_to(folder).as_posix()
        yield Left(str(folder) if name == "." else name, failure.strerror or str(failure))
