"""The linalg dialect for Linalg-on-Tensors: register `LINALG` in place of xDSL's `Linalg`.

The classes are our own because xDSL's named operations build a hidden region each time and print
slowly; `linalg.yield` and `#linalg.iterator_type` are xDSL's. Here a named operation has its region
only after `materialize_bodies`, which the generic form needs; everything else ignores it.

Facts about the consumers (torch-mlir-opt 20261001 and IREE 3.13):

- Both read the custom form of everything below, except that IREE has no elementwise named
  operations (linalg.add, linalg.exp, ...): lower elementwise code to linalg.generic.
- In the generic form every named operation needs its region, and `indexing_maps` of matmul and
  batch_matmul may be left out.
- linalg.fill wants the scalar to have the output's element type.
- torch-mlir-opt prints a body of one operation as `{ arith.addf }` before the operands of
  linalg.reduce and linalg.map; we read that and print the long form.
"""

from xdsl.dialects.linalg.ops import YieldOp as YieldOp
from xdsl.ir import Operation

from torch2mlir.dialects.linalg.generic import GenericOp as GenericOp
from torch2mlir.dialects.linalg.generic import IndexOp as IndexOp
from torch2mlir.dialects.linalg.named import NamedOp
from torch2mlir.dialects.linalg.primitives import BroadcastOp as BroadcastOp
from torch2mlir.dialects.linalg.primitives import MovementOp
from torch2mlir.dialects.linalg.primitives import TransposeOp as TransposeOp
from torch2mlir.dialects.linalg.structured import PARALLEL as PARALLEL
from torch2mlir.dialects.linalg.structured import REDUCTION as REDUCTION
from torch2mlir.dialects.linalg.structured import dims_map as dims_map
from torch2mlir.dialects.linalg.structured import iterator_types as iterator_types
from torch2mlir.dialects.linalg.table import LINALG as LINALG


def __getattr__(name: str) -> type[NamedOp]:
    """The class of a named operation, ``linalg.MatmulOp``, made when it is first asked for."""
    op_type = globals()[name] = LINALG[name]
    return op_type


def materialize_bodies(root: Operation) -> None:
    """Give every named operation within `root` the region that MLIR's generic form shows.

    Call it before printing the generic form; the custom form does not show these regions.
    """
    for op in root.walk():
        if isinstance(op, NamedOp | MovementOp) and not op.regions:
            op.add_region(op.build_body())
