"""What memora asks of a model: one protocol to embed, one to rerank."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # numpy stays out of the light import of this package
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns text into vectors. Vectors with different `id` must never be compared."""

    @property
    def id(self) -> str:
        """Name and content of the model, the same on every machine: "all-MiniLM-L6-v2@3f2a90c1b7de"."""
        ...

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        ...

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """Vectors of shape (len(texts), dimension) in the order given: rows of unit length, all finite.

        `query` says that the texts are asked and not kept, which some models want to know. A text longer than the
        model's window is read to the window's end. Raises ModelUnusable.
        """
        ...


class Reranker(Protocol):
    """Says how well a passage answers a query, reading both together."""

    @property
    def id(self) -> str:
        """Name and content of the model, the same on every machine."""
        ...

    def score(self, query: str, passages: Sequence[str], seconds: float = inf) -> NDArray[np.float32]:
        """Logits of shape (len(passages),) in the order given, finite, higher is better; no sigmoid was applied.

        What it did not come to read in that many seconds is NaN; the first passages are read first.

        A pair longer than the model's window is cut at the longer of the two. Raises ModelUnusable.
        """
        ...
