"""The complex dialect with complex.powi: register `COMPLEX` in place of xDSL's `Complex`."""

from typing import ClassVar

from xdsl.dialects import complex
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import ComplexType, IntegerType
from xdsl.irdl import (
    VarConstraint,
    base,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from torch2mlir.dialects.arith_ext import extended
from torch2mlir.dialects.rows import FormattedOp


@irdl_op_definition
class PowiOp(FormattedOp):
    """A complex number to an integer power."""

    name = "complex.powi"

    T: ClassVar = VarConstraint("T", base(ComplexType))

    lhs = operand_def(T)
    rhs = operand_def(base(IntegerType))
    fastmath = opt_prop_def(FastMathFlagsAttr)
    result = result_def(T)
    traits = traits_def(Pure())

    FORMAT: ClassVar[str] = (
        "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result) `,` type($rhs)"
    )


COMPLEX = extended(complex.Complex, PowiOp)
