"""Loads a model with sentence-transformers, as what an export needs: a network to trace, its tokenizer, its answers."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from memora_cli.errors import ModelUnusable
from memora_cli.models import agreement
from memora_cli.models.description import Asked
from memora_cli.models.embed import OnnxEmbedder
from memora_cli.models.extra import first_line, refuse
from memora_cli.models.folder import ModelKind
from memora_cli.models.rerank import OnnxReranker
from memora_cli.models.sample import PASSAGES, QUERIES
from memora_cli.models.vetting import ANOTHER, SAVE_AGAIN

if TYPE_CHECKING:
    import torch
    from numpy.typing import NDArray

LONGEST = 512  # tokens of a model that does not say how much it reads
MOST = 8192  # tokens that are ever read; a model without a window (StaticEmbedding) would read a book
PASSAGE_PROMPTS = ("document", "passage", "corpus")  # the names that sentence-transformers knows, in its order


@dataclass(frozen=True, slots=True)
class Original:
    """A loaded model: `network` maps the tensors of `example` to unit vectors or logits, one row a text.

    `tokenizer` is the JSON of its tokenizer, `facts` what its config is to say of it; `compare` measures how closely
    an exported folder follows it.
    """

    kind: ModelKind
    network: torch.nn.Module
    example: Mapping[str, torch.Tensor]
    tokenizer: str
    facts: Mapping[str, Any]
    compare: Callable[[Path], agreement.Agreement]
    vectors: NDArray[np.float32] | None = field(default=None)


def load_original(source: Path, kind: ModelKind, name: str, asked: Asked) -> Original:
    """The model in a vetted folder. Raises ModelUnusable where sentence-transformers or memora cannot use it."""
    return _embedder(source, name, asked) if kind == "embedder" else _reranker(source, name, asked)


def _embedder(source: Path, name: str, asked: Asked) -> Original:
    import torch
    from sentence_transformers import SentenceTransformer

    original = _load(SentenceTransformer, source, name)
    first, *rest = list(original)
    if any(getattr(part, "include_prompt", True) is False for part in rest):
        refuse(name, "it leaves its prompt out of the pooling, which memora does not", ANOTHER)
    prompts = getattr(original, "prompts", None) or {}
    said = {key: text for key, text in prompts.items() if text}
    default = said.get(getattr(original, "default_prompt_name", None) or "", "")
    passage_prompt = next((said[key] for key in PASSAGE_PROMPTS if key in said), default)
    prefixes = {
        "query_prefix": said.get("query", default) if asked.query_prefix is None else asked.query_prefix,
        "passage_prefix": passage_prompt if asked.passage_prefix is None else asked.passage_prefix,
    }
    static = type(first).__name__ == "StaticEmbedding"
    window = MOST if static else _window(original.max_seq_length)
    if asked.max_length:
        window = min(window, asked.max_length)
    if not static:
        original.max_seq_length = window

    if static:
        example: Mapping[str, torch.Tensor] = {"input_ids": torch.tensor([[0, 1, 2], [2, 1, 0]])}
        tokenizer = json.loads(first.tokenizer.to_str()) | {"post_processor": None}  # it takes no special tokens
    else:
        example = original.tokenizer(list(QUERIES[:2]), padding=True, return_tensors="pt")
        tokenizer = _tokenizer(original.tokenizer, name, lower=bool(getattr(first, "do_lower_case", False)))

    class UnitVector(torch.nn.Module):  # type: ignore[misc,unused-ignore]  # torch need not be installed
        def __init__(self) -> None:
            super().__init__()
            self.model = original

        def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
            features = dict(zip(example, inputs, strict=True))
            if static:  # its own way takes all texts as one row of tokens
                features = {"sentence_embedding": first.embedding.weight[features["input_ids"]].mean(dim=1)}
                for part in rest:
                    features = part(features)
            else:
                features = self.model(features)
            return torch.nn.functional.normalize(features["sentence_embedding"], dim=-1)

    def encoded(texts: tuple[str, ...], prefix: str) -> NDArray[np.float32]:
        vectors: NDArray[np.float32] = original.encode(
            list(texts), prompt=prefix, normalize_embeddings=True, show_progress_bar=False
        )
        return vectors

    queries, passages = encoded(QUERIES, prefixes["query_prefix"]), encoded(PASSAGES, prefixes["passage_prefix"])

    def compare(folder: Path) -> agreement.Agreement:
        ours = OnnxEmbedder(folder)
        asked_for, kept = ours.embed(QUERIES, query=True), ours.embed(PASSAGES)
        return {
            **agreement.vectors_agree(kept, passages),
            **agreement.rankings_agree(asked_for @ kept.T, queries @ passages.T),
        }

    facts = {
        "max_length": window,
        "shortened": asked.max_length is not None,
        "dimension": int(passages.shape[1]),
        **prefixes,
    }
    written = json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":"))
    return Original("embedder", UnitVector(), example, written, facts, compare, passages)


def _reranker(source: Path, name: str, asked: Asked) -> Original:
    import torch
    from sentence_transformers import CrossEncoder

    # The logits themselves are asked for: the model's own activation may or may not be a sigmoid.
    original = _load(CrossEncoder, source, name, activation_fn=torch.nn.Identity())
    labels = int(original.config.num_labels)
    if labels > 2:
        names = ", ".join(map(str, original.config.id2label.values()))
        refuse(name, f"it sorts into {labels} classes ({names}), and a reranker has one or two", ANOTHER)
    window = _window(original.max_length)
    window = min(window, asked.max_length or window)
    original.max_length = window
    example = original.tokenizer(list(QUERIES[:2]), list(PASSAGES[:2]), padding=True, return_tensors="pt")

    class Logit(torch.nn.Module):  # type: ignore[misc,unused-ignore]  # torch need not be installed
        def __init__(self) -> None:
            super().__init__()
            self.model = original.model

        def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
            logits: torch.Tensor = self.model(**dict(zip(example, inputs, strict=True))).logits
            # Of two classes the second is "relevant"; the difference is the logit of its softmax.
            return logits[:, 0] if labels == 1 else logits[:, 1] - logits[:, 0]

    pairs = [(query, passage) for query in QUERIES for passage in PASSAGES]
    logits = np.asarray(original.predict(pairs, show_progress_bar=False)).reshape(len(pairs), labels)
    theirs = (logits[:, 0] if labels == 1 else logits[:, 1] - logits[:, 0]).reshape(len(QUERIES), len(PASSAGES))

    def compare(folder: Path) -> agreement.Agreement:
        ours = OnnxReranker(folder)
        return agreement.rankings_agree(np.stack([ours.score(query, PASSAGES) for query in QUERIES]), theirs)

    facts = {
        "max_length": window,
        "dimension": None,
        "score": "logit" if labels == 1 else "difference of the second and the first logit",
    }
    written = json.dumps(_tokenizer(original.tokenizer, name), ensure_ascii=False, separators=(",", ":"))
    return Original("reranker", Logit(), example, written, facts, compare)


def _load(family: Any, source: Path, name: str, **options: Any) -> Any:
    try:
        return family(
            str(source),
            device="cpu",
            trust_remote_code=False,
            local_files_only=True,
            model_kwargs={"attn_implementation": "eager", "use_safetensors": True},
            **options,
        )
    except (ModelUnusable, MemoryError):
        raise
    except Exception as error:  # damaged files and unknown architectures end in any error
        refuse(name, f"{family.__name__} cannot load it ({first_line(error)})", ANOTHER, error)


def _window(said: float | None) -> int:
    """The window in tokens; a tokenizer that does not know it says a number beyond all texts."""
    return LONGEST if said is None or math.isinf(said) or said > 1e6 else min(int(said), MOST)


def _tokenizer(tokenizer: Any, name: str, *, lower: bool = False) -> dict[str, Any]:
    """The tokenizer as JSON; truncation and padding are set when the folder is loaded, from its config."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        refuse(name, "it has no fast tokenizer (tokenizer.json)", SAVE_AGAIN)
    content: dict[str, Any] = json.loads(backend.to_str()) | {"truncation": None, "padding": None}
    if lower:
        normalizers = [{"type": "Lowercase"}, *([content["normalizer"]] if content["normalizer"] else [])]
        content["normalizer"] = {"type": "Sequence", "normalizers": normalizers}
    return content
