"""The ml_program dialect with loads and stores of globals: register `ML_PROGRAM` in place of xDSL's `MLProgram`."""

from xdsl.dialects import ml_program
from xdsl.dialects.builtin import SymbolRefAttr

from torch2mlir.dialects.arith_ext import extended
from torch2mlir.dialects.rows import Kind, op_classes

GlobalLoadOp, GlobalStoreOp = op_classes(
    "ml_program",
    {"tensor": Kind(), "symbol": Kind(SymbolRefAttr)},
    """
    global_load {global_=global: symbol} -> result
      | $global attr-dict `:` type($result) |
      The value of a global at this point of the program.
    global_store value {global_=global: symbol}
      | $global `=` $value attr-dict `:` type($value) |
      Gives a global another value.
    """,
    (),
)

ML_PROGRAM = extended(ml_program.MLProgram, GlobalLoadOp, GlobalStoreOp)
