"""The JSON edge: values become the dictionaries of version 1, whose keys may grow but never change."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

from memora_cli.memory import (
    Added,
    Chain,
    Edited,
    History,
    Neighbourhood,
    NoteView,
    Statistics,
    Undone,
)
from memora_cli.models.folder import ModelFolder
from memora_cli.render.reference import NAME
from memora_cli.text.snippets import snippet
from memora_cli.values import Candidate, Change, Floors, Note, Tally, Trace, Window

VERSION = 1

Shape = dict[str, Any]


def dumps(shape: Mapping[str, Any]) -> str:
    """One line of JSON in ASCII, so that it is valid under any locale; what JSON cannot hold is an error, not NaN."""
    return json.dumps(shape, ensure_ascii=True, allow_nan=False)


def stamp(moment: datetime | None, zone: tzinfo | None) -> str | None:
    """ISO 8601 in the user's zone, with its offset."""
    return moment.astimezone(zone).isoformat() if moment else None


def note(value: Note, zone: tzinfo | None) -> Shape:
    """A note; `superseded_by` is the newest note that replaces it."""
    return {
        "id": value.id,
        "uid": value.uid,
        "space": value.space,
        "title": value.title,
        "body": value.body,
        "topics": list(value.topics),
        "kind": value.kind,
        "context": value.context,
        "created_at": stamp(value.created_at, zone),
        "occurred_start": stamp(value.occurred_start, zone),
        "occurred_end": stamp(value.occurred_end, zone),
        "pinned": value.pinned,
        "superseded_by": value.superseded_by[-1] if value.superseded_by else None,
        "source": value.source,
        "tokens": value.tokens,
    }


def view(value: NoteView, zone: tzinfo | None) -> Shape:
    """A note with its entities, links and what it supersedes."""
    return note(value.note, zone) | {
        "entities": list(value.entities),
        "links": [{"id": edge.target, "relation": edge.relation, "weight": edge.weight} for edge in value.links],
        "supersedes": list(value.supersedes),
    }


def named(shape: Shape, value: Note) -> Shape:
    """The record as a template sees it: with the name that lists show."""
    return shape | {NAME: value.name}


def added(value: Added) -> Shape:
    """What became of a note to be added."""
    return {
        "version": VERSION,
        "id": value.id,
        "created": value.created,
        "suggestions": [_suggestion(old.id, value.id) for old in value.outdated],
    }


def _suggestion(old: int, new: int) -> Shape:
    """A supersession for the user to judge."""
    return {"old": old, "new": new, "command": f"memora supersede {old} {new}"}


def edited(value: Edited) -> Shape:
    """What became of an edit."""
    return {"version": VERSION, "id": value.id, "changed": value.changed}


def change(value: Change, zone: tzinfo | None) -> Shape:
    """A change as it is kept."""
    return {
        "id": value.id,
        "batch": value.batch,
        "at": stamp(value.at, zone),
        "action": value.action,
        "note": value.note_id,
        "other": value.other_id,
        "before": dict(value.before),
        "after": dict(value.after),
        "undoes": value.undoes,
        "undone": value.undone,
    }


def history(value: History, zone: tzinfo | None) -> Shape:
    """What was done to a note, and the trees of what replaced what around it."""
    return {
        "version": VERSION,
        "id": value.note.id,
        "title": value.note.title,
        "forgotten_at": stamp(value.note.forgotten_at, zone),
        "changes": [change(one, zone) for one in value.changes],
        "chains": [chain(one, zone) for one in value.chains],
    }


def chain(value: Chain, zone: tzinfo | None) -> Shape:
    """A note, when it was replaced by the one above it, and the notes that it replaced."""
    return {
        "id": value.note.id,
        "name": value.note.name,
        "created_at": stamp(value.note.created_at, zone),
        "replaced_at": stamp(value.replaced_at, zone),
        "forgotten_at": stamp(value.note.forgotten_at, zone),
        "replaced": [chain(one, zone) for one in value.replaced],
        "repeated": value.repeated,
    }


def undone(value: Undone | None, zone: tzinfo | None) -> Shape:
    """What an undo took back; `purged` are notes that were purged since and stay gone."""
    return {
        "version": VERSION,
        "undone": [change(one, zone) for one in value.changes] if value else [],
        "purged": list(value.purged) if value else [],
    }


def trash(values: list[Note], zone: tzinfo | None) -> Shape:
    """The notes in the trash."""
    return {
        "version": VERSION,
        "notes": [note(one, zone) | {"forgotten_at": stamp(one.forgotten_at, zone)} for one in values],
    }


def aliases(values: list[tuple[str, str]]) -> Shape:
    """Every name with each other name that means the same."""
    return {"version": VERSION, "aliases": [{"name": name, "other": other} for name, other in values]}


def listing(values: list[Note], zone: tzinfo | None) -> Shape:
    """A list of notes."""
    return {"version": VERSION, "notes": [note(value, zone) for value in values]}


def tallies(values: Sequence[Tally], key: str) -> list[Shape]:
    """Topics or entities under the key that holds their name, each with how many notes have it."""
    return [{key: tally.name, "notes": tally.notes} for tally in values]


def neighbourhood(value: Neighbourhood) -> Shape:
    """A note and those around it; `tree` tells the edges by which a note is reached by the fewest steps."""
    edges = [(edge, True) for edge in value.tree] + [(edge, False) for edge in value.others]
    return {
        "version": VERSION,
        "root": value.root,
        "notes": [{"id": note.id, "name": note.name} for note in value.notes.values()],
        "edges": [
            {
                "from": edge.source,
                "to": edge.target,
                "relation": edge.relation,
                "via": edge.via,
                "weight": edge.weight,
                "tree": tree,
            }
            for edge, tree in edges
        ],
    }


def statistics(value: Statistics) -> Shape:
    """How much the memory holds."""
    return {
        "version": VERSION,
        **value.counts,
        "links": dict(value.links),
        "months": dict(value.months),
        "waiting": value.waiting,
        "answering": value.answering,
        "vectors": value.vectors,
        "floors": floors(value.floors),
        "bytes": value.bytes,
        "database": value.database,
        "driver": value.driver,
        "embedder": value.embedder,
        "reranker": value.reranker,
    }


def model(value: ModelFolder, used: Collection[Path]) -> Shape:
    """A model that is here."""
    return {
        "name": value.name,
        "id": value.id,
        "kind": value.kind,
        "used": value.path in used,
        "path": str(value.path),
        "origin": value.origin or None,
        "revision": value.revision,
        "licence": value.licence,
        "precision": value.precision,
        "dimension": value.dimension,
        "max_length": value.max_length,
        "query_prefix": value.query_prefix,
        "passage_prefix": value.passage_prefix,
        "bytes": sum(stamp.bytes for stamp in value.files.values()),
        "agreement": dict(value.agreement),
        "floors": floors(value.floors) if value.floors else None,
    }


def models(values: Iterable[ModelFolder], used: Collection[Path]) -> Shape:
    """The models that are here."""
    return {"version": VERSION, "models": [model(value, used) for value in values]}


def floors(value: Floors) -> Shape:
    """The least cosines of a model, and where they come from."""
    return {"semantic": value.semantic, "entry": value.entry, "link": value.link, "origin": value.origin}


def window(value: Window | None) -> Shape | None:
    """A span of time in the zone it was understood in."""
    if value is None:
        return None
    return {
        "start": value.start.isoformat() if value.start else None,
        "end": value.end.isoformat() if value.end else None,
        "text": value.text,
        "grain": value.grain,
    }


def result(candidate: Candidate, rank: int, words: tuple[str, ...], zone: tzinfo | None) -> Shape:
    """A note that a search returns; `confidence` is the cross-encoder's sigmoid, null when it did not read the note."""
    value = candidate.note
    return {
        "rank": rank,
        "id": value.id,
        "title": value.title,
        "snippet": snippet(candidate.passage, words),
        "text": candidate.text,
        "score": candidate.final.value,
        "relevance": candidate.relevance.value,
        "confidence": candidate.reranking.sigmoid if candidate.reranking else None,
        "created_at": stamp(value.created_at, zone),
        "pinned": value.pinned,
        "superseded_by": value.superseded_by[-1] if value.superseded_by else None,
        "tokens": candidate.tokens,
        "shortened": candidate.shortened,
    }


def results(trace: Trace) -> list[Shape]:
    """The notes that a search returns, best first."""
    zone = trace.query.at.tzinfo
    return [result(candidate, rank, trace.understood.words, zone) for rank, candidate in enumerate(trace.results, 1)]


def search(trace: Trace) -> Shape:
    """The result of a search."""
    rules = [candidate.cut for candidate in trace.candidates]
    return {
        "version": VERSION,
        "query": trace.query.text,
        "at": trace.query.at.isoformat(),
        "as_of": stamp(trace.query.filters.as_of, trace.query.at.tzinfo),
        "words": list(trace.understood.words),
        "window": window(trace.understood.window),
        "backend": {
            "keyword": trace.backend.keyword,
            "vectors": trace.backend.vectors,
            "embedder": trace.backend.embedder,
            "reranker": trace.backend.reranker,
        },
        "degraded": [{"part": problem.part, "reason": problem.reason} for problem in trace.degraded],
        "waiting": trace.waiting,
        "awaited": trace.awaited or None,
        "results": results(trace),
        "suggestions": [_suggestion(old.note.id, new.note.id) for old, new in trace.suggestions],
        "omitted": {rule.replace("-", "_"): rules.count(rule) for rule in ("limit", "budget", "current", "min-score")},
    }
