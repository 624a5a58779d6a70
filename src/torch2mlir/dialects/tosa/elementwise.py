"""Elementwise operations: operands of equal rank, dimensions of size 1 broadcast."""

from xdsl.dialects.builtin import AnyFloat
from xdsl.traits import Commutative, Pure

from torch2mlir.dialects.rows import Elementwise, RowOp
from torch2mlir.dialects.tensor_rules import require
from torch2mlir.dialects.tosa.kinds import SYNTAX, TOSA

ELEMENTWISE = (Pure(), Elementwise())
COMMUTATIVE = (*ELEMENTWISE, Commutative())


def _verify_clamp(op: RowOp) -> None:
    element = op.input.type.element_type
    for name, bound in (("min_val", op.min_val), ("max_val", op.max_val)):
        # Quantized and signed element types take the bounds of their storage.
        if isinstance(element, AnyFloat):
            require(bound.type == element, f"{op.name}: {name} must be a {element}, got {bound}")
    low, high = op.min_val.value.data, op.max_val.value.data
    require(low <= high, f"{op.name}: min_val {low} is above max_val {high}")


TOSA.rows(
    """
    abs: |x|.
    bitwise_not: ~x on integers.
    ceil: Round up.
    clz: Number of leading zero bits.
    cos: Cosine of an angle in radians.
    erf: Gauss error function.
    exp: e to the power x.
    floor: Round down.
    identity: x itself.
    log: Natural logarithm.
    logical_not: not x on booleans.
    reciprocal: 1 / x.
    rsqrt: 1 / sqrt(x).
    sigmoid: 1 / (1 + exp(-x)).
    sin: Sine of an angle in radians.
    tanh: Hyperbolic tangent.
    table input1: [*s], table -> output: [*s]
      Look each i8 up in a table of 256 entries, each i16 in one of 513 with interpolation.
    clamp input: T[*s] {min_val: number, max_val: number, nan_mode?: nan_mode} -> output: T[*s]
      min(max(x, min_val), max_val); the bounds are of x's element type.
    negate input1: T[*s], input1_zp: T[1], output_zp: T[1] -> output: T[*s]
      -x, with a zero point of one element for operand and result.
    apply_scale value: any, multiplier: any, shift: any {rounding_mode: rounding_mode} -> output: any
      Fixed-point rescale of a value: (value * multiplier) >> shift, rounded.
    """,
    "input1: T[*s] -> output: T[*s]",
    SYNTAX,
    traits=ELEMENTWISE,
    rules={"clamp": _verify_clamp},
)
TOSA.rows(
    """
    sub: x - y.
    pow: x to the power y.
    IntDivOp=intdiv: Integer x / y, rounded towards zero.
    logical_left_shift: x << y.
    logical_right_shift: x >> y, zeros shifted in.
    arithmetic_right_shift input1: T[^b], input2: T[^b] {round: bool} -> output: T[^b]
      x >> y with sign; `round` adds the last bit shifted out.
    greater input1: T[^b], input2: T[^b] -> output: i1[^b]
      x > y.
    greater_equal input1: T[^b], input2: T[^b] -> output: i1[^b]
      x >= y.
    select input1: i1[^b], input2: T[^b], input3: T[^b] -> output: T[^b]
      input2 where input1 (i1) holds, input3 elsewhere.
    """,
    "input1: T[^b], input2: T[^b] -> output: T[^b]",
    SYNTAX,
    traits=ELEMENTWISE,
)
TOSA.rows(
    """
    add: x + y.
    bitwise_and: x & y on integers.
    bitwise_or: x | y on integers.
    bitwise_xor: x ^ y on integers.
    logical_and: x and y on booleans.
    logical_or: x or y on booleans.
    logical_xor: x != y on booleans.
    maximum input1: T[^b], input2: T[^b] {nan_mode?: nan_mode} -> output: T[^b]
      The larger of x and y.
    minimum input1: T[^b], input2: T[^b] {nan_mode?: nan_mode} -> output: T[^b]
      The smaller of x and y.
    equal input1: T[^b], input2: T[^b] -> output: i1[^b]
      x == y.
    mul input1: T[^b], input2: T[^b], shift: i8[1] -> output: [^b]
      Product; `shift` (tensor<1xi8>) rescales i32 products and is 0 for everything else.
    """,
    "input1: T[^b], input2: T[^b] -> output: T[^b]",
    SYNTAX,
    traits=COMMUTATIVE,
)
