"""Sorting on OpenVINO, whose own way does not keep the order of equal elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.export import Dim
from torch.utils import _pytree as pytree

import torch2mlir
from torch2mlir.errors import EngineError


def _sorted(x: Tensor) -> Any:
    return (
        x.sort(dim=-1, stable=True),
        x.sort(dim=0, descending=True, stable=True),
        (x > 0).sort(dim=1, stable=True),
        x.argsort(dim=1, stable=True).argsort(1),
        x.topk(3, 1)[0],
        x.log().sort(dim=1, stable=True),  # with what is no number
    )


def _narrow(x: Tensor) -> Any:
    """Integers, among them those that a float of 32 bits does not hold."""
    near = (x * 3).to(torch.int32) + (1 << 30)
    return (
        near.sort(dim=1, stable=True),
        near.topk(2, 1)[0],
        x.to(torch.int8).sort(dim=0, stable=True),
    )


def _by_branch(x: Tensor) -> Tensor:
    def up(x: Tensor) -> Tensor:
        return x.argsort(dim=1, stable=True)

    def down(x: Tensor) -> Tensor:
        return x.argsort(dim=1, descending=True, stable=True)

    return torch.cond(x[1].sum() > 0, up, down, (x,))


@pytest.mark.share(2)
@pytest.mark.parametrize("shape", [(4, 9), (3, 90)])
@pytest.mark.parametrize("function", [_sorted, _narrow, _by_branch])
def test_equals_keep_their_order(function: Callable[[Tensor], Any], shape: tuple[int, int]) -> None:
    compiled = torch2mlir.compile(
        function, torch.zeros(shape), output_type="onnx", engine="openvino"
    )
    for number in range(4):
        x = torch.randint(-2, 3, shape).float()
        if number == 3:
            x[0, :3] = torch.tensor([torch.inf, -torch.inf, -0.0])
        found, wanted = (pytree.tree_leaves(f(x.clone())) for f in (compiled, function))
        assert all(a.equal(b) or a.allclose(b, equal_nan=True) for a, b in zip(found, wanted))
        assert all(a.dtype == b.dtype for a, b in zip(found, wanted))


def test_routing_by_the_largest() -> None:
    """As in mixtures of experts: positions are read again, as indices and in arithmetic."""

    def routed(x: Tensor) -> Tensor:
        weights, experts = x.softmax(1).topk(2)
        chosen = torch.zeros_like(x).scatter(1, experts, weights)
        mixed = sum(x * (weights * (experts == each)).sum(-1, keepdim=True) for each in range(4))
        return chosen + mixed + (experts * 10 + 1).sum(1, keepdim=True)

    compiled = torch2mlir.compile(routed, torch.randn(5, 8), output_type="onnx", engine="openvino")
    for _ in range(3):
        x = torch.randn(5, 8)
        torch.testing.assert_close(compiled(x), routed(x))


def test_lines_that_take_long_are_refused() -> None:
    with pytest.raises(EngineError, match="compares each element with each"):
        torch2mlir.compile(torch.sort, torch.rand(2, 3000), output_type="onnx", engine="openvino")


def test_sizes_that_vary_are_refused() -> None:
    """The first call of other sizes was wrong."""

    def mixed(x: Tensor) -> Tensor:
        return x * x.topk(2)[0].sum(-1, keepdim=True) + x * 2

    sizes = ({0: Dim.AUTO},)
    with pytest.raises(EngineError, match="where sizes vary"):
        torch2mlir.compile(
            mixed, torch.rand(5, 8), output_type="onnx", engine="openvino", dynamic_shapes=sizes
        )(torch.rand(5, 8))
