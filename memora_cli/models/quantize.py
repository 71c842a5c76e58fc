"""Makes an ONNX graph smaller and faster: half floats, or row-wise int8 with a 4-bit embedding table.

int8 here is not `onnxruntime.quantization.quantize_dynamic`: that gives a whole batch one activation scale, which an
outlier in one token spoils for all. The graph made here scales every token by itself, in plain ONNX operators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from memora_cli.models.folder import Precision

# AVX2 without VNNI adds two products of an unsigned and a signed byte in 16 bits, and saturates. 2 · 255 · 63 fits,
# so 7-bit weights give the same products on every machine; 8-bit ones lose 0.01 of cosine on older ones.
WEIGHT_LIMIT = 63
ACTIVATION_LIMIT = 127
ZERO_POINT = 128
TABLE_BLOCK = 32
LEAST_TABLE_ROWS = 1000
FOUR_BIT_IR = 10  # the first version of the format that has 4-bit tensors
MICROSOFT = "com.microsoft"


def quantize(model: onnx.ModelProto, precision: Precision) -> None:
    """Rewrite the graph in place; "fp32" leaves it alone."""
    if precision == "fp16":
        _half_weights(model.graph)
    elif precision == "int8":
        _row_wise_matmuls(model.graph)
        _four_bit_tables(model.graph)
        model.ir_version = max(model.ir_version, FOUR_BIT_IR)
    _drop_unused(model)


def _half_weights(graph: onnx.GraphProto) -> None:
    """Store weights as fp16 and cast them at load (ONNX Runtime folds the casts), so the arithmetic stays fp32."""
    casts = []
    for tensor in list(graph.initializer):
        if tensor.data_type == TensorProto.FLOAT and np.prod(tensor.dims) >= LEAST_TABLE_ROWS:
            half = f"{tensor.name}_half"
            _add(graph, half, numpy_helper.to_array(tensor).astype(np.float16))
            casts.append(helper.make_node("Cast", [half], [tensor.name], to=TensorProto.FLOAT))
            graph.initializer.remove(tensor)
    _set_nodes(graph, [*casts, *graph.node])


def _row_wise_matmuls(graph: onnx.GraphProto) -> None:
    """Replace every product of activations with a constant matrix by an int8 product.

    Activations get a scale per row (token), weights one per column.
    """
    weights = _constants(graph)
    _add(graph, "activation_step", np.float32(1 / ACTIVATION_LIMIT))
    _add(graph, "least_scale", np.float32(1e-12))
    _add(graph, "zero_point", np.uint8(ZERO_POINT))
    _add(graph, "round_and_shift", np.float32(ZERO_POINT + 0.5))  # the cast to uint8 truncates
    nodes: list[Any] = []
    quantized: set[str] = set()
    for node in graph.node:
        weight = weights.get(node.input[1]) if node.op_type == "MatMul" else None
        if weight is None or weight.ndim != 2:
            nodes.append(node)
            continue
        x, matrix, y = node.input[0], node.input[1], node.output[0]
        if f"{matrix}_int8" not in weights:
            scale = np.maximum(np.abs(weight).max(axis=0, keepdims=True) / WEIGHT_LIMIT, 1e-12).astype(np.float32)
            weights[f"{matrix}_int8"] = _add(graph, f"{matrix}_int8", np.rint(weight / scale).astype(np.int8))
            _add(graph, f"{matrix}_scale", scale)
        if x not in quantized:
            quantized.add(x)
            nodes += [
                helper.make_node("Abs", [x], [f"{x}_abs"]),
                helper.make_node("ReduceMax", [f"{x}_abs"], [f"{x}_max"], axes=[-1], keepdims=1),
                helper.make_node("Mul", [f"{x}_max", "activation_step"], [f"{x}_step"]),
                helper.make_node("Add", [f"{x}_step", "least_scale"], [f"{x}_scale"]),
                helper.make_node("Div", [x, f"{x}_scale"], [f"{x}_scaled"]),
                helper.make_node("Add", [f"{x}_scaled", "round_and_shift"], [f"{x}_shifted"]),
                helper.make_node("Cast", [f"{x}_shifted"], [f"{x}_uint8"], to=TensorProto.UINT8),
            ]
        nodes += [
            helper.make_node("MatMulInteger", [f"{x}_uint8", f"{matrix}_int8", "zero_point"], [f"{y}_int32"]),
            helper.make_node("Cast", [f"{y}_int32"], [f"{y}_float"], to=TensorProto.FLOAT),
            helper.make_node("Mul", [f"{y}_float", f"{x}_scale"], [f"{y}_rows"]),
            helper.make_node("Mul", [f"{y}_rows", f"{matrix}_scale"], [y]),
        ]
    _set_nodes(graph, nodes)


def _four_bit_tables(graph: onnx.GraphProto) -> None:
    """Store embedding tables in 4 bits with a scale per block: half of such a small model is its vocabulary."""
    tables = _constants(graph)
    for node in graph.node:
        table = tables.get(node.input[0]) if node.op_type == "Gather" else None
        if table is None or table.ndim != 2 or len(table) < LEAST_TABLE_ROWS or table.shape[1] % TABLE_BLOCK:
            continue
        name = node.input[0]
        levels, scale = _best_levels(table.reshape(len(table), -1, TABLE_BLOCK))
        levels = levels.reshape(table.shape)
        packed = TensorProto(
            name=f"{name}_uint4",
            data_type=TensorProto.UINT4,
            dims=table.shape,
            raw_data=(levels[:, 0::2] | levels[:, 1::2] << 4).tobytes(),
        )
        middle = TensorProto(
            name=f"{name}_middle",
            data_type=TensorProto.UINT4,
            dims=scale.shape,
            raw_data=b"\x88" * ((scale.size + 1) // 2),
        )
        graph.initializer.extend([packed, middle])
        _add(graph, f"{name}_scale", scale)
        node.CopyFrom(
            helper.make_node(
                "GatherBlockQuantized",
                [packed.name, node.input[1], f"{name}_scale", middle.name],
                node.output,
                name=node.name,
                domain=MICROSOFT,
                gather_axis=0,
                quantize_axis=1,
                block_size=TABLE_BLOCK,
            )
        )


def _best_levels(blocks: NDArray[np.float32]) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """The 4-bit levels (0 to 15, 8 is zero) and scales of blocks, shape (rows, blocks, size), with least squared error.

    The value farthest from zero takes level 0, the one level that has no mirror, and the scale is then searched a
    little below and above: clipping that value a bit often pays for the others.
    """
    farthest = np.take_along_axis(blocks, np.abs(blocks).argmax(axis=-1, keepdims=True), axis=-1)
    best_error = np.full(farthest.shape, np.inf, np.float32)
    best_scale = np.ones_like(farthest)
    for factor in np.linspace(0.75, 1.1, 36, dtype=np.float32):
        scale = farthest * factor / -8
        scale = np.where(scale == 0, np.float32(1), scale)
        error = ((_levels(blocks, scale) - 8.0) * scale - blocks).astype(np.float32)
        error = np.square(error).sum(axis=-1, keepdims=True)
        best_scale = np.where(error < best_error, scale, best_scale)
        best_error = np.minimum(error, best_error)
    return _levels(blocks, best_scale), best_scale[..., 0]


def _levels(blocks: NDArray[np.float32], scale: NDArray[np.float32]) -> NDArray[np.uint8]:
    levels: NDArray[np.uint8] = np.clip(np.rint(blocks / scale) + 8, 0, 15).astype(np.uint8)
    return levels


def _constants(graph: onnx.GraphProto) -> dict[str, NDArray[Any]]:
    """The float matrices among the initializers, by name."""
    return {
        tensor.name: numpy_helper.to_array(tensor)
        for tensor in graph.initializer
        if tensor.data_type == TensorProto.FLOAT and len(tensor.dims) == 2
    }


def _add(graph: onnx.GraphProto, name: str, value: NDArray[Any] | np.generic) -> NDArray[Any]:
    array = np.asarray(value)
    graph.initializer.append(numpy_helper.from_array(array, name))
    return array


def _set_nodes(graph: onnx.GraphProto, nodes: Iterable[onnx.NodeProto]) -> None:
    kept = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]  # del empties the originals
    del graph.node[:]
    graph.node.extend(kept)


def _drop_unused(model: onnx.ModelProto) -> None:
    """Leave out initializers and operator domains that nothing uses any more."""
    _keep(model.graph.initializer, {name for node in model.graph.node for name in node.input}, lambda item: item.name)
    domains = {node.domain for node in model.graph.node} | {""}
    _keep(model.opset_import, domains, lambda item: item.domain)
    if MICROSOFT in domains and MICROSOFT not in {item.domain for item in model.opset_import}:
        model.opset_import.append(helper.make_opsetid(MICROSOFT, 1))


def _keep(items: Any, names: set[str], name_of: Callable[[Any], str]) -> None:
    kept = [item for item in items if name_of(item) in names]
    del items[:]
    items.extend(kept)
