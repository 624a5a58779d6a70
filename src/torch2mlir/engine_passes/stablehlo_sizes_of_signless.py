"""``stablehlo-sizes-of-signless``: sizes known at run time are asked of integers without a sign in their type.

IREE 3.13 refuses ``stablehlo.get_dimension_size`` of unsigned integers ("failed to legalize operation 'tensor.dim'").
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp, Signedness, TensorType
from xdsl.ir import SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.tensors import element_of, shape_of
from torch2mlir.engine_passes.beside import Beside


class StablehloSizesOfSignlessPass(PassForOps):
    """See the module's docstring."""

    name = "stablehlo-sizes-of-signless"
    looks_for = frozenset({hlo.GetDimensionSizeOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if isinstance(each, hlo.GetDimensionSizeOp)]:
            if (type := _signless_type(x := each.operands[0])) is not None:
                each.operands = [Beside(each).value(hlo.ConvertOp, [x], type)]


def _signless_type(x: SSAValue) -> TensorType | None:
    """The type of a tensor of unsigned integers without "unsigned"."""
    element = element_of(x)
    if isinstance(element, IntegerType) and element.signedness.data == Signedness.UNSIGNED:
        return TensorType(IntegerType(element.width.data), shape_of(x))
    return None
