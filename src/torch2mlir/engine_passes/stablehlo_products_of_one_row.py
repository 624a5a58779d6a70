"""``stablehlo-products-of-one-row``: one row times a transposed matrix contracts the matrix's other dimension.

XLA on the CPU (jaxlib 0.10.2) folds transposes into products of several rows. A single row it takes for a vector first,
and the transpose then becomes part of a loop that adds up one element after the other: the products of a token of a
Llama of 2048 took 2.5 times as long as in eager mode. ``torch.compile`` hands over a linear layer in this way.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.rows import RowOp
from torch2mlir.dialects.tensors import shape_of


class StablehloProductsOfOneRowPass(PassForOps):
    """See the module's docstring."""

    name = "stablehlo-products-of-one-row"
    looks_for = frozenset({hlo.DotGeneralOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if isinstance(each, hlo.DotGeneralOp)]:
            sizes = shape_of(each.result)
            if len(sizes) == 2 and 1 in sizes and not _is_batched(each):
                _fold(each)


def _is_batched(op: RowOp) -> bool:
    return bool(op.dot_dimension_numbers.fields()["lhs_batching_dimensions"])


def _fold(op: RowOp) -> None:
    """Reads matrices as they were before they were transposed."""
    fields = op.dot_dimension_numbers.fields()
    for place, side in enumerate(("lhs_contracting_dimensions", "rhs_contracting_dimensions")):
        matrix = _transposed(op.operands[place])
        if matrix is not None and len(fields[side]) == 1:
            op.operands[place] = matrix
            fields[side] = [1 - fields[side][0]]
    op.properties["dot_dimension_numbers"] = hlo.DotDimensionNumbersAttr(**fields)


def _transposed(value: SSAValue) -> SSAValue | None:
    """The matrix that a value is the transpose of."""
    op = value.owner
    if isinstance(op, hlo.TransposeOp) and len(shape_of(value)) == 2:
        return op.operands[0] if list(op.permutation.get_values()) == [1, 0] else None
    return None
