"""How good a ranking is: nDCG, recall, reciprocal rank and hit at k, their means and how sure these are."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

METRICS = ("ndcg", "recall", "mrr", "hit")
RESAMPLES = 2000
SEED = 1


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over queries and its 95 % confidence interval."""

    mean: float
    low: float
    high: float


def measure(ranking: Sequence[str], relevant: Collection[str], k: int) -> dict[str, float]:
    """The `METRICS` of one ranking with binary relevance, each in [0, 1]; `relevant` is not empty.

    nDCG discounts by log2 (Järvelin, Kekäläinen, TOIS 2002); the ideal has min(k, relevant) notes.
    """
    top = list(dict.fromkeys(ranking))[:k]
    places = [place for place, name in enumerate(top, start=1) if name in relevant]
    gain = math.fsum(1.0 / math.log2(place + 1) for place in places)
    ideal = math.fsum(1.0 / math.log2(place + 1) for place in range(1, min(k, len(relevant)) + 1))
    return {
        "ndcg": gain / ideal,
        "recall": len(places) / len(relevant),
        "mrr": 1.0 / places[0] if places else 0.0,
        "hit": float(bool(places)),
    }


def estimate(values: Sequence[float]) -> Estimate:
    """The mean and the percentile interval of a bootstrap over queries (Sakai, SIGIR 2006); the same in each run.

    Of differences query by query it is the paired bootstrap.
    """
    import numpy

    numbers = numpy.asarray(values, dtype=float)
    if not len(numbers):
        return Estimate(0.0, 0.0, 0.0)
    draws = numpy.random.default_rng(SEED).integers(0, len(numbers), (RESAMPLES, len(numbers)))
    low, high = numpy.percentile(numbers[draws].mean(axis=1), [2.5, 97.5])
    return Estimate(float(numbers.mean()), float(low), float(high))
