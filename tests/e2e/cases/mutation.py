"""In-place programs: buffers, inputs, views of either; what the caller sees afterwards counts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import nn

from tests.e2e.registry import b1, case, f32, i64, program

X = f32("B", 4)


def _in_place(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y.add_(1).mul_(2).clamp_(-1, 3)
    return y


def _into_a_slice(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[:, 1:3] = 7.0
    y[0] += 1
    return y


def _into_a_view_of_a_view(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y.t()[2].mul_(3)
    y.view(-1)[::2].neg_()
    return y


def _copied(x: torch.Tensor) -> torch.Tensor:
    y = torch.zeros(x.shape)
    y.copy_(x[0])
    y[:, 0].zero_()
    return y


def _fill_masked(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y.masked_fill_(mask, 0.0)
    y[mask] = 5.0
    return y


def _into_an_input(x: torch.Tensor) -> torch.Tensor:
    x.add_(1)
    return x * 2


def _into_an_input_slice(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x[:, 0] = y
    return x.sum()


def _input_returned(x: torch.Tensor) -> torch.Tensor:
    return x.mul_(2)


def _two_inputs(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x.add_(y)
    y.sub_(x)
    return x - y


def _put_in_place(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[i] = 1.0
    y.index_add_(0, i, x[:2])
    y.scatter_(1, i[:, None], 9.0)
    return y


case("in_place", _in_place, X)
case("in_place_slice", _into_a_slice, X)
case("in_place_view_of_view", _into_a_view_of_a_view, X)
case("in_place_copy", _copied, X)
case("in_place_mask", _fill_masked, X, b1("B", 4))
case("in_place_index", _put_in_place, X, i64(2, values=(2, 0)))
case("in_place_relu", lambda x: torch.relu_(x + 1), X)
case("input_mutated", _into_an_input, X)
case("input_mutated_slice", _into_an_input_slice, X, f32("B"))
case("input_mutated_and_returned", _input_returned, X)
case("two_inputs_mutated", _two_inputs, X, X)


@program(X)
class Counter(nn.Module):
    """A buffer that counts calls."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return x * self.calls


@program(X)
class RunningMean(nn.Module):
    """Two buffers, one of them not saved, both used before and after they change."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))
        self.register_buffer("last", torch.zeros(4), persistent=False)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        before = self.mean.clone()
        self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
        self.last.copy_(x[0])
        return before, x - self.mean + self.last


@program(f32("B", 2), i64(1, low=0, high=4))
class Cache(nn.Module):
    """A key cache written at a position."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("cache", torch.zeros(4, 2))

    def forward(self, x: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        self.cache[position] = x.sum(0)
        return self.cache.sum(0)


@program(X)
class BufferReturned(nn.Module):
    """The result is the mutated buffer itself."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.total.add_(x.sum(0))


def _doubled(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[x > 0] = y[x > 0] * 2
    return y


def _in_place_where_masked(x: torch.Tensor) -> torch.Tensor:
    chosen = x < 0
    x[chosen] = torch.exp(x[chosen]) - 1
    x[x > 1] *= 0.5
    return x


def _routed(x: torch.Tensor, to: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Rows by an expert each, of which one does not say anything of its rows."""
    y = torch.zeros_like(x)
    for expert in range(3):
        y[to == expert] = torch.relu(x[to == expert] * (expert + 1) + bias)
    return y


def _two_tensors(x: torch.Tensor, y: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    z = x.clone()
    z[mask] = torch.where(x[mask] > y[mask], x[mask], y[mask] + x[mask])
    return z


def _whole_quotients(x: torch.Tensor) -> torch.Tensor:
    """The other elements cannot be divided by."""
    y = x.clone()
    y[x != 0] = 12 // x[x != 0]
    return y


def _columns_by_mask(x: torch.Tensor, mask: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[:, mask] = y[:, mask] * 2 + values
    y[..., ~mask] -= 1
    y[1:, mask] = 0.5
    return y


def _updated_by_masks(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    result = torch.zeros_like(x)
    for k in range(3):
        result[i == k] = x[i == k] * (k + 1)
    return result


def _planes_by_mask(x: torch.Tensor, mask: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    y, z = x.clone(), x.clone()
    y[:, mask] = values
    z[:, mask] += values
    return y - z


case("masked_columns", _columns_by_mask, X, b1(4), f32())
case("masked_planes", _planes_by_mask, f32("B", 2, 3, 4), b1(2, 3), f32(4))
case("masked_update", _doubled, X)
case("masked_update_in_place", _in_place_where_masked, X)
case("masked_update_by_route", _routed, f32("B", 3), i64("B", low=0, high=4), f32(3))
case("masked_updates_in_turn", _updated_by_masks, f32(6), i64(6, low=0, high=3))
case("masked_update_of_two", _two_tensors, X, X, b1("B", 4))
case("sized_masked_quotients", _whole_quotients, i64("B", 4, low=-2, high=3))


def _dropped_nothing(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Out of training, dropout gives its input: either name is written."""
    y = x + 1
    one, other = nn.functional.dropout(y, 0.5, training=False), nn.functional.dropout(x, 0.0)
    y.mul_(2)
    other.add_(1)
    channels = nn.functional.feature_alpha_dropout(x[None], training=False)
    x.mul_(3)
    return one - 1, channels + 1, x * 2


UNDECLARED_VIEWS = {
    "type_as": lambda x: x.type_as(x),
    "atleast_1d": torch.atleast_1d,
    "atleast_3d": torch.atleast_3d,
    "conj_physical": torch.conj_physical,
    "sum_to_size": lambda x: x.sum_to_size(x.shape),
    "broadcast_tensors": lambda x: torch.broadcast_tensors(x, x[:1])[0],
    "einsum": lambda x: torch.einsum("ij->ji", x),
    "to_dense": lambda x: x.to_dense(),
}
"""Views of their operand although their schemas do not say so."""


def _written_by_either_name(
    view: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    y = x + 1
    part = view(y)
    y.mul_(2)
    of_input = view(x)
    of_input.add_(1)
    return part + 1, y - 1, x * 2


def _product_written(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Of two operands, ``einsum`` gives a new tensor: writing to either changes nothing of the other."""
    product = torch.einsum("bs,sd->bd", x, y)
    product += 1
    x.mul_(2)
    dropped = torch.dropout(x, p=0.5, train=False)
    dropped += 1
    return product, x + 0


case("einsum_of_two_written", _product_written, f32("B", "S"), f32("S", 4))
case("dropout_out_of_training_written", _dropped_nothing, X)
for name, view in UNDECLARED_VIEWS.items():
    case(f"undeclared_view_{name}", partial(_written_by_either_name, view), X)
