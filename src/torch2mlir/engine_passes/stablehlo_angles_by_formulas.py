"""``stablehlo-angles-by-formulas``: inverse trigonometric functions of f32 as polynomials, which XLA makes vectors of.

XLA on the CPU (jaxlib 0.10.2) has one arc tangent of two arguments, the C library's, and calls it for one element at a
time; arc cosine, sine and tangent become that. The formulas are those of targets without these words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, f32
from xdsl.ir import Attribute, Operation

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.conversion import formulas
from torch2mlir.conversion.expressions import Expr
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering
from torch2mlir.conversion.torch_to_stablehlo.words import StablehloWords
from torch2mlir.dialects import chlo
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.tensors import element_of, shape_of
from torch2mlir.engine_passes.in_place_of import as_tensor, replace

ANGLES: Mapping[str, Callable[..., Expr]] = {
    hlo.Atan2Op.name: formulas.atan2,
    chlo.AcosOp.name: formulas.acos,
    chlo.AsinOp.name: formulas.asin,
    chlo.AtanOp.name: formulas.atan,
}


class StablehloAnglesByFormulasPass(PassForOps):
    """See the module's docstring."""

    name = "stablehlo-angles-by-formulas"
    looks_for = frozenset(ANGLES)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if each.name in ANGLES]:
            x = each.operands[0]
            if element_of(x) == f32 and DYNAMIC_INDEX not in shape_of(x):
                replace(each, partial(_angle, op=each))


class _WithoutAngles(StablehloWords):
    """The words, less the one that a formula for another has."""

    def has(self, word: str, dtype: Attribute) -> bool:
        return word != "atan" and super().has(word, dtype)


def _angle(lower: StablehloLowering, op: Operation) -> list[Tensor | None]:
    words = _WithoutAngles(lower)
    found: Tensor = ANGLES[op.name](*(Expr(words, as_tensor(x)) for x in op.operands)).value
    return [found]
