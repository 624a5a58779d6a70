"""``stablehlo-exponentials-of-nan``: an exponential is NaN where its operand is, of NaNs that are constants too.

XLA (jaxlib 0.10.2) tells LLVM that what its exponential of f32 computes with is never NaN, so that of a choice between
NaN and anything else it takes anything else: ``exp(where(x > 0, 1.0, nan))`` is ``e`` everywhere, and a softmax of
masked rows of which only constants are left is 1 / n. ``exp(x * 0 / 0)``, whose factors XLA multiplies first, is
whatever lies in a register. NaNs that are read from memory stay. Half floats, ``sinh`` and ``cosh`` have the
same exponential. The choice is made again behind it.
"""

from __future__ import annotations

import math
from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, AnyFloat, DenseIntOrFPElementsAttr, ModuleOp, i1
from xdsl.ir import Block, Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering
from torch2mlir.dialects import chlo
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.tensors import element_of, shape_of
from torch2mlir.engine_passes.in_place_of import as_tensor, replace

_EXPONENTIALS = (hlo.ExpOp, chlo.SinhOp, chlo.CoshOp)
"""Those of 16 bits are computed with 32."""
_FUSED = (
    *(hlo.AddOp, hlo.SubtractOp, hlo.MulOp, hlo.DivOp, hlo.MaxOp, hlo.MinOp),
    *(hlo.NegOp, hlo.AbsOp, hlo.ConvertOp, hlo.BroadcastInDimOp, hlo.ReshapeOp),
    *(hlo.TransposeOp, hlo.ConcatenateOp, hlo.PadOp, hlo.SliceOp, hlo.ClampOp, hlo.ReverseOp),
    *(hlo.FloorOp, hlo.CeilOp, hlo.RoundNearestEvenOp, hlo.SignOp),
    *(hlo.GatherOp, hlo.DynamicSliceOp, hlo.BitcastConvertOp, hlo.OptimizationBarrierOp),
)
"""Ops that are computed together with an exponential of them."""
_MAKE_NAN = (
    *(hlo.LogOp, hlo.Log1pOp, hlo.SqrtOp, hlo.RsqrtOp, hlo.PowOp, hlo.RemOp),
    *(hlo.SineOp, hlo.CosineOp, hlo.TanOp),
)
"""Others that are, and give NaN for some numbers, as quotients do."""
_READ_AS_BITS = (hlo.BitcastConvertOp, hlo.ReshapeOp, hlo.BroadcastInDimOp, hlo.TransposeOp)
"""Ops through which the bits of a float may come as an integer."""
_MOST = 256
"""Ops looked at for an exponential, and elements of a constant: further ones lie in memory."""


class StablehloExponentialsOfNanPass(PassForOps):
    """See the module's docstring."""

    name = "stablehlo-exponentials-of-nan"
    looks_for = frozenset(each.name for each in _EXPONENTIALS)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if isinstance(each, _EXPONENTIALS)]:
            x = each.operands[0]
            is_static = DYNAMIC_INDEX not in shape_of(x)
            if is_static and isinstance(element_of(x), AnyFloat) and _may_be_written_nan(x):
                replace(each, partial(_chosen_again, op=each))


def _chosen_again(lower: StablehloLowering, op: Operation) -> list[Tensor | None]:
    x = as_tensor(op.operands[0])
    found = lower.emit(type(op), [x.value], [op.results[0].type], op.properties)
    computed = Tensor(found.results[0], x.sizes, x.dtype)
    return [lower.select(lower.compare("ne", x, x), x, computed)]


def _may_be_written_nan(x: SSAValue) -> bool:
    """Whether a NaN, or infinities alone with other constants, of which one may come, are among what it is made of."""
    constants, others, makes_nan = list[float](), 0, False
    work, seen = [x], set[SSAValue]()
    while work and len(seen) < _MOST:
        value = work.pop()
        if value in seen:
            continue
        seen.add(value)
        op = value.owner
        if isinstance(op, hlo.ConstantOp):
            constants += _numbers(op)
        elif isinstance(op, hlo.IotaOp) or not (
            isinstance(element_of(value), AnyFloat) or isinstance(op, _READ_AS_BITS)
        ):
            continue  # LLVM knows that integers are finite: times zero they are zero
        elif isinstance(op, hlo.SelectOp):
            work += op.operands[1:]
        elif isinstance(op, hlo.ReduceOp):
            work += op.operands[: len(op.results)]
        elif isinstance(op, _MAKE_NAN):
            makes_nan = True
            work += op.operands
        elif isinstance(op, hlo.GatherOp | hlo.DynamicSliceOp):
            work.append(op.operands[0])
        elif _makes_nan_with_constants(op):
            return True
        elif isinstance(op, _FUSED) and element_of(op.operands[0]) != i1:
            makes_nan = makes_nan or isinstance(op, hlo.DivOp)
            work += op.operands
        elif not isinstance(op, _FUSED):
            others += 1
    if any(map(math.isnan, constants)):
        return True
    return not others and (makes_nan or any(map(math.isinf, constants)))


def _makes_nan_with_constants(op: Operation | Block) -> bool:
    """Whether arithmetic has an infinity, or divides by zero: XLA brings another constant to it, and both make NaN."""
    if not isinstance(op, hlo.AddOp | hlo.SubtractOp | hlo.MulOp | hlo.DivOp):
        return False
    for position, operand in enumerate(op.operands):
        divides = position == 1 and isinstance(op, hlo.DivOp)
        while isinstance(operand.owner, hlo.BroadcastInDimOp | hlo.ReshapeOp):
            operand = operand.owner.operands[0]
        numbers = _numbers(operand.owner) if isinstance(operand.owner, hlo.ConstantOp) else []
        if any(math.isinf(number) or (divides and number == 0) for number in numbers):
            return True
    return False


def _numbers(op: Operation) -> list[float]:
    """Different elements of a constant, if it has floats."""
    literal = op.properties.get("value")
    if not isinstance(literal, DenseIntOrFPElementsAttr) or len(literal) > _MOST:
        return []  # many lie in memory
    if not isinstance(literal.get_element_type(), AnyFloat):
        return []
    return [float(number) for number in set(literal.get_values())]
