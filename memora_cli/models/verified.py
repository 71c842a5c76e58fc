"""Compares the files of a model with their hashes before it is run, once for each state of the files.

Hashing takes longer than the rest of a start (55 ms for 20 MB on the machine it was measured on), so a mark in the
user's cache says which files, by place, size, times and inode, were found to be the ones that were exported.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from memora_cli.models.folder import ModelFolder, verify


def verify_once(model: ModelFolder) -> None:
    """Raises ModelUnusable when a file is not the one that was exported."""
    mark = _marks() / _state(model)
    if mark.exists():
        return
    verify(model)
    with suppress(OSError):  # it is hashed again the next time
        mark.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        mark.touch(mode=0o600)


def _marks() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("memora", appauthor=False) / "verified-models"


def _state(model: ModelFolder) -> str:
    """What changes when a file does, or what is expected of it; a time of change cannot be set back."""
    said = []
    for name, stamp in sorted(model.files.items()):
        path = model.path / name
        with suppress(OSError):  # `verify` tells of it
            found = path.stat()
            said.append((os.fspath(path.resolve()), found.st_ino, found.st_mtime_ns, found.st_ctime_ns, stamp.sha256))
    return hashlib.sha256(repr(said).encode("utf-8", "surrogateescape")).hexdigest()
