"""``stablehlo-sorts-by-position``: equal elements stay in the order in which they are.

IREE 3.13 does not heed ``is_stable`` of ``stablehlo.sort``: of equal elements any comes first, so that the positions of
a stable sort are not PyTorch's, nor are the places of 0.0 and -0.0. Of two elements neither of which has to come first,
the one with the lesser position does here. What ``stablehlo-pack-sorts`` has packed has no equals.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerType, ModuleOp, TensorType, i1
from xdsl.ir import Operation, SSAValue

from torch2mlir.contract.element_types import si64
from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.tensors import element_of, integer, shape_of
from torch2mlir.engine_passes.in_place_of import as_tensor, replace

_COUNTS = ("stablehlo.iota", "stablehlo.dynamic_iota")


class StablehloSortsByPositionPass(PassForOps):
    """See the module's docstring."""

    name = "stablehlo-sorts-by-position"
    looks_for = frozenset({hlo.SortOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if isinstance(each, hlo.SortOp)]:
            if _is_stable(each) and _tells_equals_apart(each):
                replace(each, partial(_by_position, op=each))


def _is_stable(op: Operation) -> bool:
    """Whether that is asked for, of a dimension that is named."""
    has_both = {"dimension", "is_stable"} <= op.properties.keys()
    return has_both and bool(integer(op.properties["is_stable"]))


def _tells_equals_apart(op: Operation) -> bool:
    """Whether it can be seen which of two equal elements comes first, and their positions are known."""
    if _place_of_positions(op) is not None:
        return True
    is_integers = len(op.operands) == 1 and isinstance(element_of(op.operands[0]), IntegerType)
    return not is_integers and DYNAMIC_INDEX not in shape_of(op.operands[0])


def _place_of_positions(op: Operation) -> int | None:
    """Which operand counts along the dimension that is sorted."""
    for place, operand in enumerate(op.operands):
        count = operand.owner
        is_count = isinstance(count, Operation) and count.name in _COUNTS
        if is_count and count.properties["iota_dimension"] == op.properties["dimension"]:  # type: ignore[union-attr]
            return place
    return None


def _by_position(lower: StablehloLowering, op: Operation) -> list[Tensor | None]:
    operands, place = [*op.operands], _place_of_positions(op)
    if place is None:
        sizes, place = as_tensor(operands[0]).sizes, len(operands)
        operands.append(lower.iota(sizes, integer(op.properties["dimension"]), si64).value)
    types = [TensorType(element_of(x), []) for x in operands for _ in range(2)]

    def comes_first(*pairs: SSAValue) -> list[SSAValue]:
        turned = [pairs[index ^ 1] for index in range(len(pairs))]
        first, second = (_compared(lower, op, each) for each in (pairs, turned))
        earlier = lower.compare("lt", *(as_tensor(x) for x in pairs[2 * place : 2 * place + 2]))
        is_tie = lower.apply(hlo.NotOp, second)
        return [lower.apply(hlo.OrOp, first, lower.apply(hlo.AndOp, is_tie, earlier)).value]

    comparator = lower.region(types, comes_first)
    kinds = [x.type for x in operands]
    sort = lower.emit(hlo.SortOp, operands, kinds, op.properties, [comparator])
    return [as_tensor(x) for x in sort.results[: len(op.results)]]


def _compared(lower: StablehloLowering, op: Operation, values: Sequence[SSAValue]) -> Tensor:
    """What the comparator finds of other values, the positions aside that it has not been given."""
    block = op.regions[0].block
    known: dict[SSAValue, SSAValue] = dict(zip(block.args, values, strict=False))
    for each in block.ops:
        inner = [known.get(x, x) for x in each.operands]
        if isinstance(each, hlo.ReturnOp):
            return Tensor(inner[0], (), i1)
        new = lower.emit(type(each), inner, [x.type for x in each.results], each.properties)
        known.update(zip(each.results, new.results, strict=True))
    raise AssertionError("a comparator ends with a return")
