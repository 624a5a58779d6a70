"""Elementwise ops in StableHLO."""

from __future__ import annotations

from xdsl.ir import Operation

from torch2mlir.conversion.lowering import Operand, Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering, lowers
from torch2mlir.dialects import stablehlo as hlo

UNARY: dict[str, type[Operation]] = {
    "aten.abs": hlo.AbsOp,
    "aten.ceil": hlo.CeilOp,
    "aten.cos": hlo.CosineOp,
    "aten.exp": hlo.ExpOp,
    "aten.tanh": hlo.TanhOp,
    "aten.rsqrt": hlo.RsqrtOp,
    "aten.sqrt": hlo.SqrtOp,
    "aten.neg": hlo.NegOp,
    "aten.sigmoid": hlo.LogisticOp,
}


def _unary(op_class: type[Operation]):  # type: ignore[no-untyped-def]
    def lower_unary(lower: StablehloLowering, x: Tensor) -> Tensor:
        return lower.elementwise(op_class, lower.operand(x, lower.out.dtype))

    return lower_unary


for _name, _op in UNARY.items():
    lowers(_name)(_unary(_op))


BINARY: dict[str, type[Operation]] = {"aten.mul": hlo.MulOp}


def _binary(op_class: type[Operation]):  # type: ignore[no-untyped-def]
    def lower_binary(lower: StablehloLowering, x: Operand, y: Operand) -> Tensor:
        dtype = lower.out.dtype
        return lower.elementwise(op_class, lower.operand(x, dtype), lower.operand(y, dtype))

    return lower_binary


for _name, _op in BINARY.items():
    lowers(f"{_name}.Tensor", f"{_name}.Scalar")(_binary(_op))


@lowers("aten.add.Tensor", "aten.add.Scalar")
def add(lower: StablehloLowering, x: Tensor, y: Operand, alpha: Operand) -> Tensor:
    """``x + alpha * y``."""
    dtype = lower.out.dtype
    addend = lower.operand(y, dtype)
    if alpha != 1:
        addend = lower.elementwise(hlo.MulOp, addend, lower.operand(alpha, dtype))
    return lower.elementwise(hlo.AddOp, lower.operand(x, dtype), addend)


@lowers("aten.relu")
def relu(lower: StablehloLowering, x: Tensor) -> Tensor:
    """``max(x, 0)``, NaN stays NaN."""
    return lower.elementwise(hlo.MaxOp, x, lower.splat(0, x.sizes, x.dtype))


@lowers("aten.where.self")
def where(lower: StablehloLowering, condition: Tensor, on_true: Tensor, on_false: Tensor) -> Tensor:
    """Elementwise select; all three operands broadcast together."""
    dtype = lower.out.dtype
    branches = [lower.operand(on_true, dtype), lower.operand(on_false, dtype)]
    return lower.elementwise(hlo.SelectOp, condition, *branches, dtype=dtype)
