"""Tiny models with random weights, made with sentence-transformers, and the reason to skip where it is missing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from memora_cli.models.sample import PASSAGES, QUERIES

REASON = "the models extra is not installed"
WIDTH = 64
WINDOW = 48


def need_extra() -> None:
    for name in ("torch", "sentence_transformers", "onnx"):
        pytest.importorskip(name, reason=REASON)


def make_sentence_transformer(
    folder: Path,
    pooling: str | tuple[str, ...] = "mean",
    *,
    normalised: bool = True,
    dense: bool = False,
    prompts: Mapping[str, str] | None = None,
    default_prompt: str | None = None,
) -> Path:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, Transformer

    make_bert(folder.with_name(f"{folder.name}-bert"), "BertModel")
    parts: list[Any] = [Transformer(str(folder.with_name(f"{folder.name}-bert"))), Pooling(WIDTH, pooling)]
    if dense:
        parts.append(Dense(WIDTH * (len(pooling) if isinstance(pooling, tuple) else 1), 32))
    if normalised:
        parts.append(Normalize())
    model = SentenceTransformer(modules=parts, prompts=dict(prompts or {}), default_prompt_name=default_prompt)
    model.save(str(folder))
    return folder


def make_cross_encoder(folder: Path, labels: int, activation: str = "Identity") -> Path:
    import torch
    from sentence_transformers import CrossEncoder

    make_bert(folder.with_name(f"{folder.name}-bert"), "BertForSequenceClassification", labels)
    model = CrossEncoder(str(folder.with_name(f"{folder.name}-bert")), activation_fn=getattr(torch.nn, activation)())
    model.save(str(folder))
    return folder


def make_static(folder: Path) -> Path:
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    torch.manual_seed(1)
    SentenceTransformer(modules=[StaticEmbedding(_tokenizer(1200), embedding_dim=WIDTH)]).save(str(folder))
    return folder


def make_bert(folder: Path, architecture: str, labels: int = 1) -> Path:
    """A BERT of two layers; its weights are larger than usual, so that texts differ without training."""
    import torch
    import transformers

    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=_tokenizer(),
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=WINDOW,
    )
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=WIDTH,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=2 * WIDTH,
        max_position_embeddings=WINDOW,
        num_labels=labels,
        initializer_range=0.2,
    )
    getattr(transformers, architecture)(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _tokenizer(at_least: int = 0) -> Any:
    """A tokenizer of whole words, which knows those of the built-in sample, and as many more as are asked for."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    found = (word for text in (*PASSAGES, *QUERIES) for word in re.findall(r"\w+|[^\w\s]", text.lower()))
    words = list(dict.fromkeys(("[PAD]", "[UNK]", "[CLS]", "[SEP]", "query", "passage", ":", *found)))
    words += [f"word{number}" for number in range(at_least - len(words))]
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return tokenizer
