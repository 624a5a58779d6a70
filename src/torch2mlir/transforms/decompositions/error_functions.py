"""The error function's relatives: complements, scaled ones and inverses."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from torch2mlir.contract.approximations import ERFCX_MIDDLE, ERFCX_TAIL
from torch2mlir.transforms.decompositions.expansions import on_floats, polynomial
from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten
prims = torch.ops.prims

# M. Giles, "Approximating the erfinv function", GPU Computing Gems (2010)
_ERFINV_CENTRAL = (
    2.81022636e-08,
    3.43273939e-07,
    -3.5233877e-06,
    -4.39150654e-06,
    0.00021858087,
    -0.00125372503,
    -0.00417768164,
    0.246640727,
    1.50140941,
)
_ERFINV_TAIL = (
    -0.000200214257,
    0.000100950558,
    0.00134934322,
    -0.00367342844,
    0.00573950773,
    -0.0076224613,
    0.00943887047,
    1.00167406,
    2.83297682,
)
# Cephes, ndtri: the centre, and the tails by z = sqrt(-2 log y) up to 8 and above
_NDTRI_P0 = (
    -59.96335010141079,
    98.00107541859997,
    -56.67628574690703,
    13.931260938727968,
    -1.2391658386738125,
)
_NDTRI_Q0 = (
    1.0,
    1.9544885833814176,
    4.676279128988815,
    86.36024213908905,
    -225.46268785411937,
    200.26021238006066,
    -82.03722561683334,
    15.90562251262117,
    -1.1833162112133,
)
_NDTRI_P1 = (
    4.0554489230596245,
    31.525109459989388,
    57.16281922464213,
    44.08050738932008,
    14.684956192885803,
    2.1866330685079025,
    -0.1402560791713545,
    -0.03504246268278482,
    -0.0008574567851546854,
)
_NDTRI_Q1 = (
    1.0,
    15.779988325646675,
    45.39076351288792,
    41.3172038254672,
    15.04253856929075,
    2.504649462083094,
    -0.14218292285478779,
    -0.03808064076915783,
    -0.0009332594808954574,
)
_NDTRI_P2 = (
    3.2377489177694603,
    6.915228890689842,
    3.9388102529247444,
    1.3330346081580755,
    0.20148538954917908,
    0.012371663481782003,
    0.00030158155350823543,
    2.6580697468673755e-06,
    6.239745391849833e-09,
)
_NDTRI_Q2 = (
    1.0,
    6.02427039364742,
    3.6798356385616087,
    1.3770209948908132,
    0.21623699359449663,
    0.013420400608854318,
    0.00032801446468212774,
    2.8924786474538068e-06,
    6.790194080099813e-09,
)


def _scaled_tail(x: Tensor) -> Tensor:
    """``exp(x**2) erfc(x)`` for ``x > 0.46875``."""
    middle = polynomial(x, ERFCX_MIDDLE[0]) / polynomial(x, ERFCX_MIDDLE[1])
    inverse = 1 / (x * x)
    correction = polynomial(inverse, ERFCX_TAIL[0]) / polynomial(inverse, ERFCX_TAIL[1])
    tail = (1 / math.sqrt(math.pi) - inverse * correction) / x
    return torch.where(x <= 4, middle, tail)


@decomposes(prims.erfc.default, aten.erfc.default)
@on_floats
def _erfc(x: Tensor) -> Tensor:
    """``1 - erf(x)``, without cancellation where ``erf`` is near 1."""
    tail = torch.exp(-x * x) * _scaled_tail(x.clamp(min=0.46875))
    return torch.where(x <= 0.46875, 1 - torch.erf(x), tail)


@decomposes(prims.erfcx.default, aten.special_erfcx.default)
@on_floats
def _erfcx(x: Tensor) -> Tensor:
    """``exp(x**2) erfc(x)``; ``2 exp(x**2) - erfcx(-x)`` for negative ``x``."""
    square = torch.exp(x * x)
    central = square * (1 - torch.erf(x))
    tail = _scaled_tail(x.abs().clamp(min=0.46875))
    below = 2 * square - tail
    return torch.where(x.abs() <= 0.46875, central, torch.where(x < 0, below, tail))


@decomposes(prims.erf_inv.default, aten.erfinv.default)
@on_floats
def _erfinv(y: Tensor) -> Tensor:
    """A polynomial in the logarithm of ``1 - y**2``; doubles are refined by two of Newton's steps."""
    w = -torch.log((1 - y) * (1 + y))
    central = polynomial(w - 2.5, _ERFINV_CENTRAL)
    tail = polynomial(torch.sqrt(w) - 3, _ERFINV_TAIL)
    x = torch.where(w < 5, central, tail) * y
    if y.dtype == torch.float64:
        for _ in range(2):
            slope = 2 / math.sqrt(math.pi) * torch.exp(-x * x)
            x = x - (torch.erf(x) - y) / slope
    return torch.where(y.abs() == 1, y * math.inf, x)


@decomposes(prims.ndtri.default, aten.special_ndtri.default)
@on_floats
def _ndtri(y: Tensor) -> Tensor:
    """The quantile of the normal distribution; infinite at 0 and 1, undefined outside."""
    upper = y > 1 - math.exp(-2)
    tail = torch.where(upper, 1 - y, y)
    centred = y - 0.5
    square = centred * centred
    ratio = polynomial(square, _NDTRI_P0) / polynomial(square, _NDTRI_Q0)
    central = (centred + centred * square * ratio) * math.sqrt(2 * math.pi)
    z = torch.sqrt(-2 * torch.log(tail))
    inverse = 1 / z
    near = polynomial(inverse, _NDTRI_P1) / polynomial(inverse, _NDTRI_Q1)
    far = polynomial(inverse, _NDTRI_P2) / polynomial(inverse, _NDTRI_Q2)
    x = z - torch.log(z) / z - inverse * torch.where(z < 8, near, far)
    result = torch.where(tail > math.exp(-2), central, torch.where(upper, x, -x))
    result = torch.where(y == 0, -math.inf, torch.where(y == 1, math.inf, result))
    return torch.where((y < 0) | (y > 1), math.nan, result)
