"""The ``torch_c`` dialect: casts between types of torch and MLIR, in texts that Torch-MLIR's passes leave."""

from typing import ClassVar

from xdsl.dialects.builtin import f64, i1, i64
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import eq, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from torch2mlir.dialects.rows import FormattedOp
from torch2mlir.dialects.torch import types as t

OF_TENSORS = ("to_builtin_tensor", "from_builtin_tensor")
OF_NUMBERS: dict[str, tuple[Attribute, Attribute]] = {
    "to_i1": (t.bool_type, i1),
    "from_i1": (i1, t.bool_type),
    "to_i64": (t.int_type, i64),
    "from_i64": (i64, t.int_type),
    "to_f64": (t.float_type, f64),
    "from_f64": (f64, t.float_type),
    "generator_to_i64": (t.generator_type, i64),
    "i64_to_generator": (i64, t.generator_type),
}
"""Cast -> the types it is from and to."""


def _cast_of_tensors(cast: str) -> type[FormattedOp]:
    @irdl_op_definition
    class TensorCastOp(FormattedOp):
        """A cast of tensors, ``torch_c.x %a : !t -> tensor``."""

        name = f"torch_c.{cast}"
        operand = operand_def()
        result = result_def()
        FORMAT: ClassVar[str] = "$operand attr-dict `:` type($operand) `->` type($result)"

    return TensorCastOp


def _cast_of_numbers(cast: str) -> type[FormattedOp]:
    source, target = OF_NUMBERS[cast]

    @irdl_op_definition
    class NumberCastOp(FormattedOp):
        """A cast of a number, ``torch_c.x %a``: its types are known."""

        name = f"torch_c.{cast}"
        operand = operand_def(eq(source))
        result = result_def(eq(target))
        traits = traits_def(Pure())
        FORMAT: ClassVar[str] = "$operand attr-dict"

    return NumberCastOp


@irdl_op_definition
class GetNextSeedOp(FormattedOp):
    """The next seed of random numbers, ``torch_c.get_next_seed : () -> i64``."""

    name = "torch_c.get_next_seed"
    result = result_def(i64)
    FORMAT: ClassVar[str] = "attr-dict `:` `(` `)` `->` type($result)"


TORCH_C = Dialect(
    "torch_c",
    [*map(_cast_of_tensors, OF_TENSORS), *map(_cast_of_numbers, OF_NUMBERS), GetNextSeedOp],
)
