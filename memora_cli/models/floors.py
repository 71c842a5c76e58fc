"""The cosines that mean something to a model: chosen by measurement for known ones, carried over to others."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from memora_cli.values import Floors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CHOSEN: Mapping[str, Floors] = MappingProxyType(
    {"53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db": Floors(0.3, 0.5, 0.7)}  # all-MiniLM-L6-v2
)
"""By the SHA-256 of the original weights, so that every export of a model has them; README has the measurements."""

HIGHEST = 0.999  # rounding keeps a text from being quite like itself


def carry_over(
    known: NDArray[np.float32], floors: Floors, unknown: NDArray[np.float32], origin: str = "estimated"
) -> Floors:
    """Floors for the model of `unknown`, from the vectors that it and a known model give the same texts.

    Models spread their cosines differently: some give two unrelated texts 0.1, others 0.7. A floor of the known model
    lets through a certain share of all pairs of these texts; the floor here is the cosine that lets through as many.
    Both matrices have shape (texts, dimension), unit rows, one text of each note.
    """
    import numpy as np

    theirs, ours = _cosines(known), np.sort(_cosines(unknown))
    chosen = (floors.semantic, floors.entry, floors.link)
    shares = [float((theirs < floor).mean()) for floor in chosen]
    semantic, entry, link = (min(HIGHEST, float(np.quantile(ours, share))) for share in shares)
    return Floors(semantic, entry, link, origin)


def _cosines(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """The cosine of every two different rows, once."""
    import numpy as np

    cosines: NDArray[np.float32] = (matrix @ matrix.T)[np.triu_indices(len(matrix), 1)]
    return cosines
