"""``affine`` on index values, as canonicalization of other MLIR tools leaves it in their programs."""

from __future__ import annotations

from functools import reduce
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import Operation

from torch2mlir.runtime.reference.interpreter import ReferenceInterpreter, attribute, implements
from torch2mlir.runtime.reference.loops import evaluate
from torch2mlir.runtime.reference.values import Array


def _results(op: Operation, operands: tuple[Array, ...]) -> list[Any]:
    map_ = cast(AffineMapAttr, attribute(op, "map")).data
    dims, symbols = operands[: map_.num_dims], operands[map_.num_dims :]
    return [evaluate(expr, dims, symbols) for expr in map_.results]


@implements("affine.apply")
def apply(_: ReferenceInterpreter, op: Operation, *operands: Array) -> Array:
    """The value of an affine map."""
    return np.asarray(_results(op, operands)[0])


@implements("affine.min")
def minimum(_: ReferenceInterpreter, op: Operation, *operands: Array) -> Array:
    """The least of an affine map's values."""
    return np.asarray(reduce(np.minimum, _results(op, operands)))


@implements("affine.max")
def maximum(_: ReferenceInterpreter, op: Operation, *operands: Array) -> Array:
    """The greatest of an affine map's values."""
    return np.asarray(reduce(np.maximum, _results(op, operands)))
