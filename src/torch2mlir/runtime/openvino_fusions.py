"""What OpenVINO makes one kernel of, and should not: products of matrices and elementwise operators behind them.

Where the columns of ``v`` are several blocks (of 64 where the processor has AVX-512, of 24 elsewhere), the kernel of
``softmax(q @ k) @ v`` and what is behind it reads an operand with one element for each row from wrong places. With some
operands, its compiler ends the process; with few rows also where there is one of linear layers. Found with random
programs: 1 in 20 of attentions and 1 in 70 of linear layers with any operators behind them, none of 780 with operators
of one tensor behind an attention, or with one choice whose condition has all columns, and none of 1,800 with operators
before its second product.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

_ELEMENTWISE = frozenset(
    {
        *("Abs", "Add", "Ceiling", "Clamp", "Convert", "Divide", "Elu", "Equal", "Erf", "Exp"),
        *("Floor", "FloorMod", "Gelu", "Greater", "GreaterEqual", "HSigmoid", "HSwish"),
        *("HardSigmoid", "Less", "LessEqual", "Log", "LogicalAnd", "LogicalNot", "LogicalOr"),
        *("LogicalXor", "Maximum", "Minimum", "Mish", "Mod", "Multiply", "Negative"),
        *("NotEqual", "PRelu", "Power", "Relu", "Round", "Select", "Selu", "Sigmoid", "Sign"),
        *("SoftPlus", "SoftSign", "Sqrt", "SquaredDifference", "Subtract", "Swish", "Tanh"),
    }
)
_SAME_ELEMENTS = frozenset(
    {"Broadcast", "Concat", "Reshape", "Squeeze", "Tile", "Transpose", "Unsqueeze"}
)
"""What OpenVINO may leave out, or move behind an operator."""


def graphs(model: Any) -> Iterator[Any]:
    """A model and the bodies of its branches and loops."""
    yield model
    for node in model.get_ordered_ops():
        kind = node.get_type_name()
        if kind == "If":
            yield from graphs(node.get_then_body())
            yield from graphs(node.get_else_body())
        elif kind in ("Loop", "TensorIterator"):
            yield from graphs(node.get_function())


def is_fused_wrongly(model: Any, harmless: Collection[str]) -> bool:
    """Whether a model has such products.

    Args:
        model: an ``openvino.Model``.
        harmless: names of operators behind attentions that do no harm.
    """
    return any(
        _computes_behind_attention(nodes, harmless) or _computes_beside_matrices(nodes)
        for nodes in (graph.get_ordered_ops() for graph in graphs(model))
    )


def _computes_behind_attention(nodes: Sequence[Any], harmless: Collection[str]) -> bool:
    """Whether elementwise operators of several tensors are behind an attention."""
    weights, attentions = set[str](), set[str]()
    for node in nodes:
        kind, name, sources = node.get_type_name(), node.get_name(), _sources(node)
        passes_on = kind in _ELEMENTWISE or kind in _SAME_ELEMENTS
        if kind in ("Softmax", "Exp") or (passes_on and not weights.isdisjoint(sources)):
            weights.add(name)
        if kind == "ScaledDotProductAttention" or (
            kind == "MatMul" and not weights.isdisjoint(sources)
        ):
            attentions.add(name)
        if passes_on and not attentions.isdisjoint(sources):
            if kind in _ELEMENTWISE and name not in harmless and not _is_of_one_tensor(node):
                return True
            attentions.add(name)
    return False


def _computes_beside_matrices(nodes: Sequence[Any]) -> bool:
    """Whether there are several products, and a matrix that is read again or computed with other tensors.

    What is added behind a product as its bias is does no harm.
    """
    products, count, are_computed_with = set[str](), 0, False
    for node in nodes:
        kind, sources = node.get_type_name(), _sources(node)
        matrices = [value for value in node.outputs() if _is_matrix(value)]
        if kind != "Constant":
            are_computed_with |= any(len(matrix.get_target_inputs()) > 1 for matrix in matrices)
        if kind == "MatMul" and matrices:
            count += 1
            products.add(node.get_name())
        elif matrices and kind in _ELEMENTWISE and not products.isdisjoint(sources):
            products.add(node.get_name())
            are_computed_with |= not _is_of_one_tensor(node, bias=True)
    return count > 1 and are_computed_with


def _sources(node: Any) -> list[str]:
    return [value.get_node().get_name() for value in node.input_values()]


def _is_of_one_tensor(node: Any, bias: bool = False) -> bool:
    """Whether the operands are one tensor and known numbers, or, for ``bias``, one for each column."""
    tensors = {
        value.get_node().get_name()
        for value in node.input_values()
        if value.get_node().get_type_name() != "Constant"
        or not (value.get_tensor().size == 1 or (bias and _is_line(value.get_partial_shape())))
    }
    return len(tensors) == 1


def _is_line(shape: Any) -> bool:
    """Whether there is one row."""
    return all(size == 1 for size in list(shape)[:-1])


def _is_matrix(value: Any) -> bool:
    """Whether a value is a matrix of floats and known sizes."""
    shape = value.get_partial_shape()
    return shape.is_static and len(shape) == 2 and value.get_element_type().is_real()
