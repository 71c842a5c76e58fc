"""Looks at a folder before anything reads its weights: refuses code, pickles and no models, and tells the kind."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from memora_cli.models.extra import refuse
from memora_cli.models.folder import CONFIG, MODEL, ModelKind, stamp

PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".msgpack", ".h5")
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "sentencepiece.bpe.model", "tokenizer.model")
FAMILIES: dict[str, ModelKind] = {"SentenceTransformer": "embedder", "CrossEncoder": "reranker"}
CLASSIFIER = "ForSequenceClassification"
LARGEST = 1_900_000_000  # bytes; an ONNX file is one protobuf message, which ends at 2 GB

SAVE_AGAIN = "save it again with save_pretrained() of sentence-transformers, which writes safetensors"
ANOTHER = "choose a SentenceTransformer or a CrossEncoder"


@dataclass(frozen=True, slots=True)
class Vetted:
    """A folder that may be loaded: its kind, size of its weights in bytes, and their SHA-256.

    `exported` folders were made by memora, and hold a graph for ONNX Runtime already. The hash of weights in several
    files is that of their hashes in the order of their names.
    """

    path: Path
    kind: ModelKind
    bytes: int
    sha256: str
    exported: bool = False


def vet(folder: Path, name: str) -> Vetted:
    """Raises ModelUnusable for a folder that brings code, whose weights are pickled, or that lacks a part."""
    if (folder / MODEL).is_file() and isinstance(config := _json(folder / CONFIG, name), dict) and "files" in config:
        held = stamp(folder / MODEL)
        kind: ModelKind = "reranker" if config.get("kind") == "reranker" else "embedder"
        return Vetted(folder, kind, held.bytes, held.sha256, exported=True)
    modules = list(_modules(folder, name))
    # A part without settings (Normalize) may have no folder: neither git nor the hub keep empty ones.
    parts = [part for part in dict.fromkeys([folder, *modules]) if part.is_dir()]
    for part in parts:
        for file in sorted(part.glob("*.json")):
            if _has_code(_json(file, name)):
                refuse(
                    name, f"{file.name} asks for code that comes with the model (auto_map), which is never run", ANOTHER
                )
    kind = _kind(folder, name, bool(modules))
    weights = _weights(parts, name)
    if not any((part / file).is_file() for part in parts for file in TOKENIZERS):
        refuse(name, f"it has no tokenizer ({', '.join(TOKENIZERS)})", SAVE_AGAIN)
    size = sum(file.stat().st_size for file in weights)
    if size > LARGEST:
        refuse(name, f"its weights have {size / 1e9:.1f} GB and an ONNX file holds 1.9", "choose a smaller model")
    hashes = [stamp(file).sha256 for file in weights]
    return Vetted(
        folder, kind, size, hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()
    )


def _modules(folder: Path, name: str) -> Iterator[Path]:
    """The folders of a SentenceTransformer's parts, each within the folder and of a class of the library's own."""
    if not (folder / "modules.json").is_file():
        return
    listed = _json(folder / "modules.json", name)
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        refuse(name, "modules.json is no list of modules", ANOTHER)
    for item in listed:
        kind, path = str(item.get("type", "")), PurePosixPath(str(item.get("path", "")))
        if not kind.startswith("sentence_transformers."):
            refuse(name, f"modules.json asks for code that comes with the model ({kind}), which is never run", ANOTHER)
        if path.is_absolute() or ".." in path.parts:
            refuse(name, f"modules.json names a folder outside of the model ({path})", ANOTHER)
        if kind.endswith((".Router", ".Asym")):
            refuse(name, "it reads queries and passages with different networks, which memora does not", ANOTHER)
        yield folder / path


def _kind(folder: Path, name: str, modular: bool) -> ModelKind:
    path = folder / "config_sentence_transformers.json"
    said = _json(path, name) if path.is_file() else {}
    family = said.get("model_type") if isinstance(said, dict) else None
    if family is not None and family not in FAMILIES:
        refuse(name, f"it is a {family}", ANOTHER)
    if not (folder / CONFIG).is_file():
        if modular:  # a StaticEmbedding needs none
            return FAMILIES[family or "SentenceTransformer"]
        refuse(name, f"it has neither {CONFIG} nor modules.json", ANOTHER)
    config = _json(folder / CONFIG, name)
    architectures = (config.get("architectures") or [""]) if isinstance(config, dict) else [""]
    classifies = str(architectures[0]).endswith(CLASSIFIER)
    if family == "CrossEncoder" and not classifies:
        refuse(name, f"it is a CrossEncoder of architecture {architectures[0] or 'unknown'}, not {CLASSIFIER}", ANOTHER)
    if family:
        return FAMILIES[family]
    return "reranker" if classifies and not modular else "embedder"


def _weights(parts: list[Path], name: str) -> list[Path]:
    """The weights, all of them safetensors: a part with pickled ones and no others would be unpickled."""
    found = []
    for part in parts:
        here = sorted(part.glob("*.safetensors"))
        if not here and (pickled := sorted(file.name for file in part.iterdir() if file.suffix in PICKLED)):
            what = f"its weights are only in {pickled[0]}, a pickle or the like, which could run code and is not opened"
            refuse(name, what, SAVE_AGAIN)
        found += [file for file in here if not file.name.startswith("adapter_")]
        if (part / "adapter_config.json").is_file():
            refuse(name, "it is an adapter to another model", "merge it into that model and save the result")
    if not found:
        refuse(name, "it has no weights (model.safetensors)", SAVE_AGAIN)
    return found


def _has_code(config: Any) -> bool:
    if isinstance(config, dict):
        return bool(config.get("auto_map")) or any(map(_has_code, config.values()))
    return isinstance(config, list) and any(map(_has_code, config))


def _json(path: Path, name: str) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        refuse(name, f"{path.name} cannot be read ({error.strerror})", ANOTHER, error)
    except (ValueError, RecursionError) as error:
        refuse(name, f"{path.name} is not JSON", ANOTHER, error)
