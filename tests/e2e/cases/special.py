"""Special functions: one case each over its domain, poles and infinities included."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import torch

from tests.e2e.registry import case, f16, f32, f64, i64

special = torch.special

REAL = (-9.3, -4.5, -2.0, -0.7, -0.1, 0.0, 0.2, 0.5, 1.5, 3.0, 6.2, 12.5)
POSITIVE = (-1.0, 0.0, 0.05, 0.3, 1.0, 1.7, 2.4, 4.9, 6.2, 9.0, 25.0)
UNIT = (-1.5, -1.0, -0.99, -0.6, -0.2, 0.0, 0.1, 0.5, 0.9, 0.999, 1.0)

ON_REALS: dict[str, Any] = {
    "lgamma": torch.lgamma,
    "digamma": torch.digamma,
    "erfcx": special.erfcx,
    "log_ndtr": special.log_ndtr,
    "ndtr": special.ndtr,
    "i0": torch.i0,
    "i0e": special.i0e,
    "i1": special.i1,
    "i1e": special.i1e,
    "bessel_j0": special.bessel_j0,
    "bessel_j1": special.bessel_j1,
    "spherical_bessel_j0": special.spherical_bessel_j0,
    "airy_ai": special.airy_ai,
}
ON_POSITIVES: dict[str, Any] = {
    "bessel_y0": special.bessel_y0,
    "bessel_y1": special.bessel_y1,
    "modified_bessel_k0": special.modified_bessel_k0,
    "modified_bessel_k1": special.modified_bessel_k1,
    "scaled_modified_bessel_k0": special.scaled_modified_bessel_k0,
    "scaled_modified_bessel_k1": special.scaled_modified_bessel_k1,
    "entr": special.entr,
}
ON_THE_UNIT_INTERVAL: dict[str, Any] = {
    "erfinv": torch.erfinv,
    "ndtri": special.ndtri,
}
LONG = {"airy_ai", "log_ndtr", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "i0", "i1"}
"""Static only: their programs take IREE several seconds."""
for _functions, _values in (
    (ON_REALS, REAL),
    (ON_POSITIVES, POSITIVE),
    (ON_THE_UNIT_INTERVAL, UNIT),
):
    for _name, _function in _functions.items():
        rows = 3 if _name in LONG else "B"
        case(_name, _function, f32(rows, 4, values=_values), loose=4)

case(
    "special_at_infinity",
    lambda x: (torch.lgamma(x), torch.erfc(x), torch.digamma(x[0]), special.i0e(x[:1])),
    f32(3, values=(inf, -inf, nan)),
)
case("lgamma_of_integers", torch.lgamma, i64("B", 3, low=-3, high=9), loose=4)
case("lgamma_half", torch.lgamma, f16("B", 3), loose=2)
case("special_f64", lambda x: (torch.erfc(x), special.i1e(x)), f64("B", 3))
case("gamma_f64", lambda x: torch.lgamma(x), f64("B", 3))
case("mvlgamma", lambda x: torch.mvlgamma(x, 3), f32(2, 3, low=2.0, high=9.0), loose=4)
case("polygamma_1", lambda x: torch.polygamma(1, x), f32("B", 4, values=POSITIVE[2:]), loose=4)
case("polygamma_3", lambda x: torch.polygamma(3, x), f32(2, 3, values=(-1.3, 0.4, 2.5)), loose=9)
case("zeta", special.zeta, f32(2, 3, low=1.5, high=9.0), f32(3, low=0.5, high=9.0), loose=4)
case(
    "zeta_of_huge_numbers",
    lambda s, q: special.zeta(s, q) * q ** (s - 1),
    f32("B", 6, values=(1.125, 1.25, 1.5, 2.0, 1.125, 1.0625)),
    f32("B", 6, values=(1e30, 1e25, 1e18, 1e12, 1e37, 1e37)),
    loose=4,
)
case(
    "igamma",
    torch.igamma,
    f32(9, values=(0.3, 1.0, 5.0, 18.0, 30.0, 30.0, 0.0, 2.0, -1.0)),
    f32(2, 9, values=(0.1, 4.0, 2.0, 19.0, 28.0, 50.0, 1.0, 0.0, 1.0)),
    loose=9,
)
case(
    "igammac",
    torch.igammac,
    f32(6, values=(0.3, 1.0, 5.0, 18.0, 30.0, 30.0)),
    f32(2, 6, values=(0.1, 4.0, 2.0, 19.0, 28.0, 50.0)),
    loose=9,
)
EDGES = (0.0, 1.0, inf, -inf, nan, 2.0)
case(
    "igamma_at_edges",
    lambda a, x: (torch.igamma(a, x), torch.igammac(a, x)),
    f32(6, 1, values=EDGES),
    f32(6, values=EDGES),
    loose=9,
)
case(
    "zeta_at_edges",
    lambda s, q: (special.zeta(s, q), torch.polygamma(2, q)),
    f32(4, 1, values=(2.0, 30.0, inf, 1.0)),
    f32(6, values=(inf, -1.5, nan, 2.0, 0.0, -2.0)),
    loose=9,
)
case("xlog1py", special.xlog1py, f32("B", 2, values=(0.0, 1.5)), f32(2, values=(-1.0, 0.5)))

DEGREES = (0.0, 1.0, 2.0, 5.0, 11.0, -1.0)
AROUND_ONE = (-2.5, -1.0, -0.4, 0.0, 0.3, 0.9, 1.0, 1.5)
for _kind in "tuvw":
    for _prefix in ("", "shifted_"):
        _polynomial = getattr(special, f"{_prefix}chebyshev_polynomial_{_kind}")
        case(
            f"{_prefix}chebyshev_{_kind}",
            _polynomial,
            f32("B", 1, values=AROUND_ONE),
            f32(6, values=DEGREES),
            loose=20,
        )
case(
    "polynomials_of_known_degree",
    lambda x: (
        special.hermite_polynomial_h(x, 3),
        special.hermite_polynomial_he(x, 4),
        special.laguerre_polynomial_l(x, 5),
        special.legendre_polynomial_p(x, 2),
        special.chebyshev_polynomial_t(x, 4),
        special.chebyshev_polynomial_w(x, 12),
    ),
    f32("B", 3),
    loose=9,
)
case(
    "legendre_of_any_degree",
    special.legendre_polynomial_p,
    f32(8, 1, values=AROUND_ONE),
    f32(6, values=DEGREES),
    loose=9,
)

case("frexp", torch.frexp, f32("B", 7, values=(0.0, 1.0, -3.7, 0.1, inf, nan, 1e30)))
case("frexp_subnormal", torch.frexp, f32("B", 2, values=(1e-40, -3e-45)))
case(
    "nextafter",
    torch.nextafter,
    f32("B", 5, values=(0.0, 1.0, -2.0, 3.0, nan)),
    f32(5, values=(-1.0, 2.0, 5.0, 3.0, 0.0)),
)
case("gcd", torch.gcd, i64(3, 4, low=-90, high=90), i64(4, low=-30, high=60))
case("copysign_of_number", lambda x: x.copysign(-2.0), f32("B", 3))
case(
    "hypot_edges",
    torch.hypot,
    f32("B", 4, values=(3e30, 0.0, inf, 1.0)),
    f32(4, values=(4e30, 0.0, nan, 2.0)),
)
