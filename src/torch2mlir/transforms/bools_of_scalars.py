"""``torch-bools-to-integers`` and ``torch-integers-to-bools``: the Python bools among an op's numbers.

A number that PyTorch's schemas call ``Scalar`` may be a bool (``mask & True``, ``torch.full(sizes, True)``), and the
dtype of a result depends on that. In Torch-MLIR's dialect it is an integer or a float; its importer writes
``torch.aten.Int.bool`` in front of a bool. The first pass writes it so too, where text for other tools ends; the second
reads it back.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp
from xdsl.ir import Operation

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects.placing import place_before
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.schema import find_schema

_INTEGER_OF = "torch.aten.Int.bool"


class BoolsToIntegersPass(PassForOps):
    """Makes integers of the bools that are numbers of tensor ops."""

    name = "torch-bools-to-integers"
    looks_for = frozenset({core.ConstantBoolOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(op.walk()):
            for place in _scalars(each):
                value = each.operands[place]
                if isinstance(value.type, t.BoolType):
                    integer = core.build(_INTEGER_OF, [value], [t.int_type])
                    integer.location = each.location
                    place_before(each, integer)
                    each.operands[place] = integer.results[0]


class IntegersToBoolsPass(PassForOps):
    """Takes the bools themselves, where a result of booleans shows that they were meant."""

    name = "torch-integers-to-bools"
    looks_for = frozenset({_INTEGER_OF})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(op.walk()):
            for place in _scalars(each):
                made = each.operands[place].owner
                if isinstance(made, Operation) and made.name == _INTEGER_OF and _is_mask(each):
                    each.operands[place] = made.operands[0]


def _scalars(op: Operation) -> Iterator[int]:
    """The operands that are numbers which a tensor is computed with."""
    schema = find_schema(op.name)
    if schema is None or not any(returned.is_tensor for returned in schema.returns):
        return
    for place, argument in enumerate(schema.arguments[: len(op.operands)]):
        if argument.type.removesuffix("?") == "Scalar":
            yield place


def _is_mask(op: Operation) -> bool:
    type = op.results[0].type
    return isinstance(type, t.AnyTensorType) and type.dtype == IntegerType(1)
