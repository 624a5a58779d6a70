"""What special functions are written in: polynomials, Chebyshev series, and functions of floats in PyTorch's types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import torch
from torch import Tensor
from torch._higher_order_ops.while_loop import while_loop_op

_HALVES = (torch.float16, torch.bfloat16)


def polynomial(x: Tensor, coefficients: Sequence[float]) -> Tensor:
    """A polynomial by Horner's rule, the highest power first."""
    result: Any = coefficients[0]
    for coefficient in coefficients[1:]:
        result = result * x + coefficient
    return result


def chebyshev_series(x: Tensor, coefficients: Sequence[float]) -> Tensor:
    """Half of ``sum c[n] T_n(x / 2)`` by Clenshaw's recurrence, the highest order first.

    The convention of Cephes (``chbevl``, https://www.netlib.org/cephes/). Orders too small for the element type to
    notice are left out.
    """
    least = torch.finfo(x.dtype).eps * max(map(abs, coefficients)) / 64
    start = next(i for i, coefficient in enumerate(coefficients) if abs(coefficient) > least)
    last: Any = 0.0
    before: Any = 0.0
    current: Any = coefficients[start]
    for coefficient in coefficients[start + 1 :]:
        before, last = last, current
        current = x * last - before + coefficient
    return 0.5 * (current - before)


def iterate(
    unfinished: Callable[..., Any], step: Callable[..., Sequence[Any]], *carried: Any
) -> Sequence[Any]:
    """``carried = step(*carried)`` while ``unfinished(*carried)``, a loop of the program's; shapes and dtypes stay."""

    def body(*tensors: Any) -> tuple[Any, ...]:
        return tuple(map(_laid_out, step(*tensors)))

    result: Sequence[Any] = while_loop_op(unfinished, body, tuple(map(_laid_out, carried)), ())
    return result


def _laid_out(x: Any) -> Any:
    """A tensor of its own with the strides of its shape: a loop carries no views."""
    return x.clone(memory_format=torch.contiguous_format)


def on_floats(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of float tensors as one of any: integers are converted, half precision computes in float32."""

    @wraps(function)
    def converted(*operands: Any) -> Tensor:
        dtype = torch.result_type(*operands) if len(operands) == 2 else operands[0].dtype
        dtype = dtype if dtype.is_floating_point else torch.get_default_dtype()
        computed = torch.float32 if dtype in _HALVES else dtype
        result = function(*(_as(operand, computed) for operand in operands))
        return result if computed == dtype else result.to(dtype)

    return converted


def _as(operand: Tensor, dtype: torch.dtype) -> Tensor:
    if not torch.is_tensor(operand):
        return torch.full([], operand, dtype=dtype)
    return operand if operand.dtype == dtype else operand.to(dtype)
