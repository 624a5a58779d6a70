"""Structures of arguments and results: numbers, None, containers, keyword arguments, sizes."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from typing import Any

import torch
from torch import nn

from tests.e2e.registry import case, f32, i64, program

X = f32("B", 4)
Pair = namedtuple("Pair", ["left", "right"])
torch.utils._pytree._register_namedtuple(Pair, serialized_type_name="tests.Pair")

case("returns_a_size", lambda x: (x + 1, x.shape[0]), X)
case(
    "returns_arithmetic_of_sizes",
    lambda x: (x.shape[0] * 2 + 1, x.shape[0] // 2, x.numel(), -x.shape[0]),
    X,
)
case("returns_a_remainder", lambda x: (x.shape[0] % 2, x), X)
case("returns_constants", lambda x: (x * 2, 3, 2.5, True, "text", None), X)
case("returns_none", lambda x: (None, x + 1), X)
case("returns_a_list", lambda x: [x, x + 1], X)
case("returns_a_dict", lambda x: {"b": x + 1, "a": {"c": x.sum(), "d": [x]}}, X)
case("returns_an_ordered_dict", lambda x: OrderedDict(z=x + 1, a=x), X)
case("returns_a_named_tuple", lambda x: Pair(x, x + 1), X)
case("returns_its_input", lambda x: (x, x), X)
case("returns_a_zero_rank_tensor", lambda x: x.sum(), X)
case("returns_an_input_of_two", lambda x, y: (y, x + y), X, X)
case("takes_a_list", lambda xs: xs[0] + xs[1], [X, X])
case("takes_a_dict", lambda xs: xs["a"] - xs["b"], {"b": X, "a": X})
case("takes_numbers", lambda x, n, s: x * n + s, X, 3, 0.5)
case("takes_none", lambda x, mask: x if mask is None else x * mask, X, None)
case("takes_a_flag", lambda x, negate: -x if negate else x, X, True)
case("takes_a_string", lambda x, mode: x.exp() if mode == "exp" else x, X, "exp")
case("unused_input", lambda x, y: x + 1, X, f32(3))
case("nested_inputs", lambda a, b: a[0] + b["x"][0] * b["y"], (X,), {"x": [X], "y": f32()})
case("size_in_arithmetic", lambda x: x * x.shape[0] + x.shape[0] / 2, X)
case("size_as_divisor", lambda x: x.sum(0) / x.shape[0], X)
case("size_root", lambda x: x * x.shape[0] ** 0.5, X)
case("sizes_of_two", lambda x, y: x.sum() * (x.shape[0] + y.shape[0]), X, f32("S"))
case(
    "size_to_view", lambda x, y: x.reshape(y.shape[0], -1), f32(("B", lambda b: 2 * b), 3), f32("B")
)
case("minimum_of_sizes", lambda x, y: x[: min(x.shape[0], 2)] + y[:2], X, f32(2, 4))
case("size_plus_one", lambda x: torch.zeros(x.shape[0] + 1, 2), X)
case("size_floor_div", lambda x: torch.ones((x.shape[0] + 1) // 2, 2), X)
case("size_max", lambda x: torch.ones(max(x.shape[0], 2), 2), X)
case("item_free_condition", lambda x: torch.where(x.sum() > 0, x, -x), X)
case("index_type_of_sizes", lambda x: torch.arange(x.shape[0]) + x.shape[0], X)


@program(X, kwargs={"scale": f32(4), "shift": f32("B", 1)})
class TakesKeywords(nn.Module):
    """Keyword-only tensors, one of them left at its default."""

    def forward(self, x: Any, *, scale: Any, shift: Any, mask: Any = None) -> Any:
        return x * scale + shift if mask is None else x


@program(X)
class State(nn.Module):
    """Parameters, persistent and non-persistent buffers, a lifted constant, a tied weight."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4))
        self.tied = self.weight
        self.register_buffer("persistent", torch.randn(4))
        self.register_buffer("passing", torch.randn(4), persistent=False)
        self.constant = torch.randn(4)

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {
            "a": x * self.weight + self.persistent,
            "b": x * self.tied - self.passing * self.constant,
        }


@program(i64("B", 3, low=0, high=5))
class TiedEmbedding(nn.Module):
    """The output layer shares the table of the embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(5, 4)
        self.head = nn.Linear(4, 5, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.embedding(ids))


@program(X)
class ReturnsAParameter(nn.Module):
    """A result that no op computes."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4))

    def forward(self, x: torch.Tensor) -> Any:
        return x + 1, self.weight


case(
    "number_remainder", lambda x, i: (7 % x, 7 % i, -7.5 % i), f32("B", 3), i64("B", low=1, high=9)
)
