"""Writing to positions that tensors tell, with every way of combining what meets there."""

from __future__ import annotations

from math import nan

import torch
from torch import nn

from tests.e2e.registry import b1, case, f32, i32, i64

for reduce in ("sum", "prod", "mean", "amax", "amin"):
    for kind, include in (("", True), ("_without_self", False)):
        case(
            f"scatter_reduce_{reduce}{kind}",
            lambda x, i, s, r=reduce, own=include: x.scatter_reduce(1, i, s, r, include_self=own),
            f32("B", 4),
            i64("B", 6, low=0, high=4),
            f32("B", 6),
        )
    case(
        f"scatter_reduce_{reduce}_i64",
        lambda x, i, s, r=reduce: x.scatter_reduce(0, i, s, r, include_self=False),
        i64(4, "B"),
        i64(3, "B", low=0, high=4),
        i64(3, "B"),
    )
case(
    "scatter_reduce_amax_nan",
    lambda x, i, s: x.scatter_reduce(0, i, s, "amax"),
    f32(4),
    i64("B", low=0, high=4),
    f32("B", values=(1.0, nan, 3.0)),
)
case(
    "scatter_reduce_fewer_rows",
    lambda x, i, s: x.scatter_reduce(1, i, s, "amin"),
    f32(5, 4),
    i64(2, 3, low=0, high=4),
    f32(3, 3),
)
case(
    "scatter_multiply",
    lambda x, i, s: x.scatter(1, i, s, reduce="multiply"),
    f32("B", 4),
    i64("B", 3, low=0, high=4),
    f32("B", 3),
)
case(
    "scatter_number_repeatedly",
    lambda x, i: (x.scatter(1, i, 2.5), x.scatter(1, i, 2.0, reduce="add")),
    f32("B", 3),
    i64("B", 6, low=0, high=3),
)
case(
    "index_reduce_amax",
    lambda x, i, s: x.index_reduce(0, i, s, "amax", include_self=False),
    f32(4, "B"),
    i64(6, low=0, high=4),
    f32(6, "B"),
)
case(
    "index_reduce_mean",
    lambda x, i, s: x.index_reduce(1, i, s, "mean"),
    f32("B", 4),
    i64(3, low=0, high=4),
    f32("B", 3),
)
case(
    "index_add_scaled",
    lambda x, i, s: x.index_add(0, i, s, alpha=2),
    f32(4, "B"),
    i64(6, low=0, high=4),
    f32(6, "B"),
)
case(
    "index_copy_and_fill",
    lambda x, i, s: (
        x.index_copy(1, i, s),
        x.index_fill(1, i, -1),
        x.index_fill(1, i, torch.tensor(2)),
        x.to(torch.int32).index_fill(1, i, torch.tensor(2.5, dtype=torch.float64)),
    ),
    f32("B", 4),
    i64(2, values=(3, 1)),
    f32("B", 2),
)
case(
    "index_put_accumulate_negative",
    lambda x, i, s: x.index_put((i,), s, accumulate=True),
    f32(4, "B"),
    i64(6, low=-4, high=4),
    f32(6, "B"),
)
case(
    "index_put_rows_at_a_mask",
    lambda x, m, s: x.index_put((m,), s),
    f32(4, "B"),
    b1(4, values=(True, False, True, False)),
    f32(2, "B"),
)
case(
    "index_put_at_a_mask_accumulate",
    lambda x, m, s: x.index_put((m,), s, accumulate=True),
    f32("B", 3),
    b1("B", 3),
    f32(),
)
case("masked_scatter", torch.masked_scatter, f32("B", 4), b1("B", 4), f32("B", 4))
case("masked_scatter_broadcast", torch.masked_scatter, i64("B", 4), b1(4), i64(40))
case("masked_fill_tensor", torch.masked_fill, f32("B", 4), b1("B", 1), f32())
case("put", lambda x, i, s: x.put(i, s), f32(3, 4), i64(3, values=(0, -2, 7)), f32(3))
case(
    "put_accumulate",
    lambda x, i, s: x.put(i, s, accumulate=True),
    i64(3, "B"),
    i64("S", low=-9, high=9),
    i64("S"),
)
case("take", torch.take, f32("B", 4), i64(2, 3, low=-12, high=12))
case("nonzero_static", lambda x: torch.nonzero_static(x > 0, size=7), f32("B", 4))
case(
    "nonzero_static_of_many",
    lambda x: torch.nonzero_static(x, size=5, fill_value=9),
    i64(6, 8, low=0, high=2),
)

for mode in ("sum", "mean", "max"):
    case(
        f"embedding_bag_{mode}",
        nn.EmbeddingBag,
        i64("B", 4, low=0, high=7),
        init=(7, 3, None, 2.0, False, mode),
    )
case(
    "embedding_bag_offsets",
    lambda w, i: torch.nn.functional.embedding_bag(i, w, torch.tensor([0, 3, 3, 5]), mode="mean"),
    f32(7, "B"),
    i64(8, low=0, high=7),
)
case(
    "embedding_bag_weighted_padded",
    lambda w, i, p: torch.nn.functional.embedding_bag(
        i, w, per_sample_weights=p, mode="sum", padding_idx=2
    ),
    f32(7, 3),
    i32("B", 4, low=0, high=7),
    f32("B", 4),
)
case(
    "embedding_dense_backward",
    lambda g, i: torch.ops.aten.embedding_dense_backward(g, i, 7, 2, True),
    f32("B", 3, 4),
    i64("B", 3, low=0, high=7),
)

for _mode in (0, 1):
    for _last in (False, True):
        case(
            f"embedding_bag_all_results_{_mode}_{_last}",
            lambda w, m=_mode, last=_last: torch.ops.aten._embedding_bag(
                w,
                torch.tensor([0, 2, 4, 1, 4]),
                torch.tensor([0, 2, 5]),
                mode=m,
                include_last_offset=last,
            )[:3],
            f32(5, "B"),
        )

for _mode in (0, 1, 2):
    for _dtype in (torch.float32, torch.float64):
        for _padding in (-1, 1):
            case(
                f"embedding_bag_ends_early_{_mode}_{_dtype}_{_padding}".replace("torch.", ""),
                lambda w, offsets, m=_mode, d=_dtype, p=_padding: torch.ops.aten._embedding_bag(
                    w.to(d),
                    torch.tensor([0, 2, 4, 1, 4, 3]),
                    offsets,
                    mode=m,
                    include_last_offset=True,
                    padding_idx=p,
                )[:3],
                f32(5, "B"),
                i64(3, values=[0, 2, 4], fixed=True),
            )

# so many that no engine is to compare each place with every index
_MANY = i64(90, "B", low=0, high=70)
case(
    "scatter_many_of_a_number",
    lambda x, i: (x.scatter(0, i, 2.0), (x > 0).scatter(0, i, True), x.long().scatter(0, i, 7)),
    f32(99, "B"),
    _MANY,
)
case(
    "scatter_many_added", lambda x, i, s: x.scatter_add(0, i, s), f32(99, "B"), _MANY, f32(90, "B")
)
case(
    "scatter_many_added_i64",
    lambda x, i, s: x.scatter_add(0, i, s),
    i64(99, "B"),
    _MANY,
    i64(90, "B"),
)
for reduce in ("prod", "mean", "amax", "amin"):
    case(
        f"scatter_many_{reduce}",
        lambda x, i, s, r=reduce: x.scatter_reduce(0, i, s, r),
        f32(99, "B", low=0.5, high=1.5),
        _MANY,
        f32(90, "B", low=0.5, high=1.5),
    )
case(
    "scatter_many_amax_nan",
    lambda x, i, s: x.scatter_reduce(0, i, s, "amax", include_self=False),
    f32(99, "B"),
    _MANY,
    f32(90, "B", values=(1.0, -2.0, nan, 0.5, -0.0, 3.0)),
)
case(
    "index_add_many",
    lambda x, i, s: x.index_add(0, i, s),
    f32(99, "B"),
    i64(200, low=0, high=70),
    f32(200, "B"),
)
case(
    "index_put_many_added",
    lambda x, i, s: x.index_put((i,), s, accumulate=True),
    f32(99, "B"),
    i64(200, low=-99, high=99),
    f32(200, "B"),
)
