"""Gathers and scatters: embedding tables, index tensors, masks, positions."""

from __future__ import annotations

import torch
from torch import nn

from tests.e2e.registry import b1, bf16, case, f16, f32, f64, i32, i64, program


def _assign(x: torch.Tensor, places: object, values: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[places] = values  # type: ignore[index]
    return y


case("embedding", nn.Embedding, i64("B", "S", low=0, high=7), init=(7, 4))
case("embedding_padding_index", nn.Embedding, i64("B", 3, low=0, high=7), init=(7, 4, 0))
case("embedding_i32", nn.Embedding, i32("B", 3, low=0, high=7), init=(7, 4))
case("embedding_half", torch.nn.functional.embedding, i64("B", 3, low=0, high=7), f16(7, 4))
case("embedding_zero_rank", nn.Embedding, i64(low=0, high=7), init=(7, 4))

case("gather", lambda x, i: x.gather(1, i), f32("B", 4), i64("B", 3, low=0, high=4))
case("gather_first_axis", lambda x, i: x.gather(0, i), f32(4, 3), i64("B", 3, low=0, high=4))
case("gather_fewer_rows", lambda x, i: x.gather(1, i), f32(5, 4), i64(2, 3, low=0, high=4))
case("gather_rank_3", lambda x, i: x.gather(-1, i), f32("B", 2, 4), i64("B", 2, 1, low=0, high=4))
case("gather_integers", lambda x, i: x.gather(1, i), i64("B", 4), i64("B", 3, low=0, high=4))
case(
    "take_along_dim",
    lambda x, i: torch.take_along_dim(x, i, 1),
    f32(3, 4),
    i64(3, 2, low=0, high=4),
)

case("index_select", lambda x, i: x.index_select(1, i), f32("B", 4), i64("S", low=0, high=4))
case(
    "index_select_first_axis", lambda x, i: x.index_select(0, i), f32(4, 3), i64("B", low=0, high=4)
)
case("index_select_i32", lambda x, i: x.index_select(0, i), f32(4, 3), i32("B", low=0, high=4))

case("index_rows", lambda x, i: x[i], f32(5, 3), i64("B", low=-5, high=5))
case("index_rows_by_matrix", lambda x, i: x[i], f32(5, 3), i64("B", 2, low=-5, high=5))
case("index_columns", lambda x, i: x[:, i], f32("B", 4), i64(3, low=-4, high=4))
case(
    "index_pairs",
    lambda x, i, j: x[i, j],
    f32(4, 5),
    i64("B", low=0, high=4),
    i64("B", low=0, high=5),
)
case(
    "index_broadcast",
    lambda x, i, j: x[i, j],
    f32(4, 5),
    i64("B", 1, low=0, high=4),
    i64(3, low=0, high=5),
)
case(
    "index_apart",
    lambda x, i, j: x[i, :, j],
    f32(4, 2, 5),
    i64("B", low=0, high=4),
    i64("B", low=0, high=5),
)
case(
    "index_middle",
    lambda x, i, j: x[:, i, j],
    f32("B", 4, 5),
    i64(3, low=0, high=4),
    i64(3, low=0, high=5),
)
case(
    "index_last_tokens",
    lambda x, i: x[torch.arange(x.shape[0]), i],
    f32("B", 6, 3),
    i64("B", low=0, high=6),
)
case("index_zero_rank", lambda x, i: x[i], f32(5, 3), i64(low=0, high=5))
case("index_half", lambda x, y, i: (x[i], y[i]), f16(5, 3), bf16(5), i64("B", low=0, high=5))
case("index_constant", lambda x: x[:, [2, 0, 1]], f32("B", 4))

case("index_put", lambda x, i, v: x.index_put((i,), v), f32(6, 3), i64(2, values=(4, 1)), f32(2, 3))
case(
    "index_put_accumulates",
    lambda x, i, v: x.index_put((i,), v, accumulate=True),
    f32(6, 3),
    i64("B", low=0, high=6),
    f32("B", 3),
)
case(
    "index_put_pairs",
    lambda x, i, j, v: x.index_put((i, j), v),
    f32("B", 4),
    i64(2, values=(0, 2)),
    i64(2, values=(3, 1)),
    f32(2),
)
case(
    "index_put_pairs_of_each",
    lambda x, i, j, v: _assign(x, (slice(None), i, j), v),
    f32("B", 4, 5),
    i64(3, values=(0, 3, 1)),
    i64(3, values=(2, 0, 2)),
    f32("B", 3),
)
case(
    "index_put_broadcast_value",
    lambda x, i, v: x.index_put((i,), v),
    f32(6, 3),
    i64(2, values=(-1, 1)),
    f32(),
)
case(
    "index_put_columns",
    lambda x, i, v: _assign(x, (slice(None), i), v),
    f32("B", 4),
    i64(2, values=(3, 0)),
    f32("B", 2),
)
case(
    "index_put_by_mask", lambda x, m: x.index_put((m,), torch.tensor(0.0)), f32("B", 3), b1("B", 3)
)
case(
    "index_put_at_a_mask_of_a_row",
    lambda x, i, m, v: x.index_put((i, m), v),
    f32(3, "B"),
    i64(low=-3, high=3),
    b1("B"),
    f32(),
)
case(
    "index_put_at_a_mask_of_bytes",
    lambda x, m, v: _assign(x, (slice(None), m.to(torch.uint8)), v),
    f32("B", 4),
    b1(4, values=(True, False, False, True)),
    f32("B", 2),
)
case(
    "index_put_nothing_at_a_mask",
    lambda x, m, v: _assign(x, m & False, v),
    f32(3, "B"),
    b1(3),
    f32(0, "B"),
)
case(
    "index_put_pairs_with_a_mask",
    lambda x, i, m, v: _assign(x, (slice(None), i, m), v),
    f32("B", 4, 5),
    i64(3, low=-4, high=4),
    b1(5, values=(True, False, True, True, False)),
    f32("B", 3),
)
case(
    "index_put_mask_and_positions_apart",
    lambda x, m, i, v: _assign(x, (m, slice(None), i), v),
    f32(4, "B", 5),
    b1(4, values=(False, True, True, False)),
    i64(2, low=-5, high=5),
    f32(2, "B"),
)
case(
    "index_put_rows_by_a_plane_accumulate",
    lambda x, i, m, v: x.index_put((i, m), v, accumulate=True),
    f32(3, "B", 4),
    i64(5, 1, low=-3, high=3),
    b1("B", 4),
    f32(5, 1),
)

case(
    "scatter",
    lambda x, i, v: x.scatter(1, i, v),
    f32("B", 4),
    i64("B", 2, values=(3, 1)),
    f32("B", 2),
)
case(
    "scatter_first_axis",
    lambda x, i, v: x.scatter(0, i, v),
    f32(4, 3),
    i64(2, 3, values=(0, 1, 2, 3, 2, 1)),
    f32(2, 3),
)
case("scatter_value", lambda x, i: x.scatter(1, i, 2.5), f32("B", 4), i64("B", 2, low=0, high=4))
case("scatter_value_i64", lambda x, i: x.scatter(1, i, 1), i64("B", 4), i64("B", 2, low=0, high=4))
case(
    "scatter_larger_source",
    lambda x, i, v: x.scatter(1, i, v),
    f32(3, 4),
    i64(2, 2, values=(3, 1)),
    f32(3, 4),
)
case(
    "scatter_add",
    lambda x, i, v: x.scatter_add(1, i, v),
    f32("B", 4),
    i64("B", 6, low=0, high=4),
    f32("B", 6),
)
case(
    "scatter_add_i64",
    lambda x, i, v: x.scatter_add(0, i, v),
    i64(4),
    i64("B", low=0, high=4),
    i64("B"),
)
case(
    "scatter_add_f64", lambda x, i, v: x.scatter_add(0, i, v), f64(4), i64(6, low=0, high=4), f64(6)
)
case(
    "index_add",
    lambda x, i, v: x.index_add(0, i, v),
    f32(4, 3),
    i64("B", low=0, high=4),
    f32("B", 3),
)
case(
    "index_copy", lambda x, i, v: x.index_copy(0, i, v), f32(4, 3), i64(2, values=(2, 0)), f32(2, 3)
)
case("select_scatter", lambda x, v: torch.select_scatter(x, v, 1, 2), f32("B", 4), f32("B"))
case("slice_scatter", lambda x, v: torch.slice_scatter(x, v, 1, 1, 3), f32("B", 4), f32("B", 2))
case(
    "slice_scatter_step",
    lambda x, v: torch.slice_scatter(x, v, 1, 0, 4, 2),
    f32("B", 4),
    f32("B", 2),
)


@program(i64(3, 4), f32(3, 1, values=(2.5, -1.75, 3.25)))
def scatters_of_another_dtype(x, v):
    return (
        torch.slice_scatter(x, v, 1, 1, 2),
        torch.select_scatter(x, v[:, 0], 1, 0),
        torch.diagonal_scatter(x[:, :3], v[:, 0]),
        torch.slice_scatter(x > 0, v, 1, 0, 1),
        torch.as_strided_scatter(x[0, :3].clone(), v[1:, 0], (2,), (1,)),
    )


case("one_hot", lambda i: torch.nn.functional.one_hot(i, 5), i64("B", low=0, high=5))
case(
    "nll_loss",
    lambda x, i: torch.nn.functional.nll_loss(x, i),
    f32("B", 4),
    i64("B", low=0, high=4),
)
case(
    "cross_entropy",
    lambda x, i: torch.nn.functional.cross_entropy(x, i),
    f32("B", 4),
    i64("B", low=0, high=4),
)
case(
    "bucketize_by_comparison",
    lambda x: (x.unsqueeze(-1) > torch.linspace(-1, 1, 5)).sum(-1),
    f32("B"),
)


@program(f32("B", 3), i64(low=-2, high=2))
def select_at_a_read_position(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    return x.select(0, i.item()) + i.item()


@program(f32("B", 6), i64(low=0, high=4))
def window_at_a_read_position(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    start = i.item()
    torch._check(start >= 0)
    torch._check(start + 2 <= 6)
    return x[:, start : start + 2]


case("number_read_from_a_tensor", lambda x, y: x * y.item() + y.item(), f32("B", 3), f32(1))


@program(f32(4, 3))
def every_other_element_through_a_view(x):
    x = x.clone()
    flat = x.view(-1)
    flat[::2] *= 2
    return x


@program(f32(5, 8))
def strided_writes(x):
    x = x.clone()
    x[:, 1::3] = 7
    x[::2, -2:] += 1
    return x


case("argmax_of_all_keepdim", lambda x: x.argmax(keepdim=True), f32("B", 3))
