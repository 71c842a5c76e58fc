"""Embedding and reranking models behind two small protocols; nothing heavy is imported until one is loaded."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Sequence
from pathlib import Path

from memora_cli.errors import ModelUnusable
from memora_cli.models.folder import ModelFolder, read_folder
from memora_cli.models.protocols import Embedder, Reranker

__all__ = [
    "BUNDLED",
    "EMBEDDER",
    "RERANKER",
    "Embedder",
    "Reranker",
    "find_model",
    "find_model_id",
    "load_embedder",
    "load_reranker",
]

EMBEDDER = "all-MiniLM-L6-v2"
RERANKER = "memora-reranker"
LOADED = 2  # models of a kind that stay loaded: two take part in a change of the model
# ONNX Runtime gathers telemetry and writes it below the home folder unless it is told not to before its import.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

BUNDLED = Path(__file__).parent / "data"


def load_embedder(name: str | None = None, places: Sequence[Path] = ()) -> Embedder:
    """The embedder of that name, the bundled one by default; `places` as in `find_model`. Raises ModelUnusable."""
    folder = find_model(name or EMBEDDER, places)
    return _embedder(folder, _state(folder))


def load_reranker(name: str | None = None, places: Sequence[Path] = ()) -> Reranker:
    """The reranker of that name, the bundled one by default; `places` as in `find_model`. Raises ModelUnusable."""
    folder = find_model(name or RERANKER, places)
    return _reranker(folder, _state(folder))


@functools.lru_cache(maxsize=LOADED)
def _embedder(folder: Path, _state: object) -> Embedder:
    from memora_cli.models.embed import OnnxEmbedder

    return OnnxEmbedder(folder)


@functools.lru_cache(maxsize=LOADED)
def _reranker(folder: Path, _state: object) -> Reranker:
    from memora_cli.models.rerank import OnnxReranker

    return OnnxReranker(folder)


def _state(folder: Path) -> tuple[object, ...]:
    """What tells a model from another that took its place in the folder."""
    try:
        found = [(file.name, file.stat()) for file in sorted(folder.iterdir())]
    except OSError:
        return ()
    return tuple((name, of.st_ino, of.st_mtime_ns, of.st_ctime_ns, of.st_size) for name, of in found)


def find_model(name: str, places: Sequence[Path] = ()) -> Path:
    """The folder of a model: the first of `places`, then of the bundled models, that holds one of this name.

    A hub name such as "BAAI/bge-small-en-v1.5" is a folder within a folder. A path from the root or from a home folder
    is itself the folder. Raises ModelUnusable.
    """
    if name.startswith(("/", "~")) or Path(name).is_absolute():
        with contextlib.suppress(RuntimeError):  # nobody's home
            if (path := Path(name).expanduser()) != Path("/") and path.is_dir():
                return path
    elif name and ".." not in Path(name).parts:
        for place in (*places, BUNDLED):
            if (place / name).is_dir():
                return place / name
    raise ModelUnusable(
        f"no model is called {name!r}; {EMBEDDER} and {RERANKER} come with memora-cli, "
        "memora models import brings others"
    )


def find_model_id(model_id: str, places: Sequence[Path] = ()) -> ModelFolder | None:
    """The model with that id, where it is installed."""
    name = model_id.rpartition("@")[0]
    for place in (*places, BUNDLED):
        with contextlib.suppress(ModelUnusable):
            if name and (model := read_folder(find_model(name, (place,)))).id == model_id:
                return model
    return None
