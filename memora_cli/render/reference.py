"""What documents say of settings, JSON keys, plain output and files: the texts that no declaration holds."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "db": "the database file",
        "space": "the space to work in: notes of one space never meet those of another",
        "embedder": "the model that makes vectors",
        "reranker": "the cross-encoder",
        "time_parser": "what reads times: rules, or t5: and the folder or hub name of a T5 model",
        "week_start": "the first day of a week",
        "worker": "whether a process in the background answers: the first command starts it",
        "worker_idle": "minutes without a command until that process ends",
        "limit": "results at most",
        "max_tokens": "token budget of the results",
        "thinking_budget": "notes that the graph strategy may expand",
        "fusion": "how the lists are fused: convex by scores, rrf by ranks (reciprocal rank fusion)",
        "rrf_k": "the constant of reciprocal rank fusion",
        "strategy_limit": "hits that one strategy may return",
        "semantic_floor": "the lowest cosine of a semantic hit; unset, the model's",
        "entry_floor": "the lowest cosine of a note that the graph starts from; unset, the model's",
        "rerank": "whether the cross-encoder reads the best candidates",
        "rerank_top": "candidates that the cross-encoder reads",
        "rerank_seconds": "how long it may read; what it did not come to keeps its fused place, and degraded says so",
        "rerank_weight": "share of the cross-encoder in relevance; unset, 0.3 for a question and 0.1 for other words",
        "updates": "whether the newer of two notes that answer alike, but differ, goes first",
        "recency_weight": "what being new adds to a score",
        "half_life_days": "days until recency is halved",
        "pinned_bonus": "what a pin adds to a score",
        "min_score": "the lowest confidence of the cross-encoder that is shown",
        "current_only": "whether superseded notes are left out",
        "backend": "what answers the keyword strategy",
        "weights.semantic": "weight of the semantic strategy in fusion",
        "weights.keyword": "weight of the keyword strategy in fusion",
        "weights.graph": "weight of the graph strategy in fusion",
        "weights.temporal": "weight of the temporal strategy in fusion",
    }
)

NOTE = {
    "id": "the small number that people type",
    "uid": "an id that never changes, also in another database",
    "space": "",
    "title": "",
    "body": "the text",
    "topics": "a list",
    "kind": "world, agent or opinion",
    "context": "",
    "created_at": "ISO 8601 with offset, as all times",
    "occurred_start": "when it happened, or null",
    "occurred_end": "the first moment after it, or null",
    "pinned": "",
    "superseded_by": "the id of the newest note that replaces it, or null",
    "source": "the whole path of the file, or the id, that it was imported from",
    "tokens": "the length as the token budget counts it",
}

NAME = "name"
"""What templates have beside the keys of a note: the title, or the first line of the text."""

EXPORTED = {
    "id": "",
    "uid": "",
    "space": "",
    "title": "",
    "text": "",
    "topics": "a list",
    "kind": "",
    "context": "",
    "created_at": "in UTC, as all times here",
    "dated": "whether somebody said when it was",
    "occurred_start": "",
    "occurred_end": "",
    "pinned": "",
    "source": "",
    "file_hash": "of what its file held",
    "entities": "the names given with --entity",
    "links": "a list of {id, uid, relation, weight, origin}",
    "pending": "a list of {relation, title}: links to notes that are not there yet",
    "supersedes": "a list of {id, uid, at}",
    "said": "a list of {name, origin}: the aliases by which it mentions something",
    "since": "when this text replaced another, or null",
}

RECORDS: Mapping[str, str] = MappingProxyType(
    {
        "memory": "{counters}: that all of a memory follows, and the last numbers it gave out",
        "names": "{space, names}: what its entities are called",
        "alias": "{space, name, other, at}",
        "forgotten": "{at, note}: a note in the trash; note has the keys of a line",
        "past": "{number, until, note}: a text that a note had",
        "ended": "{space, old, new, at, until}: a supersession that was taken back",
        "change": "{space, id, batch, at, action, note, other, before, after, undoes}",
    }
)
"""What other lines of an export hold, beside "record": one of these."""

SEARCH = {
    "version": "",
    "query": "",
    "at": "the moment that was taken as now",
    "as_of": "the moment whose knowledge was asked, or null",
    "words": "what the keyword strategy looked for",
    "window": "the time that was understood: {start, end, text, grain}, or null",
    "backend": "what answered: {keyword, vectors, embedder, reranker}",
    "degraded": "what did not work: a list of {part, reason}",
    "waiting": "how many notes have no vectors yet",
    "awaited": "the model whose vectors wait to be made while another's answer, or null",
    "results": "a list, best first",
    "suggestions": "supersessions for you to judge: a list of {old, new, command}",
    "omitted": "how many were cut: {limit, budget, current, min_score}",
}

MODEL = {
    "name": "",
    "id": "name and content: vectors of two ids are never compared",
    "kind": "embedder or reranker",
    "used": "whether the settings name it",
    "path": "its folder",
    "origin": "the folder, file or hub name it was made from, or null",
    "revision": "the hub's commit, or the start of the hash of the weights",
    "licence": "",
    "precision": "fp32, fp16 or int8",
    "dimension": "the length of its vectors, or null",
    "max_length": "its window in tokens",
    "query_prefix": "what stands before a query",
    "passage_prefix": "what stands before a note",
    "bytes": "",
    "agreement": "with the original, by measure",
    "floors": "the least cosines: {semantic, entry, link, origin}, or null",
}

SHAPES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "add and supersede --with": {
            "version": "",
            "id": "",
            "created": "false when the text was there already",
            "suggestions": "supersessions for you to judge: a list of {old, new, command}",
        },
        "import": {
            "version": "",
            "added": "how many",
            "updated": "how many notes took the newer text of their file",
            "unchanged": "how many",
            "gone": "a list of {name, id}: files of the folder that are no longer there, and their notes",
            "failed": "a list of {name, reason}",
            "skipped": "the same for what is left out and no failure: empty files, files reached twice",
            "unread": "a list of {name, key, value}: front matter that was not understood",
            "unrelated": "a list of relations of exported notes that could not be made",
            "history": "how many changes, past texts, aliases and forgotten notes of an export were taken in",
        },
        "export": {
            "version": "",
            "path": "",
            "written": "how many notes",
            "unchanged": "how many files were as they should be",
            "stray": "a list of files of an earlier export whose notes were not exported now",
            "history": "how many changes, past texts, aliases and forgotten notes were written",
        },
        "a line of export": EXPORTED,
        "backup": {"version": "", "path": "", "bytes": ""},
        "restore-backup": {"version": "", "path": "", "kept": "the copy of what was there, or null"},
        "doctor": {"version": "", "checks": "a list of {name, state, detail, remedy}; ok, warning or broken"},
        "edit": {"version": "", "id": "", "changed": "false when it was so already"},
        "history": {
            "version": "",
            "id": "",
            "title": "",
            "forgotten_at": "when it went to the trash, or null",
            "changes": "a list of {id, batch, at, action, note, other, before, after, undoes, undone}",
            "chains": "trees of {id, name, created_at, replaced_at, forgotten_at, replaced, repeated}",
        },
        "undo": {
            "version": "",
            "undone": "a list of changes as history has them, empty when nothing was left to take back",
            "purged": "the ids of notes that were purged since, which stay gone",
        },
        "alias": {"version": "", "aliases": "a list of {name, other}"},
        "restore (without ids)": {"version": "", "notes": "a list of the notes in the trash, each with forgotten_at"},
        "list": {"version": "", "notes": "a list of notes"},
        "show": {"version": "", "notes": "a list of notes, each with entities, links and supersedes"},
        "a note (a line of list --jsonl)": NOTE,
        "topics": {"version": "", "topics": "a list, commonest first"},
        "a topic (a line of topics --jsonl)": {"topic": "", "notes": "how many notes have it"},
        "entities": {"version": "", "entities": "a list, commonest first"},
        "an entity (a line of entities --jsonl)": {"name": "", "notes": "how many notes mention it"},
        "graph": {
            "version": "",
            "root": "the id that was given",
            "notes": "a list of {id, name}, nearest first",
            "edges": "a list of {from, to, relation, via, weight, tree}; tree tells the edges of the shortest paths",
        },
        "search": SEARCH,
        "a result (a line of search --jsonl)": {
            "rank": "from 1",
            "id": "",
            "title": "",
            "snippet": "the words around the match",
            "text": "the whole text, shortened only when it alone is over the token budget",
            "score": "the number that the order comes from",
            "relevance": "the fused and reranked part, before age, pin and penalty",
            "confidence": "the cross-encoder's word, 0 to 1, or null when it did not read the note",
            "created_at": "",
            "pinned": "",
            "superseded_by": "",
            "tokens": "",
            "shortened": "",
        },
        "explain": {
            **SEARCH,
            "entities": "the known names in the query",
            "windows": "all times that were understood",
            "strategies": "by name: a list of {rank, id, score, reason, contribution}",
            "best": "by name: the score that counts as 1",
            "skipped": "by name: why a strategy did not run",
            "settings": "the numbers of this search",
            "stages": "a list of {stage, order}: the ids as each stage left them",
            "scores": "every candidate with all its numbers",
            "timings_ms": "milliseconds by stage",
        },
        "eval": {
            "version": "",
            "queries": "how many were asked",
            "strategies": "by strategy and stage: {ndcg@10, recall@10, mrr@10, hit@10}",
            "intervals": "the same with [low, high] of 95 % confidence",
            "recall_within_budget": "the recall of what fits the token budget: {mean, low, high}",
            "updates": "updated facts: {n, current_above_stale, current_first}, null where n is 0",
            "skipped": "questions without a known answer",
            "k": "",
            "max_tokens": "the token budget",
            "groups": "by the value of --by: the keys queries to updates",
            "variants": "for each --set: settings, the keys queries to updates, and the change of each metric",
            "worst": "a list of {id, query, ndcg or change, place, explain}",
        },
        "stats": {
            "version": "",
            "notes": "",
            "pinned": "",
            "superseded": "",
            "passages": "",
            "topics": "",
            "tokens": "",
            "links": "by relation",
            "months": "by month",
            "waiting": "notes without vectors of the embedder",
            "answering": "the model whose vectors answer: not the embedder until memora reindex is done",
            "vectors": "what looks up vectors: sqlite-vec compares all, signs only the likeliest exactly; or pgvector",
            "floors": "the least cosines of that model: {semantic, entry, link, origin}",
            "bytes": "",
            "database": "",
            "driver": "",
            "embedder": "",
            "reranker": "",
        },
        "when (a line for each line of when -)": {
            "version": "",
            "query": "",
            "at": "the moment that was taken as now",
            "start": "the first moment, or null",
            "end": "the first moment after it, or null",
            "text": "the words it came from",
            "grain": "day, week, month, season and so on",
            "windows": "all times that were understood, each {start, end, text, grain}",
        },
        "config": {"version": "", "file": "", "settings": "by key: {value, origin}"},
        "models, models list": {"version": "", "models": "a list of models"},
        "a model (and models import)": MODEL,
        "models verify": {"version": "", "models": "a list of {name, ok, reason}"},
        "worker, worker status": {
            "version": "",
            "running": "",
            "since": "when it was started, or null as all of these where none runs",
            "pid": "its process",
            "commands": "how many it answered",
            "memory": "bytes that it takes now",
            "idle_minutes": "after how many minutes without a command it ends",
        },
        "config get": {"version": "", "key": "", "value": "", "origin": "default, a file, a variable or a flag"},
    }
)
"""The keys of every JSON output, with a meaning where the name does not say it."""

IMPORT_LINE: Mapping[str, str] = MappingProxyType(
    {
        "text": "the note; body is read too",
        "title": "",
        "topics": "a list",
        "created_at": "when it was written; else now",
        "occurred": "when it happened: a date, or words like those of --occurred",
        "kind": "world, agent or opinion",
        "context": "",
        "pinned": "true or false",
        "source": "what it comes from",
        "id": "kept as the source when there is no other",
        "uid": "that of an exported note: with it the note is taken as it was, with its id and relations",
    }
)
"""The keys of a line that import reads; all but the text may be left out."""

OUTPUT = (
    "Results go to standard output, all else to standard error. On a terminal they are tables.",
    "In a pipe they are lines of tab-separated columns that are never cut. A line of search holds id, score, how sure "
    "the cross-encoder is, date, marks (pinned, superseded by, replaces, shortened), title and snippet. A line of list "
    "holds id, date, topics and title or first line; of topics and entities count and name; of graph steps, from, "
    "relation, weight, to, shared names and title or first line. Explain prints each table with its title and "
    "headings.",
    "With --json a command prints one object on one line. Its version is 1: keys may be added, never changed. With "
    "--jsonl it prints one object a line, with --ids one id a line.",
    "With --format it fills a template for each record: {id} stands for the key id of the object that --jsonl prints, "
    "{score:.2f} formats it, {{ is a brace, \\t a tab, \\n a new line. A text is put on one line. "
    "Notes and results have {name} too, the title or the first line.",
    "On a terminal, what list, show, topics, entities and graph print goes through $PAGER, else less, when it is "
    "longer than the screen.",
)

ENVIRONMENT = {
    "MEMORA_CONFIG": "the configuration file to read instead of config.toml in the configuration folder",
    "PAGER": "what shows long lists on a terminal; empty or cat for none",
    "NO_COLOR, TERM, COLUMNS": "no colours when NO_COLOR is set or TERM is dumb; the width of tables",
    "TZ": "the time zone that times are read and printed in; else the system's",
}

FILES = {
    "memora.db": "the notes, in the user's data folder: ~/.local/share/memora on Linux, "
    "~/Library/Application Support/memora on macOS, %LOCALAPPDATA%\\memora on Windows",
    "config.toml": "the settings, in the user's configuration folder: ~/.config/memora on Linux, the data folder "
    "elsewhere",
}
