"""Formulas over tensors as Python expressions, each operator one TOSA op."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from torch2mlir.conversion.lowering import Number, Tensor
from torch2mlir.dialects import tosa

if TYPE_CHECKING:
    from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering


@dataclass(frozen=True, eq=False)
class Expr:
    """A tensor in a formula; numbers are of its element type and broadcast."""

    lower: TosaLowering
    tensor: Tensor

    def _operand(self, value: Expr | Number) -> Tensor:
        if isinstance(value, Expr):
            return value.tensor
        return self.lower.splat(value, (1,) * self.tensor.rank, self.tensor.dtype)

    def of(self, op_class: type[Operation], *others: Expr | Number) -> Expr:
        """One elementwise op of this tensor and others."""
        operands = [self.tensor, *map(self._operand, others)]
        return Expr(self.lower, self.lower.elementwise(op_class, *operands))

    def _compare(self, op_class: type[Operation], other: Expr | Number) -> Expr:
        return Expr(self.lower, self.lower.compare(op_class, self.tensor, self._operand(other)))

    def __add__(self, other: Expr | Number) -> Expr:
        return self.of(tosa.AddOp, other)

    def __radd__(self, other: Number) -> Expr:
        return self.of(tosa.AddOp, other)

    def __sub__(self, other: Expr | Number) -> Expr:
        return self.of(tosa.SubOp, other)

    def __rsub__(self, other: Number) -> Expr:
        return Expr(self.lower, self._operand(other)).of(tosa.SubOp, self)

    def __mul__(self, other: Expr | Number) -> Expr:
        return self.of(tosa.MulOp, other)

    def __rmul__(self, other: Number) -> Expr:
        return self.of(tosa.MulOp, other)

    def __truediv__(self, other: Expr) -> Expr:
        return self * other.reciprocal()

    def __floordiv__(self, other: Expr | Number) -> Expr:
        """Of integers, rounded towards zero."""
        return self.of(tosa.IntDivOp, other)

    def __neg__(self) -> Expr:
        return self.of(tosa.NegateOp)

    def __abs__(self) -> Expr:
        return self.of(tosa.AbsOp)

    def __gt__(self, other: Expr | Number) -> Expr:
        return self._compare(tosa.GreaterOp, other)

    def __ge__(self, other: Expr | Number) -> Expr:
        return self._compare(tosa.GreaterEqualOp, other)

    def __lt__(self, other: Expr | Number) -> Expr:
        return Expr(self.lower, self._operand(other))._compare(tosa.GreaterOp, self)

    def equals(self, other: Expr | Number) -> Expr:
        """Elementwise ``==``."""
        return self._compare(tosa.EqualOp, other)

    def __and__(self, other: Expr) -> Expr:
        return self.of(tosa.LogicalAndOp, other)

    def __or__(self, other: Expr) -> Expr:
        return self.of(tosa.LogicalOrOp, other)

    def __invert__(self) -> Expr:
        return self.of(tosa.LogicalNotOp)

    def differs(self, other: Expr) -> Expr:
        """Exclusive or of booleans."""
        return self.of(tosa.LogicalXorOp, other)

    def where(self, on_true: Expr | Number, on_false: Expr | Number) -> Expr:
        """A choice by this condition; at least one alternative is a tensor."""
        typed = on_true if isinstance(on_true, Expr) else on_false
        if not isinstance(typed, Expr):
            raise TypeError("where needs a tensor to choose from")
        choices = typed._operand(on_true), typed._operand(on_false)
        return Expr(self.lower, self.lower.select(self.tensor, *choices))

    def maximum(self, other: Expr | Number) -> Expr:
        """The larger one; NaN wins."""
        return self.of(tosa.MaximumOp, other)

    def minimum(self, other: Expr | Number) -> Expr:
        """The smaller one; NaN wins."""
        return self.of(tosa.MinimumOp, other)

    def reciprocal(self) -> Expr:
        """``1 / x``."""
        return self.of(tosa.ReciprocalOp)

    def rsqrt(self) -> Expr:
        """``1 / sqrt(x)``."""
        return self.of(tosa.RsqrtOp)

    def sqrt(self) -> Expr:
        """The root, as the inverse of its inverse: right for 0 and infinity."""
        return self.rsqrt().reciprocal()

    def exp(self) -> Expr:
        """``e ** x``."""
        return self.of(tosa.ExpOp)

    def log(self) -> Expr:
        """The natural logarithm."""
        return self.of(tosa.LogOp)

    def sin(self) -> Expr:
        """The sine."""
        return self.of(tosa.SinOp)

    def cos(self) -> Expr:
        """The cosine."""
        return self.of(tosa.CosOp)

    def tanh(self) -> Expr:
        """The hyperbolic tangent."""
        return self.of(tosa.TanhOp)

    def floor(self) -> Expr:
        """Rounded down."""
        return self.of(tosa.FloorOp)

    def ceil(self) -> Expr:
        """Rounded up."""
        return self.of(tosa.CeilOp)


def polynomial(x: Expr, *coefficients: float) -> Expr:
    """Horner's scheme, the highest power's coefficient first."""
    result = x * coefficients[0] + coefficients[1]
    for coefficient in coefficients[2:]:
        result = result * x + coefficient
    return result
