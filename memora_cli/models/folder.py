"""Reads a model folder: what its config says, and whether its files are the ones that were exported."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NoReturn, get_args

from memora_cli.errors import ModelUnusable
from memora_cli.values import Floors

ModelKind = Literal["embedder", "reranker"]
Precision = Literal["fp32", "fp16", "int8"]

CONFIG = "config.json"
MODEL = "model.onnx"
TOKENIZER = "tokenizer.json"
REMEDY = "reinstall memora-cli, or import the model again"


@dataclass(frozen=True, slots=True)
class FileStamp:
    """Size in bytes and SHA-256 (hex) of a file as it was exported."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A model ready to be loaded.

    `dimension` is the length of its vectors, None for a reranker. `max_length` is its window in tokens, special
    tokens included, which was `shortened` when somebody asked for less than the model reads. `query_prefix` and
    `passage_prefix` stand before what is asked and what is kept. `floors` are the cosines that mean something to it,
    None for a reranker. `origin` is the folder or hub name that it was made from. `agreement` holds the measured
    likeness to the original model, by measure.
    """

    path: Path
    name: str
    kind: ModelKind
    revision: str
    precision: str
    licence: str
    max_length: int
    dimension: int | None
    files: Mapping[str, FileStamp]
    agreement: Mapping[str, float]
    query_prefix: str = ""
    passage_prefix: str = ""
    shortened: bool = False
    floors: Floors | None = None
    origin: str = ""

    @property
    def id(self) -> str:
        """The name and the start of a hash of what makes the numbers, so that two that differ never share one.

        That is the model file, and where there are any the prefixes, and the window that somebody cut.
        """
        content = self.files[MODEL].sha256
        read = (self.query_prefix, self.passage_prefix, str(self.max_length) if self.shortened else "")
        if any(read):
            content = hashlib.sha256("\0".join((content, *read)).encode()).hexdigest()
        return f"{self.name}@{content[:12]}"


def read_folder(path: Path, kind: ModelKind | None = None) -> ModelFolder:
    """The folder's config, once its files are there at their recorded sizes; None is any kind. Raises ModelUnusable."""
    model = _read_config(path, kind)
    for name, stamp in model.files.items():
        try:
            size = (path / name).stat().st_size
        except OSError as error:
            _unusable(path, f"{name} cannot be read ({error.strerror})")
        if size != stamp.bytes:
            _unusable(path, f"{name} has {size:,} bytes instead of {stamp.bytes:,}")
    return model


def verify(model: ModelFolder) -> None:
    """Compare every file with its recorded SHA-256; `verify_once` does so at load. Raises ModelUnusable."""
    for name, stamp in model.files.items():
        try:
            with (model.path / name).open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            _unusable(model.path, f"{name} cannot be read ({error.strerror})")
        if digest != stamp.sha256:
            _unusable(model.path, f"{name} is not the file that was exported (its SHA-256 differs)")


def stamp(path: Path) -> FileStamp:
    """The size and SHA-256 of a file."""
    with path.open("rb") as file:
        return FileStamp(path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())


def _read_config(path: Path, kind: ModelKind | None) -> ModelFolder:
    try:
        config: Any = json.loads((path / CONFIG).read_text(encoding="utf-8"))
    except OSError as error:
        _unusable(path, f"{CONFIG} cannot be read ({error.strerror})")
    except ValueError:
        _unusable(path, f"{CONFIG} is not JSON")
    try:
        model = ModelFolder(
            path=path,
            name=str(config["name"]),
            kind=config["kind"],
            revision=str(config["revision"]),
            precision=str(config["precision"]),
            licence=str(config["licence"]),
            max_length=int(config["max_length"]),
            dimension=None if config["dimension"] is None else int(config["dimension"]),
            files=MappingProxyType({name: FileStamp(**config["files"][name]) for name in (MODEL, TOKENIZER)}),
            agreement=MappingProxyType(dict(config["agreement"])),
            query_prefix=str(config.get("query_prefix", "")),
            passage_prefix=str(config.get("passage_prefix", "")),
            shortened=bool(config.get("shortened", False)),
            floors=Floors(**config["floors"]) if config.get("floors") else None,
            origin=str(config.get("origin", "")),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        _unusable(path, f"{CONFIG} lacks or garbles {error}")
    if model.kind not in get_args(ModelKind) or kind not in (None, model.kind):
        _unusable(
            path,
            f"this is a model of kind {model.kind!r}, not {kind!r}",
            "choose another: memora models list shows them",
        )
    return model


def _unusable(path: Path, what: str, remedy: str = REMEDY) -> NoReturn:
    raise ModelUnusable(f"model {path.name}: {what}; {remedy}")
