"""What an engine folds to an argument is updated, beside positions or state that come of the same op."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from repeated_calls import agrees_with_eager

ON = [
    ("linalg-on-tensors", "iree"),
    ("tosa", "iree"),
    ("stablehlo", "iree"),
    ("stablehlo", "xla"),
    ("onnx", "onnxruntime"),
]
MODULES = {"iree": "iree.compiler", "xla": "jax", "onnxruntime": "onnxruntime"}

Pair = tuple[torch.Tensor, torch.Tensor]

# of a line along its dimension of size 1: the line itself, and another result
IDENTITIES: list[Callable[[torch.Tensor], Pair]] = [
    lambda v: v.max(0, keepdim=True),
    lambda v: v.min(0, keepdim=True),
    lambda v: v.sort(0),
    lambda v: v.topk(1, 0),
    lambda v: v.cummax(0),
    lambda v: v.median(0, keepdim=True),
    lambda v: torch.aminmax(v, dim=0, keepdim=True),
    lambda v: (v.unbind(0)[0][None], v.argmax(-1)),
]
_FIRST = torch.tensor([0])


@pytest.mark.share(6)
@pytest.mark.parametrize(("output_type", "engine"), ON)
def test_lines_are_updated(output_type: str, engine: str) -> None:
    """Each of an argument of its own, which nothing else reads."""
    pytest.importorskip(MODULES[engine])

    def updated(lines: list[torch.Tensor], x: torch.Tensor) -> list[torch.Tensor]:
        results = list[torch.Tensor]()
        for v, identity in zip(lines, IDENTITIES, strict=True):
            line, other = identity(v)
            results += [other, line, line.index_copy(-1, _FIRST, x[..., :1])]
        return results

    agrees_with_eager(
        updated,
        lambda: ([torch.randn(1, 4) for _ in IDENTITIES], torch.randn(1, 4)),
        output_type=output_type,
        engine=engine,
    )


class Cache(torch.nn.Module):
    """Keys and values of one head that change places; their views are results."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("keys", torch.zeros(1, 1, 4))
        self.register_buffer("values", torch.ones(1, 1, 4))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        before = self.keys.amin(0)
        keys = self.keys.clone()
        self.keys.copy_(self.values)
        self.values.copy_(keys + x)
        return before, self.keys.view(-1).sum(), self.values.transpose(0, -1) * 1


@pytest.mark.share(4)
@pytest.mark.parametrize(("output_type", "engine"), ON)
def test_states_change_places(output_type: str, engine: str) -> None:
    pytest.importorskip(MODULES[engine])
    agrees_with_eager(
        Cache(), lambda: (torch.randn(1, 1, 4),), output_type=output_type, engine=engine, calls=4
    )
