"""The named operations as rows: products, convolutions, pooling, elementwise functions.

Names spell layouts: n batch, c input channel, f output channel, g group, m channel multiplier, then d, h, w the window.
Loops are letters as in :mod:`named`; convolutions have z, y, x for positions in the output and Z, Y, X in the window.
A transposed operand of a product is expressed by `indexing_maps`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def
from xdsl.printer import Printer

from torch2mlir.dialects.assembly import type_text
from torch2mlir.dialects.linalg import bodies
from torch2mlir.dialects.linalg.attributes import TypeFnAttr
from torch2mlir.dialects.linalg.generic import GenericOp, IndexOp
from torch2mlir.dialects.linalg.named import (
    ContractionOp,
    NamedOp,
    PointwiseOp,
    TableOp,
    WindowOp,
    class_name,
    define,
)
from torch2mlir.dialects.linalg.primitives import BroadcastOp, MapOp, ReduceOp, TransposeOp
from torch2mlir.dialects.linalg.structured import PARALLEL, REDUCTION
from torch2mlir.dialects.rows import OpTable

# name: loops | map of each operand
LOOPS = """
matmul: m n K | m K | K n | m n
batch_matmul: b m n K | b m K | b K n | b m n
batch_reduce_matmul: B m n K | B m K | B K n | m n
matvec: m K | m K | K | m
vecmat: n K | K | K n | n
dot: K | K | K |
batch_matvec: b m K | b m K | b K | b m
batch_vecmat: b n K | b K | b K n | b n
mmt4d: m n K a b C | m K a C | n K b C | m n a b
batch_mmt4d: g m n K a b C | g m K a C | g n K b C | g m n a b
quantized_matmul: m n K | m K | K n |  |  | m n
quantized_batch_matmul: b m n K | b m K | b K n |  |  | b m n
conv_1d: x X | x+X | X | x
conv_2d: y x Y X | y+Y x+X | Y X | y x
conv_3d: z y x Z Y X | z+Z y+Y x+X | Z Y X | z y x
conv_1d_ncw_fcw: n f x C X | n C x+X | f C X | n f x
conv_1d_nwc_wcf: n x f X C | n x+X C | X C f | n x f
conv_2d_nchw_fchw: n f y x C Y X | n C y+Y x+X | f C Y X | n f y x
conv_2d_nhwc_hwcf: n y x f Y X C | n y+Y x+X C | Y X C f | n y x f
conv_2d_nhwc_fhwc: n y x f Y X C | n y+Y x+X C | f Y X C | n y x f
conv_2d_ngchw_fgchw: n g f y x C Y X | n g C y+Y x+X | f g C Y X | n g f y x
conv_2d_ngchw_gfchw: n g f y x C Y X | n g C y+Y x+X | g f C Y X | n g f y x
conv_2d_nhwgc_gfhwc: n y x g f Y X C | n y+Y x+X g C | g f Y X C | n y x g f
conv_3d_ncdhw_fcdhw: n f z y x C Z Y X | n C z+Z y+Y x+X | f C Z Y X | n f z y x
conv_3d_ndhwc_dhwcf: n z y x f Z Y X C | n z+Z y+Y x+X C | Z Y X C f | n z y x f
depthwise_conv_1d_ncw_cw: n x c X | n c x+X | c X | n c x
depthwise_conv_1d_nwc_wc: n x c X | n x+X c | X c | n x c
depthwise_conv_1d_nwc_wcm: n x c m X | n x+X c | X c m | n x c m
depthwise_conv_2d_nchw_chw: n y x c Y X | n c y+Y x+X | c Y X | n c y x
depthwise_conv_2d_nhwc_hwc: n y x c Y X | n y+Y x+X c | Y X c | n y x c
depthwise_conv_2d_nhwc_hwcm: n y x c m Y X | n y+Y x+X c | Y X c m | n y x c m
depthwise_conv_3d_ncdhw_cdhw: n z y x Z Y X c | n c z+Z y+Y x+X | c Z Y X | n c z y x
depthwise_conv_3d_ndhwc_dhwc: n z y x Z Y X c | n z+Z y+Y x+X c | Z Y X c | n z y x c
depthwise_conv_3d_ndhwc_dhwcm: n z y x m Z Y X c | n z+Z y+Y x+X c | Z Y X c m | n z y x c m
pooling_nchw_max/sum: n c y x Y X | n c y+Y x+X | Y X | n c y x
pooling_ncw_max/sum: n c x X | n c x+X | X | n c x
pooling_ndhwc_max/min/sum: n z y x c Z Y X | n z+Z y+Y x+X c | Z Y X | n z y x c
pooling_nhwc_max/max_unsigned/min/min_unsigned/sum: n y x c Y X | n y+Y x+X c | Y X | n y x c
pooling_nwc_max/max_unsigned/min/min_unsigned/sum: n x c X | n x+X c | X | n x c
"""

QUANTIZED = """
conv_2d_nchw_fchw conv_2d_ngchw_gfchw conv_2d_nhwc_fhwc conv_2d_nhwc_hwcf conv_2d_nhwgc_gfhwc conv_3d_ndhwc_dhwcf
depthwise_conv_2d_nhwc_hwc depthwise_conv_2d_nhwc_hwcm
"""
"""Convolutions that are there with two scalar zero points before the output too, as ``.._q``."""

# IREE 3.13 no longer has the elementwise ones; of these it reads fill and copy.
_POINTWISE = """
abs add ceil div div_unsigned erf exp fill floor log max min mul negf powf reciprocal round rsqrt select sqrt square
sub tanh
"""
POINTWISE = _POINTWISE.split()
_BODIES = {
    "fill": bodies.first_input,
    "reciprocal": bodies.reciprocal,
    "select": bodies.select,
    "square": bodies.square,
}


@irdl_op_definition
class CopyOp(PointwiseOp):
    """The input, converted to the type of the output."""

    name = "linalg.copy"
    BODY = bodies.first_input

    cast = opt_prop_def(TypeFnAttr)


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


def _rows() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Name, loops and maps; ``/`` stands between the last words of names with equal rows."""
    for line in LOOPS.strip().splitlines():
        names, _, row = line.partition(":")
        loops, *maps = (cell.strip() for cell in row.split("|"))
        first, *others = names.strip().split("/")
        stem = first.rpartition("_")[0]
        for name in (first, *(f"{stem}_{other}" for other in others)):
            yield name, loops, tuple(maps)
            if name in QUANTIZED.split():
                yield f"{name}_q", loops, (*maps[:2], "", "", maps[2])


def _make(name: str, loops: str, maps: tuple[str, ...]) -> type[NamedOp]:
    base: type[TableOp] = TableOp
    body: bodies.ScalarBody
    body = bodies.multiply_accumulate if len(maps) == 3 else bodies.quantized_multiply_accumulate
    if name.startswith("pooling_"):
        base, body = WindowOp, bodies.pool(name.split("_", 2)[2].replace("sum", "add"))
    elif "conv_" in name:
        base = WindowOp
    elif name in ("matmul", "batch_matmul", "batch_reduce_matmul"):
        base = ContractionOp
    return define(base, name, LOOPS=loops, MAPS=maps, BODY=body)


def _make_pointwise(name: str) -> type[NamedOp]:
    return define(PointwiseOp, name, BODY=_BODIES.get(name) or bodies.elementwise(name))


LINALG = OpTable("linalg", {}, [IteratorTypeAttr, TypeFnAttr])
for _class in (
    *(GenericOp, IndexOp, YieldOp, TransposeOp, BroadcastOp, ReduceOp, MapOp),
    *(CopyOp, ContractOp),
):
    LINALG.add_class(_class)
for _name, _loops, _maps in _rows():
    LINALG.define(class_name(_name), f"linalg.{_name}", partial(_make, _name, _loops, _maps))
for _name in POINTWISE:
    LINALG.define(class_name(_name), f"linalg.{_name}", partial(_make_pointwise, _name))
