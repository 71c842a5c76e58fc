"""Changes `config.toml` and keeps its comments and order: the only user of tomlkit."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memora_cli.config import checked, known, load
from memora_cli.errors import BadSetting

if TYPE_CHECKING:
    from tomlkit import TOMLDocument


def assign(path: Path, key: str, value: str) -> str:
    """Set a key; what is still wrong elsewhere in the file, empty when all of it holds.

    Raises `BadSetting`, and changes nothing, for a key or value that cannot be or that makes a good file a bad one.
    """
    typed = checked(known(key, "config set"), value, "config set")

    def change(document: TOMLDocument) -> None:
        table, name = _place(document, key, make=True)
        table[name] = typed

    return _changed(path, change)


def remove(path: Path, key: str) -> str:
    """Take a key out, so that its default holds; what is still wrong in the file.

    Raises `BadSetting` for one that the file does not set.
    """

    def change(document: TOMLDocument) -> None:
        table, name = _place(document, key, make=False)
        if name not in table:
            raise BadSetting(f"{path} does not set {key}")
        del table[name]

    return _changed(path, change)


def problem(path: Path) -> str:
    """What is wrong in the file, empty when it holds."""
    try:
        load(environment={}, path=path)
    except BadSetting as error:
        return str(error)
    return ""


def beside(path: Path, text: str) -> Path:
    """A file of the user's own in the same folder with that text, to be checked and then put in the place of `path`."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".config-", suffix=".toml", dir=path.parent)  # mode 0600
    with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    return Path(name)


def put(draft: Path, path: Path) -> None:
    """Put a file in the place of the other, in one step; a link stays one, and its target takes the text."""
    draft.replace(path.resolve())


def _changed(path: Path, change: Callable[[TOMLDocument], None]) -> str:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    before = problem(path)
    try:
        document = tomlkit.parse(path.read_bytes().decode("utf-8-sig") if path.exists() else "")
    except (TOMLKitError, UnicodeDecodeError, OSError):
        raise BadSetting(f"{before}; memora config edit opens the file") from None
    change(document)
    text = tomlkit.dumps(document)
    draft = beside(path, text if text.endswith("\n") or not text else text + "\n")
    try:
        after = problem(draft).replace(str(draft), str(path))
        if after and not before:
            raise BadSetting(f"nothing was changed: {after}")
        put(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    return after


def _place(document: TOMLDocument, key: str, *, make: bool) -> tuple[Any, str]:
    """The table that holds the key, and its name there: `weights.graph` is in the table `weights`."""
    import tomlkit

    head, dot, name = key.partition(".")
    if not dot or key in document:
        return document, key
    if head not in document and make:
        document[head] = tomlkit.table()
    table = document.get(head, {})
    return (table, name) if hasattr(table, "keys") else (document, key)
