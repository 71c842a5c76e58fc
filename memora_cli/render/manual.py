"""The manual page in roff: commands and options from the program, exit codes and settings from their tables."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, cast

from memora_cli import __version__
from memora_cli.config import BACKENDS, NUMBERS, WEEK_STARTS, load
from memora_cli.errors import EXIT_CODES


class Parameter(Protocol):
    """What the manual reads of an option or argument, whichever version of Typer made it."""

    name: str
    opts: Sequence[str]
    secondary_opts: Sequence[str]
    metavar: str | None
    help: str | None
    default: Any
    required: bool
    nargs: int
    multiple: bool
    hidden: bool
    is_flag: bool
    param_type_name: str


class Command(Protocol):
    """What the manual reads of a command."""

    name: str
    help: str | None
    epilog: str | None
    params: Sequence[Parameter]


class Program(Command, Protocol):
    """The whole program: global options and commands by name, in the order of `--help`."""

    commands: Mapping[str, Command]


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting as documents show it: its flags ("" without one), environment variable, default and range."""

    key: str
    flags: str
    variable: str
    default: str
    values: str
    meaning: str


MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "db": "the database file",
        "space": "the space to work in: notes of one space never meet those of another",
        "embedder": "the model that makes vectors",
        "reranker": "the cross-encoder",
        "time_parser": "what reads times: rules, or t5: and the folder or hub name of a T5 model",
        "week_start": "the first day of a week",
        "limit": "results at most",
        "max_tokens": "token budget of the results",
        "thinking_budget": "notes that the graph strategy may expand",
        "rrf_k": "the constant of reciprocal rank fusion",
        "strategy_limit": "hits that one strategy may return",
        "semantic_floor": "the lowest cosine of a semantic hit; unset, the model's",
        "entry_floor": "the lowest cosine of a note that the graph starts from; unset, the model's",
        "rerank": "whether the cross-encoder reads the best candidates",
        "rerank_top": "candidates that the cross-encoder reads",
        "rerank_weight": "share of the cross-encoder in relevance; unset, 0.3 for a question and 0.1 for other words",
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
}

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
        "add and supersede --with": {"version": "", "id": "", "created": "false when the text was there already"},
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
        },
        "export": {
            "version": "",
            "path": "",
            "written": "how many files or lines",
            "unchanged": "how many files were as they should be",
            "stray": "a list of files of an earlier export whose notes were not exported now",
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
            "skipped": "by name: why a strategy did not run",
            "settings": "the numbers of this search",
            "stages": "a list of {stage, order}: the ids as each stage left them",
            "scores": "every candidate with all its numbers",
            "timings_ms": "milliseconds by stage",
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
        "config get": {"version": "", "key": "", "value": "", "origin": "default, a file, a variable or a flag"},
        "models, models list": {"version": "", "models": "a list of models"},
        "a model (and models import)": MODEL,
        "models verify": {"version": "", "models": "a list of {name, ok, reason}"},
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
    "holds id, date, topics and title or first line. Explain prints each table with its title and headings.",
    "With --json a command prints one object on one line. Its version is 1: keys may be added, never changed. With "
    "--jsonl it prints one object a line, with --ids one id a line.",
)

ENVIRONMENT = {
    "MEMORA_CONFIG": "the configuration file to read instead of config.toml in the configuration folder",
    "NO_COLOR, TERM, COLUMNS": "no colours when NO_COLOR is set or TERM is dumb; the width of tables",
    "TZ": "the time zone that times are read and printed in; else the system's",
}

FILES = {
    "memora.db": "the notes, in the user's data folder: ~/.local/share/memora on Linux, "
    "~/Library/Application Support/memora on macOS, %LOCALAPPDATA%\\memora on Windows",
    "config.toml": "the settings, in the user's configuration folder: ~/.config/memora on Linux, the data folder "
    "elsewhere",
}


def settings(program: Program) -> tuple[Setting, ...]:
    """Every setting in the order of the configuration, with the flags that the program has for it."""
    flags = {
        parameter.name: ", ".join((*parameter.opts, *parameter.secondary_opts))
        for command in (program, program.commands["search"])
        for parameter in command.params
        if parameter.param_type_name == "option"
    }
    origins = load(environment={}, path=Path(os.devnull)).origins
    return tuple(
        Setting(
            key=key,
            flags=flags.get(key) or flags.get(key.removesuffix("_only"), ""),
            variable="MEMORA_" + key.replace(".", "_").upper(),
            default="memora.db in the data folder" if key == "db" else _value(origins[key].value),
            values=_values(key, origins[key].value),
            meaning=meaning,
        )
        for key, meaning in MEANINGS.items()
    )


def _value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _values(key: str, default: object) -> str:
    if isinstance(default, bool):
        return "true, false"
    low, high = NUMBERS.get(key, (0.0, 1000.0) if key.startswith("weights.") else (None, None))
    if low is not None and high is not None:
        return f"{low:g} to {high:,.0f}" if high >= 1000 else f"{low:g} to {high:g}"
    return {"backend": ", ".join(BACKENDS), "week_start": f"{WEEK_STARTS[0]} to {WEEK_STARTS[-1]}"}.get(key, "")


def manual(program: Program) -> str:
    """The manual page: the same text for the same program, whatever the day, the machine and its settings."""
    return "\n".join(_lines(program)) + "\n"


def _lines(program: Program) -> Iterator[str]:
    yield '.\\" Generated from the program: see the contributing section of the README.'
    yield f'.TH MEMORA 1 "" "memora {__version__}" "User Commands"'
    # Left-aligned, without hyphenation: options and JSON keys stay whole.
    yield from (".nh", ".ad l", ".SH NAME", f"memora {BACKSLASH}- {_roff('a memory for your notes')}")
    yield from (".SH SYNOPSIS", f"{_bold('memora')} {_roff('[OPTIONS] COMMAND [ARGUMENTS]')}")
    yield from (".SH DESCRIPTION", *_paragraphs((program.help or "",)))
    yield from (".SH OPTIONS", *_options(program))
    yield ".SH COMMANDS"
    for name, command in commands(program):
        yield from _command(name, command)
    yield from (".SH OUTPUT", *_paragraphs(OUTPUT))
    yield ".SH JSON"
    for name, keys in SHAPES.items():
        yield from (".TP", _bold(name), _roff(_keys(keys)))
    line = f"A line of a .jsonl file is one JSON object: {_keys(IMPORT_LINE)} Only the text is needed."
    yield from (".SH IMPORT LINES", *_paragraphs((line,)))
    yield from (".SH EXIT STATUS", *_terms((str(code), meaning) for code, meaning in EXIT_CODES.items()))
    yield from (".SH ENVIRONMENT", *_paragraphs(("A flag wins over a variable, a variable over config.toml.",)))
    yield from _terms((setting.variable, _described(setting)) for setting in settings(program))
    yield from _terms(ENVIRONMENT.items())
    yield from (".SH FILES", *_terms(FILES.items()))
    yield from _paragraphs((f"The keys of config.toml: {', '.join(MEANINGS)}. The weights are a table [weights].",))


def commands(group: Program, before: str = "") -> Iterator[tuple[str, Command]]:
    """Every command by its whole name, in the order of `--help`; a group stands before what is in it."""
    for name, command in group.commands.items():
        yield before + name, command
        if hasattr(command, "commands"):
            yield from commands(cast(Program, command), f"{before}{name} ")


def _described(setting: Setting) -> str:
    facts = [f"default {setting.default}"]
    facts += [f"values {setting.values}"] if setting.values else []
    facts += [f"flag {setting.flags}"] if setting.flags else []
    return f"{setting.meaning}; {'; '.join(facts)}"


def _command(name: str, command: Command) -> Iterator[str]:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    pieces = [_placeholder(item) if item.required else f"[{_placeholder(item)}]" for item in arguments]
    yield f'.SS "{_roff(" ".join(("memora", name, "[OPTIONS]", *pieces)))}"'
    yield from _paragraphs((command.help or "",))
    yield from _terms((_placeholder(item), item.help or "") for item in arguments)
    yield from _options(command)
    if command.epilog:
        yield from (".PP", "Example:", ".PP", ".nf", ".RS", _roff(example(command)), ".RE", ".fi")


def example(command: Command) -> str:
    """The command line that the end of a command's help shows."""
    return (command.epilog or "").removeprefix("Example:").strip()


def _placeholder(parameter: Parameter) -> str:
    """What stands for a value: the metavar without brackets, else the name in capitals."""
    return (parameter.metavar or parameter.name.upper().replace("_", "-")).strip("[]{}")


def _options(command: Command) -> Iterator[str]:
    for parameter in command.params:
        if parameter.param_type_name != "option" or parameter.hidden:
            continue
        names = ", ".join(_bold(name) for name in (*parameter.opts, *parameter.secondary_opts))
        value = "" if parameter.is_flag else f" {_italic(_option_placeholder(parameter))}"
        yield from (".TP", names + value, _roff(_option_help(parameter)))
    yield from (".TP", f"{_bold('-h')}, {_bold('--help')}", "Show the help and exit.")


def _option_help(parameter: Parameter) -> str:
    text, default = parameter.help or "", parameter.default
    if parameter.multiple and "several times" not in text:
        text += " May be given several times."
    if default and isinstance(default, str | int) and not isinstance(default, bool):
        text += f" Default: {default}."
    return text


def _option_placeholder(parameter: Parameter) -> str:
    long = next((name for name in parameter.opts if name.startswith("--")), parameter.name)
    return parameter.metavar or long.lstrip("-").replace("-", "_").upper()


def _keys(keys: Mapping[str, str]) -> str:
    return ", ".join(f"{key} ({meaning})" if meaning else key for key, meaning in keys.items()) + "."


def _terms(terms: Iterable[tuple[str, str]]) -> Iterator[str]:
    for term, meaning in terms:
        yield from (".TP", _bold(term), _roff(meaning))


def _paragraphs(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from (".PP", _roff(" ".join(text.split())))


BACKSLASH = "\\"
SPECIAL = str.maketrans(
    {
        BACKSLASH: r"\e",
        "-": r"\-",
        "'": r"\(aq",
        '"': r"\(dq",
        "^": r"\(ha",
        "~": r"\(ti",
        "`": r"\(ga",
    }
)


def _roff(text: str) -> str:
    """Text that roff prints as it is, in ASCII: nothing in it is a request or an escape."""
    safe = "".join(c if c.isascii() else f"\\[u{ord(c):04X}]" for c in text.translate(SPECIAL))
    return f"\\&{safe}" if safe.startswith(".") else safe


def _bold(text: str) -> str:
    return rf"\fB{_roff(text)}\fP"


def _italic(text: str) -> str:
    return rf"\fI{_roff(text)}\fP"
