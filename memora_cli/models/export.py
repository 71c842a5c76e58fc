"""Turns a SentenceTransformer or CrossEncoder folder into a model folder for ONNX Runtime, and checks it.

    python -m memora_cli.models.export embedder FOLDER OUT
    python -m memora_cli.models.export reranker FOLDER OUT --max-length 128

Needs the extra `memora-cli[models]`. Reads local files only, weights only as safetensors, and runs no code that comes
with a model.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from memora_cli.errors import ModelUnusable
from memora_cli.models import agreement
from memora_cli.models.embed import OnnxEmbedder
from memora_cli.models.folder import CONFIG, MODEL, TOKENIZER, ModelKind, stamp
from memora_cli.models.quantize import Precision, quantize
from memora_cli.models.rerank import OnnxReranker
from memora_cli.models.sample import PASSAGES, QUERIES

if TYPE_CHECKING:
    import torch

OPSET = 17
LONGEST = 512


@dataclass(frozen=True, slots=True)
class Description:
    """What a model folder says about itself: name, revision (empty for the start of the weights' hash), licence."""

    name: str
    revision: str = ""
    licence: str = "unknown"


def export_embedder(source: Path, out: Path, description: Description, precision: Precision = "int8") -> None:
    """Write the model folder `out` from a SentenceTransformer folder; `out` appears whole or not at all.

    Raises ModelUnusable when the model cannot be exported or the export does not agree with it.
    """
    import torch
    from sentence_transformers import SentenceTransformer

    original = _load(SentenceTransformer, source)

    example = original.tokenizer(list(QUERIES[:2]), padding=True, return_tensors="pt")

    class UnitVector(torch.nn.Module):  # type: ignore[misc,unused-ignore]  # torch need not be installed
        def __init__(self) -> None:
            super().__init__()
            self.model = original

        def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
            features = dict(zip(example, inputs, strict=True))
            return torch.nn.functional.normalize(self.model(features)["sentence_embedding"], dim=-1)

    with _finished(out) as folder:
        _write_model(folder / MODEL, UnitVector(), example, precision)
        _write_tokenizer(folder / TOKENIZER, original.tokenizer)
        config = _config("embedder", source, description, precision)
        config["max_length"] = min(original.max_seq_length or LONGEST, LONGEST)
        theirs = [original.encode(list(texts), normalize_embeddings=True) for texts in (QUERIES, PASSAGES)]
        config["dimension"] = theirs[0].shape[1]
        _write_config(folder, config)
        ours = OnnxEmbedder(folder)
        queries, passages = ours.embed(QUERIES), ours.embed(PASSAGES)
        config["agreement"] = {
            **agreement.vectors_agree(passages, theirs[1]),
            **agreement.rankings_agree(queries @ passages.T, theirs[0] @ theirs[1].T),
        }
        _write_config(folder, config)
        agreement.require(config["agreement"], description.name)


def export_reranker(
    source: Path, out: Path, description: Description, precision: Precision = "int8", max_length: int = LONGEST
) -> None:
    """Write the model folder `out` from a CrossEncoder folder with one label; `max_length` is in tokens.

    `out` appears whole or not at all. Raises ModelUnusable when the model cannot be exported or the export does not
    agree with it.
    """
    import numpy as np
    import torch
    from sentence_transformers import CrossEncoder

    # The logit itself is asked for: the default activation may or may not be a sigmoid.
    original = _load(CrossEncoder, source, activation_fn=torch.nn.Identity(), max_length=max_length)
    if original.config.num_labels != 1:
        raise ModelUnusable(f"model {description.name}: it has {original.config.num_labels} labels; one is needed")

    example = original.tokenizer(list(QUERIES[:2]), list(PASSAGES[:2]), padding=True, return_tensors="pt")

    class Logit(torch.nn.Module):  # type: ignore[misc,unused-ignore]  # torch need not be installed
        def __init__(self) -> None:
            super().__init__()
            self.model = original.model

        def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
            logits: torch.Tensor = self.model(**dict(zip(example, inputs, strict=True))).logits
            return logits[:, 0]

    with _finished(out) as folder:
        _write_model(folder / MODEL, Logit(), example, precision)
        _write_tokenizer(folder / TOKENIZER, original.tokenizer)
        config = _config("reranker", source, description, precision)
        config["max_length"] = min(max_length, LONGEST)
        _write_config(folder, config)
        ours = OnnxReranker(folder)
        scores = np.stack([ours.score(query, PASSAGES) for query in QUERIES])
        theirs = original.predict([(query, passage) for query in QUERIES for passage in PASSAGES])
        config["agreement"] = agreement.rankings_agree(scores, theirs.reshape(scores.shape))
        _write_config(folder, config)
        agreement.require(config["agreement"], description.name)


def _load(family: Any, source: Path, **options: Any) -> Any:
    try:
        return family(
            str(source),
            device="cpu",
            trust_remote_code=False,
            local_files_only=True,
            model_kwargs={"attn_implementation": "eager", "use_safetensors": True},
            **options,
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelUnusable(f"model {source.name}: {family.__name__} cannot load it ({error})") from error


def _write_model(
    path: Path, module: torch.nn.Module, example: Mapping[str, torch.Tensor], precision: Precision
) -> None:
    """Trace the module, let ONNX Runtime fuse what it can, then quantise."""
    import onnx
    import onnxruntime
    import torch

    names = list(example)
    axes = {name: {0: "batch", 1: "tokens"} for name in names} | {"output": {0: "batch"}}
    with tempfile.TemporaryDirectory(dir=path.parent) as work, torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tracer warns of shapes it fixes; the agreement is checked on the result
        traced, fused = str(Path(work, "traced.onnx")), str(Path(work, "fused.onnx"))
        torch.onnx.export(
            module.eval(),
            tuple(example.values()),
            traced,
            input_names=names,
            output_names=["output"],
            dynamic_axes=axes,
            opset_version=OPSET,
            dynamo=False,
        )
        options = onnxruntime.SessionOptions()
        # "Extended" is the last level whose result does not depend on this machine's processor.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        options.optimized_model_filepath = fused
        options.log_severity_level = 3
        onnxruntime.InferenceSession(traced, options, providers=["CPUExecutionProvider"])
        model = onnx.load(fused)
    quantize(model, precision)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


def _write_tokenizer(path: Path, tokenizer: Any) -> None:
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise ModelUnusable("the model has no fast tokenizer (tokenizer.json); it cannot be exported")
    # Truncation and padding are set when the folder is loaded, from its config.
    content = json.loads(backend.to_str()) | {"truncation": None, "padding": None}
    path.write_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")


def _config(kind: ModelKind, source: Path, description: Description, precision: Precision) -> dict[str, Any]:
    weights = stamp(source / "model.safetensors").sha256
    return {
        "name": description.name,
        "kind": kind,
        "revision": description.revision or weights[:12],
        "licence": description.licence,
        "precision": precision,
        "dimension": None,
        "max_length": LONGEST,
        "original_sha256": weights,
        "agreement": {},
        "files": {},
    }


def _write_config(folder: Path, config: dict[str, Any]) -> None:
    config["files"] = {name: asdict(stamp(folder / name)) for name in (MODEL, TOKENIZER)}
    (folder / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


@contextmanager
def _finished(out: Path) -> Iterator[Path]:
    """A folder to work in; its files move to `out` when the block ends well, the config last."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as work:
        yield Path(work)
        out.mkdir(exist_ok=True)
        for name in (MODEL, TOKENIZER, CONFIG):
            (Path(work) / name).replace(out / name)


def main(arguments: Sequence[str] | None = None) -> None:
    """Export the model that the command line names and print its agreement with the original."""
    parser = argparse.ArgumentParser(prog="python -m memora_cli.models.export", description=__doc__)
    parser.add_argument("kind", choices=get_args(ModelKind))
    parser.add_argument("folder", type=Path, help="a SentenceTransformer or CrossEncoder folder")
    parser.add_argument("out", type=Path, help="the model folder to write")
    parser.add_argument("--name", help="default: the name of OUT")
    parser.add_argument("--revision", default="", help="default: the start of the weights' SHA-256")
    parser.add_argument("--licence", default="unknown", help="SPDX identifier of the weights' licence")
    parser.add_argument("--precision", choices=get_args(Precision), default="int8")
    parser.add_argument("--max-length", type=int, default=LONGEST, help="a reranker's window in tokens (default 512)")
    options = parser.parse_args(arguments)
    description = Description(options.name or options.out.name, options.revision, options.licence)
    try:
        if options.kind == "embedder":
            export_embedder(options.folder, options.out, description, options.precision)
        else:
            export_reranker(options.folder, options.out, description, options.precision, options.max_length)
    except ImportError as error:
        parser.exit(ModelUnusable.exit_code, f"{error}; pip install 'memora-cli[models]' brings what is needed\n")
    except ModelUnusable as error:
        parser.exit(error.exit_code, f"{error}\n")
    sys.stdout.write((options.out / CONFIG).read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
