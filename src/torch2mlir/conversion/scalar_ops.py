"""Python arithmetic that is left for run time: the tensor op of the same meaning, on rank-0 tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import f64, i1
from xdsl.ir import Attribute, Operation

from torch2mlir.contract.element_types import si64
from torch2mlir.contract.normal_form import normalize
from torch2mlir.contract.op_name import OpName
from torch2mlir.conversion.lowering import DTYPES, Lowering, Operand, ResultType, Scalar, Tensor

_UNARY = "sqrt neg round ceil floor exp log sin cos tanh"
_BINARY = "mul div remainder eq ne lt le gt ge"
_TENSOR_OPS: dict[str, tuple[str, tuple[Any, ...]]] = {
    **{f"aten.{name}": (f"torch.aten.{name}", ()) for name in _UNARY.split()},
    **{f"aten.{name}": (f"torch.aten.{name}.Tensor", ()) for name in _BINARY.split()},
    **{
        f"aten.__{name}__": (f"torch.aten.bitwise_{name}.Tensor", ())
        for name in ("and", "or", "xor")
    },
    "aten.add": ("torch.aten.add.Tensor", (1,)),
    "aten.sub": ("torch.aten.sub.Tensor", (1,)),
    "aten.floordiv": ("torch.aten.div.Tensor_mode", ("floor",)),
    "aten.pow": ("torch.aten.pow.Tensor_Tensor", ()),
    "prim.max": ("torch.aten.maximum", ()),
    "prim.min": ("torch.aten.minimum", ()),
    "prim.abs": ("torch.aten.abs", ()),
    "aten.__not__": ("torch.aten.logical_not", ()),
    **dict.fromkeys(
        ("aten.Float", "aten.Int", "aten.Bool", "aten.item", "aten._local_scalar_dense"), ("", ())
    ),
}
"""Scalar op without overload -> tensor op, and its further arguments; an empty name only converts."""

_ROUNDING = {"aten.ceil", "aten.floor"}
"""Scalar ops whose float result is an int in Python."""


def lower_scalar_op(
    lower: Lowering,
    functions: Mapping[str, Callable[..., Any]],
    op: Operation,
    operands: Sequence[Operand],
) -> Scalar:
    """The result of an op of the contract's scalar set whose operands are not all known.

    Raises:
        UnsupportedOpError: the op, or the tensor op it stands for, has no lowering in the dialect.
    """
    base = OpName(op.name).packet.dotted
    known = _TENSOR_OPS.get(base)
    function = functions.get(known[0]) if known else None
    if known is None or (known[0] and function is None):
        lower.fail("a Python number only known at run time")
    dtype = DTYPES[op.results[0].type]
    tensors = [_as_tensor(lower, operand) for operand in operands]
    if function is None:
        result = tensors[0]
    else:
        computed = f64 if base in _ROUNDING else dtype
        outer_name, lower.op_name = lower.op_name, op.name
        try:
            result = applied(lower, functions, known[0], computed, *tensors, *known[1])
        finally:
            lower.op_name = outer_name
    return Scalar(lower.operand(result, dtype).value, dtype)


def applied(
    lower: Lowering,
    functions: Mapping[str, Callable[..., Any]],
    name: str,
    dtype: Attribute,
    *operands: Any,
) -> Tensor:
    """An op of the contract, by name, whose result is of rank 0."""
    outer, lower.results = lower.results, [ResultType((), dtype)]
    try:
        result: Tensor = functions[name](lower, *normalize(lower, name, [*operands]))
        return result
    finally:
        lower.results = outer


def _as_tensor(lower: Lowering, operand: Operand) -> Tensor:
    if isinstance(operand, Tensor):
        return lower.reshape(operand, ())
    if isinstance(operand, Scalar):
        return lower.splat(operand, (), operand.dtype)
    dtype = f64 if isinstance(operand, float) else i1 if isinstance(operand, bool) else si64
    return lower.splat(operand, (), dtype)
