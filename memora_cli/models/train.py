"""Trains the small cross-encoder that ships with memora, on a CPU, from a sentence embedder of the same shape.

    python -m memora_cli.models.train --init FOLDER --data train.jsonl --dev dev.jsonl --out FOLDER

Data is one JSON object a line: `{"src": "qamr", "q": "who …?", "pos": "the passage that answers", "neg": ["…", …]}`,
negatives being passages that a first search ranks high and that do not answer; a source that shall count twice is
written twice. A line of the development file may carry `cand`, its first-stage candidates, to be ranked instead of
`neg`. Half of the passages get the date prefix that memora's searches put before a note. Needs the extra
`memora-cli[models]`.
"""

from __future__ import annotations

import argparse
import calendar
import json
import logging
import random
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

log = logging.getLogger(__name__)

MONTHS = calendar.month_name[1:]  # English in the C locale, which a process starts in


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the shipped model was trained. Times are in minutes, lengths in tokens, shares from 0 to 1."""

    minutes: float = 75
    learning_rate: float = 1.2e-4
    head_learning_rate: float = 5e-4
    weight_decay: float = 0.01
    warmup_steps: int = 60
    least_rate: float = 0.02
    negatives: int = 4
    groups: int = 12
    max_length: int = 128
    dated_share: float = 0.5
    asked_month_share: float = 0.06
    checkpoint_minutes: float = 15
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Example:
    """A question, the passage that answers it, and passages that do not."""

    source: str
    query: str
    positive: str
    negatives: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """What one listwise loss is computed on: the passage that answers comes first."""

    query: str
    passages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Day:
    """A calendar day, for the prefix that dates a passage."""

    year: int
    month: int
    day: int

    @classmethod
    def draw(cls, chance: random.Random, year: int | None = None) -> Day:
        """A random day, of the given year or of 2019 to 2025."""
        return cls(year or chance.randint(2019, 2025), chance.randint(1, 12), chance.randint(1, 28))

    def prefix(self) -> str:
        """The prefix as searches write it: "[Date: June 05, 2022] "."""
        return f"[Date: {MONTHS[self.month - 1]} {self.day:02d}, {self.year}] "


def read_examples(path: Path) -> list[Example]:
    """The examples of a JSONL file, as the head of this module describes it."""
    with path.open(encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines if line.strip()]
    return [Example(r.get("src", ""), r["q"], r["pos"], tuple(r.get("cand", r["neg"]))) for r in records]


def make_group(example: Example, recipe: Recipe, chance: random.Random) -> Group:
    """Draw negatives, and dates for a share of the groups.

    Some queries then ask for the month or year, and the last negative becomes the right passage with the wrong year:
    the only way to rank those two is to read the date.
    """
    query = example.query
    negatives = chance.sample(example.negatives, min(recipe.negatives, len(example.negatives)))
    passages = [example.positive, *negatives]
    if chance.random() >= recipe.dated_share:
        return Group(query, tuple(passages))
    days = [Day.draw(chance) for _ in passages]
    if len(passages) > 1 and chance.random() < recipe.asked_month_share / recipe.dated_share:
        year, month = days[0].year, MONTHS[days[0].month - 1]
        cue = chance.choice([f"in {month} {year}", f"{month} {year}", f"in {year}"])
        query = query.rstrip("?. ") + f" {cue}" + ("?" if query.endswith("?") else "")
        passages[-1] = example.positive
        days[-1] = Day.draw(chance, year + chance.choice([1, 2, -1, -2]))
    return Group(query, tuple(day.prefix() + passage for day, passage in zip(days, passages, strict=True)))


def endless_groups(examples: Sequence[Example], recipe: Recipe, chance: random.Random) -> Iterator[list[Group]]:
    """Steps of `recipe.groups` groups, every example once before any comes twice."""
    while True:
        order = list(examples)
        chance.shuffle(order)
        for start in range(0, len(order) - recipe.groups + 1, recipe.groups):
            yield [make_group(example, recipe, chance) for example in order[start : start + recipe.groups]]


class Trainer:
    """The model under training, its tokenizer and its optimiser."""

    def __init__(self, init: Path, recipe: Recipe) -> None:
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        torch.manual_seed(recipe.seed)
        self.recipe = recipe
        self.tokenizer = AutoTokenizer.from_pretrained(init)
        self.tokenizer.model_max_length = 512
        self.model = AutoModelForSequenceClassification.from_pretrained(
            init, num_labels=1, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
        )
        # Half the parameters are word vectors; a short training improves them less than it disturbs them.
        embeddings = self.model.base_model.embeddings
        for table in (embeddings.word_embeddings, embeddings.position_embeddings):
            table.weight.requires_grad_(False)
        self.optimizer = torch.optim.AdamW(self._parameter_groups(), betas=(0.9, 0.98), fused=True)
        self._rates = [group["lr"] for group in self.optimizer.param_groups]

    def step(self, groups: Sequence[Group], rate: float) -> float:
        """One step at `rate` (0 to 1) of the learning rates; returns the mean listwise loss over the groups."""
        import torch

        for group, full in zip(self.optimizer.param_groups, self._rates, strict=True):
            group["lr"] = full * rate
        logits = self._logits([(group.query, passage) for group in groups for passage in group.passages])
        lists = logits.split([len(group.passages) for group in groups])
        loss = torch.stack([-scores.log_softmax(0)[0] for scores in lists]).mean()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return float(loss.detach())

    def reciprocal_ranks(self, examples: Sequence[Example], per_source: int = 8, depth: int = 10) -> dict[str, float]:
        """Mean reciprocal rank of the right passage among `depth` others, for each source and for "all"."""
        import torch

        chance = random.Random(7)
        ranks: dict[str, list[float]] = defaultdict(list)
        self.model.eval()
        for example in examples:
            dated = chance.random() < self.recipe.dated_share
            passages = (example.positive, *example.negatives[:depth])
            if len(ranks[example.source]) == per_source:
                continue
            texts = [Day.draw(chance).prefix() + passage if dated else passage for passage in passages]
            with torch.inference_mode():
                scores = self._logits([(example.query, text) for text in texts])
            ranks[example.source].append(1 / (1 + int((scores[1:] >= scores[0]).sum())))
        self.model.train()
        means = {source: sum(values) / len(values) for source, values in ranks.items()}
        return means | {"all": sum(means.values()) / len(means)} if means else {}

    def save(self, folder: Path) -> None:
        """Write the model and its tokenizer as a folder that CrossEncoder loads."""
        folder.mkdir(parents=True, exist_ok=True)
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    def _logits(self, pairs: Sequence[tuple[str, str]]) -> torch.Tensor:
        """One logit a pair, in order; three batches of like lengths keep the padding small."""
        import torch

        encoded = self.tokenizer(
            [query for query, _ in pairs],
            [passage for _, passage in pairs],
            truncation="longest_first",
            max_length=self.recipe.max_length,
        )
        order = sorted(range(len(pairs)), key=lambda index: len(encoded["input_ids"][index]))
        third = -(-len(order) // 3)
        parts = []
        for start in range(0, len(order), third):
            chosen = order[start : start + third]
            batch = {name: [values[index] for index in chosen] for name, values in encoded.items()}
            padded = self.tokenizer.pad(batch, return_tensors="pt")
            parts.append(self.model(**padded).logits.view(-1))
        back = torch.tensor(order).argsort()
        return torch.cat(parts)[back]

    def _parameter_groups(self) -> list[dict[str, Any]]:
        """Weight decay for matrices only, and a higher rate for the head, which starts from nothing."""
        recipe, base = self.recipe, self.model.base_model_prefix
        matrices, vectors, head = [], [], []
        for name, parameter in self.model.named_parameters():
            if not parameter.requires_grad:
                continue
            if not name.startswith(f"{base}.") or name.startswith(f"{base}.pooler"):
                head.append(parameter)
            elif parameter.ndim > 1:
                matrices.append(parameter)
            else:
                vectors.append(parameter)
        return [
            {"params": matrices, "lr": recipe.learning_rate, "weight_decay": recipe.weight_decay},
            {"params": vectors, "lr": recipe.learning_rate, "weight_decay": 0.0},
            {"params": head, "lr": recipe.head_learning_rate, "weight_decay": 0.0},
        ]


def train(init: Path, data: Path, dev: Path, out: Path, recipe: Recipe) -> None:
    """Train for `recipe.minutes` and write the model to `out`, a checkpoint to `out/checkpoint` on the way."""
    examples, held_out = read_examples(data), read_examples(dev)
    if len(examples) < recipe.groups:
        raise ValueError(f"{data}: {len(examples)} examples, at least {recipe.groups} are needed")
    chance = random.Random(recipe.seed)
    trainer = Trainer(init, recipe)
    start = saved = time.monotonic()
    losses: list[float] = []
    for groups in endless_groups(examples, recipe, chance):
        progress = (time.monotonic() - start) / (60 * recipe.minutes)
        if progress >= 1:
            break
        warm = min(1.0, (len(losses) + 1) / recipe.warmup_steps)
        losses.append(trainer.step(groups, warm * max(recipe.least_rate, 1 - progress)))
        if len(losses) % 20 == 0:
            log.info("step %d, %.0f %%, loss %.3f", len(losses), 100 * progress, sum(losses[-40:]) / len(losses[-40:]))
        if time.monotonic() - saved > 60 * recipe.checkpoint_minutes:
            log.info("held out: %s", json.dumps(trainer.reciprocal_ranks(held_out)))
            trainer.save(out / "checkpoint")
            saved = time.monotonic()
    trainer.save(out)
    measured = {"steps": len(losses), "held_out": trainer.reciprocal_ranks(held_out)}
    (out / "recipe.json").write_text(json.dumps(asdict(recipe) | measured, indent=2) + "\n", encoding="utf-8")
    log.info("done: %s", json.dumps(measured))


def main(arguments: Sequence[str] | None = None) -> None:
    """Train the model that the command line describes."""
    recipe = Recipe()
    parser = argparse.ArgumentParser(
        prog="python -m memora_cli.models.train", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--init", type=Path, required=True, help="the embedder's folder, for instance all-MiniLM-L6-v2")
    parser.add_argument("--data", type=Path, required=True, help="training examples, JSONL")
    parser.add_argument("--dev", type=Path, required=True, help="held-out examples, JSONL")
    parser.add_argument("--out", type=Path, required=True, help="the folder to write")
    parser.add_argument("--minutes", type=float, default=recipe.minutes, help=f"default {recipe.minutes}")
    parser.add_argument("--seed", type=int, default=recipe.seed, help=f"default {recipe.seed}")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    recipe = replace(recipe, minutes=options.minutes, seed=options.seed)
    train(options.init, options.data, options.dev, options.out, recipe)


if __name__ == "__main__":
    main()
