"""The command that measures how well searches find what they should: eval."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Annotated

import typer

from memora_cli.cli.app import app
from memora_cli.cli.options import AsJson, At, Space, configure, now, pairs, week_start
from memora_cli.errors import MemoraError, Usage

if TYPE_CHECKING:
    from memora_cli.config import Config
    from memora_cli.memory import Memory
    from memora_cli.memory.evaluating import Question

STANDARD_INPUT = Path("-")
SEED = 1


@dataclass(frozen=True, slots=True)
class Bench:
    """Questions, the corpus they are asked of (None for the open database), and the database file it is kept in."""

    questions: Path
    corpus: Path | None
    database: Path | None


@app.command("eval", epilog="Example: memora eval questions.jsonl --set fusion=rrf --show-worst 5")
def evaluate(
    context: typer.Context,
    path: Annotated[
        Path,
        typer.Argument(
            metavar="QUERIES",
            help="A .jsonl file of questions with relevant ids; - reads it; or a folder with queries.jsonl and "
            "corpus.jsonl, or of such folders, asked one at a time.",
        ),
    ],
    corpus: Annotated[
        Path | None,
        typer.Option("--corpus", metavar="PATH", help="Search these notes, imported for it; else the open database."),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option("--keep", metavar="FOLDER", help="Keep imported corpora in this folder, and use them again."),
    ] = None,
    sample: Annotated[
        int, typer.Option("--sample", metavar="N", min=0, help="Ask N random questions, the same ones each time.")
    ] = 0,
    k: Annotated[int, typer.Option("-k", metavar="K", min=1, max=100, help="How far down a ranking counts.")] = 10,
    by: Annotated[
        str | None, typer.Option("--by", metavar="KEY", help="Also group by a key of the questions, as category.")
    ] = None,
    gold: Annotated[
        str, typer.Option("--gold", metavar="KEY", help="The key of the relevant ids, where a line has it.")
    ] = "relevant",
    variants: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE,…", help="Compare with these settings; repeat it for more columns."),
    ] = None,
    most: Annotated[
        int, typer.Option("--show-worst", metavar="N", min=0, help="Show N questions that go worst, to explain.")
    ] = 0,
    at: At = None,
    space: Space = None,
    as_json: AsJson = False,
) -> None:
    """Measure searches on questions whose answers are known, to see which settings suit your notes."""
    from memora_cli.memory.evaluating import Judged, judge, read_questions
    from memora_cli.render.evaluation import Evaluation, print_evaluation, shape
    from memora_cli.render.progress import bar
    from memora_cli.render.shapes import dumps
    from memora_cli.render.terminal import console, say, warn

    config = configure(context, space)
    others = {text: configure(context, space, pairs=pairs(text.split(","))) for text in variants or ()}
    present = now(at, week_start(config))
    benches = _benches(path, corpus, keep)
    asked = [
        (bench, question)
        for bench in benches
        for question in _lines(bench.questions, lambda lines: read_questions(lines, present, gold, week_start(config)))
    ]
    chosen = [(bench, question) for bench, question in asked if question.relevant]
    if not chosen:
        raise Usage(f"no question of {path} has relevant ids: a line needs a text and a list {gold!r}")
    skipped = len(asked) - len(chosen)
    if sample:
        chosen = Random(SEED).sample(chosen, min(sample, len(chosen)))
    runs: list[list[Judged]] = [[] for _ in range(1 + len(others))]
    for bench in benches:
        questions = [question for other, question in chosen if other is bench]
        if not questions:
            continue
        with (
            _opened(config, bench, present) as memory,
            bar(console(stderr=True), len(questions) * len(runs), "questions") as advance,
        ):
            for run, settled in zip(runs, (config, *others.values()), strict=True):
                for judged in judge(memory, questions, settled.settings, present, k):
                    run.append(judged)
                    advance()
    result = Evaluation(
        skipped=skipped,
        k=k,
        max_tokens=config.settings.max_tokens,
        base=tuple(runs[0]),
        variants=dict(zip(others, map(tuple, runs[1:]), strict=True)),
        by=by,
        most=most,
        elsewhere=any(bench.corpus for bench in benches),
    )
    if as_json:
        say(dumps(shape(result)))
    else:
        print_evaluation(result, console())
    if result.elsewhere and most and not keep:
        warn("memora: the corpus is gone with this run: --keep FOLDER keeps it, so that explain finds it")


def _benches(path: Path, corpus: Path | None, keep: Path | None) -> list[Bench]:
    """What is asked of what. Raises `Usage`."""
    if not path.is_dir():
        if keep and not corpus:
            raise Usage("--keep keeps an imported corpus: name one with --corpus")
        return [Bench(path, corpus, keep / f"{corpus.stem}.db" if keep and corpus else None)]
    if corpus:
        raise Usage(f"{path} is a folder with a corpus of its own: leave --corpus out")
    held = sorted(path.glob("**/queries.jsonl"))
    if not held:
        raise Usage(f"{path} holds no queries.jsonl: name a file of questions")
    return [
        Bench(
            file,
            file.with_name("corpus.jsonl"),
            keep / f"{'-'.join([path.resolve().name, *file.parent.relative_to(path).parts])}.db" if keep else None,
        )
        for file in held
    ]


def _lines(path: Path, read: Callable[[Iterator[bytes]], list[Question]]) -> list[Question]:
    if path == STANDARD_INPUT:
        return read(iter(sys.stdin.buffer))
    try:
        with path.open("rb") as lines:
            return read(lines)
    except OSError as error:
        raise Usage(f"{path} cannot be read: {error.strerror}") from None


@contextmanager
def _opened(config: Config, bench: Bench, at: datetime) -> Iterator[Memory]:
    """The memory that is asked: the open one, or one with the corpus, imported where it is not kept from before."""
    from memora_cli.memory import Memory

    if bench.corpus is None:
        with Memory(config) as memory:
            yield memory
        return
    with tempfile.TemporaryDirectory() if bench.database is None else nullcontext("") as folder:
        file = bench.database or Path(folder, "corpus.db")
        file.parent.mkdir(parents=True, exist_ok=True)
        fresh = not file.exists()
        with Memory(replace(config, db=str(file))) as memory:
            if fresh:
                _import(memory, bench.corpus, at)
            yield memory


def _import(memory: Memory, corpus: Path, at: datetime) -> None:
    from memora_cli.memory.importing import count, read
    from memora_cli.render.progress import bar
    from memora_cli.render.terminal import console, warn

    items = list(read(corpus, at, week_start(memory.config)))
    drafts = [(item.name, item.draft) for item in items if item.draft]
    left = [(item.name, item.problem) for item in items if not item.draft]
    with bar(console(stderr=True), count(corpus)) as advance:
        for name, outcome in memory.import_all(drafts, at):
            if isinstance(outcome, MemoraError):
                left.append((name, str(outcome)))
            advance()
    for name, problem in left:
        warn(f"memora: {name} was left out: {problem}")
