"""Products with weights as ``linalg.mmt4d``: the weight in the order in which the kernel reads it.

IREE's data tiling rearranges both operands of a product at every call. What is rearranged of a weight here is a
function of the weight alone, so ``prepare-weights`` moves it to ``@main_prepare``, and a call reads every element once:
1.3 times as fast for 128 rows of 768 x 3072, 1.2 times for 197, 5 times for 4 (one core with AVX-512, the products
alone). It costs a second copy of the weights beside PyTorch's.

The tiles are those that IREE chooses: as many columns as a vector has elements (K is not cut), and eight rows, with
fewer in all the next power of two. A product of one row stays: it reads the weight once as it lies.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseIntOrFPElementsAttr, FloatAttr, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_linalg.linear import TRANSPOSED_RHS, product
from torch2mlir.conversion.torch_to_linalg.lowering import LinalgLowering
from torch2mlir.dialects import linalg, tosa
from torch2mlir.dialects.tensors import element_of, integers, shape_of
from torch2mlir.engine_passes.in_place_of import as_tensor, replace

_ROWS = 8


class _Product(NamedTuple):
    """``[M, K]`` times a weight.

    Attributes:
        rows: ``[M, K]``, or ``[1, M, K]``.
        weight: an argument of the function.
        is_turned: whether that is ``[N, K]``.
    """

    rows: SSAValue
    weight: SSAValue
    is_turned: bool


@dataclass(frozen=True)
class _Tiles:
    """What weights are made into.

    Attributes:
        columns: of a tile.
        made: of each weight, and whether it is turned: one that every step of a loop written out multiplies with is
            made once.
    """

    columns: int
    made: dict[tuple[SSAValue, bool], Tensor] = field(default_factory=dict)


def pack_weights(function: FuncOp, weights: Collection[int], columns: int) -> None:
    """Rearranges the products of a function with its weights; in place.

    Args:
        function: of one block, Linalg-on-Tensors or TOSA.
        weights: positions of the arguments that stay the same over many calls.
        columns: of a tile: the elements of a vector of the machine.
    """
    block = function.body.block
    known = {block.args[position] for position in weights}
    tiles = _Tiles(columns)
    for op in list(block.ops):
        found = _product_of(op)
        if found is not None and found.weight in known and _fits(found, columns):
            build = partial(_packed, op=op, found=found, tiles=tiles)
            replace(op, build, "linalg-on-tensors")


def _product_of(op: Operation) -> _Product | None:
    """A product of two matrices that accumulates into zeros."""
    if isinstance(op, linalg.MatmulOp):
        maps = op.properties.get("indexing_maps")
        is_turned = maps == TRANSPOSED_RHS
        if maps is None or is_turned:
            rows, weight, init = op.operands
            return _Product(rows, weight, is_turned) if _is_zero(init) else None
    if isinstance(op, tosa.MatMulOp) and shape_of(op.operands[0])[0] == 1:
        flat = op.operands[1].owner
        if isinstance(flat, tosa.ReshapeOp) and _adds_a_dimension(flat):
            turned = flat.operands[0].owner
            if not isinstance(turned, tosa.TransposeOp):
                return _Product(op.operands[0], flat.operands[0], False)
            if list(integers(turned.properties["perms"])) == [1, 0]:
                return _Product(op.operands[0], turned.operands[0], True)
    return None


def _adds_a_dimension(op: Operation) -> bool:
    """Whether a reshape puts a dimension of 1 before a matrix, and does not make another matrix of it."""
    return list(shape_of(op.results[0])) == [1, *shape_of(op.operands[0])]


def _is_zero(init: SSAValue) -> bool:
    fill = init.owner
    if not isinstance(fill, Operation) or fill.name != "linalg.fill":
        return False
    constant = fill.operands[0].owner
    value = constant.value if isinstance(constant, ConstantOp) else None
    if isinstance(value, DenseIntOrFPElementsAttr):
        return all(number == 0 for number in value.get_values())
    return isinstance(value, FloatAttr) and value.value.data == 0


def _fits(found: _Product, least: int) -> bool:
    """Whether a product is one of f32 with more than one row, and of a tile of columns at least."""
    sizes, weight = shape_of(found.rows), shape_of(found.weight)
    if DYNAMIC_INDEX in (*sizes, *weight) or 0 in (*sizes, *weight) or len(weight) != 2:
        return False
    if any(element_of(value) != f32 for value in (found.rows, found.weight)):
        return False
    columns = weight[0] if found.is_turned else weight[1]
    return sizes[-2] > 1 and columns >= least


def _packed(lower: LinalgLowering, op: Operation, found: _Product, tiles: _Tiles) -> list[Tensor]:
    x, key = as_tensor(found.rows), (found.weight, found.is_turned)
    count, depth = shape_of(found.rows)[-2:]
    tile = min(_ROWS, 1 << (count - 1).bit_length())
    padded = -(-count // tile) * tile
    rows = lower.reshape(x, [count, depth])
    if padded != count:
        rows = lower.padded(rows, [0, 0], [padded - count, 0], 0)
    blocks = lower.reshape(rows, [padded // tile, tile, depth])
    left = _of_terms(lower, lower.transpose(blocks, [0, 2, 1]))
    if key not in tiles.made:
        tiles.made[key] = _in_tiles(lower, as_tensor(found.weight), found.is_turned, tiles.columns)
    right = _of_terms(lower, tiles.made[key])
    sizes = [padded // tile, right.sizes[0], tile, right.sizes[2]]
    result = product(lower, linalg.Mmt4dOp, left, right, lower.full(0, sizes, f32))
    columns, tiled = shape_of(op.results[0])[-1], shape_of(right.value)[0] * tiles.columns
    flat = lower.reshape(lower.transpose(result, [0, 2, 1, 3]), [padded, tiled])
    if (padded, tiled) != (count, columns):
        flat = lower.sliced(flat, [0, 0], [count, columns], [1, 1])
    return [lower.reshape(flat, shape_of(op.results[0]))]


def _in_tiles(lower: LinalgLowering, weight: Tensor, is_turned: bool, tile: int) -> Tensor:
    """``[N / tile, K, tile]``, the last tile filled up with zeros."""
    sizes, axis = shape_of(weight.value), 0 if is_turned else 1
    if missing := -sizes[axis] % tile:
        high = [0, 0]
        high[axis] = missing
        weight = lower.padded(weight, [0, 0], high, 0)
    count = (sizes[axis] + missing) // tile
    if is_turned:
        return lower.transpose(lower.reshape(weight, [count, tile, sizes[1]]), [0, 2, 1])
    return lower.transpose(lower.reshape(weight, [sizes[0], count, tile]), [1, 0, 2])


def _of_terms(lower: LinalgLowering, x: Tensor) -> Tensor:
    """With a last dimension: how many terms of a sum lie side by side."""
    return lower.reshape(x, [*x.sizes, 1])
