"""``torch-fuse-quantized-ops``: products of dequantized tensors become products of the integers themselves.

``dequantize`` around a matmul or a convolution computes with real numbers ``scale * (q - zero)``. The same op on the
quantized tensors accumulates integers, of scale ``scale_a * scale_b``, and is dequantized once, behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp, Signedness
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.values import Values
from torch2mlir.transforms.canonicalize import remove_unused
from torch2mlir.transforms.folding.constants import constant, insert_before, int_before

_MAKE = "torch.aten._make_per_tensor_quantized_tensor"
_DEQUANTIZE = ("torch.aten.dequantize.tensor", "torch.aten.dequantize.self")
_QUINT32 = 14
"""PyTorch's number of the dtype qint32."""
_SI32 = IntegerType(32, Signedness.SIGNED)

_COMMUTING = {
    "torch.aten.reshape",
    "torch.aten.view",
    "torch.aten.transpose.int",
    "torch.aten.t",
    "torch.aten.permute",
    "torch.aten.slice.Tensor",
    "torch.aten.select.int",
    "torch.aten.unsqueeze",
    "torch.aten.squeeze.dim",
    "torch.aten.flatten.using_ints",
    "torch.aten.expand",
    "torch.prims.collapse",
}
"""Ops that move elements and so come before or after dequantizing alike."""
_PRODUCTS = {"torch.aten.mm", "torch.aten.bmm", "torch.aten.matmul"}
_CONVOLUTIONS = {"torch.aten.convolution", "torch.aten.conv2d"}


@dataclass(frozen=True)
class _Quantized:
    """A tensor known as integers: what they are, and what they mean."""

    integers: SSAValue
    scale: SSAValue
    zero: SSAValue
    dtype: Attribute
    moves: tuple[Operation, ...]
    """Ops between dequantizing and the use, the last one first."""


def _quantized(value: SSAValue) -> _Quantized | None:
    """How a tensor was dequantized, through ops that only move elements."""
    moves = list[Operation]()
    owner = value.owner
    while isinstance(owner, Operation) and owner.name in _COMMUTING:
        moves.append(owner)
        owner = owner.operands[0].owner
    if not isinstance(owner, Operation) or owner.name not in _DEQUANTIZE:
        return None
    made = owner.operands[0].owner
    if not isinstance(made, Operation) or made.name != _MAKE:
        return None
    type = made.results[0].type
    if not isinstance(type, t.AnyTensorType) or type.dtype is None:
        return None
    integers, scale, zero = made.operands
    return _Quantized(integers, scale, zero, type.dtype, tuple(moves))


def _emit(op: Operation, name: str, operands: list[SSAValue], type: Attribute) -> SSAValue:
    new = core.build(name, operands, [type])
    insert_before(op, new)
    return new.results[0]


def _with_dtype(type: Attribute, dtype: Attribute) -> t.ValueTensorType:
    return t.vtensor(type.sizes, dtype)  # type: ignore[attr-defined]


def _operand(op: Operation, source: _Quantized) -> SSAValue:
    """The operand as a quantized tensor: its integers, moved, with their meaning."""
    value = source.integers
    for move in reversed(source.moves):
        moved = _with_dtype(move.results[0].type, value.type.dtype)  # type: ignore[attr-defined]
        value = _emit(op, move.name, [value, *move.operands[1:]], moved)
    type = _with_dtype(value.type, source.dtype)
    return _emit(op, _MAKE, [value, source.scale, source.zero], type)


def _scale(op: Operation, sources: list[_Quantized], values: Values) -> SSAValue | None:
    """The scale of the accumulated integers."""
    scales = [values.of(source.scale) for source in sources]
    if not all(isinstance(scale, float) for scale in scales):
        return None
    new = constant(scales[0] * scales[1], t.float_type)
    insert_before(op, new)
    return new.results[0]


def _dequantized(op: Operation, integers: SSAValue, scale: SSAValue) -> None:
    """Gives the users of an op the real numbers that accumulated integers stand for."""
    result = op.results[0]
    accumulated = _with_dtype(result.type, t.QInt32Type())
    made = _emit(op, _MAKE, [integers, scale, int_before(op, 0)], accumulated)
    real = _emit(op, _DEQUANTIZE[0], [made], result.type)
    result.replace_all_uses_with(real)
    op.detach()
    op.erase()


def _fuse_product(op: Operation, values: Values) -> bool:
    sources = [source for operand in op.operands[:2] if (source := _quantized(operand))]
    if len(sources) < 2 or (scale := _scale(op, sources, values)) is None:
        return False
    operands = [_operand(op, source) for source in sources]
    type = op.results[0].type
    product = _emit(op, op.name, operands, _with_dtype(type, t.QInt32Type()))
    integers = _emit(op, "torch.aten.int_repr", [product], _with_dtype(type, _SI32))
    _dequantized(op, integers, scale)
    return True


def _fuse_convolution(op: Operation, values: Values) -> bool:
    sources = [source for operand in op.operands[:2] if (source := _quantized(operand))]
    if len(sources) < 2 or (scale := _scale(op, sources, values)) is None:
        return False
    operands = [_operand(op, source) for source in sources]
    bias = op.operands[2]
    if isinstance(bias.type, t.AnyTensorType):
        code = int_before(op, _QUINT32)
        type = _with_dtype(bias.type, t.QInt32Type())
        arguments = [bias, scale, int_before(op, 0), code]
        rounded = _emit(op, "torch.aten.quantize_per_tensor", arguments, type)
        bias = _emit(op, "torch.aten.int_repr", [rounded], _with_dtype(type, _SI32))
    type = _with_dtype(op.results[0].type, _SI32)
    integers = _emit(op, op.name, [*operands, bias, *op.operands[3:]], type)
    _dequantized(op, integers, scale)
    return True


_FUSIONS: dict[str, Callable[[Operation, Values], bool]] = {
    **dict.fromkeys(_PRODUCTS, _fuse_product),
    **dict.fromkeys(_CONVOLUTIONS, _fuse_convolution),
}


@dataclass(frozen=True)
class FuseQuantizedOpsPass(ModulePass):
    """See the module's docstring."""

    name = "torch-fuse-quantized-ops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        values = Values()
        for inner in list(op.walk()):
            fuse = _FUSIONS.get(inner.name)
            block = inner.parent
            if fuse is not None and fuse(inner, values) and block is not None:
                remove_unused(block)
