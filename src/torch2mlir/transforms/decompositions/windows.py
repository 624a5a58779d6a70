"""Window functions of signal processing: https://pytorch.org/docs/stable/torch.html#spectral-ops."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten

Window = Callable[..., Tensor]
"""``window(steps, last, *parameters)``: the window at ``steps`` of a symmetric window that ends at ``last``."""


def _cosines(steps: Tensor, last: float, *weights: float) -> Tensor:
    """``w0 - w1 cos(x) + w2 cos(2 x)`` with ``x`` going once around."""
    total = torch.full_like(steps, weights[0])
    for harmonic, weight in enumerate(weights[1:], 1):
        angle = steps * (2 * math.pi * harmonic / last)
        total = total + (-weight if harmonic % 2 else weight) * torch.cos(angle)
    return total


def _bartlett(steps: Tensor, last: float) -> Tensor:
    return 1 - (steps * (2 / last) - 1).abs()


def _hamming(steps: Tensor, last: float, alpha: float = 0.54, beta: float = 0.46) -> Tensor:
    return _cosines(steps, last, alpha, beta)


def _blackman(steps: Tensor, last: float) -> Tensor:
    return _cosines(steps, last, 0.42, 0.5, 0.08)


def _hann(steps: Tensor, last: float) -> Tensor:
    return _cosines(steps, last, 0.5, 0.5)


def _kaiser(steps: Tensor, last: float, beta: float = 12.0) -> Tensor:
    ratio = steps * (2 / last) - 1
    inside = torch.clamp(1 - ratio * ratio, min=0.0)
    return torch.special.i0(beta * torch.sqrt(inside)) / torch.special.i0(
        torch.full_like(steps, beta)
    )


def _register(name: str, window: Window) -> None:
    packet = getattr(aten, f"{name}_window")
    for overload in packet.overloads():
        if not overload.endswith("out"):
            decomposes(getattr(packet, overload))(_of_length(window))


def _of_length(window: Window) -> Callable[..., Tensor]:
    def of_length(
        length: int, periodic: bool = True, *parameters: float, dtype: Any = None, **_: object
    ) -> Tensor:
        """A periodic window of a length is the symmetric one that is one longer, without its end."""
        wanted = dtype or torch.get_default_dtype()
        if length <= 1:
            return torch.ones(length, dtype=wanted)
        steps = torch.arange(
            length, dtype=torch.float64 if wanted is torch.float64 else torch.float32
        )
        return window(steps, length if periodic else length - 1, *parameters).to(wanted)

    return of_length


for _name, _window in {
    "bartlett": _bartlett,
    "blackman": _blackman,
    "hamming": _hamming,
    "hann": _hann,
    "kaiser": _kaiser,
}.items():
    _register(_name, _window)
