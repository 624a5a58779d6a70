"""Matrix and vector products. A transposed operand is expressed by `indexing_maps`."""

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.irdl import irdl_op_definition, prop_def
from xdsl.printer import Printer

from torch2mlir.dialects.assembly import type_text
from torch2mlir.dialects.linalg import bodies
from torch2mlir.dialects.linalg.named import ContractionOp, NamedOp, TableOp, define
from torch2mlir.dialects.linalg.structured import PARALLEL, REDUCTION


def _contraction(mnemonic: str, loops: str, *maps: str) -> type[ContractionOp]:
    return define(
        ContractionOp,
        mnemonic,
        LOOPS=loops,
        MAPS=maps,
        BODY=bodies.multiply_accumulate,
    )


MatmulOp = _contraction("matmul", "m n K", "m K", "K n", "m n")
BatchMatmulOp = _contraction("batch_matmul", "b m n K", "b m K", "b K n", "b m n")
BatchReduceMatmulOp = _contraction("batch_reduce_matmul", "B m n K", "B m K", "B K n", "m n")


def _product(mnemonic: str, loops: str, *maps: str) -> type[TableOp]:
    body = bodies.multiply_accumulate if len(maps) == 3 else bodies.quantized_multiply_accumulate
    return define(TableOp, mnemonic, LOOPS=loops, MAPS=maps, BODY=body)


MatvecOp = _product("matvec", "m K", "m K", "K", "m")
VecmatOp = _product("vecmat", "n K", "K", "K n", "n")
DotOp = _product("dot", "K", "K", "K", "")
BatchMatvecOp = _product("batch_matvec", "b m K", "b m K", "b K", "b m")
BatchVecmatOp = _product("batch_vecmat", "b n K", "b K", "b K n", "b n")
Mmt4dOp = _product("mmt4d", "m n K a b C", "m K a C", "n K b C", "m n a b")
BatchMmt4dOp = _product("batch_mmt4d", "g m n K a b C", "g m K a C", "g n K b C", "g m n a b")
QuantizedMatmulOp = _product("quantized_matmul", "m n K", "m K", "K n", "", "", "m n")
QuantizedBatchMatmulOp = _product(
    "quantized_batch_matmul",
    "b m n K",
    "b m K",
    "b K n",
    "",
    "",
    "b m n",
)


@irdl_op_definition
class ContractOp(ContractionOp):
    """Any product of two operands: loops that do not index the output are reductions."""

    name = "linalg.contract"
    BODY = bodies.multiply_accumulate

    indexing_maps = prop_def(ArrayAttr[AffineMapAttr])

    def get_indexing_maps(self) -> ArrayAttr[AffineMapAttr]:
        return self.indexing_maps

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        output = self.indexing_maps.data[-1].data
        used = output.used_dims()
        return ArrayAttr([PARALLEL if dim in used else REDUCTION for dim in range(output.num_dims)])

    def print(self, printer: Printer) -> None:
        printer.print_string(f" indexing_maps = {type_text(self.indexing_maps)}")
        NamedOp.print(self, printer)


CONTRACTIONS = (
    MatmulOp,
    BatchMatmulOp,
    BatchReduceMatmulOp,
    MatvecOp,
    VecmatOp,
    DotOp,
    BatchMatvecOp,
    BatchVecmatOp,
    Mmt4dOp,
    BatchMmt4dOp,
    QuantizedMatmulOp,
    QuantizedBatchMatmulOp,
    ContractOp,
)
