"""Measures what the README states, in one run, as ratios: `python tests/benchmark.py` in an environment with memora.

The environment must hold memora and what it needs, and nothing else, or its size says nothing. Retrieval and import are
measured on the notes of `MEMORA_SHARED/eval/til` where that folder is, and left out where it is not. `--keep FOLDER`
keeps the database of 10,000 notes that the worker is measured on (`benchmark_data`).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmark_data import database, queries

ROUNDS = 7
WARM_ROUNDS = 40
NOTES = 10_000
QUERIES = 100
MEMORA = shutil.which("memora", path=str(Path(sys.executable).parent)) or "memora"
BARE = "import typer\napp = typer.Typer()\n@app.command()\ndef main(name: str = ''): ...\napp()\n"
COMPLETING = """import typer
app = typer.Typer()
@app.callback()
def main(): ...
@app.command()
def show(ids: list[str] = typer.Argument(autocompletion=lambda: ['1'])): ...
app(prog_name='bare')
"""
HEAVY = "import typer, sqlalchemy, onnxruntime, tokenizers"


def seconds(command: Sequence[str], environment: dict[str, str]) -> float:
    """Wall time of one whole process."""
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=environment, stdin=subprocess.DEVNULL)
    return time.perf_counter() - start


def compare(
    ours: Sequence[str], theirs: Sequence[str], environment: dict[str, str], rounds: int = ROUNDS
) -> tuple[float, float]:
    """Median wall times of two commands, run in turn so that both meet the same noise."""
    pairs = [(seconds(ours, environment), seconds(theirs, environment)) for _ in range(rounds + 1)][1:]
    mine, other = zip(*pairs, strict=True)
    return statistics.median(mine), statistics.median(other)


def row(what: str, measured: str, bound: str) -> None:
    print(f"| {what} | {measured} | {bound} |", flush=True)


def against_nothing(
    command: Sequence[str], given: Sequence[str], environment: dict[str, str], extra: float
) -> tuple[str, str]:
    """A command, asked again with each of some words, and four times a Python that does nothing plus milliseconds."""
    pairs = [
        (seconds([*command, text], environment), seconds([sys.executable, "-c", "pass"], environment)) for text in given
    ]
    mine, nothing = (statistics.median(times) * 1e3 for times in zip(*pairs[3:], strict=True))
    bound = 4 * nothing + extra
    return f"{mine:.0f} ms, ×{mine / bound:.2f}", f"4 × {nothing:.0f} + {extra:.0f} = {bound:.0f} ms"


def with_worker(folder: Path, shared: Path, environment: dict[str, str]) -> None:
    """Whole processes of commands that the worker answers, on 10,000 notes; no question is asked twice."""
    path = Path(folder, "searched.db")
    shutil.copy(database(folder, shared, NOTES), path)
    runtime = tempfile.mkdtemp(prefix="memora-")
    warm = environment | {"MEMORA_DB": str(path), "MEMORA_WORKER": "true", "XDG_RUNTIME_DIR": runtime}
    asked = queries(shared, 2 * WARM_ROUNDS)
    texts = [f"{text} {number}" for number, text in enumerate(asked[:WARM_ROUNDS])]
    try:
        subprocess.run([MEMORA, "worker", "start"], check=True, capture_output=True, env=warm)
        search = [MEMORA, "search", "--"]
        row("`memora search` on 10,000 notes", *against_nothing(search, asked[:WARM_ROUNDS], warm, 135))
        plain = [MEMORA, "search", "--no-rerank", "--"]
        row("`memora search --no-rerank`", *against_nothing(plain, asked[WARM_ROUNDS : 2 * WARM_ROUNDS], warm, 30))
        row("`memora add`", *against_nothing([MEMORA, "add", "--"], texts, warm, 60))
        tab = dict.fromkeys(("_MEMORA_COMPLETE", "_BARE_COMPLETE"), "complete_bash")
        tab |= {"COMP_WORDS": "memora show ", "COMP_CWORD": "2"}
        mine, bare = compare([MEMORA], [sys.executable, "-c", COMPLETING], warm | tab)
        row("completing a note id against a bare Typer completion", f"{mine * 1e3:.0f} ms, ×{mine / bare:.2f}", "×1.3")
        told = subprocess.run([MEMORA, "worker", "--json"], check=True, capture_output=True, env=warm).stdout
        row("memory of the worker after that", f"{json.loads(told)['memory'] / 1e6:.0f} MB", "400 MB")
    finally:
        subprocess.run([MEMORA, "worker", "stop"], check=True, capture_output=True, env=warm)
        shutil.rmtree(runtime)
        path.unlink()


def installed_megabytes() -> float:
    """Bytes below the environment's folder, pip and setuptools included."""
    return (
        sum(path.stat().st_size for path in Path(sys.prefix).rglob("*") if path.is_file() and not path.is_symlink())
        / 1e6
    )


def import_rate(corpus: Path, database: Path) -> tuple[float, float]:
    """Notes a second of an import, and of embedding the same passages alone, in this process."""
    from memora_cli.config import load
    from memora_cli.memory import Memory
    from memora_cli.memory.importing import read
    from memora_cli.memory.writing import BATCH, prepare

    at = datetime(2026, 1, 1, tzinfo=UTC)
    drafts = [(item.name, item.draft) for item in read(corpus, at) if item.draft]
    with Memory(load({"db": str(database)}, environment={})) as memory:
        memory.embedder.embed(["warm up"])
        start = time.perf_counter()
        for _ in memory.import_all(drafts, at):
            pass
        importing = time.perf_counter() - start
        texts = [prepare(draft).texts for _, draft in drafts]
        start = time.perf_counter()
        for place in range(0, len(texts), BATCH):
            memory.embedder.embed([text for note in texts[place : place + BATCH] for text in note])
        embedding = time.perf_counter() - start
    return len(drafts) / importing, len(drafts) / embedding


def first_by_words(corpus: Path, queries: list[dict[str, object]]) -> int:
    """For how many queries FTS5 alone (porter, any word, bm25) has the right note first."""
    import re

    from memora_cli.store.sqlite import driver

    connection = driver().connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE f USING fts5(id UNINDEXED, text, tokenize='porter unicode61')")
    for line in corpus.read_text(encoding="utf-8").splitlines():
        note = json.loads(line)
        connection.execute("INSERT INTO f VALUES (?, ?)", (note["id"], note["text"]))
    right = 0
    for query in queries:
        match = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", str(query["text"])))
        found = connection.execute("SELECT id FROM f WHERE f MATCH ? ORDER BY rank LIMIT 1", (match,)).fetchone()
        right += bool(found) and found[0] in query["relevant"]  # type: ignore[operator]
    return right


def first_by_memora(queries: list[dict[str, object]], environment: dict[str, str], *options: str) -> int:
    """For how many queries `memora search` has the right note first."""
    right = 0
    for query in queries:
        command = [MEMORA, "search", "--json", "-n", "1", *options, "--", str(query["text"])]
        answer = json.loads(subprocess.run(command, check=True, capture_output=True, env=environment).stdout)
        ids = [str(result["id"]) for result in answer["results"]]
        if ids:
            shown = subprocess.run([MEMORA, "show", "--json", *ids], check=True, capture_output=True, env=environment)
            right += json.loads(shown.stdout)["notes"][0]["source"] in query["relevant"]  # type: ignore[operator]
    return right


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--keep", type=Path, help="where the database of 10,000 notes is, or will be")
    kept = arguments.parse_args().keep
    shared = Path(os.environ.get("MEMORA_SHARED", Path(__file__).parents[2] / "shared"))
    til = shared / "eval" / "til"
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "HOME": folder, "MEMORA_DB": str(Path(folder) / "memora.db"), "COLUMNS": "80"}
        environment["MEMORA_WORKER"] = "false"
        print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
        print("| what | measured | at most / at least |\n|---|---|---|")
        row("install", f"{installed_megabytes():.0f} MB", "400 MB")
        mine, bare = compare([MEMORA, "--help"], [sys.executable, "-c", BARE, "--help"], environment)
        row("`memora --help` against a bare Typer program", f"{mine * 1e3:.0f} ms, ×{mine / bare:.2f}", "×1.3")
        subprocess.run([MEMORA, "add", "a note", "--no-embed"], check=True, capture_output=True, env=environment)
        tab = {"COMP_WORDS": "memora show ", "COMP_CWORD": "2"}
        tab |= dict.fromkeys(("_MEMORA_COMPLETE", "_BARE_COMPLETE"), "complete_bash")
        mine, bare = compare([MEMORA], [sys.executable, "-c", COMPLETING], environment | tab, rounds=4 * ROUNDS)
        row("completing a note id without a worker", f"{mine * 1e3:.0f} ms, ×{mine / bare:.2f}", "×1.3")
        if not til.is_dir():
            print("\nThe evaluation notes are not here: the rest is left out.")
            return
        importing, embedding = import_rate(til / "corpus.jsonl", Path(folder) / "memora.db")
        row(
            "import, share of the speed of embedding alone",
            f"{importing:.1f} notes/s, {importing / embedding:.2f}",
            "0.85",
        )
        search = [MEMORA, "search", "interactively rebase onto main"]
        mine, heavy = compare(search, [sys.executable, "-c", HEAVY], environment)
        row(
            f"cold `memora search` on 1,871 notes against `{HEAVY}`",
            f"{mine * 1e3:.0f} ms, ×{mine / heavy:.2f}",
            "×2.5",
        )
        lines = (til / "queries.jsonl").read_text(encoding="utf-8").splitlines()
        titles = [json.loads(line) for line in lines][:: max(1, len(lines) // QUERIES)][:QUERIES]
        words, ours = first_by_words(til / "corpus.jsonl", titles), first_by_memora(titles, environment)
        row(f"right note first, {len(titles)} queries", f"{ours} (FTS5 alone {words})", f"{words}")
        with_worker(kept or Path(folder), shared, environment)


if __name__ == "__main__":
    main()
