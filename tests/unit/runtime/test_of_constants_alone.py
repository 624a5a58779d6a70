"""What a program computes of constants alone is computed when it is compiled, and no engine compiles for a few elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import torch2mlir
from torch2mlir.runtime import iree


def _moved(x: Tensor) -> Tensor:
    return x.roll(1, 1).flip(0)


def _masked(x: Tensor) -> Tensor:
    return x.masked_fill(torch.ones(4, 4, dtype=torch.bool).triu(1), float("-inf")).softmax(-1)


def _resized(x: Tensor) -> Tensor:
    return nn.functional.interpolate(x[None], scale_factor=1.75, mode="linear")[0]


def _positions(x: Tensor) -> Tensor:
    places = torch.arange(4.0)[:, None] / 10 ** torch.arange(4.0)
    return x + torch.cat([places.sin(), places.cos()]).reshape(2, 4, 4).sum(0)


@pytest.mark.parametrize("function", [_moved, _masked, _resized, _positions])
def test_the_engine_compiles_once(
    function: Callable[[Tensor], Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, compile_to_bytecode = list[str](), iree.compile_to_bytecode

    def noted(text: str, *args: Any, **kwargs: Any) -> bytes:
        texts.append(text)
        return compile_to_bytecode(text, *args, **kwargs)

    monkeypatch.setattr(iree, "compile_to_bytecode", noted)
    target = {"output_type": "linalg-on-tensors", "engine": "iree"}
    compiled = torch2mlir.compile(function, torch.randn(4, 4), guard=True, **target)
    for _ in range(3):
        x = torch.randn(4, 4)
        torch.testing.assert_close(compiled(x), function(x))
    assert len(texts) == 1
