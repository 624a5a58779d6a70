"""``stablehlo-functions-to-linalg``: functions that IREE gets wrong, computed as they are on Linalg.

IREE 3.13 computes ``stablehlo.power`` by the logarithm of its base: all powers of negative numbers are NaN, and so are
0 by 0 and 1 by infinity. ``stablehlo.atan2`` of two zeros or infinities is NaN, and with it the logarithm of a complex
zero; inverse hyperbolic functions cancel next to zero. Linalg has no words for these and writes formulas in loops; the
same loops are written here.
"""

from __future__ import annotations

from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import BFloat16Type, Float16Type, ModuleOp, f32
from xdsl.ir import Operation, SSAValue

from torch2mlir.contract import element_types
from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.conversion import formulas  # noqa: F401 - what words mean
from torch2mlir.conversion.expressions import Expr
from torch2mlir.conversion.torch_to_linalg.words import LEFT_OUT, LEFT_OUT_OF_F64
from torch2mlir.conversion.torch_to_stablehlo.words import OF_FLOATS
from torch2mlir.dialects.tensors import element_of
from torch2mlir.engine_passes.beside import Beside
from torch2mlir.engine_passes.loop_nests import on_elements, over_elements

_WORDS = {op.name: word for word, op in OF_FLOATS.items() if word in LEFT_OUT | LEFT_OUT_OF_F64}
_WORDS |= {OF_FLOATS["power"].name: "any_power", OF_FLOATS["log"].name: "log"}
"""Op -> the word that it is computed as."""


class StablehloFunctionsToLinalgPass(PassForOps):
    """See the module's docstring."""

    name = "stablehlo-functions-to-linalg"
    looks_for = frozenset(_WORDS)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if each.name in _WORDS]:
            if _is_wrong(each):
                over_elements(each, partial(_element, _WORDS[each.name]))


def _is_wrong(op: Operation) -> bool:
    element, word = element_of(op.operands[0]), _WORDS[op.name]
    if not element_types.is_float(element) or word == "log":
        return word == "log" and element_types.is_complex(element)
    return word not in LEFT_OUT_OF_F64 or element_types.bit_width(element) == 64


def _element(word: str, before: Beside, *elements: SSAValue) -> SSAValue:
    def function(*operands: Expr) -> Expr:
        dtype = operands[0].dtype
        is_half = isinstance(dtype, Float16Type | BFloat16Type)
        x, *others = (each.to(f32) if is_half else each for each in operands)
        return x.of(word, *others).to(dtype)

    return on_elements(before, function, *elements)
