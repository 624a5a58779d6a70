"""Ops of the target dialects whose result is their first operand's elements, or a part of them, where they lie."""

from __future__ import annotations

RESHAPES = frozenset(
    {
        *("tensor.cast", "tensor.collapse_shape", "tensor.expand_shape", "tensor.reshape"),
        *("tosa.reshape", "stablehlo.reshape", "stablehlo.dynamic_reshape"),
    }
)
"""All elements in their order."""

SLICES = frozenset(
    {
        *("tensor.extract_slice", "tosa.slice", "stablehlo.slice"),
        *("stablehlo.dynamic_slice", "stablehlo.real_dynamic_slice"),
    }
)
"""A part, perhaps with steps."""
