"""Sums of products over two operands: every matrix product and convolution, as one call of ``np.matmul``.

Halves are multiplied and summed in single precision and rounded once, as hardware and PyTorch do; ``bf16``
is held in single precision anyway. MLIR, read literally, would round after every addition.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineMap

from torch2mlir.runtime.reference.loops import loop_bounds, view
from torch2mlir.runtime.reference.values import Array, fit

PIECE_ELEMENTS = 1 << 24
"""How many elements of the left operand are laid out for one matrix product."""

EXACT_BITS = 16
"""Integers up to this width have products whose sums are exact in double precision, which is faster."""


def contract(
    left: Array,
    left_map: AffineMap,
    right: Array,
    right_map: AffineMap,
    init: Array,
    init_map: AffineMap,
    type_: Attribute,
) -> Array:
    """``init`` plus the products of the operands, summed over the loops ``init_map`` does not use.

    Args:
        left, right: operands that already have the numeric type to multiply in.
        init: what to add to; its map gives the parallel loops.
        type_: the type of the result.
    """
    bounds = loop_bounds([left, right, init], [left_map, right_map, init_map])
    if 0 in bounds:
        return init
    total = np.array(init, dtype=_accumulator(init))
    parallel = init_map.used_dims()
    for box in _pieces(bounds, left_map, parallel):
        a, b = view(left, left_map, box), view(right, right_map, box)
        window = view(total, init_map, box, writeable=True)
        window += _sum_of_products(a, b, [len(r) for r in box], parallel).astype(total.dtype)
    return fit(total, type_)


def _accumulator(init: Array) -> np.dtype[Any]:
    if init.dtype == np.float16:
        return np.dtype(np.float32)
    return np.dtype(np.int64) if init.dtype == np.bool_ else init.dtype


def _pieces(
    bounds: Sequence[int], left_map: AffineMap, parallel: set[int]
) -> list[tuple[range, ...]]:
    """The iteration space, cut along one parallel loop of the left operand when that would be large."""
    whole = [range(bound) for bound in bounds]
    used = left_map.used_dims()
    count = math.ceil(math.prod(bounds[d] for d in used) / PIECE_ELEMENTS)
    if count == 1 or not used & parallel:
        return [tuple(whole)]
    loop = max(used & parallel, key=lambda d: bounds[d])
    step = math.ceil(bounds[loop] / count)
    starts = range(0, bounds[loop], step)
    cuts = [range(start, min(start + step, bounds[loop])) for start in starts]
    return [tuple([*whole[:loop], cut, *whole[loop + 1 :]]) for cut in cuts]


def _sum_of_products(a: Array, b: Array, sizes: Sequence[int], parallel: set[int]) -> Array:
    """Multiplies operands with one axis per loop and sums over the loops that are not parallel.

    An operand has size 1 along a loop it does not depend on; so does the result along the summed ones.
    """
    loops = range(len(sizes))
    alone_a = tuple(d for d in loops if d not in parallel and b.shape[d] == 1 < a.shape[d])
    alone_b = tuple(d for d in loops if d not in parallel and a.shape[d] == 1 < b.shape[d])
    repeats = math.prod(
        sizes[d] for d in loops if d not in parallel and a.shape[d] == b.shape[d] == 1
    )
    a, b = _multiplicand(a, alone_a), _multiplicand(b, alone_b)
    batch = [d for d in loops if d in parallel and a.shape[d] > 1 and b.shape[d] > 1]
    rows = [d for d in loops if d in parallel and b.shape[d] == 1 < a.shape[d]]
    columns = [d for d in loops if d in parallel and a.shape[d] == 1 < b.shape[d]]
    summed = [d for d in loops if d not in parallel and a.shape[d] > 1]
    product = np.matmul(_matrix(a, batch, rows, summed), _matrix(b, batch, summed, columns))
    if repeats != 1:
        product = product * product.dtype.type(repeats)
    order = [*batch, *rows, *columns]
    rest = [d for d in loops if d not in order]
    full = product.reshape([sizes[d] for d in order] + [1] * len(rest))
    return full.transpose(np.argsort([*order, *rest]))


def _multiplicand(array: Array, alone: tuple[int, ...]) -> Array:
    """An operand in the dtype it is multiplied in, summed over the loops that only it has."""
    if array.dtype == np.float16:
        array = array.astype(np.float32)
    elif array.dtype.kind == "b" or (
        array.dtype.kind in "iu" and array.dtype.itemsize * 8 <= EXACT_BITS
    ):
        array = array.astype(np.float64)
    return array.sum(axis=alone, keepdims=True, dtype=array.dtype) if alone else array


def _matrix(array: Array, *groups: Sequence[int]) -> Array:
    """An operand as a stack of matrices, each group of axes flattened into one."""
    order = [axis for group in groups for axis in group]
    rest = [axis for axis in range(array.ndim) if axis not in order]
    shape = [math.prod(array.shape[axis] for axis in group) for group in groups]
    return array.transpose([*order, *rest]).reshape(shape)
