"""Dropout in its variants: masks of random bits, elements or whole channels, and what keeps the statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.types import Number

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten


def _kept(a: Tensor, size: Sequence[Any], p: float) -> Tensor:
    """Which of ``size`` elements stay, each with probability ``1 - p``."""
    return torch.rand(size, dtype=torch.float32, device=a.device) >= p


def _channels(a: Tensor) -> list[Any]:
    """One element per batch and channel, to be broadcast over the rest."""
    return [*a.shape[:2], *(1 for _ in a.shape[2:])]


def _scaled(a: Tensor, kept: Tensor, p: float) -> Tensor:
    return a * kept.to(a.dtype) * (1 / (1 - p) if p < 1 else 0.0)


@decomposes(aten.native_dropout.default)
def _native_dropout(a: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    if train is False or p == 0:
        return a.clone(), torch.ones_like(a, dtype=torch.bool)
    kept = _kept(a, a.shape, p)
    return _scaled(a, kept, p), kept


@decomposes(aten.native_dropout_backward.default, gives_dtype=True)
def _native_dropout_backward(gradient: Tensor, kept: Tensor, scale: float) -> Tensor:
    return gradient * kept * scale


@decomposes(aten.dropout.default)
def _dropout(a: Tensor, p: float, train: bool) -> Tensor:
    return _scaled(a, _kept(a, a.shape, p), p) if train and p else a.clone()


@decomposes(aten.feature_dropout.default)
def _feature_dropout(a: Tensor, p: float, train: bool) -> Tensor:
    return _scaled(a, _kept(a, _channels(a), p), p) if train and p else a.clone()


def _alpha_scaled(a: Tensor, size: Sequence[Any], p: float) -> Tensor:
    """Dropped elements become the negative saturation value of SELU, then mean and variance are restored.

    Source: Klambauer et al., "Self-normalizing neural networks", 2017, section 2.
    """
    if p == 1:
        return torch.zeros_like(a)
    alpha = 1.7580993408473766
    scale = ((alpha**2 * p + 1) * (1 - p)) ** -0.5
    value = torch.where(_kept(a, size, p), a, torch.full((), -alpha, dtype=a.dtype))
    return value * scale + alpha * scale * p


@decomposes(aten.alpha_dropout.default)
def _alpha_dropout(a: Tensor, p: float, train: bool) -> Tensor:
    return _alpha_scaled(a, a.shape, p) if train and p else a.clone()


@decomposes(aten.feature_alpha_dropout.default)
def _feature_alpha_dropout(a: Tensor, p: float, train: bool) -> Tensor:
    return _alpha_scaled(a, _channels(a), p) if train and p else a.clone()


@decomposes(aten.rrelu_with_noise_functional.default)
def _rrelu_with_noise(
    a: Tensor,
    noise: Tensor,
    lower: Number = 0.125,
    upper: Number = 1 / 3,
    training: bool = False,
    generator: None = None,
) -> tuple[Tensor, Tensor]:
    """A slope drawn for each negative element in training, the mean one otherwise; the noise is the slope."""
    if not training:
        return aten.leaky_relu(a, (lower + upper) / 2), noise.clone()
    slope = torch.rand_like(a) * (upper - lower) + lower
    slope = torch.where(a <= 0, slope, torch.ones_like(a))
    return a * slope, slope


@decomposes(aten.rrelu_with_noise.default)
def _rrelu(
    a: Tensor,
    noise: Tensor,
    lower: Number = 0.125,
    upper: Number = 1 / 3,
    training: bool = False,
    generator: None = None,
) -> Tensor:
    return _rrelu_with_noise(a, noise, lower, upper, training)[0]


@decomposes(aten.rrelu.default)
def _rrelu_alone(
    a: Tensor,
    lower: Number = 0.125,
    upper: Number = 1 / 3,
    training: bool = False,
    generator: None = None,
) -> Tensor:
    return _rrelu_with_noise(a, torch.empty_like(a), lower, upper, training)[0]
