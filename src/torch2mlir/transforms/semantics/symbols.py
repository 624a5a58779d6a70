"""The symbols a module declares."""

from __future__ import annotations

from xdsl.ir import Operation

from torch2mlir.dialects.placing import ops_in
from torch2mlir.dialects.torch.core import SymbolicIntOp


def symbol_ranges(module: Operation) -> dict[str, tuple[int, int]]:
    """Symbol -> smallest and largest value, from the module's ``torch.symbolic_int`` ops."""
    return {op.symbol: op.range for op in ops_in(module) if isinstance(op, SymbolicIntOp)}
