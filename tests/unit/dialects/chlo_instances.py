"""One or more instances of every CHLO op, built as the conversions build them."""

from collections.abc import Iterator

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    f32,
    i32,
)
from xdsl.ir import Block

from tests.unit.dialects.hlo_instances import Instance, bools, returning, type_
from torch2mlir.dialects import chlo
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.stablehlo import i64_array, i64_attr

CHLO_UNARY = (
    chlo.AcosOp,
    chlo.AcoshOp,
    chlo.AsinOp,
    chlo.AsinhOp,
    chlo.AtanOp,
    chlo.AtanhOp,
    chlo.BesselI1eOp,
    chlo.CoshOp,
    chlo.DigammaOp,
    chlo.ErfInvOp,
    chlo.ErfOp,
    chlo.ErfcOp,
    chlo.LgammaOp,
    chlo.SinhOp,
    chlo.SquareOp,
    chlo.TanOp,
)
CHLO_BROADCASTS = (
    chlo.BroadcastAddOp,
    chlo.BroadcastAtan2Op,
    chlo.BroadcastDivOp,
    chlo.BroadcastMaxOp,
    chlo.BroadcastMinOp,
    chlo.BroadcastMulOp,
    chlo.BroadcastNextAfterOp,
    chlo.BroadcastPolygammaOp,
    chlo.BroadcastPowOp,
    chlo.BroadcastRemOp,
    chlo.BroadcastSubOp,
    chlo.BroadcastZetaOp,
)
CHLO_INTEGER_BROADCASTS = (
    chlo.BroadcastAndOp,
    chlo.BroadcastOrOp,
    chlo.BroadcastShiftLeftOp,
    chlo.BroadcastShiftRightArithmeticOp,
    chlo.BroadcastShiftRightLogicalOp,
    chlo.BroadcastXorOp,
)


def client_ops() -> Iterator[Instance]:
    for op_type in CHLO_UNARY:
        yield Instance(op_type, "2x?xf32", "2x?xf32")
    for op_type in (chlo.AsinAcosKernelOp, chlo.ConjOp):
        yield Instance(op_type, "2xcomplex<f32>", "2xcomplex<f32>")
    for op_type in (chlo.IsInfOp, chlo.IsNegInfOp, chlo.IsPosInfOp):
        yield Instance(op_type, "2xf32", "2xi1")
    for op_type in (chlo.NextAfterOp, chlo.PolygammaOp, chlo.ZetaOp):
        yield Instance(op_type, "2xf32 2xf32", "2xf32")
    yield Instance(chlo.MulhiOp, "2xi32 2xi32", "2xi32")
    for op_type in CHLO_BROADCASTS:
        yield Instance(op_type, "?x1xf32 3xf32", "?x3xf32")
    for op_type in CHLO_INTEGER_BROADCASTS:
        yield Instance(op_type, "2xi32 i32", "2xi32")
    dims = i64_array([0])
    yield Instance(chlo.BroadcastAddOp, "2xf32 2x3xf32", "2x3xf32", broadcast_dimensions=dims)
    yield Instance(chlo.BroadcastComplexOp, "2xf32 f32", "2xcomplex<f32>")
    less = chlo.attrs.ComparisonDirectionAttr(hlo.ComparisonDirection.LT)
    floats = chlo.attrs.ComparisonTypeAttr(hlo.ComparisonType.FLOAT)
    yield Instance(
        chlo.BroadcastCompareOp,
        "2xf32 f32",
        "2xi1",
        comparison_direction=less,
        compare_type=floats,
    )
    yield Instance(chlo.BroadcastSelectOp, "2xi1 2xf32 2xf32", "2xf32")
    literal = DenseIntOrFPElementsAttr.from_list(type_("2xf32"), [1.0])
    yield Instance(chlo.ConstantOp, "", "2xf32", value=literal)
    yield Instance(chlo.ConstantLikeOp, "?xf32", "?xf32", value=FloatAttr(1.0, f32))
    yield Instance(chlo.TopKOp, "2x5xf32", "2x2xf32 2x2xi32", k=i64_attr(2))
    ragged = chlo.attrs.RaggedDotDimensionNumbersAttr(
        lhs_contracting_dimensions=[1],
        rhs_contracting_dimensions=[1],
        lhs_ragged_dimensions=[0],
        rhs_group_dimensions=[0],
    )
    highest = chlo.attrs.PrecisionAttr(hlo.enums.Precision.HIGHEST)
    yield Instance(
        chlo.RaggedDotOp,
        "2x3xf32 4x3x5xf32 4xi64",
        "2x5xf32",
        ragged_dot_dimension_numbers=ragged,
        precision_config=ArrayAttr([highest, highest]),
    )
    segments = DenseArrayBase.from_list(i32, [1, 1])
    row = type_("3xf32")
    yield Instance(
        chlo.ScanOp,
        "2x3xf32 3xf32",
        "2x3xf32 3xf32",
        dimension=i64_attr(0),
        operandSegmentSizes=segments,
        resultSegmentSizes=segments,
        regions=lambda: [returning(Block(arg_types=[row, row]))],
        **bools(is_reverse=False),
    )


INSTANCES = list(client_ops())
