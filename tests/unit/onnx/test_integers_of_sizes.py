"""Integers that OpenVINO computes from sizes: it holds them in 32 bits, and products with constants left those."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import torch2mlir

Of = Callable[[Tensor], Tensor]


def _compiled(function: Of) -> Any:
    shapes = ({0: torch.export.Dim.AUTO},)
    return torch2mlir.compile(
        function, torch.ones(4), output_type="onnx", engine="openvino", dynamic_shapes=shapes
    )


REFUSED: dict[str, Of] = {
    "integers": lambda x: torch.arange(x.shape[0]) * 1_000_000,
    "floats": lambda x: (torch.arange(x.shape[0]).float() * 1e6).long(),
    "size": lambda x: x.shape[0] * 1_000_000 + torch.zeros(2, dtype=torch.int64),
    "compared": lambda x: torch.arange(x.shape[0]) * 1000 == 16777217,
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_may_leave_32_bits_is_refused(name: str) -> None:
    with pytest.raises(torch2mlir.EngineError, match="32 bits"):
        _compiled(REFUSED[name])(torch.ones(4))


def test_dimensions_have_a_limit() -> None:
    """Up to which the products are right."""

    def thousands(x: Tensor) -> Tensor:
        return torch.arange(x.shape[0]) * 1000 + x.shape[0]

    compiled = _compiled(thousands)
    for size in (4, 70_000, 1 << 20):
        assert torch.equal(compiled(torch.ones(size)), thousands(torch.ones(size)))
    with pytest.raises(torch2mlir.InputError, match=r"for dimensions up to 1048576"):
        compiled(torch.ones((1 << 20) + 1))


PLACES: dict[str, Of] = {
    "multiplied": lambda x: x.flatten().argmax() * 100,
    "compared": lambda x: x.flatten().argmax() == 20_000_001,
    "of the largest": lambda x: x.flatten().max(0).indices * 100,
}


@pytest.mark.parametrize("name", PLACES)
def test_places_in_what_is_flattened_have_none(name: str) -> None:
    """A product of two dimensions is longer than each: 25 million places are no floats of 32 bits."""
    auto = torch.export.Dim.AUTO
    compiled = torch2mlir.compile(
        *(PLACES[name], torch.randn(3, 4)),
        output_type="onnx",
        engine="openvino",
        dynamic_shapes=({0: auto, 1: auto},),
    )
    with pytest.raises(torch2mlir.EngineError, match="32 bits"):
        compiled(torch.randn(3, 4))


TAKEN: dict[str, Of] = {
    "mask": lambda x: torch.where(torch.arange(len(x)) <= torch.arange(len(x)).flip(0), x, 0),
    "pairs": lambda x: torch.cat([x, x]).reshape(-1, 2) * torch.arange(x.numel())[:, None],
    "places": lambda x: x[(torch.arange(len(x)) * 0.5).long()],
}


@pytest.mark.parametrize("name", TAKEN)
def test_what_stays_within_is_taken(name: str) -> None:
    compiled = _compiled(TAKEN[name])
    for size in (4, 9, 1001):
        x = torch.randn(size)
        assert torch.equal(compiled(x), TAKEN[name](x))
