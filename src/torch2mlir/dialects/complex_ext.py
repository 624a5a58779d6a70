"""The complex dialect with complex.powi: register `COMPLEX` in place of xDSL's `Complex`."""

from xdsl.dialects import complex
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import ComplexType, IntegerType
from xdsl.irdl import VarConstraint, base

from torch2mlir.dialects.arith_ext import extended
from torch2mlir.dialects.rows import Kind, op_classes

(PowiOp,) = op_classes(
    "complex",
    {
        "same": Kind(VarConstraint("T", base(ComplexType))),
        "integer": Kind(IntegerType),
        "fastmath": Kind(FastMathFlagsAttr),
    },
    """
    powi lhs: same, rhs: integer {fastmath?} -> result: same
      | $lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result) `,` type($rhs) |
      A complex number to an integer power.
    """,
)

COMPLEX = extended(complex.Complex, PowiOp)
