"""The symbols of fake tensors, and what PyTorch calls them from one trace to the next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from hashlib import sha256
from itertools import count

import pytest
import torch
from torch import Tensor
from xdsl.dialects.builtin import f32

from torch2mlir.dialects.torch.dims import Dim, symbol
from torch2mlir.dialects.torch.types import ValueTensorType
from torch2mlir.transforms.semantics.fake import FakeWorld


def _names_of_one_number() -> tuple[str, str]:
    """Two sizes that PyTorch, by a hash, would give one number."""
    by_number = defaultdict[int, list[str]](list)
    for place in count():
        name = f"s{place}"
        names = by_number[int(sha256(f"__{name}".encode()).hexdigest(), 16) % 100]
        names.append(name)
        if len(names) == 2:
            return names[0], names[1]
    raise AssertionError


def vector(size: str) -> ValueTensorType:
    return ValueTensorType.of([symbol(size)], f32)


def test_a_symbol_never_stands_for_two_sizes() -> None:
    """Graphs of earlier traces had the other size then: rows of a graph's edges were those of its nodes."""
    first, second = _names_of_one_number()
    world = FakeWorld({first: (2, 100), second: (2, 100)})

    def asks(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return (x.exp(), y.exp()) if x.shape[0] + y.shape[0] != 199 else (x, y)

    def arguments(names: tuple[str, str]) -> Callable[[FakeWorld], list[Tensor]]:
        return lambda world: [world.tensor(vector(name)) for name in names]

    orders = [(first, second), (second, first), (first, second)]
    graphs = [world.trace(asks, arguments(names), {}) for names in orders]
    for names, graph in zip(orders, graphs, strict=True):
        results = graph.graph.find_nodes(op="call_function", target=torch.ops.aten.exp.default)
        sizes = [world.size_of(node.meta["val"].shape[0]) for node in results]
        assert sizes == [symbol(name) for name in names]


@pytest.mark.share(4)
@pytest.mark.parametrize("place", range(9))
def test_half_of_few_elements_is_no_single_one(place: int) -> None:
    """Of many sizes of up to 8, some were 2 or 3 in all worlds: asked for a layout, PyTorch took half of them for 1."""
    names = [f"s{number}" for number in range(9)]
    world = FakeWorld(dict.fromkeys(names, (2, 8)))
    place_of = vector(names[place])

    def doubled(x: Tensor) -> Tensor:
        return torch.arange(x.shape[0] // 2).unsqueeze(1) * 2

    for _ in range(2):  # the examples of the first trace are those of the next
        graph = world.trace(doubled, lambda world: [world.tensor(place_of)], {}).graph
        (product,) = graph.find_nodes(op="call_function", target=torch.ops.aten.mul.Tensor)
        rows, columns = map(world.size_of, product.meta["val"].shape)
        assert isinstance(rows, Dim) and set(rows.symbols()) == {names[place]}
        assert columns == 1
