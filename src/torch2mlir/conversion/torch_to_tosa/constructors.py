"""Tensors made of numbers, as constants where everything is known."""

from __future__ import annotations

from typing import Any

from torch2mlir.conversion import constructors
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering, lowers


@lowers("aten.arange.start_step")
def arange(lower: TosaLowering, start: Any, end: Any, step: Any, *_: object) -> Tensor:
    """``start + i * step``."""
    (size,), dtype = lower.out.sizes, lower.out.dtype
    if all(isinstance(number, int | float) for number in (start, step, size)):
        return lower.elements([start + i * step for i in range(size)], (size,), dtype)  # type: ignore[arg-type]
    return constructors.arange(lower, start, end, step)
