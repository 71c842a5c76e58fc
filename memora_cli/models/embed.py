"""The embedder: a text becomes a unit vector."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memora_cli.errors import ModelUnusable
from memora_cli.models.folder import CONFIG, REMEDY, read_folder
from memora_cli.models.onnx import OnnxModel

ASKED = 256  # queries whose vectors are kept


class OnnxEmbedder:
    """An Embedder that runs a folder made by `memora_cli.models.export`."""

    def __init__(self, folder: Path) -> None:
        self._model = OnnxModel(read_folder(folder, "embedder"))
        self.id = self._model.folder.id
        self.dimension = self._model.folder.dimension or 0
        self._asked: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        # One short text costs a few milliseconds and shows a config that belongs to another model before it does harm.
        self.embed(["ready"])

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """Vectors of shape (len(texts), dimension) in the order given: unit rows, all finite. Raises ModelUnusable."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        if query and len(texts) == 1:
            return self._ask(texts[0]).copy()
        return self._embed(texts, query=query)

    def _ask(self, text: str) -> NDArray[np.float32]:
        """The vector of a query, which is kept: people ask again with other options, and page through results."""
        if text not in self._asked:
            while len(self._asked) >= ASKED:
                self._asked.popitem(last=False)
            self._asked[text] = self._embed([text], query=True)
        self._asked.move_to_end(text)
        return self._asked[text]

    def _embed(self, texts: Sequence[str], *, query: bool) -> NDArray[np.float32]:
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
