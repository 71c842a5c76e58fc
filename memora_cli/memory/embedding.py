"""The part of an open memory that knows which embedder answers, its floors, and how another takes its place."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace

from sqlalchemy import Connection

from memora_cli.config import Config, models_folder
from memora_cli.errors import ModelUnusable
from memora_cli.memory.reindexing import Batch, reindex
from memora_cli.models import Embedder, find_model, find_model_id, load_embedder
from memora_cli.models.folder import ModelKind, read_folder
from memora_cli.store import marks, vectors
from memora_cli.store.database import Database
from memora_cli.values import Floors, Settings


class Embedding:
    """The embedder of an open memory: the configured one, or the one before it until a reindex is done."""

    config: Config
    space: str
    database: Database

    @functools.cached_property
    def embedder(self) -> Embedder:
        """The configured embedder, loaded when first needed. Raises `ModelUnusable`."""
        return load_embedder(self.config.embedder, (models_folder(),))

    def reindex(self) -> Iterator[Batch]:
        """Make the indexes anew, and the vectors that notes lack; see `reindexing.reindex`. Raises `ModelUnusable`."""
        return reindex(self.database, self.space, self.embedder, lambda connection: self._held(connection, self.space))

    def floors(self, connection: Connection, model: str, settings: Settings) -> Floors:
        """The floors of the model with that id: what the settings say, else what was chosen for it or estimated."""
        held = self._held(connection, self.space, model)
        if settings.semantic_floor is None and settings.entry_floor is None:
            return held
        return replace(
            held,
            semantic=held.semantic if settings.semantic_floor is None else settings.semantic_floor,
            entry=held.entry if settings.entry_floor is None else settings.entry_floor,
            origin="settings",
        )

    def waiting(self) -> int:
        """How many notes have no vector of the configured embedder yet."""
        with self.database.read() as connection:
            return vectors.waiting(connection, self.space, self._model_id("embedder"))

    def answering(self) -> str:
        """The id of the model whose vectors answer."""
        with self.database.read() as connection:
            return vectors.answering(connection, self.space, self._model_id("embedder"))

    def answered_by(self, model: str) -> list[str]:
        """The spaces in which the vectors of the model with that id answer."""
        wanted = self._model_id("embedder")
        with self.database.read() as connection:
            spaces = vectors.spaces(connection, model)
            return [space for space in spaces if vectors.answering(connection, space, wanted) == model]

    def _held(self, connection: Connection, space: str, model: str | None = None) -> Floors:
        folder = find_model_id(model or self._model_id("embedder"), (models_folder(),))
        held = folder.floors if folder and folder.floors else Floors()
        if held.origin == "chosen":
            return held
        return marks.floors(connection, space, model or self._model_id("embedder")) or held

    def _answering(self, connection: Connection, space: str | None = None) -> Embedder:
        """The embedder whose vectors answer: the configured one, or while its vectors are made the one before it.

        Raises `ModelUnusable`.
        """
        if "embedder" not in self.__dict__:
            read_folder(find_model(self.config.embedder, (models_folder(),)), "embedder")
        wanted = self._model_id("embedder")
        answering = vectors.answering(connection, space or self.space, wanted)
        if answering != wanted and answering not in self._others:
            try:
                if folder := find_model_id(answering, (models_folder(),)):
                    self._others[answering] = load_embedder(str(folder.path))
            except ModelUnusable:  # then its vectors are of no use, and those of the configured one answer
                pass
        return self._others.get(answering) or self.embedder

    @functools.cached_property
    def _others(self) -> dict[str, Embedder]:
        return {}

    def _embedder(self, wanted: bool, space: str | None = None) -> tuple[Embedder | None, str]:
        """The embedder that makes a new text findable, if it is wanted and can be had, and why it cannot."""
        if not wanted:
            return None, ""
        try:
            with self.database.read() as connection:
                return self._answering(connection, space), ""
        except ModelUnusable as error:
            return None, str(error)

    def _model_id(self, kind: ModelKind) -> str:
        """The id of a configured model, read without loading it; its name when it cannot be read."""
        if kind in self.__dict__:
            return str(self.__dict__[kind].id)
        name: str = getattr(self.config, kind)
        try:
            return read_folder(find_model(name, (models_folder(),)), kind).id
        except ModelUnusable:
            return name
