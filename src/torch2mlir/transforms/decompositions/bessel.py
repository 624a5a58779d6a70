"""Bessel functions of the first and second kind, spherical ones and Airy's, by Cephes' expansions.

https://www.netlib.org/cephes/: rational functions near the origin, amplitude and phase of the asymptotic expansion
away from it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from torch2mlir.transforms.decompositions.expansions import on_floats, polynomial
from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten
prims = torch.ops.prims

_J0_PP = (
    0.0007969367292973471,
    0.08283523921074408,
    1.239533716464143,
    5.447250030587687,
    8.74716500199817,
    5.303240382353949,
    1.0,
)
_J0_PQ = (
    0.0009244088105588637,
    0.08562884743544745,
    1.2535274390105895,
    5.470977403304171,
    8.761908832370695,
    5.306052882353947,
    1.0,
)
_J0_QP = (
    -0.011366383889846916,
    -1.2825271867050931,
    -19.553954425773597,
    -93.20601521237683,
    -177.68116798048806,
    -147.07750515495118,
    -51.41053267665993,
    -6.050143506007285,
)
_J0_QQ = (
    64.3178256118178,
    856.4300259769806,
    3882.4018360540163,
    7240.467741956525,
    5930.727011873169,
    2062.0933166032783,
    242.0057402402914,
)
_J0_RP = (
    -4794432209.782018,
    1956174919465.5657,
    -249248344360967.72,
    9708622510473064.0,
)
_J0_RQ = (
    499.563147152651,
    173785.4016763747,
    48440965.83399621,
    11185553704.535683,
    2112775201154.892,
    310518229857422.56,
    3.1812195594320496e16,
    1.7108629408104315e18,
)
_J1_PP = (
    0.0007621256162081731,
    0.07313970569409176,
    1.1271960812968493,
    5.112079511468076,
    8.424045901417724,
    5.214515986823615,
    1.0,
)
_J1_PQ = (
    0.0005713231280725487,
    0.06884559087544954,
    1.105142326340617,
    5.073863861286015,
    8.399855543276042,
    5.209828486823619,
    1.0,
)
_J1_QP = (
    0.05108625947501766,
    4.982138729512334,
    75.82382841325453,
    366.7796093601508,
    710.8563049989261,
    597.4896124006136,
    211.68875710057213,
    25.207020585802372,
)
_J1_QQ = (
    74.23732770356752,
    1056.4488603826283,
    4986.410583376536,
    9562.318924047562,
    7997.041604473507,
    2826.1927851763908,
    336.0936078106983,
)
_J1_RP = (
    -899971225.7055594,
    452228297998.19403,
    -72749424522181.83,
    3682957328638529.0,
)
_J1_RQ = (
    620.8364781180543,
    256987.25675774884,
    83514679.14319493,
    22151159547.97925,
    4749141220799.914,
    784369607876235.9,
    8.952223361846274e16,
    5.322786203326801e18,
)
_Y0_YP = (
    15592.436785523574,
    -14663929.59039716,
    5435264770.518765,
    -982136065717.9115,
    87590639439536.7,
    -3466283033847297.0,
    4.4273326857256984e16,
    -1.8495080043698668e16,
)
_Y0_YQ = (
    1041.2835366425984,
    626107.330137135,
    268919633.39381415,
    86400248710.3935,
    20297961275010.555,
    3171577528429750.5,
    2.5059625617265306e17,
)
_Y1_YP = (
    1263204747.9017804,
    -647355876379.1603,
    114509511541823.73,
    -8127702555013251.0,
    2.024394757135949e17,
    -7.788771962659501e17,
)
_Y1_YQ = (
    594.3015923461282,
    235564.09294306856,
    73481194.44597217,
    18760131610.870617,
    3882312774962.3857,
    620557727146953.8,
    6.871410873553005e16,
    3.9727060811656064e18,
)
_AIRY_AN = (
    0.346538101525629,
    12.007595273964581,
    76.27960536152345,
    168.08922493463058,
    159.75639135016442,
    70.53609068404442,
    14.026469116338967,
    1.0,
)
_AIRY_AD = (
    0.5675945326387702,
    14.75625625848472,
    84.51389701414746,
    177.31808814540045,
    164.2346928715297,
    71.47784008255756,
    14.095913560783403,
    1.0,
)
_AIRY_AFN = (
    -0.1316963234183318,
    -0.6264565444319123,
    -0.6931580360369335,
    -0.2797799815451191,
    -0.04919001326095003,
    -0.004062659235948854,
    -0.0001592764962392621,
    -2.776491081552329e-06,
    -1.6778769848911465e-08,
)
_AIRY_AFD = (
    13.356042070655324,
    32.682503279522464,
    26.736704094149957,
    9.187074029072596,
    1.4752914677166642,
    0.11568717379518804,
    0.004402916416152112,
    7.547203482874142e-05,
    4.5185009297058035e-07,
)
_AIRY_AGN = (
    0.01973399320916857,
    0.39110302961568827,
    1.0657989759959559,
    0.9391692298166502,
    0.35146565610554764,
    0.06338889196289255,
    0.005858041130483885,
    0.000282851600836737,
    6.98793669997261e-06,
    8.117892395543892e-08,
    3.415517847659236e-10,
)
_AIRY_AGD = (
    9.30892908077442,
    19.835292871831214,
    15.564662893286462,
    5.476860694229755,
    0.9542936116189619,
    0.08645808263523921,
    0.004126565238242226,
    0.00010125908511650914,
    1.1716673321441352e-06,
    4.9183457006293e-09,
)
_J0_ZEROS = (5.78318596294678452118, 30.4712623436620863991)
_J1_ZEROS = (14.6819706421238932572, 49.2184563216946036703)
"""Squares of the first two zeros."""
_AIRY_AT_ZERO = (0.355028053887817239260, 0.258819403792806798405)
"""``Ai(0)`` and ``-Ai'(0)``."""


def _waves(x: Tensor, phase: float, tables: Sequence[Sequence[float]]) -> tuple[Any, Any]:
    """The two waves of Hankel's expansion for ``x > 5``: a cosine of the first kind, a sine of the second."""
    pp, pq, qp, qq = tables
    square = 25 / (x * x)
    even = polynomial(square, pp) / polynomial(square, pq)
    odd = 5 / x * (polynomial(square, qp) / polynomial(square, qq))
    cosine, sine = torch.cos(x - phase), torch.sin(x - phase)
    amplitude = math.sqrt(2 / math.pi) / torch.sqrt(x)
    return (even * cosine - odd * sine) * amplitude, (even * sine + odd * cosine) * amplitude


_J0_WAVES = (_J0_PP, _J0_PQ, _J0_QP, _J0_QQ)
_J1_WAVES = (_J1_PP, _J1_PQ, _J1_QP, _J1_QQ)


@decomposes(prims.bessel_j0.default, aten.special_bessel_j0.default)
@on_floats
def _j0(x: Tensor) -> Tensor:
    x = x.abs()
    return torch.where(x <= 5, _j0_near(x), _waves(x, math.pi / 4, _J0_WAVES)[0])


def _j0_near(x: Tensor) -> Tensor:
    square = x * x
    ratio = polynomial(square, _J0_RP) / polynomial(square, _J0_RQ)
    return (square - _J0_ZEROS[0]) * (square - _J0_ZEROS[1]) * ratio


@decomposes(prims.bessel_j1.default, aten.special_bessel_j1.default)
@on_floats
def _j1(x: Tensor) -> Tensor:
    """Odd."""
    size = x.abs()
    far = _waves(size, 3 * math.pi / 4, _J1_WAVES)[0]
    return torch.where(size <= 5, _j1_near(x), torch.where(x < 0, -far, far))


def _j1_near(x: Any) -> Any:
    square = x * x
    ratio = polynomial(square, _J1_RP) / polynomial(square, _J1_RQ)
    return ratio * x * (square - _J1_ZEROS[0]) * (square - _J1_ZEROS[1])


@decomposes(aten.special_bessel_y0.default)
@on_floats
def _y0(x: Tensor) -> Tensor:
    """Minus infinity at 0, undefined below."""
    square = x * x
    ratio = polynomial(square, _Y0_YP) / polynomial(square, _Y0_YQ)
    near = ratio + 2 / math.pi * torch.log(x) * _j0_near(x)
    return _second_kind(x, near, _waves(x, math.pi / 4, _J0_WAVES)[1])


@decomposes(aten.special_bessel_y1.default)
@on_floats
def _y1(x: Tensor) -> Tensor:
    """Minus infinity at 0, undefined below."""
    square = x * x
    ratio = polynomial(square, _Y1_YP) / polynomial(square, _Y1_YQ)
    near = x * ratio + 2 / math.pi * (_j1_near(x) * torch.log(x) - 1 / x)
    return _second_kind(x, near, _waves(x, 3 * math.pi / 4, _J1_WAVES)[1])


def _second_kind(x: Any, near: Any, far: Any) -> Any:
    result = torch.where(x <= 5, near, far)
    return torch.where(x == 0, -math.inf, torch.where(x < 0, math.nan, result))


@decomposes(prims.spherical_bessel_j0.default, aten.special_spherical_bessel_j0.default)
@on_floats
def _spherical_j0(x: Tensor) -> Tensor:
    """``sin(x) / x``, by its series around 0; 0 at infinity."""
    terms = [(-1) ** n / math.factorial(2 * n + 1) for n in range(7)]
    near = polynomial(x * x, terms[::-1])
    result = torch.where(x.abs() < 0.5, near, torch.sin(x) / x)
    return torch.where(torch.isinf(x), 0.0, result)


@decomposes(aten.special_airy_ai.default)
@on_floats
def _airy_ai(x: Tensor) -> Tensor:
    """Maclaurin's series around 0, a damped exponential above, a wave below; undefined at infinity."""
    result = torch.where(x >= 2.09, _airy_above(x), _airy_around_zero(x))
    result = torch.where(x < -2.09, _airy_below(x), result)
    result = torch.where(x > 103.892, 0.0, result)
    return torch.where(torch.isinf(x), math.nan, result)


def _airy_above(x: Any) -> Any:
    zeta = 2 * x * torch.sqrt(x) / 3
    inverse = 1 / zeta
    ratio = polynomial(inverse, _AIRY_AN) / polynomial(inverse, _AIRY_AD)
    damping = 2 * torch.sqrt(torch.sqrt(x)) * torch.exp(zeta)
    return ratio / (math.sqrt(math.pi) * damping)


def _airy_below(x: Any) -> Any:
    root = torch.sqrt(-x)
    zeta = -2 * x * root / 3
    inverse = 1 / zeta
    square = inverse * inverse
    sine = 1 + square * polynomial(square, _AIRY_AFN) / polynomial(square, _AIRY_AFD)
    cosine = inverse * polynomial(square, _AIRY_AGN) / polynomial(square, _AIRY_AGD)
    angle = zeta + math.pi / 4
    wave = torch.sin(angle) * sine - torch.cos(angle) * cosine
    return wave / (math.sqrt(math.pi) * torch.sqrt(root))


def _airy_around_zero(x: Any) -> Any:
    """``Ai(0) f(x) + Ai'(0) g(x)``, https://dlmf.nist.gov/9.4: sixteen terms are enough for ``|x| <= 2.09``."""
    even, odd = [1.0], [1.0]
    for k in range(3, 48, 3):
        even.append(even[-1] / (k * (k - 1)))
        odd.append(odd[-1] / (k * (k + 1)))
    cube = x * x * x
    f, g = polynomial(cube, even[::-1]), x * polynomial(cube, odd[::-1])
    return _AIRY_AT_ZERO[0] * f - _AIRY_AT_ZERO[1] * g
