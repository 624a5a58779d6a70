"""The incomplete gamma functions, by the expansions that converge fast where they are used.

https://dlmf.nist.gov/8.7, 8.9 and 8.12; what is used where follows Cephes and Boost
(https://www.boost.org/doc/libs/release/libs/math/doc/html/math_toolkit/sf_gamma/igamma.html).
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from torch2mlir.transforms.decompositions.expansions import on_floats, polynomial
from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten
prims = torch.ops.prims

_TEMME = (
    (
        -0.3333333333333333,
        0.08333333333333333,
        -0.014814814814814815,
        0.0011574074074074073,
        0.0003527336860670194,
        -0.0001787551440329218,
        3.919263178522438e-05,
        -2.1854485106799924e-06,
        -1.85406221071516e-06,
        8.296711340953087e-07,
        -1.7665952736826078e-07,
        6.707853543401498e-09,
        1.0261809784240309e-08,
        -4.382036018453353e-09,
        9.14769958223679e-10,
        -2.551419399494625e-11,
    ),
    (
        -0.001851851851851852,
        -0.003472222222222222,
        0.0026455026455026454,
        -0.0009902263374485596,
        0.00020576131687242798,
        -4.018775720164609e-07,
        -1.8098550334489977e-05,
        7.64916091608111e-06,
        -1.6120900894563446e-06,
        4.647127802807434e-09,
        1.378633446915721e-07,
        -5.752545603517705e-08,
        1.1951628599778148e-08,
        -1.7543241719747647e-11,
        -1.0091543710600413e-09,
        4.162792991842583e-10,
    ),
    (
        0.004133597883597883,
        -0.0026813271604938273,
        0.0007716049382716049,
        2.0093878600823047e-06,
        -0.00010736653226365161,
        5.2923448829120125e-05,
        -1.2760635188618728e-05,
        3.423578734096138e-08,
        1.3721957309062932e-06,
        -6.298992138380055e-07,
        1.4280614206064242e-07,
        -2.0477098421990866e-10,
        -1.409252991086752e-08,
        6.228974084922022e-09,
        -1.3670488396617112e-09,
        9.428356159014678e-13,
    ),
    (
        0.0006494341563786008,
        0.00022947209362139917,
        -0.0004691894943952557,
        0.00026772063206283885,
        -7.561801671883977e-05,
        -2.396505113867297e-07,
        1.1082654115347302e-05,
        -5.6749528269915965e-06,
        1.4230900732435883e-06,
        -2.7861080291528143e-11,
        -1.6958404091930278e-07,
        8.099464905388083e-08,
        -1.9111168485973655e-08,
        2.3928620439808118e-12,
        2.0620131815488797e-09,
        -9.460496661855133e-10,
    ),
    (
        -0.0008618882909167117,
        0.0007840392217200666,
        -0.0002990724803031902,
        -1.4638452578843418e-06,
        6.641498215465122e-05,
        -3.968365047179435e-05,
        1.1375726970678419e-05,
        2.507497226237533e-10,
        -1.6954149536558305e-06,
        8.907507532205309e-07,
        -2.292934834000805e-07,
        2.956794137544049e-11,
        2.8865829742708783e-08,
        -1.4189739437803219e-08,
        3.4463580499464896e-09,
        -2.3024517174528067e-13,
    ),
    (
        -0.00033679855336635813,
        -6.972813758365858e-05,
        0.0002772753244959392,
        -0.00019932570516188847,
        6.797780477937208e-05,
        1.419062920643967e-07,
        -1.3594048189768693e-05,
        8.018470256334202e-06,
        -2.291481176508095e-06,
        -3.252473551298454e-10,
        3.4652846491085265e-07,
        -1.8447187191171344e-07,
        4.8240967037894184e-08,
        -1.7989466721743514e-14,
        -6.306194500013523e-09,
        3.162417628774568e-09,
    ),
    (
        0.0005313079364639922,
        -0.0005921664373536939,
        0.0002708782096718045,
        7.902353232660328e-07,
        -8.153969367561969e-05,
        5.61168275310625e-05,
        -1.8329116582843375e-05,
        -3.0796134506033047e-09,
        3.465155368803609e-06,
        -2.0291327396058603e-06,
        5.788792863149004e-07,
        2.338630673826657e-13,
        -8.828600746330484e-08,
        4.7435958880408125e-08,
        -1.2545415020710382e-08,
        8.649648858010293e-14,
    ),
    (
        0.00034436760689237765,
        5.171790908260592e-05,
        -0.00033493161081142234,
        0.0002812695154763237,
        -0.00010976582244684731,
        -1.2741009095484485e-07,
        2.7744451511563645e-05,
        -1.8263488805711332e-05,
        5.7876949497350525e-06,
        4.93875893393627e-10,
        -1.0595367014026043e-06,
        6.166714376110408e-07,
        -1.7562973359060463e-07,
        -1.297447328701544e-12,
        2.695423606288966e-08,
        -1.4578352908731272e-08,
    ),
)
"""Rows are powers of ``1 / a``, columns powers of ``eta``, in Temme's uniform expansion."""
_UNIFORM_FROM = 20.0
_UNIFORM_WITHIN = 0.3
"""Temme's expansion is used from this ``a`` on, where ``x`` is this close to it, relatively."""
_TERMS = {torch.float32: 44, torch.float64: 88}
"""Of the series and the continued fraction, enough everywhere else."""


@decomposes(prims.igamma.default, aten.igamma.default)
@on_floats
def _igamma(a: Tensor, x: Tensor) -> Tensor:
    """``P(a, x)``, the regularized lower function."""
    lower, upper, is_lower = _incomplete(a, x)
    return _edges(a, x, torch.where(is_lower, lower, 1 - upper), 0.0, 1.0)


@decomposes(prims.igammac.default, aten.igammac.default)
@on_floats
def _igammac(a: Tensor, x: Tensor) -> Tensor:
    """``Q(a, x)``, the regularized upper function."""
    lower, upper, is_lower = _incomplete(a, x)
    return _edges(a, x, torch.where(is_lower, 1 - lower, upper), 1.0, 0.0)


def _edges(a: Any, x: Any, inside: Any, at_zero: float, at_infinity: float) -> Any:
    """The values on the border of the domain, NaN beyond; what comes later here counts more, also beside a NaN."""
    result = torch.where(torch.isnan(a) | torch.isnan(x), math.nan, inside)
    result = torch.where(torch.isinf(x), at_infinity, result)
    result = torch.where(torch.isinf(a), torch.where(torch.isinf(x), math.nan, at_zero), result)
    result = torch.where(x == 0, at_zero, result)
    result = torch.where(a == 0, torch.where(x > 0, at_infinity, math.nan), result)
    return torch.where((x < 0) | (a < 0), math.nan, result)


def _incomplete(a: Any, x: Any) -> tuple[Any, Any, Any]:
    """Lower and upper function, and which of the two is the one computed (and not near 1)."""
    uniform = (a > _UNIFORM_FROM) & ((x - a).abs() < _UNIFORM_WITHIN * a)
    safe_a = torch.where((a > 0) & torch.isfinite(a), a, 1.0)
    safe_x = torch.where((x > 0) & torch.isfinite(x), x, 1.0)
    below, above = _uniform(safe_a, torch.where(uniform, safe_x, safe_a))
    # the small function of a large a is the lower one left of a, and of a small a and x the series converges
    is_lower = torch.where(uniform, x < a, (x <= 1.1) | (x < a))
    tiny = ~uniform & is_lower & (x > a)
    lower = torch.where(uniform, below, _series(safe_a, torch.where(is_lower, safe_x, safe_a)))
    upper = torch.where(
        uniform, above, _fraction(safe_a, torch.where(is_lower, safe_a + 1, safe_x))
    )
    complement = _upper_near_zero(safe_a, torch.where(tiny, safe_x, 0.5))
    return lower, torch.where(tiny, complement, upper), is_lower & ~tiny


def _prefactor(a: Any, x: Any) -> Any:
    """``x**a exp(-x) / gamma(a)``."""
    return torch.exp(a * torch.log(x) - x - torch.lgamma(a))


def _series(a: Any, x: Any) -> Any:
    """``P``, https://dlmf.nist.gov/8.11.E4, from the last term to the first."""
    total: Any = 1.0
    for n in range(_TERMS[a.dtype], 0, -1):
        total = 1 + total * (x / (a + n))
    return _prefactor(a, x) * total / a


def _fraction(a: Any, x: Any) -> Any:
    """``Q``, https://dlmf.nist.gov/8.9.E2 contracted, from the innermost fraction to the outermost."""
    first = x - a + 1
    value = first + 2 * _TERMS[a.dtype]
    for n in range(_TERMS[a.dtype], 0, -1):
        value = (first + 2 * (n - 1)) + n * (a - n) / value
    return _prefactor(a, x) / value


def _upper_near_zero(a: Any, x: Any) -> Any:
    """``Q`` of small ``a`` and ``x``, https://dlmf.nist.gov/8.7.E3 without cancellation."""
    total: Any = 0.0
    factor = 1.0
    for n in range(1, 20):
        factor = -factor / n
        total = total + factor * x**n / (a + n)
    logarithm = a * torch.log(x)
    first = -torch.expm1(logarithm - torch.lgamma(1 + a))
    return first - torch.exp(logarithm - torch.lgamma(a)) * total


def _uniform(a: Any, x: Any) -> tuple[Any, Any]:
    """Temme's uniform expansion of ``P`` and ``Q`` for large ``a``, https://dlmf.nist.gov/8.12."""
    sigma = (x - a) / a
    size = torch.sqrt(-2 * (torch.log1p(sigma) - sigma))
    eta = torch.where(x < a, -size, size)
    total: Any = 0.0
    for row in _TEMME[::-1]:
        total = total / a + polynomial(eta, row[::-1])
    correction = torch.exp(-0.5 * a * eta * eta) * total / torch.sqrt(2 * math.pi * a)
    spread = eta * torch.sqrt(a / 2)
    return 0.5 * torch.erfc(-spread) - correction, 0.5 * torch.erfc(spread) + correction
