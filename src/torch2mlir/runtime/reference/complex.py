"""``complex`` on arrays of numpy's complex dtypes."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from torch2mlir.runtime.reference.arith import as_held, register_elementwise
from torch2mlir.runtime.reference.interpreter import ReferenceInterpreter, implements
from torch2mlir.runtime.reference.values import Array, dtype_of


def _sign(a: Array) -> Array:
    magnitude = np.abs(a)
    return np.where(magnitude == 0, a, a / np.where(magnitude == 0, 1, magnitude))


def _atan2(a: Array, b: Array) -> Array:
    return -1j * np.log((b + 1j * a) / np.sqrt(a * a + b * b))


register_elementwise(
    {
        "complex.abs": np.abs,
        "complex.add": np.add,
        "complex.angle": np.angle,
        "complex.atan2": _atan2,
        "complex.conj": np.conj,
        "complex.cos": np.cos,
        "complex.div": np.divide,
        "complex.eq": np.equal,
        "complex.exp": np.exp,
        "complex.expm1": np.expm1,
        "complex.im": np.imag,
        "complex.log": np.log,
        "complex.log1p": np.log1p,
        "complex.mul": np.multiply,
        "complex.neg": np.negative,
        "complex.neq": np.not_equal,
        "complex.pow": np.power,
        "complex.powi": lambda a, n: np.power(a, n.astype(a.real.dtype)),
        "complex.re": np.real,
        "complex.rsqrt": lambda a: 1 / np.sqrt(a),
        "complex.sign": _sign,
        "complex.sin": np.sin,
        "complex.sqrt": np.sqrt,
        "complex.sub": np.subtract,
        "complex.tan": np.tan,
        "complex.tanh": np.tanh,
    },
    as_held,
)


@implements("complex.create")
def create(_: ReferenceInterpreter, op: Operation, real: Array, imaginary: Array) -> Array:
    """A number from its parts, kept apart so that infinities and NaN stay where they are."""
    real, imaginary = np.broadcast_arrays(real, imaginary)
    number = np.empty(real.shape, dtype_of(op.results[0].type))
    number.real, number.imag = real, imaginary
    return number
