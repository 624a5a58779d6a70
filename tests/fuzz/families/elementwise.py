"""Functions of elements: one operand, two that broadcast and promote, selections."""

from __future__ import annotations

from tests.fuzz.generate import Draft, NoFit, Scope, line

SMOOTH = (
    "torch.tanh({x})",
    "torch.sigmoid({x})",
    "torch.sin({x})",
    "torch.cos({x})",
    "torch.erf({x})",
    "torch.atan({x})",
    "torch.asinh({x})",
    "F.silu({x})",
    "F.mish({x})",
    "F.softplus({x})",
    "F.softsign({x})",
    "F.logsigmoid({x})",
    "F.elu({x})",
    "F.celu({x}, 1.5)",
    "F.selu({x})",
    "torch.exp(-{x}.abs())",
    "torch.exp2(torch.tanh({x}))",
    "torch.expm1(torch.tanh({x}))",
    "torch.log1p({x}.abs())",
    "torch.log({x}.abs() + 1)",
    "torch.log2({x}.abs() + 1)",
    "torch.sqrt({x}.abs() + 1)",
    "torch.rsqrt(1 + {x} * {x})",
    "torch.reciprocal({x}.abs() + 2)",
    "torch.sinh(torch.tanh({x}))",
    "torch.cosh(torch.tanh({x}))",
    "torch.logit(torch.sigmoid(torch.tanh({x})))",
    "torch.sinc(torch.tanh({x}))",
)
PLAIN = (
    "-{x}",
    "{x}.abs()",
    "F.relu({x})",
    "F.relu6({x})",
    "F.hardtanh({x})",
    "F.leaky_relu({x}, 0.25)",
    "{x} * 0.5",
    "{x} * 2",
    "2 - {x}",
    "{x} + 1",
    "{x} - True",
    "torch.clamp({x}, -3, 3)",
    "torch.clamp({x}, min=-1)",
    "torch.clamp({x}, max=1.5)",
    "{x}.square() / 8",
    "torch.rsub({x}, 2, alpha=2)",
    "F.threshold({x}, 0.5, 2.0)",
    "F.hardshrink({x})",
)
JUMPS = (
    "torch.floor({x})",
    "torch.ceil({x})",
    "torch.round({x})",
    "torch.trunc({x})",
    "torch.frac({x})",
    "torch.sign({x})",
    "torch.sgn({x})",
    "torch.heaviside({x}, {x})",
    "torch.nan_to_num({x}, 1.0, 8.0, -8.0)",
    "{x} % 3",
    "3 % {x}.abs().clamp(min=1)",
    "{x} // 2",
    "{x} // -1.5",
    "torch.fmod({x}, 2)",
    "torch.fmod({x}, -1.5)",
    "torch.remainder({x}, -2)",
    "torch.div({x}, 2, rounding_mode='trunc')",
    "torch.div({x}, 4, rounding_mode='floor')",
    "F.hardswish({x}).round()",
)
INTEGER = (
    "-{x}",
    "{x}.abs()",
    "~{x}",
    "{x} + 1",
    "3 - {x}",
    "{x} * 3",
    "{x} & 6",
    "{x} | 1",
    "{x} ^ 5",
    "{x} // 2",
    "{x} // -3",
    "{x} % 3",
    "{x} % -4",
    "7 % ({x}.abs() + 1)",
    "torch.fmod({x}, 3)",
    "torch.div({x}, 3, rounding_mode='trunc')",
    "{x} / 2",
    "{x} * 0.5",
    "{x} << 1",
    "{x} >> 1",
    "{x}.clamp(-2, 3)",
    "torch.sign({x})",
    "{x}.clamp(-4, 4) ** 2",
    "torch.bitwise_not({x})",
    "torch.square({x}.clamp(-9, 9))",
    "{x} == 2",
    "{x} > 1.5",
)
SMOOTH_OF_INTEGERS = ("torch.sigmoid({x})", "torch.sqrt({x}.abs())")
"""Also these round, whatever they make of the first values."""
ARITHMETIC = (
    "{x} + {y}",
    "{x} - {y}",
    "{x} * {y}",
    "torch.add({x}, {y}, alpha=2)",
    "torch.rsub({x}, {y})",
)
EXTREMA = (
    "torch.maximum({x}, {y})",
    "torch.minimum({x}, {y})",
    "torch.fmax({x}, {y})",
    "torch.fmin({x}, {y})",
)
QUOTIENTS = (
    "{x} / ({y}.abs() + 1)",
    "{x} // ({y}.abs() + 1)",
    "{x} % ({y}.abs() + 1)",
    "{x} // -({y}.abs() + 2)",
    "{x} % (-1 - {y}.abs())",
    "torch.fmod({x}, {y}.abs() + 1)",
    "torch.div({x}, {y}.abs() + 1, rounding_mode='trunc')",
)
COMPARISONS = ("{x} < {y}", "{x} <= {y}", "{x} > {y}", "{x} >= {y}", "{x} == {y}", "{x} != {y}")


@line("elementwise", 4)
def smooth(s: Scope) -> Draft:
    """A function with a bounded derivative."""
    x = s.pick(dtype="float")
    return Draft(f"{{out}} = {s.choice(SMOOTH).format(x=x)}", "always", 3.0)


@line("elementwise", 4)
def plain(s: Scope) -> Draft:
    """Arithmetic that is exact on the grid."""
    x = s.pick(dtype="float")
    chosen = s.choice(PLAIN)
    gain = 2 + x.largest() / 4
    return Draft(f"{{out}} = {chosen.format(x=x)}", gain=gain, signed=not chosen.startswith("F."))


@line("elementwise", 3)
def jumps(s: Scope) -> Draft:
    """A function with jumps, of exact values."""
    x = s.pick(dtype="float", exact=True)
    return Draft(f"{{out}} = {s.choice(JUMPS).format(x=x)}", jumps=True)


@line("elementwise", 4)
def integer(s: Scope) -> Draft:
    """A function of integers."""
    x = s.pick(dtype="integer")
    return Draft(f"{{out}} = {s.choice(INTEGER).format(x=x)}", "inexact")


@line("elementwise", 1)
def gelu(s: Scope) -> Draft:
    """Of infinities eager's is an infinity for one element and NaN for eight."""
    if s.special:
        raise NoFit
    form = s.choice(["F.gelu({x})", "F.gelu({x}, approximate='tanh')"])
    return Draft(f"{{out}} = {form.format(x=s.pick(dtype='float'))}", "always", 2.0)


@line("elementwise", 1)
def smooth_of_integers(s: Scope) -> Draft:
    """A floating-point function of integers."""
    x = s.pick(dtype="integer")
    return Draft(f"{{out}} = {s.choice(SMOOTH_OF_INTEGERS).format(x=x)}", "always")


@line("elementwise", 6)
def arithmetic(s: Scope) -> Draft:
    """Sums and products of two, of any dtypes."""
    x = s.pick()
    y = s.like(x)
    gain = 2 + x.largest() + y.largest()
    return Draft(f"{{out}} = {s.choice(ARITHMETIC).format(x=x, y=y)}", gain=gain)


@line("elementwise", 2)
def extrema(s: Scope) -> Draft:
    """The larger or smaller one; which zero it is of two is nobody's rule."""
    x = s.pick()
    y = s.like(x)
    return Draft(f"{{out}} = {s.choice(EXTREMA).format(x=x, y=y)}", signed=False)


@line("elementwise", 2)
def quotient(s: Scope) -> Draft:
    """Quotients and remainders of two by something that is not zero."""
    x = s.pick(dtype="number")
    y = s.like(x, dtype="number")
    chosen = s.choice(QUOTIENTS)
    smooth = " / " in chosen
    return Draft(
        f"{{out}} = {chosen.format(x=x, y=y)}",
        "always" if smooth else "inexact",
        1 + x.largest(),
        jumps=not smooth,
    )


@line("elementwise", 1)
def angles(s: Scope) -> Draft:
    """Functions of two floats with a bounded derivative."""
    x = s.pick(dtype="float")
    y = s.like(x, dtype="float")
    form = s.choice(
        (
            "torch.hypot({x}, {y}.abs() + 1)",
            "torch.atan2({x}, {y}.abs() + 1)",
            "torch.logaddexp({x}, {y})",
            "torch.lerp({x}, {y}, 0.25)",
            "torch.addcmul({x}, {y}, {y}, value=0.5)",
            "torch.addcdiv({x}, {y}, {y}.abs() + 1)",
            "torch.copysign({x}.abs() + 1, {x}.nan_to_num() * 0 + 1)",
        )
    )
    return Draft(f"{{out}} = {form.format(x=x, y=y)}", "always", 3 + y.largest(), signed=False)


@line("comparison", 4)
def compare(s: Scope) -> Draft:
    """A comparison of exact values of any dtypes."""
    x = s.pick(exact=True)
    y = s.like(x, exact=True)
    return Draft(f"{{out}} = {s.choice(COMPARISONS).format(x=x, y=y)}", jumps=True)


@line("comparison", 2)
def compare_with_number(s: Scope) -> Draft:
    """A comparison with a number of Python's."""
    x = s.pick(exact=True, dtype="number")
    number = s.choice(["0", "1", "-1", "0.5", "2.0", "-0.25"])
    sign = s.choice(["<", "<=", ">", ">=", "==", "!="])
    return Draft(f"{{out}} = {x} {sign} {number}", jumps=True)


@line("comparison", 2)
def logic(s: Scope) -> Draft:
    """Booleans of booleans, or of numbers taken for booleans."""
    x = s.pick(exact=True)
    y = s.like(x, exact=True)
    name = s.choice(["logical_and", "logical_or", "logical_xor"])
    forms = [f"torch.{name}({x}, {y})", f"torch.logical_not({x})"]
    if x.is_float:
        forms += [f"torch.isnan({x})", f"torch.isinf({x})", f"torch.isfinite({x})"]
        if x.signed:
            forms.append(f"torch.signbit({x})")
    return Draft(f"{{out}} = {s.choice(forms)}", jumps=True)


@line("comparison", 4)
def where(s: Scope) -> Draft:
    """A selection by a mask."""
    mask = s.pick(dtype="bool")
    x = s.like(mask)
    y = s.like(x)
    forms = [
        f"torch.where({mask}, {x}, {y})",
        f"torch.where({mask}, {x}, 2)",
        f"torch.where({mask}, 0.5, {y})",
        f"{x}.masked_fill({mask}, 1)",
    ]
    return Draft(f"{{out}} = {s.choice(forms)}", gain=1.0)


@line("comparison", 1)
def shifts(s: Scope) -> Draft:
    """Shifts by small amounts and bitwise functions of two."""
    x = s.pick(dtype="integer")
    y = s.like(x, dtype="integer")
    if x.dtype != y.dtype:
        raise NoFit
    form = s.choice(["{x} & {y}", "{x} | {y}", "{x} ^ {y}", "{x} << ({y} & 3)", "{x} >> ({y} & 3)"])
    return Draft(f"{{out}} = {form.format(x=x, y=y)}")
