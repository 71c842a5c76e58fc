"""Understanding: the words, times, entities and the vector of a query."""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from memora_cli.errors import EmptyQuery, ModelUnusable
from memora_cli.models import Embedder
from memora_cli.store import graph
from memora_cli.store.database import Database
from memora_cli.text.dates import choose_window
from memora_cli.text.entities import query_entities, query_ngrams
from memora_cli.text.questions import is_question
from memora_cli.text.times import TimeParser
from memora_cli.text.words import query_words
from memora_cli.values import Degraded, Query, Understood, Window

FREQUENCY_CAP = 10_000


def understand(
    query: Query,
    database: Database,
    connection: Connection,
    embedder: Callable[[], Embedder],
    time_parser: Callable[[], TimeParser],
) -> tuple[Understood, str]:
    """What the query means, and the id of the model that embedded it (empty without one).

    Raises `EmptyQuery` when there is no word in it and no topic is asked for.
    """

    def frequency(word: str) -> int:
        return database.index.frequency(connection, query.filters.space, word, FREQUENCY_CAP)

    if not query_words(query.text):
        if not query.filters.topics:
            raise EmptyQuery
        return Understood(words=()), ""
    embedded = _begin(query.text, embedder)
    words = query_words(query.text, frequency)
    degraded: tuple[Degraded, ...] = ()
    windows: tuple[Window, ...] = ()
    try:
        windows = time_parser().read(query.text, query.at)
    except ModelUnusable as error:
        degraded += (Degraded("time", str(error)),)
    named = (*query_entities(query.text), *query_ngrams(query.text))
    known: Collection[str] = ()
    try:
        with connection.begin_nested():
            known = graph.known_entities(connection, query.filters.space, set(named))
    except DBAPIError as error:
        if error.connection_invalidated:
            raise
        degraded += (Degraded("entities", str(error.orig)),)
    entities = tuple(dict.fromkeys(key for key in named if key in known))
    embedding: tuple[float, ...] | None = None
    model = ""
    try:
        embedding, model = embedded()
    except Exception as error:  # whatever the model does, words still find notes
        degraded += (Degraded("embedder", str(error) or type(error).__name__),)
    understood = Understood(
        words,
        choose_window(windows),
        windows,
        entities,
        embedding,
        question=is_question(query.text),
        degraded=degraded,
    )
    return understood, model


def _begin(text: str, embedder: Callable[[], Embedder]) -> Callable[[], tuple[tuple[float, ...], str]]:
    """Let the model embed beside what else is done; the call that is returned waits for the vector and its model's id.

    It raises whatever the model did.
    """
    try:
        loaded = embedder()
    except Exception as error:
        failed = error

        def fail() -> tuple[tuple[float, ...], str]:
            raise failed

        return fail
    with_thread = ThreadPoolExecutor(1)
    future = with_thread.submit(loaded.embed, [text], query=True)
    with_thread.shutdown(wait=False)
    return lambda: (tuple(future.result()[0].tolist()), loaded.id)
