"""The ``torch_c`` dialect: casts between types of torch and MLIR, in texts that Torch-MLIR's passes leave."""

from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def

CASTS = ("to_builtin_tensor", "from_builtin_tensor")
"""The casts of tensors; those of numbers are not known here."""


def _cast(cast: str) -> type[IRDLOperation]:
    @irdl_op_definition
    class CastOp(IRDLOperation):
        """A cast of tensors, ``torch_c.x %a : !t -> tensor``."""

        name = f"torch_c.{cast}"
        operand = operand_def()
        result = result_def()
        assembly_format = "$operand attr-dict `:` type($operand) `->` type($result)"

    return CastOp


TORCH_C = Dialect("torch_c", [_cast(cast) for cast in CASTS])
