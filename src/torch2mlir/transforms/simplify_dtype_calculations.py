"""``torch-simplify-dtype-calculations``: dtypes from ``torch.dtype.calculate``, as far as they fold to constants."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.object_graph import DtypeCalculateOp
from torch2mlir.dialects.torch.tensor_facts import DTYPE_NUMBERS
from torch2mlir.transforms.typing.calculations import simplify_calculations

_ELEMENT_TYPES = {number: type for type, number in DTYPE_NUMBERS.items()}


def _element_type(calculated: object) -> t.AnyTensorType | None:
    """The tensor type with the dtype of a number."""
    known = isinstance(calculated, int) and calculated in _ELEMENT_TYPES
    return t.vtensor(None, _ELEMENT_TYPES[calculated]) if known else None  # type: ignore[index]


@dataclass(frozen=True)
class SimplifyDtypeCalculationsPass(ModulePass):
    """See the module's docstring."""

    name = "torch-simplify-dtype-calculations"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        simplify_calculations(op, DtypeCalculateOp, _element_type)
