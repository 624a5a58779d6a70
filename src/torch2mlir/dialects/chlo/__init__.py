"""The CHLO dialect: functions of client libraries; XLA expands them to StableHLO. Its ops are rows: ``chlo.ErfOp``."""

from torch2mlir.dialects.chlo import (  # noqa: F401  (their rows are added to the dialect)
    elementwise,
    structured,
)
from torch2mlir.dialects.chlo.kinds import CHLO as CHLO
from torch2mlir.dialects.rows import RowOp


def __getattr__(name: str) -> type[RowOp]:
    """The class of an op, made when it is first asked for."""
    op_type = globals()[name] = CHLO[name]
    return op_type
