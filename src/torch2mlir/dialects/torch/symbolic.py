"""``torch.symbolic_int`` and ``torch.bind_symbolic_shape``: the symbols sizes are expressed in."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.dialects.builtin import I64, AffineMapAttr, IntegerAttr, StringAttr, i64
from xdsl.irdl import eq, irdl_op_definition, operand_def, prop_def, result_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.rows import FormattedOp
from torch2mlir.dialects.torch import types as t


@irdl_op_definition
class SymbolicIntOp(FormattedOp):
    """``torch.symbolic_int "s0" {min_val = 2, max_val = 64} : !torch.int``: a symbol and its range.

    It is not pure, and so kept although nothing uses it: it carries the symbol's range.
    """

    name = "torch.symbolic_int"
    symbol_name = prop_def(StringAttr)
    min_val = prop_def(IntegerAttr[I64])
    max_val = prop_def(IntegerAttr[I64])
    result = result_def(eq(t.int_type))
    FORMAT: ClassVar[str] = (
        "$symbol_name ` ` `{` `min_val` `=` $min_val `,` `max_val` `=` $max_val `}` attr-dict `:` type($result)"
    )

    @classmethod
    def of(cls, symbol: str, minimum: int, maximum: int) -> Self:
        """The op declaring ``symbol`` in ``[minimum, maximum]``."""
        return cls.create(
            result_types=[t.int_type],
            properties={
                "symbol_name": StringAttr(symbol),
                "min_val": IntegerAttr(minimum, i64),
                "max_val": IntegerAttr(maximum, i64),
            },
        )

    @property
    def symbol(self) -> str:
        """The symbol's name."""
        return self.symbol_name.data

    @property
    def range(self) -> tuple[int, int]:
        """Smallest and largest value."""
        return self.min_val.value.data, self.max_val.value.data


@irdl_op_definition
class BindSymbolicShapeOp(FormattedOp):
    """``torch.bind_symbolic_shape %x, [%s0], affine_map<()[s0] -> (s0, 8)> : !torch.vtensor<[?,8],f32>``."""

    name = "torch.bind_symbolic_shape"
    operand = operand_def()
    symbols = var_operand_def(eq(t.int_type))
    shape_expressions = prop_def()
    FORMAT: ClassVar[str] = (
        "$operand `,` `[` $symbols `]` `,` $shape_expressions attr-dict `:` type($operand)"
    )

    def verify_(self) -> None:
        if not isinstance(self.shape_expressions, AffineMapAttr):
            raise VerifyException("torch.bind_symbolic_shape wants an affine map")
