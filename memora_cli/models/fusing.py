"""Rewrites a traced reranker so that less is computed: attention in one operator, the last layer for one token.

ONNX Runtime's own fusion does neither: it does not know this tracer's attention, and does not look for a classifier
that reads the first token only. The numbers stay, but for the order of sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from memora_cli.models.quantize import MICROSOFT

ALIKE = 1e-3  # a larger difference of two logits is not one of rounding
FIRST, TOKENS = "first_token", "axis_of_tokens"
PER_TOKEN = {"Add", "MatMul", "LayerNormalization", "BiasGelu", "FastGelu", "Gelu", "Relu", "Tanh"}
"""Operators whose output for a token needs no other token of their inputs."""


def fuse(model: onnx.ModelProto, example: Mapping[str, NDArray[Any]]) -> onnx.ModelProto:
    """The model with less to compute; itself where its graph is of another pattern or the example's logits differ."""
    fused = onnx.ModelProto()
    fused.CopyFrom(model)
    try:
        _fuse_attention(_Graph(fused.graph))
        _read_first_token(_Graph(fused.graph))
    except _OtherPatternError:
        return model
    fused.opset_import.append(helper.make_opsetid(MICROSOFT, 1))
    try:
        difference = np.abs(run(fused, example) - run(model, example)).max()
    except Exception:  # other shapes than the operators take; ONNX Runtime's classes share no base
        return model
    return fused if difference < ALIKE else model


def run(model: onnx.ModelProto, example: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
    """The logits of the texts of the example."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    logits: NDArray[np.float32] = session.run(None, dict(example))[0]
    return logits


class _OtherPatternError(Exception):
    """The graph is not of the pattern that is rewritten."""


class _Graph:
    """A graph, with what makes each value."""

    def __init__(self, graph: onnx.GraphProto) -> None:
        self.graph = graph
        self.constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
        self.makers = {output: node for node in graph.node for output in node.output}

    def maker(self, value: str, kind: str) -> onnx.NodeProto:
        """The node that makes the value, which is to be of this kind."""
        node = self.makers.get(value)
        if node is None or node.op_type != kind:
            raise _OtherPatternError
        return node

    def user(self, value: str, kind: str) -> onnx.NodeProto:
        """The one node that uses the value, which is to be of this kind."""
        users = [node for node in self.graph.node if value in node.input]
        if len(users) != 1 or users[0].op_type != kind:
            raise _OtherPatternError
        return users[0]

    def behind(self, values: Iterable[str]) -> set[str]:
        """The values and all that they are made of."""
        found: set[str] = set()
        waiting = list(values)
        while waiting:
            value = waiting.pop()
            if value not in found:
                found.add(value)
                waiting += self.makers[value].input if value in self.makers else ()
        return found

    def constant(self, name: str, value: NDArray[Any]) -> str:
        self.graph.initializer.append(numpy_helper.from_array(value, name))
        return name

    def replace(self, nodes: Iterable[onnx.NodeProto]) -> None:
        """Let these nodes make their outputs; leave out what nothing needs, and order the rest so that it can run."""
        self.makers |= {output: node for node in nodes for output in node.output}
        needed = self.behind(output.name for output in self.graph.output)
        waiting = {id(node): node for output, node in self.makers.items() if output in needed}
        known = {"", *(item.name for item in (*self.graph.input, *self.graph.initializer))}
        ordered = []
        while waiting:
            ready = {key: node for key, node in waiting.items() if known.issuperset(node.input)}
            ordered += [onnx.NodeProto.FromString(node.SerializeToString()) for node in ready.values()]
            known |= {output for node in ready.values() for output in node.output}
            waiting = {key: node for key, node in waiting.items() if key not in ready}
        del self.graph.node[:]
        self.graph.node.extend(ordered)


def _fuse_attention(graph: _Graph) -> None:
    """Put each softmax(q·k + mask)·v, with its sums of biases and its turns of axes, into one operator."""
    graph.replace([_attention(graph, node) for node in graph.graph.node if node.op_type == "Softmax"])


def _attention(graph: _Graph, softmax: onnx.NodeProto) -> onnx.NodeProto:
    masked = graph.maker(softmax.input[0], "Add")
    scores = graph.maker(masked.input[0], "FusedMatMul")
    weighted = graph.user(softmax.output[0], "MatMul")
    joined = graph.user(graph.user(weighted.output[0], "Transpose").output[0], "Reshape")
    query, query_bias, width = _heads(graph, scores.input[0])
    key, key_bias, _ = _heads(graph, scores.input[1])
    value, value_bias, _ = _heads(graph, weighted.input[1])
    output = joined.output[0]
    bias = graph.constant(f"{output}_bias", np.concatenate([query_bias, key_bias, value_bias]))
    scale = next(attribute.f for attribute in scores.attribute if attribute.name == "alpha")
    return helper.make_node(
        "MultiHeadAttention",
        [query, key, value, bias, "", masked.input[1]],
        [output],
        domain=MICROSOFT,
        num_heads=len(query_bias) // width,
        scale=scale,
    )


def _heads(graph: _Graph, value: str) -> tuple[str, NDArray[np.float32], int]:
    """Of a value that was cut into heads: what it was before its bias, the bias, and how wide a head is."""
    split = graph.maker(graph.maker(value, "Transpose").input[0], "Reshape")
    added = graph.maker(split.input[0], "Add")
    constants = [name for name in added.input if name in graph.constants]
    shape = graph.maker(split.input[1], "Concat").input
    if len(constants) != 1 or shape[-1] not in graph.constants:
        raise _OtherPatternError
    computed = next(name for name in added.input if name not in constants)
    return computed, graph.constants[constants[0]], int(graph.constants[shape[-1]].item())


def _read_first_token(graph: _Graph) -> None:
    """Where only the first token of the last layer is read, take it from the layer before, as query and as residual."""
    reads = [node for node in graph.graph.node if node.op_type == "Gather" and _is_first(graph, node)]
    attentions = [node for node in graph.graph.node if node.op_type == "MultiHeadAttention"]
    if len(reads) != 1:
        raise _OtherPatternError
    whole = graph.behind(attentions[-1].input[1:3])
    first = graph.constant(FIRST, np.array([0], np.int64))
    made: dict[str, onnx.NodeProto] = {}

    def narrow(value: str) -> str:
        """The name of the value of the first token alone."""
        if value in graph.constants:
            return value
        output = f"{value}_{FIRST}"
        node = graph.makers[value]
        if output in made:
            return output
        if value in whole or node.op_type not in {*PER_TOKEN, "MultiHeadAttention"}:
            made[output] = helper.make_node("Gather", [value, first], [output], axis=1)
            return output
        narrowed = onnx.NodeProto.FromString(node.SerializeToString())
        if node.op_type == "MultiHeadAttention":
            mask = f"{output}_mask"
            made[mask] = helper.make_node("Gather", [node.input[5], first], [mask], axis=2)
            narrowed.input[0], narrowed.input[5] = narrow(node.input[0]), mask
        else:
            narrowed.input[:] = [narrow(name) for name in node.input]
        narrowed.output[0] = output
        made[output] = narrowed
        return output

    read = reads[0]
    axis = graph.constant(TOKENS, np.array([1], np.int64))
    graph.replace([helper.make_node("Squeeze", [narrow(read.input[0]), axis], list(read.output)), *made.values()])


def _is_first(graph: _Graph, node: onnx.NodeProto) -> bool:
    """Whether the node takes the first token of a layer's output, shape (texts, tokens, width)."""
    index = graph.constants.get(node.input[1])
    axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), 0)
    made_by = graph.makers.get(node.input[0])
    normal = made_by is not None and made_by.op_type == "LayerNormalization"
    return normal and axis == 1 and index is not None and index.ndim == 0 and index.item() == 0
