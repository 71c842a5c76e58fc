"""Traces a network into an ONNX graph that ONNX Runtime has fused."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from memora_cli.errors import ModelUnusable
from memora_cli.models.extra import first_line, refuse
from memora_cli.models.vetting import ANOTHER

if TYPE_CHECKING:
    import onnx
    import torch

OPSET = 17


def trace(network: torch.nn.Module, example: Mapping[str, torch.Tensor], work: Path, name: str) -> onnx.ModelProto:
    """The graph of a network of named inputs, any number of texts and tokens; files go below `work` meanwhile.

    Raises ModelUnusable for an architecture that cannot be traced or run.
    """
    import onnx
    import onnxruntime
    import torch

    names = list(example)
    axes = {key: {0: "batch", 1: "tokens"} for key in names} | {"output": {0: "batch"}}
    with tempfile.TemporaryDirectory(dir=work) as place, torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tracer warns of shapes it fixes; the agreement is checked on the result
        traced, fused = str(Path(place, "traced.onnx")), str(Path(place, "fused.onnx"))
        options = onnxruntime.SessionOptions()
        # "Extended" is the last level whose result does not depend on this machine's processor.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        options.optimized_model_filepath = fused
        options.log_severity_level = 3
        try:
            torch.onnx.export(
                network.eval(),
                tuple(example.values()),
                traced,
                input_names=names,
                output_names=["output"],
                dynamic_axes=axes,
                opset_version=OPSET,
                dynamo=False,
            )
            onnxruntime.InferenceSession(traced, options, providers=["CPUExecutionProvider"])
        except (ModelUnusable, MemoryError):
            raise
        except OSError:  # of the disk
            raise
        except Exception as error:  # whatever the tracer and ONNX Runtime end in
            refuse(name, f"its architecture cannot be exported to ONNX ({first_line(error)})", ANOTHER, error)
        return onnx.load(fused)
