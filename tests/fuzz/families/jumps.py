"""Arithmetic that is rounded as it is written, where the neighbouring float becomes another integer or truth."""

from __future__ import annotations

from tests.fuzz.generate import Draft, Scope, line

NUMBERS = (0.1, 0.7, 1.3, 3, 7, 10, 49, 255, 1 / 3, 0.25, 0.01, 1.0, 0.5)
FUNCTIONS = (
    "({0} * {0}).sqrt()",
    "2.0 ** torch.round({})",
    "10.0 ** torch.round({}).clamp(0, 5)",
    "torch.log2({}.abs() + 0.25)",
    "torch.round({}) ** 2",
    "torch.log10(torch.round({}.abs() + 1))",
)
"""Which are exact at some points."""
ENDS = (
    "torch.floor({})",
    "torch.ceil({})",
    "torch.round({})",
    "torch.trunc({})",
    "torch.sign({})",
    "({}).clamp(-1e6, 1e6).int()",
    "({}).floor().clamp(-1e6, 1e6).int()",
    "torch.round({}).clamp(-8, 7)",
    "({}) > {number}",
    "({}) == {number}",
    "({}) >= 0",
    "torch.where(({}) > {number}, 1.0, 2.0)",
)


@line("jumps", 4)
def jump(s: Scope) -> Draft:
    """Sums, products and quotients, and what they become."""
    text = _operand(s)
    for _ in range(s.choice([1, 2, 2, 3, 4])):
        is_number = s.chance(0.67)
        other = str(s.choice(NUMBERS)) if is_number else _operand(s)
        forms = ["{x} * {y}", "{x} + {y}", "{x} - {y}", "{y} - {x}"]
        forms += ["{x} / {y}"] * 2 if is_number else ["{x} / ({y}.abs() + 1)"]
        text = f"({s.choice(forms).format(x=text, y=other)})"
        if s.chance(0.15):
            text = s.choice(FUNCTIONS).format(text)
    end = s.choice(ENDS).format(text, number=s.choice(NUMBERS))
    return Draft(f"{{out}} = {end}", "never", signed=False)


@line("jumps", 1)
def line_of_places(s: Scope) -> Draft:
    """Places between -1 and 1 as places in an image."""
    x, size = _operand(s), s.choice([3, 5, 7, 10, 33])
    forms = [
        f"torch.floor((({x} + 1) * {size} - 1) / 2)",
        f"torch.round(({x} + 1) / 2 * ({size} - 1))",
        f"torch.floor({x} / {size}).int() + ({x} - torch.floor({x} / {size}) * {size}).int()",
    ]
    return Draft(f"{{out}} = {s.choice(forms)}", "never", signed=False)


def _operand(s: Scope) -> str:
    """A tensor that is exact: multiples of a quarter, which meet the boundaries, or any."""
    numbers = {x.name for x in s.inputs if x.kind in ("grid", "normal") and x.dtype == "float32"}
    given = sorted(numbers & {value.name for value in s.values})
    if given and s.chance(0.6):
        return str(s.choice(given))
    shape = s.choice([[8], [33], [4, 8], [3, 1], [2, 33]])
    return str(s.input_like(shape, "float32", s.choice(["grid", "grid", "normal"])))
