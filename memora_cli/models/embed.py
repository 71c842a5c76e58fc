"""The embedder: a text becomes a unit vector."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memora_cli.errors import ModelUnusable
from memora_cli.models.folder import CONFIG, REMEDY, read_folder
from memora_cli.models.onnx import OnnxModel


class OnnxEmbedder:
    """An Embedder that runs a folder made by `memora_cli.models.export`."""

    def __init__(self, folder: Path) -> None:
        self._model = OnnxModel(read_folder(folder, "embedder"))
        self.id = self._model.folder.id
        self.dimension = self._model.folder.dimension or 0
        # One short text costs a few milliseconds and shows a config that belongs to another model before it does harm.
        self.embed(["ready"])

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """Vectors of shape (len(texts), dimension) in the order given: unit rows, all finite. Raises ModelUnusable."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        prefix = self._model.folder.query_prefix if query else self._model.folder.passage_prefix
        rows = self._model.run([prefix + text for text in texts])
        if rows.shape != (len(texts), self.dimension):
            raise ModelUnusable(
                f"model {self._model.folder.name}: its vectors have shape {rows.shape[1:]}, "
                f"{CONFIG} says {self.dimension}; {REMEDY}"
            )
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        if not norms.all():
            raise ModelUnusable(f"model {self._model.folder.name}: it gave a vector of length 0; {REMEDY}")
        unit: NDArray[np.float32] = rows / norms
        return unit
