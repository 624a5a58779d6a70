"""The TOSA 1.0 dialect, complete: every operation, attribute and type as MLIR has them.

Zero points, pad constants, shapes, slice bounds, tile multiples and resize scales are SSA operands.
Attributes are xDSL properties. The custom form printed is that of torch-mlir-opt; both it and that
of newer MLIR are parsed.

Facts about the consumers (torch-mlir-opt 20261001 and IREE 3.13, which carries a newer MLIR):

- Both read the generic form of every operation below, with the same operands, attribute names,
  attribute values and defaults. The generic form is the one to hand to IREE.
- The custom forms agree for operations without attributes, for cond_if, while_loop and variables.
  They differ wherever an attribute is written: torch-mlir-opt has a dictionary with bare
  enumerations, `{axis = 1 : i32, nan_mode = IGNORE}`, IREE has clauses in a fixed order,
  `axis(1) nan_mode<IGNORE>`, `pad([1, 1, 1, 1])`, `acc_type(f32)`, `values(dense<..> : ..)`, and
  neither reads the other's.
- torch-mlir-opt knows no custom form of `tosa.const`; IREE prints `tosa.const values(..)`.
- IREE alone has `tosa.argmin`, `input_unsigned` of `tosa.cast` and `sym_visibility` of
  `tosa.variable`; the last is silently dropped by torch-mlir-opt.
- Both verify that a `!tosa.shape` operand is "compile time resolvable": it comes from
  `tosa.const_shape` or shape arithmetic, never from a block argument.
- Both verify that elementwise operands have equal rank, and refuse complex and index elements.
- A dynamic dimension of an elementwise operand makes IREE emit a runtime test for size 1.
"""

from torch2mlir.dialects.rows import RowOp
from torch2mlir.dialects.tosa import (  # noqa: F401  (their rows are added to the dialect)
    control_flow,
    data_movement,
    elementwise,
    linear,
    pooling,
    reduction,
    values,
)
from torch2mlir.dialects.tosa.attributes import ShapeType as ShapeType
from torch2mlir.dialects.tosa.kinds import TOSA as TOSA
from torch2mlir.dialects.tosa.shapes import const_shape as const_shape


def __getattr__(name: str) -> type[RowOp]:
    """The class of an op, made when it is first asked for."""
    op_type = globals()[name] = TOSA[name]
    return op_type
