"""Matrix products: the op, the shapes, the dtypes, layers."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from tests.e2e.registry import bf16, case, f16, f32, f64, i8, i64

case("mm", torch.mm, f32("B", 4), f32(4, 3))
case("mm_dynamic_both", torch.mm, f32("B", "S"), f32("S", "T"))
case("mm_of_one_term", lambda x, w: (x[:1] @ w, (x + 1)[:1] @ w, x @ w), f32("B", 1), f32(1, 3))
case("mm_f64", torch.mm, f64("B", 4), f64(4, 3))
case(
    "mm_half",
    lambda a, b, c, d: (a @ b, c @ d),
    f16("B", 8),
    f16(8, 3),
    bf16(2, 8),
    bf16(8, 3),
    loose=2,
)
case("mm_i64", torch.mm, i64("B", 4), i64(4, 3))
case("mm_transposed", lambda x, y: (x @ y.t(), x.t() @ x), f32("B", 4), f32(3, 4))
case("bmm", torch.bmm, f32("B", 2, 4), f32("B", 4, 3))
case("bmm_dynamic_all", torch.bmm, f32("B", "S", 4), f32("B", 4, "S"))
case(
    "bmm_transposed",
    lambda x, y: torch.bmm(x, y.transpose(1, 2)),
    f32("B", "S", 4),
    f32("B", "T", 4),
)
case("bmm_half", lambda a, b: a @ b.transpose(1, 2), f16(2, 3, 8), f16(2, 3, 8), loose=2)
case("matmul_vectors", torch.matmul, f32(4), f32(4))
case("matmul_matrix_vector", torch.matmul, f32("B", 4), f32(4))
case("matmul_vector_matrix", torch.matmul, f32(4), f32(4, 3))
case(
    "matmul_transposed_by_vector",
    lambda x, v, w: (x.t() @ v, (x * 2).t() @ (v / 3), w @ x.t(), v @ x, v @ v),
    f32("B", 4),
    f32("B"),
    f32(4),
)
case(
    "matmul_transposed_batch_by_vector",
    lambda x, v: (x.mT @ v.softmax(0), v @ x, x.transpose(0, 1) @ v[:4]),
    f32(3, 5, 4),
    f32(5),
)
case("matmul_broadcast", torch.matmul, f32("B", 1, 2, 4), f32(3, 4, 5))
case("matmul_batch_by_matrix", torch.matmul, f32("B", "S", 4), f32(4, 3))
case("matmul_rank_4", torch.matmul, f32("B", 2, "S", 4), f32("B", 2, 4, "S"))
case("addmm", torch.addmm, f32(3), f32("B", 4), f32(4, 3))
case(
    "addmm_scaled",
    lambda b, x, y: torch.addmm(b, x, y, beta=0.5, alpha=2.0),
    f32("B", 3),
    f32("B", 4),
    f32(4, 3),
)
case(
    "addmm_ignores_bias",
    lambda b, x, y: torch.addmm(b, x, y, beta=0),
    f32(3),
    f32("B", 4),
    f32(4, 3),
)
case(
    "baddbmm",
    lambda b, x, y: torch.baddbmm(b, x, y, beta=0.5, alpha=2.0),
    f32("B", 2, 3),
    f32("B", 2, 4),
    f32("B", 4, 3),
)
case("addmv", torch.addmv, f32("B"), f32("B", 4), f32(4))
case("outer", torch.outer, f32("B"), f32("S"))
case("dot", torch.dot, f32("B"), f32("B"))
case("linear", nn.Linear, f32("B", 4), init=(4, 3))
case("linear_no_bias", nn.Linear, f32("B", "S", 4), init=(4, 3, False))
case("linear_rank_1", nn.Linear, f32(4), init=(4, 3))
case("linear_rank_3", nn.Linear, f32("B", "S", 4), init=(4, 3))
case("linear_rank_4", nn.Linear, f32("B", 2, "S", 4), init=(4, 3))
case("linear_f64", functional.linear, f64("B", 4), f64(3, 4), f64(3))
case(
    "linear_half",
    lambda x, w, b, y, v: (functional.linear(x, w, b), functional.linear(y, v)),
    f16("B", 8),
    f16(3, 8),
    f16(3),
    bf16(2, 8),
    bf16(3, 8),
    loose=2,
)
case("bilinear_i8", nn.functional.bilinear, i8("B", 3), i8("B", 4), i8(2, 3, 4))
case("bilinear", nn.Bilinear, f32("B", 3), f32("B", 4), init=(3, 4, 2))
case(
    "einsum_attention",
    lambda q, k: torch.einsum("bhqd,bhkd->bhqk", q, k),
    f32("B", 2, "S", 4),
    f32("B", 2, "S", 4),
)
case("einsum_transpose", lambda x, y: torch.einsum("bij,jk->kbi", x, y), f32("B", 2, 4), f32(4, 3))
case("einsum_trace", lambda x: torch.einsum("bii->b", x), f32("B", 3, 3))
case(
    "tensordot",
    lambda x, y: torch.tensordot(x, y, dims=([1, 2], [0, 1])),
    f32("B", 2, 4),
    f32(2, 4, 3),
)
case("empty_matmul", torch.mm, f32(0, 4), f32(4, 3))
case("matmul_over_nothing", torch.mm, f32(2, 0), f32(0, 3))


class Mlp(nn.Module):
    """Two layers that share one bias."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(4, 4)
        self.down = nn.Linear(4, 4)
        self.down.bias = self.up.bias

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(torch.relu(self.up(x)))


case("mlp", Mlp, f32("B", 4))
case(
    "trilinear_of_a_dimension_nobody_has",
    lambda a, b, c: torch.ops.aten._trilinear(a, b, c, [0], [0, 2], [0, 1], [], 1),
    f32(1, 3),
    f32(1),
    f32(3),
)
case(
    "bilinear_of_nothing",
    lambda a, b, w: torch.bilinear(a, b, w, None),
    f32(0, 3),
    f32(0, 4),
    f32(2, 3, 4),
)
