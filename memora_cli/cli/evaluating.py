"""The command that measures how well searches find what they should: eval."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memora_cli.cli.app import app
from memora_cli.cli.options import AsJson, At, Space, configure, now, pairs, week_start
from memora_cli.errors import MemoraError, Usage

if TYPE_CHECKING:
    from memora_cli.config import Config
    from memora_cli.memory import Memory
    from memora_cli.memory.evaluating import Question

STANDARD_INPUT = Path("-")


@app.command("eval", epilog="Example: memora eval questions.jsonl --set fusion=rrf --show-worst 5")
def evaluate(
    context: typer.Context,
    path: Annotated[
        Path, typer.Argument(metavar="QUERIES", help="A .jsonl file of questions with relevant ids; - reads it.")
    ],
    corpus: Annotated[
        Path | None,
        typer.Option("--corpus", metavar="PATH", help="Search these notes, imported for it; else the open database."),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option("--keep", metavar="PATH", help="Keep the imported corpus in this database, and use it again."),
    ] = None,
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
    from memora_cli.render.shapes import dumps
    from memora_cli.render.terminal import console, say, warn

    if keep and not corpus:
        raise Usage("--keep keeps an imported corpus: name one with --corpus")
    config = configure(context, space)
    others = {text: configure(context, space, pairs=pairs(text.split(","))) for text in variants or ()}
    present = now(at, week_start(config))
    asked = _questions(path, lambda lines: read_questions(lines, present, gold, week_start(config)))
    judgeable = [question for question in asked if question.relevant]
    if not judgeable:
        raise Usage(f"no question of {path} has relevant ids: a line needs a text and a list {gold!r}")
    runs: list[list[Judged]] = []
    with _opened(config, corpus, keep, present) as (memory, kept):
        for number, settled in enumerate((config, *others.values())):
            label = f"{number + 1} of {len(others) + 1}" if others else "questions"
            with _progress(len(judgeable), label) as advance:
                runs.append([])
                for judged in judge(memory, judgeable, settled.settings, present, k):
                    runs[-1].append(judged)
                    advance()
    result = Evaluation(
        skipped=len(asked) - len(judgeable),
        k=k,
        max_tokens=config.settings.max_tokens,
        base=tuple(runs[0]),
        variants=dict(zip(others, map(tuple, runs[1:]), strict=True)),
        by=by,
        most=most,
        database=kept,
    )
    if as_json:
        say(dumps(shape(result)))
    else:
        print_evaluation(result, console())
    if corpus and not keep and most:
        warn("memora: the corpus is gone with this run: --keep FILE keeps it, so that explain finds it")


def _questions(path: Path, read: Callable[[Iterator[bytes]], list[Question]]) -> list[Question]:
    if path == STANDARD_INPUT:
        return read(iter(sys.stdin.buffer))
    try:
        with path.open("rb") as lines:
            return read(lines)
    except OSError as error:
        raise Usage(f"{path} cannot be read: {error.strerror}") from None


@contextmanager
def _opened(
    config: Config, corpus: Path | None, keep: Path | None, at: datetime
) -> Iterator[tuple[Memory, str | None]]:
    """The memory that is asked, and the database file that --db must name to ask it again, None for the usual one."""
    from memora_cli.memory import Memory

    if corpus is None:
        with Memory(config) as memory:
            yield memory, None
        return
    with tempfile.TemporaryDirectory() if keep is None else nullcontext(None) as folder:
        file = keep or Path(str(folder), "corpus.db")
        fresh = not file.exists()
        with Memory(replace(config, db=str(file))) as memory:
            if fresh:
                _import(memory, corpus, at)
            yield memory, str(file)


def _import(memory: Memory, corpus: Path, at: datetime) -> None:
    from memora_cli.memory.importing import count, read
    from memora_cli.render.terminal import warn

    items = list(read(corpus, at, week_start(memory.config)))
    drafts = [(item.name, item.draft) for item in items if item.draft]
    left = [(item.name, item.problem) for item in items if not item.draft]
    with _progress(count(corpus), "notes") as advance:
        for name, outcome in memory.import_all(drafts, at):
            if isinstance(outcome, MemoraError):
                left.append((name, str(outcome)))
            advance()
    for name, problem in left:
        warn(f"memora: {name} was left out: {problem}")


def _progress(total: int | None, unit: str) -> AbstractContextManager[Any]:
    """A function that moves a progress bar on by one; without a terminal it shows nothing."""
    from memora_cli.render.terminal import console

    shown = console(stderr=True)
    if not shown.is_terminal:
        return nullcontext(lambda: None)
    from memora_cli.render.progress import bar

    return bar(shown, total, unit)
