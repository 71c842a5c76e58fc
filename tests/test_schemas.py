"""The promise of schema: what each command prints with --json and --jsonl is what its schema says, key by key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import jsonschema
import pytest
import typer
from handmade import make_embedder
from postgres_server import places

from memora_cli.cli.app import app
from memora_cli.render.program import commands
from memora_cli.render.schemas import SCHEMAS, document

PROGRAM: Any = typer.main.get_command(app)


def strict(schema: Any) -> Any:
    """The schema without room for keys that it does not name."""
    if isinstance(schema, Mapping):
        closed = {key: strict(value) for key, value in schema.items()}
        return closed | {"additionalProperties": False} if "properties" in schema else closed
    return [strict(item) for item in schema] if isinstance(schema, list) else schema


def assert_valid(name: str, *values: Any) -> None:
    validator = jsonschema.Draft202012Validator(
        strict(document(name)), format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
    )
    assert values
    for value in values:
        assert [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)] == []


@pytest.fixture
def seen(memora, home):
    """The JSON that every command prints, by the name of its schema."""
    found: dict[str, list[Any]] = {}

    def run(name, *arguments, **options):
        form = "--jsonl" if name.endswith("--jsonl") else "--json"
        given = arguments if "-" in arguments and form == "--jsonl" else (*arguments, form)
        outcome = memora(*given, **options)
        found.setdefault(name, []).extend(json.loads(line) for line in outcome.out.splitlines())

    vault = home / "vault"
    vault.mkdir()
    (vault / "a.md").write_text("---\ndate: some day\n---\nSee [[b]].\n", encoding="utf-8")
    (vault / "b.md").write_text("The flood, because [[a]] leaked.\n", encoding="utf-8")
    (vault / "empty.md").write_text("", encoding="utf-8")
    run("add", "add", "I drink coffee every morning", "--occurred", "last spring", "--topic", "habits")
    run("add", "add", "I drink coffee every morning")
    run("supersede", "supersede", 1, "--with", "I drink tea now")
    run("supersede", "supersede", 1, 2)
    run("import", "import", vault, code=None)
    (vault / "b.md").unlink()
    (vault / "c.md").write_text("---\ntitle: [\n---\n", encoding="utf-8")
    run("import", "import", vault, code=1)
    memora("link", 3, "causes", 2)
    run("edit", "edit", 3, "--title", "A")
    run("edit", "edit", 3, "--title", "A")
    memora("alias", "tea", "chai")
    run("alias", "alias")
    memora("forget", 4)
    run("restore", "restore")
    for number in (1, 2, 3, 4):
        run("history", "history", number, code=None)
    for form in ("", " --jsonl"):
        run(f"show{form}", "show", 1, 2, 3)
        run(f"list{form}", "list")
        run(f"search{form}", "search", "what did I drink last spring")
        run(f"explain{form}", "explain", "tea")
        run(f"explain{form}", "explain", "tea", "--note", 1)
    for form in ("", " --jsonl"):
        run(f"topics{form}", "topics")
        run(f"entities{form}", "entities")
    run("graph", "graph", 3)
    questions = '{"text": "tea", "relevant": ["#2"], "stale": ["#1"], "current": ["#2"]}'
    run("eval", "eval", "-", "--show-worst", 1, "--by", "text", stdin=questions)
    run("eval", "eval", "-", "--show-worst", 1, "--set", "rerank=false", stdin=questions)
    run("search", "search", "tea", "--no-rerank", "--as-of", "today")
    run("search", "search", "zzz", "--topic", "none")
    run("stats", "stats")
    run("when", "when", "last spring")
    run("when", "when", "no time in it")
    run("export", "export", home / "out")
    run("export", "export", home / "notes.jsonl", "--topic", "habits")
    run("export --jsonl", "export", "-")
    if not places.server:  # pg_dump copies a server
        run("backup", "backup", home / "copy.db")
        run("restore-backup", "restore-backup", home / "copy.db", "--yes")
    run("undo", "undo")
    run("doctor", "doctor")
    run("config", "config")
    run("config list", "config", "list")
    run("config get", "config", "get", "min_score")
    run("config get", "config", "get", "rerank")
    run("models import", "models", "import", make_embedder(home / "words", 1))
    run("models", "models")
    run("models list", "models", "list")
    run("worker", "worker")
    run("worker status", "worker", "status")
    run("models verify", "models", "verify", "words")
    return found


def test_real_outputs_of_every_command_are_what_the_schemas_say(seen):
    assert set(seen) == set(SCHEMAS) - ({"backup", "restore-backup"} if places.server else set())
    for name, values in seen.items():
        assert_valid(name, *values)


def test_every_command_with_json_output_has_a_schema():
    for name, command in commands(PROGRAM):
        options = {option for parameter in command.params for option in parameter.opts}
        if "--json" in options:
            assert name in SCHEMAS
        if "--jsonl" in options and name != "schema":
            assert f"{name} --jsonl" in SCHEMAS


@pytest.mark.parametrize("name", SCHEMAS)
def test_schema_prints_a_sound_schema_of_each(name, memora):
    printed = memora("schema", *name.split()).json
    assert printed["$schema"].endswith("2020-12/schema")
    jsonschema.Draft202012Validator.check_schema(printed)


def test_schema_lists_what_it_knows_and_refuses_the_rest(memora):
    assert memora("schema").out.splitlines() == list(SCHEMAS)
    assert "memora schema lists" in memora("schema", "pin", code=2).err
