"""``stablehlo-products-of-one-term``: a ``dot_general`` over dimensions of size 1 is a product of elements, plus 0.

IREE 3.13 makes zeros of the product of a column that a reduction gives and a row, ``v = x.sum(1, keepdim=True); v @
v.mT``, where two reductions read it: what they read is what the product begins with. A sum of one term begins with 0,
as any does.
"""

from __future__ import annotations

from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ComplexType, ModuleOp, TensorType
from xdsl.ir import Attribute, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.rows import RowOp
from torch2mlir.dialects.tensors import element_of, shape_of
from torch2mlir.dialects.weights import dense_elements
from torch2mlir.engine_passes.beside import Beside


class StablehloProductsOfOneTermPass(PassForOps):
    """See the module's docstring."""

    name = "stablehlo-products-of-one-term"
    looks_for = frozenset({hlo.DotGeneralOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if isinstance(each, hlo.DotGeneralOp)]:
            if _has_one_term(each):
                _replace(each)


def _has_one_term(op: RowOp) -> bool:
    """Whether it sums over nothing, all sizes are known, and the operands have its dtype."""
    result, contracted = op.results[0], _fields(op)["lhs_contracting_dimensions"]
    sizes = shape_of(op.operands[0])
    return (
        all(DYNAMIC_INDEX not in shape_of(value) for value in (*op.operands, result))
        and all(element_of(value) == element_of(result) for value in op.operands)
        and prod(sizes[dim] for dim in contracted) == 1
    )


def _fields(op: RowOp) -> dict[str, list[int]]:
    fields: dict[str, list[int]] = op.dot_dimension_numbers.fields()
    return fields


def _replace(op: RowOp) -> None:
    before, fields, sizes = Beside(op), _fields(op), shape_of(op.results[0])
    type = TensorType(element_of(op.results[0]), sizes)
    rank, batch = len(sizes), len(fields["lhs_batching_dimensions"])
    factors = list[SSAValue]()
    for operand, side in zip(op.operands, ("lhs", "rhs"), strict=True):
        batched = fields[f"{side}_batching_dimensions"]
        contracted = fields[f"{side}_contracting_dimensions"]
        free = [d for d in range(len(shape_of(operand))) if d not in (*batched, *contracted)]
        first = batch if side == "lhs" else rank - len(free)
        places = [*range(batch), *range(first, first + len(free))]
        factors.append(_spread(before, operand, [*batched, *free], places, type))
    product = before.value(hlo.MulOp, factors, type)
    number = (0, 0) if isinstance(type.element_type, ComplexType) else 0
    zero = before.value(hlo.ConstantOp, [], type, {"value": dense_elements(type, [number])})
    before.replace(before.value(hlo.AddOp, [product, zero], type))


def _spread(
    before: Beside, x: SSAValue, dims: list[int], places: list[int], type: Attribute
) -> SSAValue:
    """A tensor with some of its dimensions, the others of size 1, at places of a larger one."""
    sizes, element = shape_of(x), element_of(x)
    if dims != sorted(dims):
        order = [*dims, *(d for d in range(len(sizes)) if d not in dims)]
        turned = TensorType(element, [sizes[d] for d in order])
        x = before.value(hlo.TransposeOp, [x], turned, {"permutation": hlo.i64_array(order)})
    kept = TensorType(element, [sizes[d] for d in dims])
    x = before.value(hlo.ReshapeOp, [x], kept)
    return before.value(
        hlo.BroadcastInDimOp, [x], type, {"broadcast_dimensions": hlo.i64_array(places)}
    )
