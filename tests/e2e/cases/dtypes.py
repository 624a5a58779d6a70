"""A small program in every dtype, complex numbers, and dtypes that meet."""

from __future__ import annotations

import torch

from tests.e2e.registry import b1, bf16, c64, case, f16, f32, f64, i8, i16, i32, i64, u8

for name, spec in {"f64": f64, "f32": f32, "f16": f16, "bf16": bf16}.items():
    case(
        f"layer_in_{name}", lambda x, w: torch.relu(x @ w).sum(1), spec("B", 4), spec(4, 3), loose=4
    )
    case(
        f"statistics_in_{name}",
        lambda x: (x - x.mean(1, keepdim=True)).abs().amax(1),
        spec("B", 4),
        loose=2,
    )

for name, spec in {"i64": i64, "i32": i32, "i16": i16, "i8": i8, "u8": u8}.items():
    case(
        f"arithmetic_in_{name}",
        lambda x, y: (x + y, x * y, x - y, x // 3, x % 3),
        spec("B", 4),
        spec(4),
    )
    case(
        f"reductions_in_{name}",
        lambda x: (x.sum(1), x.amax(1), x.argmax(1), x.sort().values[:, -1] if False else x.max()),
        spec("B", 4),
    )
    case(
        f"movement_in_{name}",
        lambda x: (x.t(), x.flip(0), torch.cat([x, x]), x[:, 1:]),
        spec("B", 4),
    )
case("logic_in_bool", lambda x, y: (x & y, x | y, x ^ y, ~x, x.any(1), x == y), b1("B", 4), b1(4))

case("complex_add_mul", lambda x, y: (x + y, x * y, x - y), c64("B", 3), c64(3))
case("complex_divide", lambda x, y: x / y, c64("B", 3), c64(3))
case("complex_exp", torch.exp, c64("B", 3))
case("complex_matmul", torch.mm, c64("B", 3), c64(3, 2))
case("complex_sum", lambda x: x.sum(1), c64("B", 3))
case("complex_where", lambda c, x: torch.where(c, x, -x), b1("B", 3), c64("B", 3))
case("complex_movement", lambda x: (x.t(), torch.cat([x, x])), c64("B", 3))
case("complex_equal", lambda x, y: x == y, c64("B", 3), c64(3))

case(
    "mixed_precision",
    lambda x, w: (x.half() @ w).float().softmax(-1),
    f32("B", 4),
    f16(4, 3),
    loose=20,
)
case("bf16_accumulates_in_f32", lambda x: x.sum(1), bf16(2, 64), loose=2)
case("i64_beyond_i32", lambda x: (x + 1, x * 2, x // 7), i64("B", values=(2**40, -(2**40), 2**31)))
case("u8_image", lambda x: (x.float() / 255 - 0.5) * 2, u8("B", 3, 4, high=256))
case("f64_precision", lambda x: x + 1e-12, f64("B", 3))

case("bits_of_floats", lambda x: x.view(torch.int32), f32("B", 3))
case("bits_of_integers", lambda x: x.view(torch.float32), i32("B", 3, low=0))
case(
    "bits_of_halves",
    lambda x, y: (x.view(torch.bfloat16), y.view(torch.float16), x.view(torch.int16)),
    f16("B", 4),
    bf16("B", 4),
)
case("bits_without_sign", lambda x: x.view(torch.uint8), i8("B", 3))
case("bits_of_booleans", lambda x: x.view(torch.uint8) + 1, b1("B", 3))
case(
    "bits_in_other_widths",
    lambda x: (x.view(torch.int16), x.view(torch.uint8), x[:, :2].contiguous().view(torch.float64)),
    f32("B", 4),
)
case(
    "bits_of_integers_in_other_widths",
    lambda x: (x.view(torch.int64), x.view(torch.int8), x.view(torch.int32)),
    i16("B", 8, low=-30000, high=30000),
)
case("bits_of_complex", lambda x: (x.view(torch.float32), x.view(torch.float64)), c64("B", 4))
case("bits_as_complex", lambda x: x.view(torch.complex64) * 2j, f32("B", 4))

ENDS = tuple(
    sign * (1 << bits) + one
    for bits in (24, 32, 46, 47, 62)
    for sign in (1, -1)
    for one in (-1, 0, 1)
)
case(
    "long_integers_as_floats",
    lambda x: (x.float(), x < 2.0, x.half(), x * 1.5),
    i64(4, 8, values=(*ENDS, (1 << 63) - 1, -(1 << 63))),
)


def _to_bfloat16(x: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, ...]:
    by_way_of_a_float = mask.float()[1:].unsqueeze(-1).expand(-1, -1, 2).to(torch.bfloat16)
    return x.to(torch.bfloat16), x.char().to(torch.bfloat16) + 1, by_way_of_a_float


case("integers_to_bfloat16", _to_bfloat16, i64("B", 4, low=-(2**20), high=2**20), b1("B", 4))
