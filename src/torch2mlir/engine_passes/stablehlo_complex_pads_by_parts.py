"""``stablehlo-complex-pads-by-parts``: real and imaginary parts are padded each, then joined.

IREE 3.13's compiler dies of a pad of complex numbers, as of a Fourier transform of more elements than there are.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ComplexType, ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.tensors import element_of, shape_of
from torch2mlir.engine_passes.beside import Beside


class StablehloComplexPadsByPartsPass(PassForOps):
    """See the module's docstring."""

    name = "stablehlo-complex-pads-by-parts"
    looks_for = frozenset({hlo.PadOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if isinstance(each, hlo.PadOp)]:
            if isinstance(element_of(each.results[0]), ComplexType):
                _pad_parts(each)


def _pad_parts(op: Operation) -> None:
    before, padded = Beside(op), op.results[0]
    parts = list[SSAValue]()
    for part in (hlo.RealOp, hlo.ImagOp):
        operands = [before.value(part, [x], _part_type(x)) for x in op.operands]
        parts.append(before.value(hlo.PadOp, operands, _part_type(padded), op.properties))
    before.replace(before.value(hlo.ComplexOp, parts, padded.type))


def _part_type(x: SSAValue) -> TensorType:
    element = element_of(x)
    assert isinstance(element, ComplexType)
    return TensorType(element.element_type, shape_of(x))
