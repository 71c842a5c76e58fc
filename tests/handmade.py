"""Model folders made by hand, without torch or onnx: an embedder that adds up a vector for each word."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from memora_cli.models.folder import stamp
from memora_cli.values import Floors

DIMENSION = 32
WORDS = tuple(
    "amber brook cedar delta ember fjord grove heath inlet jetty knoll larch marsh north ocean plain quill ridge shore "
    "thorn umber valley water yarrow zenith acorn birch cliff dune elm fern gorge hazel ivy juniper kelp lake moss "
    "oak pine quartz reed stone tide upland vine willow alder beach cove dale east field glade hill isle".split()
)
FLOAT, INT64, INTS = 1, 7, 7


def make_embedder(
    folder: Path,
    seed: int,
    query_prefix: str = "",
    passage_prefix: str = "",
    floors: Floors | None = None,
    shift: float = 0.0,
) -> Path:
    """A folder as memora exports it, of a model that no other seed agrees with; `shift` raises all its cosines."""
    folder.mkdir(parents=True)
    table = numpy.random.default_rng(seed).normal(size=(len(WORDS) + 3, DIMENSION)).astype("<f4") + numpy.float32(shift)
    (folder / "model.onnx").write_bytes(_mean_of(table))
    vocabulary = {word: number for number, word in enumerate(["[UNK]", "ask", "keep", *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {
        "name": folder.name,
        "kind": "embedder",
        "revision": f"seed {seed}",
        "licence": "CC0-1.0",
        "precision": "fp32",
        "dimension": DIMENSION,
        "max_length": 256,
        "query_prefix": query_prefix,
        "passage_prefix": passage_prefix,
        "floors": asdict(floors or Floors(0.3, 0.5, 0.7)),
        "agreement": {"cosine_mean": 1.0},
        "files": {name: asdict(stamp(folder / name)) for name in ("model.onnx", "tokenizer.json")},
    }
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def sentence(number: int) -> str:
    """One of many different texts of the words that the models know."""
    return " ".join(WORDS[place % len(WORDS)] for place in (number, number // 7 + 11, number * 5 + 3, number // 3 + 29))


# An ONNX file is a protobuf message: every field is a key (its number and kind), then a number or a length and bytes.


def _mean_of(table: numpy.ndarray) -> bytes:
    """The graph Gather(table, input_ids) → ReduceMean over tokens."""
    tensor = _number(1, table.shape[0]) + _number(1, table.shape[1]) + _number(2, FLOAT)
    tensor += _text(8, "table") + _bytes(9, table.tobytes())
    axes = _text(1, "axes") + _number(8, 1) + _number(20, INTS)
    keep = _text(1, "keepdims") + _number(3, 0) + _number(20, 2)
    graph = _bytes(1, _node("Gather", ["table", "input_ids"], "rows"))
    graph += _bytes(1, _node("ReduceMean", ["rows"], "output", axes, keep)) + _text(2, "words") + _bytes(5, tensor)
    graph += _bytes(11, _value("input_ids", INT64, ["batch", "tokens"]))
    graph += _bytes(12, _value("output", FLOAT, ["batch", table.shape[1]]))
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, _text(1, "") + _number(2, 17))


def _node(operator: str, inputs: Sequence[str], output: str, *attributes: bytes) -> bytes:
    node = b"".join(_text(1, name) for name in inputs) + _text(2, output) + _text(4, operator)
    return node + b"".join(_bytes(5, attribute) for attribute in attributes)


def _value(name: str, kind: int, shape: Sequence[int | str]) -> bytes:
    sizes = [_text(2, size) if isinstance(size, str) else _number(1, size) for size in shape]
    tensor = _number(1, kind) + _bytes(2, b"".join(_bytes(1, size) for size in sizes))
    return _text(1, name) + _bytes(2, _bytes(1, tensor))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def _varint(value: int) -> bytes:
    written = b""
    while value > 127:
        written += struct.pack("B", value & 127 | 128)
        value >>= 7
    return written + struct.pack("B", value)
