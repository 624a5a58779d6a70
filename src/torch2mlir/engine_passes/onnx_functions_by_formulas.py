"""``onnx-functions-by-formulas``: functions of f32 that ONNX Runtime computes one element at a time.

ONNX Runtime 1.31 calls the C library for ``Sinh``, ``Cosh``, ``Atanh`` and ``Tan``: 9, 3, 16 and 4 ms for 400,000
elements on one core. The operators of their formulas are vectors, or shorter calls: 0.8, 0.6, 2.8 and 1.8 ms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import Attribute, Operation

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.conversion import formulas
from torch2mlir.conversion.expressions import Expr
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_onnx.lowering import OnnxLowering
from torch2mlir.conversion.torch_to_onnx.words import OnnxWords
from torch2mlir.dialects.tensors import element_of
from torch2mlir.engine_passes.in_place_of import as_tensor, replace

FUNCTIONS: Mapping[str, Callable[[Expr], Expr]] = {
    "onnx.Atanh": formulas.atanh,
    "onnx.Cosh": formulas.cosh,
    "onnx.Sinh": formulas.sinh,
    "onnx.Tan": formulas.tan,
}


class OnnxFunctionsByFormulasPass(PassForOps):
    """See the module's docstring."""

    name = "onnx-functions-by-formulas"
    looks_for = frozenset(FUNCTIONS)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if each.name in FUNCTIONS]:
            if element_of(each.results[0]) == f32:
                replace(each, partial(_formula, op=each), target="onnx")


class _WithoutCosh(OnnxWords):
    """The words, less the one that a formula for another has."""

    def has(self, word: str, dtype: Attribute) -> bool:
        return word != "cosh" and super().has(word, dtype)


def _formula(lower: OnnxLowering, op: Operation) -> list[Tensor | None]:
    x = Expr(_WithoutCosh(lower), as_tensor(op.operands[0]))
    found: Tensor = FUNCTIONS[op.name](x).value
    return [found]
