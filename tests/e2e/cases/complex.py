"""Complex numbers: parts, pairs, conjugates, angles."""

from __future__ import annotations

from math import inf, nan

import torch

from tests.e2e.registry import c64, case, f32, i32, i64

case("complex_parts", lambda x: (x.real, x.imag, x.abs()), c64("B", 3))
case("complex_from_parts", torch.complex, f32("B", 3), f32("B", 3))
case("complex_conjugate", lambda x: (x.conj() * 2, x.conj_physical()), c64("B", 3))
case("complex_as_real", torch.view_as_real, c64("B", 3))
case("complex_from_real", torch.view_as_complex, f32("B", 3, 2))
case("complex_round_trip", lambda x: torch.view_as_real(torch.view_as_complex(x) ** 2), f32("B", 2))
case("complex_angle", lambda x: (x.angle(), torch.sgn(x)), c64("B", 3))
case(
    "complex_angle_of_zeros",
    lambda x, y: torch.complex(x, y).angle(),
    f32("B", 7, values=(0.0, -0.0, 0.0, -0.0, inf, -inf, inf)),
    f32("B", 7, values=(0.0, 0.0, -0.0, -0.0, inf, inf, -inf)),
)
case(
    "complex_isclose",
    lambda x, y: (torch.isclose(x, y), torch.isclose(x[0, 0], x[0, 0] + 1e-7j, equal_nan=True)),
    c64("B", 3),
    c64("B", 3),
)
case("complex_polar", torch.polar, f32("B", 3), f32("B", 3))
case("complex_isreal", lambda x: (torch.isreal(x), torch.isreal(x.real)), c64("B", 3))
case(
    "complex_functions",
    lambda x: (x.sqrt(), x.log(), x.sin(), x.cos(), x.tanh(), x.reciprocal()),
    c64("B", 3),
    loose=4,
)
case(
    "complex_branch_cuts",
    lambda x, y: (
        lambda z: (
            *(z.sqrt(), z.log(), z.log1p(), z**0.5, z ** (2 + 1j)),
            *(z.acos(), z.asin(), z.acosh(), z.atanh(), z.asinh(), z.atan(), z.angle()),
        )
    )(torch.complex(x, y)),
    f32(4, values=(-4.0, -2.0, -4.0, 3.0)),
    f32(4, values=(0.0, -0.0, -0.0, -0.0)),
    loose=2,
)
case(
    "complex_roots_of_small_numbers",
    lambda x, y: torch.complex(x, y).sqrt() * 1e19,
    f32(4, values=(2e-38, -7e-38, 5e-38, 2e-38)),
    f32(4, values=(0.0, 9e-38, -3e-38, 2e-38)),
)
case(
    "complex_poles",
    lambda x, y: (
        lambda z: (
            z.log2(),
            z.log10(),
            z ** (2 + 1j),
            torch.pow(z, z + 2) + torch.zeros(()),  # TorchScript leaves out the sum with a number
            2**z,
            z.sinh(),
            z.tanh(),
        )
    )(torch.complex(x, y)),
    f32(4, values=(0.0, 9.0, -0.5, 1e-3)),
    f32(4, values=(0.0, 0.0, 0.5, 0.0)),
    loose=2,
)
case(
    "complex_powers_of_infinities",
    lambda x: (x ** (2 + 1j), x ** (-1 - 0.5j), 2j**x),
    f32(6, values=(0.0, -0.0, inf, -inf, 3.1, -2.0)),
    loose=2,
)
case(
    "parts_of_functions",
    lambda x, y: (
        lambda z: torch.view_as_real(
            torch.stack(
                [z.sqrt(), z.log(), z.acos(), z.atanh(), z.tanh(), z ** (2 + 1j), z.rsqrt()]
            )
        )
    )(torch.complex(x, y)),
    f32("B", 3),
    f32("B", 3),
    loose=2,
)
case(
    "complex_truths",
    lambda x, y: (
        *(x.any(), x.all(), x.any(1), y.all(0, True), torch.any(x, (0, 1)), x.count_nonzero()),
        *(torch.logical_and(x, y), torch.logical_or(x, y.real), torch.logical_xor(y.real, x)),
        *(x.logical_not(), x.bool(), y.to(torch.bool) & x.bool()),
    ),
    c64(2, 3, values=(0j, 1j, 2, complex(0, nan), complex(-0.0, -0.0), 1 - 1j)),
    c64(2, 3, values=(0j, 0j, 3j, 1, complex(inf, 0), complex(0, -inf))),
)
case("complex_mean", lambda x: (x.mean(1), x.prod(1)), c64("B", 3))
case(
    "complex_rotary",
    lambda x, t: torch.view_as_real(
        torch.view_as_complex(x.unflatten(-1, (-1, 2))) * torch.polar(torch.ones_like(t), t)
    ).flatten(-2),
    f32("B", 4),
    f32(2),
)
case("angle_of_real", torch.angle, f32("B", values=(1.0, -2.0, 0.0, float("nan"), -float("inf"))))
case("angle_of_integer", torch.angle, i64("B"))
case("parts_of_real", lambda x: (x.conj() + 1, torch.real(x), x.resolve_conj()), f32("B"))

case(
    "phasors",
    lambda x, t: (
        torch.polar(x, t).sum(1).abs(),
        (torch.complex(x, t) / torch.complex(t, x + 3) + 1).real,
        (2 * torch.complex(x, t).exp() - x).imag,
    ),
    f32("B", 3),
    f32("B", 3),
    loose=9,
)
case(
    "matrices_of_parts",
    lambda x, y: torch.view_as_real(torch.complex(x, x.flip(1)) @ torch.complex(y, -y).conj()),
    f32("B", 3),
    f32(3, 2),
    loose=4,
)
case(
    "moved_parts",
    lambda x, y: torch.view_as_real(
        torch.cat([torch.complex(x, y)[:, 1:].t(), torch.complex(y, x).t()])
    ),
    f32("B", 3),
    f32("B", 3),
)
case(
    "complex_constants",
    lambda x: (x * (1 + 2j), x + 1j, 0.5j - x, torch.full((3,), 1j) * x),
    c64("B", 3),
)
case(
    "complex_inverse_functions",
    lambda x: (x.asin(), x.acos(), x.atan(), x.asinh(), x.acosh(), x.atanh()),
    c64("B", 3),
    loose=4,
)
case(
    "complex_hyperbolic", lambda x: (x.sinh(), x.cosh(), x.log2(), x.log10()), c64("B", 3), loose=4
)
case(
    "complex_halves",
    lambda x: (x.chalf(), (x.chalf() * (1 + 2j)).to(torch.complex64), x.chalf().real),
    f32("B", 3),
)
case(
    "complex_magnitudes_beside_nan",
    lambda x: x.abs(),
    c64(4, values=(complex(inf, nan), complex(nan, -inf), complex(nan, 1), complex(3, 4))),
)
case("complex_ldexp", torch.ldexp, c64("B", 3), i32("B", 3, low=-9, high=9))
case(
    "complex_logarithms_of_zeros",
    lambda x, y: (torch.log(torch.complex(x, y)), torch.logsumexp(torch.complex(x - inf, y), 0)),
    f32(4, values=(0.0, -0.0, 1.0, -2.0)),
    f32(4, values=(0.0, 0.0, -0.0, 3.0)),
)
