"""Elementwise named operations, fill and copy.

IREE 3.13 no longer has the elementwise ones; of this file it reads fill and copy.
"""

from xdsl.ir import Region
from xdsl.irdl import irdl_op_definition, opt_prop_def

from torch2mlir.dialects.linalg import bodies
from torch2mlir.dialects.linalg.attributes import TypeFnAttr
from torch2mlir.dialects.linalg.named import PointwiseOp, define


def _pointwise(mnemonic: str, body: bodies.ScalarBody | None = None) -> type[PointwiseOp]:
    return define(PointwiseOp, mnemonic, BODY=body or bodies.elementwise(mnemonic))


AbsOp = _pointwise("abs")
AddOp = _pointwise("add")
CeilOp = _pointwise("ceil")
DivOp = _pointwise("div")
DivUnsignedOp = _pointwise("div_unsigned")
ErfOp = _pointwise("erf")
ExpOp = _pointwise("exp")
FillOp = _pointwise("fill", bodies.first_input)
FloorOp = _pointwise("floor")
LogOp = _pointwise("log")
MaxOp = _pointwise("max")
MinOp = _pointwise("min")
MulOp = _pointwise("mul")
NegfOp = _pointwise("negf")
PowfOp = _pointwise("powf")
ReciprocalOp = _pointwise("reciprocal", bodies.reciprocal)
RoundOp = _pointwise("round")
RsqrtOp = _pointwise("rsqrt")
SelectOp = _pointwise("select", bodies.select)
SqrtOp = _pointwise("sqrt")
SquareOp = _pointwise("square", bodies.square)
SubOp = _pointwise("sub")
TanhOp = _pointwise("tanh")


@irdl_op_definition
class CopyOp(PointwiseOp):
    """The input, converted to the type of the output."""

    name = "linalg.copy"
    BODY = bodies.first_input

    cast = opt_prop_def(TypeFnAttr)

    def build_body(self) -> Region:
        signed = self.cast is None or self.cast.is_signed
        return bodies.build_body(self.name, self.operands, type(self).BODY, signed=signed)


POINTWISE = (
    AbsOp,
    AddOp,
    CeilOp,
    CopyOp,
    DivOp,
    DivUnsignedOp,
    ErfOp,
    ExpOp,
    FillOp,
    FloorOp,
    LogOp,
    MaxOp,
    MinOp,
    MulOp,
    NegfOp,
    PowfOp,
    ReciprocalOp,
    RoundOp,
    RsqrtOp,
    SelectOp,
    SqrtOp,
    SquareOp,
    SubOp,
    TanhOp,
)
