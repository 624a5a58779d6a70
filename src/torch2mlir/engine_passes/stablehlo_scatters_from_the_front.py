"""``stablehlo-scatters-from-the-front``: a scatter writes at positions of the first dimensions.

IREE 3.13 refuses a scatter at positions of two dimensions and more that are not the first
(``x[:, i, j] = v``). The dimensions that the positions tell come first here, in order, those that are written whole
behind them, and all is put back after it.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.tensors import element_of, shape_of
from torch2mlir.engine_passes.beside import Beside


class StablehloScattersFromTheFrontPass(PassForOps):
    """See the module's docstring."""

    name = "stablehlo-scatters-from-the-front"
    looks_for = frozenset({hlo.ScatterOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if isinstance(each, hlo.ScatterOp)]:
            if len(each.results) == 1 and _is_behind(each):
                _bring_to_the_front(each)


def _is_behind(op: Operation) -> bool:
    """Whether a scatter of elements, or of whole lines, is at positions of several dimensions, not the first."""
    numbers = op.properties["scatter_dimension_numbers"].fields()  # type: ignore[attr-defined]
    axes = numbers["scatter_dims_to_operand_dims"]
    is_plain = sorted(axes) == list(numbers["inserted_window_dims"])
    is_first = list(axes) == list(range(len(axes)))
    return is_plain and not numbers["input_batching_dims"] and len(axes) > 1 and not is_first


def _bring_to_the_front(op: Operation) -> None:
    before = Beside(op)
    numbers = op.properties["scatter_dimension_numbers"].fields()  # type: ignore[attr-defined]
    axes, window = numbers["scatter_dims_to_operand_dims"], numbers["update_window_dims"]
    x, places, updates = op.operands
    order = [*axes, *_others(x, axes)]
    back = [order.index(dim) for dim in range(len(order))]
    x = _transposed(before, x, order)
    updates = _transposed(before, updates, [*_others(updates, window), *window])
    rank = len(shape_of(updates))
    first = list(range(len(axes)))
    numbers |= {
        "update_window_dims": list(range(rank - len(window), rank)),
        "inserted_window_dims": first,
        "scatter_dims_to_operand_dims": first,
    }
    properties = {
        **op.properties,
        "scatter_dimension_numbers": hlo.ScatterDimensionNumbersAttr(**numbers),
    }
    body = op.detach_region(op.regions[0])
    written = before.value(hlo.ScatterOp, [x, places, updates], x.type, properties, [body])
    before.replace(_transposed(before, written, back))


def _others(x: SSAValue, dims: Sequence[int]) -> list[int]:
    return [dim for dim in range(len(shape_of(x))) if dim not in dims]


def _transposed(before: Beside, x: SSAValue, order: Sequence[int]) -> SSAValue:
    sizes = shape_of(x)
    type = TensorType(element_of(x), [sizes[dim] for dim in order])
    return before.value(hlo.TransposeOp, [x], type, {"permutation": hlo.i64_array(order)})
