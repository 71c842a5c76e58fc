"""The JSON Schema (2020-12) of every JSON output, by command; tests hold real outputs against them, key by key."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from memora_cli.values import KINDS

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"

TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}
COUNT: Schema = {"type": "integer", "minimum": 0}
ID: Schema = {"type": "integer", "minimum": 1}
NUMBER: Schema = {"type": "number"}
SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
TRUTH: Schema = {"type": "boolean"}
TIME: Schema = {"type": "string", "format": "date-time"}
VERSION: Schema = {"const": 1}
KIND: Schema = {"enum": list(KINDS)}
UID: Schema = {"type": "string", "pattern": "^[0-9a-f]{32}$"}


def shape(**keys: Schema) -> Schema:
    """An object that always has these keys; later versions of the program may give it more."""
    return {"type": "object", "properties": keys, "required": list(keys)}


def output(**keys: Schema) -> Schema:
    """What a command prints with --json."""
    return shape(version=VERSION, **keys)


def some(item: Schema) -> Schema:
    """A list, which may be empty."""
    return {"type": "array", "items": item}


def by_name(item: Schema) -> Schema:
    """An object whose keys are names of any kind."""
    return {"type": "object", "additionalProperties": item}


def maybe(item: Schema) -> Schema:
    """A value or null."""
    return {"anyOf": [item, {"type": "null"}]}


def also(one: Schema, **keys: Schema) -> Schema:
    """An object with more keys."""
    return shape(**one["properties"], **keys)


WINDOW = shape(start=maybe(TIME), end=maybe(TIME), text=TEXT, grain=TEXT)
NOTE = shape(
    id=ID,
    uid=UID,
    space=TEXT,
    title=TEXT,
    body=TEXT,
    topics=some(TEXT),
    kind=KIND,
    context=TEXT,
    created_at=TIME,
    occurred_start=maybe(TIME),
    occurred_end=maybe(TIME),
    pinned=TRUTH,
    superseded_by=maybe(ID),
    source=TEXT,
    tokens=COUNT,
)
LINK = shape(id=ID, relation=TEXT, weight=SHARE)
VIEW = also(NOTE, entities=some(TEXT), links=some(LINK), supersedes=some(ID))
CHANGE = shape(
    id=ID,
    batch=COUNT,
    at=TIME,
    action=TEXT,
    note=maybe(ID),
    other=maybe(ID),
    before=by_name({}),
    after=by_name({}),
    undoes=maybe(ID),
    undone=TRUTH,
)
CHAIN = shape(
    id=ID,
    name=TEXT,
    created_at=TIME,
    replaced_at=maybe(TIME),
    forgotten_at=maybe(TIME),
    replaced=some({"$ref": "#/$defs/chain"}),
    repeated=TRUTH,
)
RESULT = shape(
    rank=ID,
    id=ID,
    title=TEXT,
    snippet=TEXT,
    text=TEXT,
    score=NUMBER,
    relevance=NUMBER,
    confidence=maybe(SHARE),
    created_at=TIME,
    pinned=TRUTH,
    superseded_by=maybe(ID),
    tokens=COUNT,
    shortened=TRUTH,
)
FLOORS = shape(semantic=NUMBER, entry=NUMBER, link=NUMBER, origin=TEXT)
SUGGESTIONS = some(shape(old=ID, new=ID, command=TEXT))
SEARCH = output(
    query=TEXT,
    at=TIME,
    as_of=maybe(TIME),
    words=some(TEXT),
    window=maybe(WINDOW),
    backend=shape(keyword=TEXT, vectors=TEXT, embedder=maybe(TEXT), reranker=maybe(TEXT)),
    degraded=some(shape(part=TEXT, reason=TEXT)),
    waiting=COUNT,
    awaited=maybe(TEXT),
    results=some(RESULT),
    suggestions=SUGGESTIONS,
    omitted=shape(limit=COUNT, budget=COUNT, current=COUNT, min_score=COUNT),
)
SCORE = shape(value=NUMBER, parts=by_name(NUMBER))
SCORES = shape(
    place=ID,
    id=ID,
    fused=SCORE,
    completes=maybe(ID),
    rerank=maybe(shape(logit=NUMBER, sigmoid=SHARE, before=ID, after=ID)),
    relevance=SCORE,
    update=maybe(shape(old=ID, shared=some(TEXT), values=some(TEXT))),
    age_days=NUMBER,
    final=SCORE,
    clamp=maybe(shape(before=ID, after=ID, below=some(ID))),
    superseded_by=some(ID),
    tokens=COUNT,
    cut=maybe({"enum": ["limit", "budget", "current", "min-score"]}),
)
ACCOUNT = shape(
    id=ID,
    place=maybe(ID),
    fate=TEXT,
    verdicts=some(shape(strategy=TEXT, rank=maybe(ID), score=maybe(NUMBER), needed=maybe(NUMBER), reason=TEXT)),
    scores=maybe(SCORES),
)
EXPLAIN = also(
    SEARCH,
    entities=some(TEXT),
    windows=some(WINDOW),
    strategies=by_name(some(shape(rank=ID, id=ID, score=NUMBER, reason=TEXT, contribution=NUMBER))),
    best=by_name(NUMBER),
    skipped=by_name(TEXT),
    settings=shape(
        fusion=TEXT,
        floors=FLOORS,
        rrf_k=WHOLE,
        weights=by_name(NUMBER),
        rerank_weight=SHARE,
        recency_weight=NUMBER,
        half_life_days=NUMBER,
        pinned_bonus=NUMBER,
        limit=ID,
        max_tokens=ID,
    ),
    stages=some(shape(stage=TEXT, order=some(ID))),
    scores=some(SCORES),
    timings_ms=by_name(NUMBER),
)
EXPLAIN["properties"]["note"] = ACCOUNT  # only with --note
WORKER: Schema = output(
    running=TRUTH,
    since=maybe(TIME),
    pid=maybe(ID),
    commands=maybe(COUNT),
    memory=maybe(COUNT),
    idle_minutes=maybe(NUMBER),
)

MODEL = shape(
    name=TEXT,
    id=TEXT,
    kind={"enum": ["embedder", "reranker"]},
    used=TRUTH,
    path=TEXT,
    origin=maybe(TEXT),
    revision=TEXT,
    licence=TEXT,
    precision={"enum": ["fp32", "fp16", "int8"]},
    dimension=maybe(ID),
    max_length=ID,
    query_prefix=TEXT,
    passage_prefix=TEXT,
    bytes=COUNT,
    agreement=by_name(NUMBER),
    floors=maybe(FLOORS),
)
TOPIC = shape(topic=TEXT, notes=COUNT)
ENTITY = shape(name=TEXT, notes=COUNT)
EDGE: Schema = shape(**{"from": ID, "to": ID, "relation": TEXT, "via": TEXT, "weight": SHARE, "tree": TRUTH})
ESTIMATE = shape(mean=NUMBER, low=NUMBER, high=NUMBER)
MEASURED = shape(
    queries=COUNT,
    strategies=by_name(by_name(SHARE)),
    intervals=by_name(by_name(some(SHARE))),
    recall_within_budget=ESTIMATE,
    updates=shape(n=COUNT, current_above_stale=maybe(SHARE), current_first=maybe(SHARE)),
)
WORST = shape(id=TEXT, query=TEXT, place=maybe(ID), explain=TEXT)
NAMED = some(shape(name=TEXT, reason=TEXT))
SETTING: Schema = {"type": ["string", "number", "boolean", "null"]}
EXPORTED = shape(
    id=ID,
    uid=UID,
    space=TEXT,
    title=TEXT,
    text=TEXT,
    topics=some(TEXT),
    kind=KIND,
    context=TEXT,
    created_at=TIME,
    dated=TRUTH,
    occurred_start=maybe(TIME),
    occurred_end=maybe(TIME),
    pinned=TRUTH,
    source=TEXT,
    file_hash=TEXT,
    entities=some(TEXT),
    links=some(shape(id=ID, uid=UID, relation=TEXT, weight=SHARE, origin=TEXT)),
    pending=some(shape(relation=TEXT, title=TEXT)),
    supersedes=some(shape(id=ID, uid=UID, at=maybe(TIME))),
    said=some(shape(name=TEXT, origin=TEXT)),
    since=maybe(TIME),
)


def record(name: str, /, **keys: Schema) -> Schema:
    """A line of an export that is no note of the day."""
    return shape(record={"const": name}, **keys)


RECORDS = (
    record("memory", counters=by_name(COUNT)),
    record("names", space=TEXT, names=some(TEXT)),
    record("alias", space=TEXT, name=TEXT, other=TEXT, at=TIME),
    record("forgotten", at=TIME, note=EXPORTED),
    record("past", number=ID, until=TIME, note=EXPORTED),
    record("ended", space=TEXT, old=ID, new=ID, at=TIME, until=TIME),
    record(
        "change",
        space=TEXT,
        id=ID,
        batch=COUNT,
        at=TIME,
        action=TEXT,
        note=maybe(ID),
        other=maybe(ID),
        before={"type": "object"},
        after={"type": "object"},
        undoes=maybe(ID),
    ),
)

SCHEMAS: Mapping[str, Schema] = MappingProxyType(
    {
        "add": output(id=ID, created=TRUTH, suggestions=SUGGESTIONS),
        "supersede": output(id=ID, created=TRUTH, suggestions=SUGGESTIONS),
        "edit": output(id=ID, changed=TRUTH),
        "restore": output(notes=some(also(NOTE, forgotten_at=TIME))),
        "history": output(
            id=ID, title=TEXT, forgotten_at=maybe(TIME), changes=some(CHANGE), chains=some({"$ref": "#/$defs/chain"})
        )
        | {"$defs": {"chain": CHAIN}},
        "undo": output(undone=some(CHANGE), purged=some(ID)),
        "alias": output(aliases=some(shape(name=TEXT, other=TEXT))),
        "show": output(notes=some(VIEW)),
        "show --jsonl": VIEW,
        "list": output(notes=some(NOTE)),
        "list --jsonl": NOTE,
        "topics": output(topics=some(TOPIC)),
        "topics --jsonl": TOPIC,
        "entities": output(entities=some(ENTITY)),
        "entities --jsonl": ENTITY,
        "graph": output(root=ID, notes=some(shape(id=ID, name=TEXT)), edges=some(EDGE)),
        "search": SEARCH,
        "search --jsonl": RESULT,
        "explain": EXPLAIN,
        "explain --jsonl": {"anyOf": [SCORES, ACCOUNT]},
        "eval": output(
            **MEASURED["properties"],
            skipped=COUNT,
            k=ID,
            max_tokens=ID,
            groups=by_name(MEASURED),
            variants=some(also(MEASURED, settings=TEXT, change=by_name(ESTIMATE))),
            worst=some({"anyOf": [also(WORST, ndcg=SHARE), also(WORST, change=NUMBER)]}),
        ),
        "stats": output(
            notes=COUNT,
            pinned=COUNT,
            superseded=COUNT,
            passages=COUNT,
            topics=COUNT,
            tokens=COUNT,
            links=by_name(COUNT),
            months=by_name(COUNT),
            waiting=COUNT,
            answering=TEXT,
            vectors=TEXT,
            floors=FLOORS,
            bytes=COUNT,
            database=TEXT,
            driver=TEXT,
            embedder=TEXT,
            reranker=TEXT,
        ),
        "when": output(
            query=TEXT,
            at=TIME,
            start=maybe(TIME),
            end=maybe(TIME),
            text=maybe(TEXT),
            grain=maybe(TEXT),
            windows=some(WINDOW),
        ),
        "import": output(
            added=COUNT,
            updated=COUNT,
            unchanged=COUNT,
            gone=some(shape(name=TEXT, id=ID)),
            failed=NAMED,
            skipped=NAMED,
            unread=some(shape(name=TEXT, key=TEXT, value=TEXT)),
            unrelated=some(TEXT),
            history=COUNT,
        ),
        "export": output(path=TEXT, written=COUNT, unchanged=COUNT, stray=some(TEXT), history=COUNT),
        "export --jsonl": {"anyOf": [EXPORTED, *RECORDS]},
        "backup": output(path=TEXT, bytes=COUNT),
        "restore-backup": output(path=TEXT, kept=maybe(TEXT)),
        "doctor": output(
            checks=some(shape(name=TEXT, state={"enum": ["ok", "warning", "broken"]}, detail=TEXT, remedy=maybe(TEXT)))
        ),
        "models": output(models=some(MODEL)),
        "models list": output(models=some(MODEL)),
        "worker": WORKER,
        "worker status": WORKER,
        "models import": output(**MODEL["properties"]),
        "models verify": output(models=some(shape(name=TEXT, ok=TRUTH, reason=maybe(TEXT)))),
        "config": output(file=TEXT, settings=by_name(shape(value=SETTING, origin=TEXT))),
        "config list": output(file=TEXT, settings=by_name(shape(value=SETTING, origin=TEXT))),
        "config get": output(key=TEXT, value=SETTING, origin=TEXT),
    }
)
"""The schema of each output; that of a line stands under the command with --jsonl ("export -" prints such lines)."""


def document(name: str) -> Schema:
    """The schema of an output as a document of its own. KeyError for a name that there is not."""
    return {"$schema": DIALECT, "title": f"memora {name}", **SCHEMAS[name]}
