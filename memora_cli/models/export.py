"""Turns a SentenceTransformer or CrossEncoder folder into a model folder for ONNX Runtime, and checks it.

    python -m memora_cli.models.export FOLDER memora_cli/models/data/all-MiniLM-L6-v2

makes a model that ships anew; `memora models import` does the same for a user. Needs the extra `memora-cli[models]`.
Reads local files only, weights only as safetensors, and runs no code that comes with a model.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from memora_cli.errors import ModelUnusable
from memora_cli.models.description import Asked, Description
from memora_cli.models.extra import BRING, Report, first_line, quiet, require_extra, silent
from memora_cli.models.folder import CONFIG, MODEL, TOKENIZER, Precision, stamp
from memora_cli.models.vetting import Vetted, vet

if TYPE_CHECKING:
    from memora_cli.models.originals import Original

PRECISIONS: tuple[Precision, ...] = ("int8", "fp16", "fp32")
"""What is tried, in turn, until one agrees with the original, when nobody chose."""


def export(
    source: Vetted,
    out: Path,
    description: Description,
    precision: Precision | None = None,
    asked: Asked | None = None,
    report: Report = silent,
    remark: Callable[[str], None] = lambda _: None,
) -> None:
    """Write the model folder `out`, which appears whole or not at all.

    Without a precision the smallest is kept that agrees with the original, and each that does not is remarked on.
    Raises ModelUnusable when the model cannot be exported, or the export does not agree with it.
    """
    require_extra()
    report("load", 0, 3)
    with _libraries(), quiet():
        import onnx

        from memora_cli.models import agreement
        from memora_cli.models.fusing import fuse
        from memora_cli.models.originals import load_original
        from memora_cli.models.quantize import quantize
        from memora_cli.models.tracing import trace

        tried = PRECISIONS if precision is None else (precision,)
        steps = 2 + len(tried)
        report("load", 0, steps)
        original = load_original(source.path, source.kind, description.name, asked or Asked())
        config = _config(source, description, original)
        with _finished(out) as folder:
            report("export", 1, steps)
            traced = trace(original.network, original.example, folder, description.name)
            if original.kind == "reranker":  # vectors of an embedder are stored: its rounding is to stay as it is
                traced = fuse(traced, {name: tensor.numpy() for name, tensor in original.example.items()})
            (folder / TOKENIZER).write_text(original.tokenizer, encoding="utf-8")
            for done, form in enumerate(tried, start=2):
                report(f"quantise to {form}" if form != "fp32" else "compare", done, steps)
                model = onnx.ModelProto()
                model.CopyFrom(traced)
                quantize(model, form)
                onnx.checker.check_model(model)
                onnx.save(model, str(folder / MODEL))
                config |= {"precision": form, "agreement": {}}
                _write_config(folder, config)
                config["agreement"] = original.compare(folder)
                try:
                    agreement.require(config["agreement"], description.name, form)
                except ModelUnusable as error:
                    if form == tried[-1]:
                        raise
                    remark(str(error))
                    continue
                break
            config["floors"] = _floors(source, original)
            _write_config(folder, config)
            report("done", steps, steps)


@contextmanager
def _libraries() -> Iterator[None]:
    """A library that is there and cannot be imported is a model error too."""
    try:
        yield
    except ImportError as error:
        raise ModelUnusable(f"the libraries of the models extra do not work ({first_line(error)}): {BRING}") from error


def _config(source: Vetted, description: Description, original: Original) -> dict[str, Any]:
    return {
        "name": description.name,
        "kind": original.kind,
        "revision": description.revision or source.sha256[:12],
        "licence": description.licence,
        "origin": description.origin,
        "precision": "",
        **original.facts,
        "original_sha256": source.sha256,
        "floors": None,
        "agreement": {},
        "files": {},
    }


def _floors(source: Vetted, original: Original) -> dict[str, Any] | None:
    """The floors chosen for these weights, else those that the built-in sample gives; None for a reranker."""
    if original.vectors is None:
        return None
    from memora_cli.models import load_embedder
    from memora_cli.models.floors import CHOSEN, carry_over
    from memora_cli.models.sample import PASSAGES
    from memora_cli.values import Floors

    if source.sha256 in CHOSEN:
        return asdict(CHOSEN[source.sha256])
    return asdict(carry_over(load_embedder().embed(PASSAGES), Floors(), original.vectors, "sample"))


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
    """Export the model that the command line names and print what its config says."""
    parser = argparse.ArgumentParser(
        prog="python -m memora_cli.models.export",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, help="a SentenceTransformer or CrossEncoder folder")
    parser.add_argument("out", type=Path, help="the model folder to write")
    parser.add_argument("--name", help="default: the name of OUT")
    parser.add_argument("--revision", default="", help="default: the start of the weights' SHA-256")
    parser.add_argument("--origin", default="", help="where the original is from, as a name on the model hub")
    parser.add_argument("--licence", default="unknown", help="SPDX identifier of the weights' licence")
    parser.add_argument("--precision", choices=get_args(Precision), default="int8")
    parser.add_argument("--max-length", type=int, help="a shorter window, in tokens")
    options = parser.parse_args(arguments)
    description = Description(options.name or options.out.name, options.revision, options.licence, options.origin)
    try:
        require_extra()
        vetted = vet(options.folder, description.name)
        export(vetted, options.out, description, options.precision, Asked(max_length=options.max_length))
    except ModelUnusable as error:
        parser.exit(error.exit_code, f"{error}\n")
    sys.stdout.write((options.out / CONFIG).read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
