"""The ml_program dialect with loads and stores of globals: register `ML_PROGRAM` in place of xDSL's `MLProgram`."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects import ml_program
from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def

from torch2mlir.dialects.arith_ext import extended
from torch2mlir.dialects.rows import FormattedOp


@irdl_op_definition
class GlobalLoadOp(FormattedOp):
    """The value of a global at this point of the program."""

    name = "ml_program.global_load"
    global_ = prop_def(SymbolRefAttr, prop_name="global")
    result = result_def()
    FORMAT: ClassVar[str] = "$global attr-dict `:` type($result)"


@irdl_op_definition
class GlobalStoreOp(FormattedOp):
    """Gives a global another value."""

    name = "ml_program.global_store"
    global_ = prop_def(SymbolRefAttr, prop_name="global")
    value = operand_def()
    FORMAT: ClassVar[str] = "$global `=` $value attr-dict `:` type($value)"


ML_PROGRAM = extended(ml_program.MLProgram, GlobalLoadOp, GlobalStoreOp)
