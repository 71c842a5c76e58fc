"""What a model folder is to say of itself, and what whoever imports it wants otherwise than the model says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Description:
    """What a model folder says about itself.

    `name`, `revision` (empty for the start of the weights' hash), `licence`, and `origin`, the folder or hub name that
    it was made from.
    """

    name: str
    revision: str = ""
    licence: str = "unknown"
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A window in tokens, and what stands before a query and before a passage; None is what the model says."""

    max_length: int | None = None
    query_prefix: str | None = None
    passage_prefix: str | None = None
