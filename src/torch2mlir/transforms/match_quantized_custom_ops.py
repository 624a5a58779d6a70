"""``torch-match-quantized-custom-ops``: ``quantized_decomposed`` ops, as PyTorch's exporter writes them, as ATen's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp, Signedness
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.transforms.folding.constants import insert_before


def _integer(width: int, signedness: Signedness) -> IntegerType:
    return IntegerType(width, signedness)


_QUANTIZED: dict[Attribute, Attribute] = {
    _integer(8, Signedness.SIGNED): t.QInt8Type(),
    _integer(8, Signedness.UNSIGNED): t.QUInt8Type(),
    _integer(16, Signedness.SIGNED): t.QInt16Type(),
    _integer(32, Signedness.SIGNED): t.QInt32Type(),
}
"""Element type of integers -> PyTorch's quantized type of the same width."""


def _emit(op: Operation, name: str, operands: list[SSAValue], type: Attribute) -> SSAValue:
    new = core.build(name, operands, [type])
    insert_before(op, new)
    return new.results[0]


def _of(type: Attribute, dtype: Attribute) -> Attribute:
    return t.vtensor(type.sizes, dtype)  # type: ignore[attr-defined]


def _quantized_dtype(value: SSAValue) -> Attribute | None:
    type = value.type
    return (
        _QUANTIZED.get(type.dtype) if isinstance(type, t.ValueTensorType) and type.dtype else None
    )


def _clamped(op: Operation, value: SSAValue) -> SSAValue:
    return _emit(op, "torch.aten.clamp", [value, op.operands[3], op.operands[4]], value.type)


def _quantize(op: Operation) -> SSAValue | None:
    """Integers between the smallest and the largest that are asked for."""
    result = op.results[0]
    dtype = _quantized_dtype(result)
    if dtype is None:
        return None
    x, scale, zero, _, _, code = op.operands
    quantized = _emit(
        op, "torch.aten.quantize_per_tensor", [x, scale, zero, code], _of(x.type, dtype)
    )
    return _clamped(op, _emit(op, "torch.aten.int_repr", [quantized], result.type))


def _dequantize(op: Operation) -> SSAValue | None:
    x, scale, zero = op.operands[:3]
    dtype = _quantized_dtype(x)
    if dtype is None:
        return None
    type = _of(x.type, dtype)
    name = "torch.aten._make_per_tensor_quantized_tensor"
    made = _emit(op, name, [_clamped(op, x), scale, zero], type)
    return _emit(op, "torch.aten.dequantize.tensor", [made], op.results[0].type)


def _dequantize_channels(op: Operation) -> SSAValue | None:
    x, scales, zeros, axis = op.operands[:4]
    dtype = _quantized_dtype(x)
    if dtype is None or not isinstance(zeros.type, t.AnyTensorType):
        return None
    clamped = _emit(op, "torch.aten.clamp", [x, op.operands[4], op.operands[5]], x.type)
    name = "torch.aten._make_per_channel_quantized_tensor"
    made = _emit(op, name, [clamped, scales, zeros, axis], _of(x.type, dtype))
    return _emit(op, "torch.aten.dequantize.tensor", [made], op.results[0].type)


_MATCHES: dict[str, Callable[[Operation], SSAValue | None]] = {
    "torch.quantized_decomposed.quantize_per_tensor": _quantize,
    "torch.quantized_decomposed.dequantize_per_tensor": _dequantize,
    "torch.quantized_decomposed.dequantize_per_channel": _dequantize_channels,
}
"""Op -> what it is in ATen's ops."""


@dataclass(frozen=True)
class MatchQuantizedCustomOpsPass(ModulePass):
    """See the module's docstring."""

    name = "torch-match-quantized-custom-ops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            name = inner.op_name if isinstance(inner, core.OperatorOp) else inner.name
            match = _MATCHES.get(name)
            if match is not None and (new := match(inner)) is not None:
                inner.results[0].replace_all_uses_with(new)
                inner.detach()
                inner.erase()
