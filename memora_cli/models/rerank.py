"""The reranker: a cross-encoder reads a query and a passage together and gives one logit."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memora_cli.errors import ModelUnusable
from memora_cli.models.folder import REMEDY, read_folder
from memora_cli.models.onnx import OnnxModel


class OnnxReranker:
    """A Reranker that runs a folder made by `memora_cli.models.export`."""

    def __init__(self, folder: Path) -> None:
        self._model = OnnxModel(read_folder(folder, "reranker"))
        self.id = self._model.folder.id

    def score(self, query: str, passages: Sequence[str], seconds: float = inf) -> NDArray[np.float32]:
        """Logits of shape (len(passages),) in the order given, NaN where there was no time. Raises ModelUnusable."""
        logits = self._model.run([(query, passage) for passage in passages], seconds)
        if logits.shape != (len(passages),):
            raise ModelUnusable(
                f"model {self._model.folder.name}: it gives {logits.shape[1:]} numbers a passage, not one; {REMEDY}"
            )
        return logits
