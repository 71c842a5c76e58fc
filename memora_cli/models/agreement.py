"""Measures how closely an exported model follows its original, and refuses one that does not."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from memora_cli.errors import ModelUnusable
from memora_cli.models.folder import Precision

Agreement = dict[str, float]

# An int8 export below these ranks visibly differently from its original (see the model cards for what a form loses);
# one that is not rounded, or hardly, would be another network.
LEAST: Mapping[Precision, Mapping[str, float]] = MappingProxyType(
    {
        "int8": {"cosine_mean": 0.99, "spearman": 0.95},
        "fp16": {"cosine_mean": 0.999, "spearman": 0.98},
        "fp32": {"cosine_mean": 0.9999, "spearman": 0.99},
    }
)


def vectors_agree(ours: NDArray[np.float32], original: NDArray[np.float32]) -> Agreement:
    """Cosines, mean and worst, of two models' vectors for the same texts; both have shape (texts, dimension)."""
    cosines = (ours * original).sum(axis=1)
    return {"cosine_mean": float(cosines.mean()), "cosine_worst": float(cosines.min())}


def rankings_agree(ours: NDArray[np.float32], original: NDArray[np.float32]) -> Agreement:
    """Likeness of two models' scores of shape (queries, passages).

    `spearman` is the mean rank correlation over queries, `same_first` the share of queries with the same best
    passage, `largest_difference` that of two scores of one pair.
    """
    correlations = [np.corrcoef(_ranks(a), _ranks(b))[0, 1] for a, b in zip(ours, original, strict=True)]
    return {
        "spearman": float(np.mean(correlations)),
        "same_first": float(np.mean(ours.argmax(axis=1) == original.argmax(axis=1))),
        "largest_difference": float(np.abs(ours - original).max()),
    }


def require(agreement: Agreement, name: str, precision: Precision = "int8") -> None:
    """Raises ModelUnusable when the export is too far from its original to be used in its place."""
    for measure, least in LEAST[precision].items():
        if measure in agreement and not agreement[measure] >= least:
            remedy = "choose another model" if precision == "fp32" else "choose a higher precision, --precision fp32"
            raise ModelUnusable(
                f"model {name}: the export in {precision} agrees too little with the original "
                f"({measure} {agreement[measure]:.4f}, at least {least} is needed); {remedy}"
            )


def _ranks(scores: NDArray[np.float32]) -> NDArray[np.float64]:
    """Ranks from 0, equal scores sharing the mean of their ranks."""
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return (last - (count + 1) / 2)[place]
