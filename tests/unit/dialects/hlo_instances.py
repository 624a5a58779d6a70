"""One or more instances of every StableHLO op, built as the conversions build them."""

from collections.abc import Callable, Iterator
from functools import lru_cache

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    Builtin,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FlatSymbolRefAttr,
    FloatAttr,
    FloatTF32Type,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    f32,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.parser import Parser

from torch2mlir.dialects import chlo
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.stablehlo import i64_array, i64_attr


def context() -> Context:
    context = Context(allow_unregistered=True)
    for dialect in (Builtin, func.Func, hlo.StableHLO, chlo.CHLO):
        context.load_dialect(dialect)
    return context


@lru_cache
def type_(text: str) -> Attribute:
    """`2x?xf32` is a tensor; what starts with `!` or is a tuple, itself."""
    bare = text if text.startswith(("!", "tuple")) else f"tensor<{text}>"
    return Parser(context(), bare).parse_type()


class Instance:
    """The types, properties and regions to create one op with."""

    def __init__(self, op_type: type[Operation], operands: str, results: str, /, **kwargs) -> None:
        """Types are separated by spaces; a space within one is written `_`."""
        self.op_type = op_type
        self.operand_types = [type_(text.replace("_", " ")) for text in operands.split()]
        self.result_types = [type_(text.replace("_", " ")) for text in results.split()]
        self.regions: Callable[[], list[Region]] = kwargs.pop("regions", list)
        self.attributes = kwargs.pop("attributes", {})
        # `composite` has a property that is called as this argument would be.
        self.properties = {key.removesuffix("_"): value for key, value in kwargs.items()}

    def function(self, number: int) -> func.FuncOp:
        block = Block(arg_types=self.operand_types)
        op = self.op_type.create(
            operands=block.args,
            result_types=self.result_types,
            properties=self.properties,
            attributes=self.attributes,
            regions=self.regions(),
        )
        block.add_ops([op, func.ReturnOp(*op.results)])
        signature = (self.operand_types, self.result_types)
        return func.FuncOp(f"f{number}", signature, Region(block))


def module_of(instances: list[Instance]) -> ModuleOp:
    decomposition = Block(arg_types=[type_("2xf32")])
    decomposition.add_op(func.ReturnOp(*decomposition.args))
    signature = ([type_("2xf32")], [type_("2xf32")])
    callee = func.FuncOp("decomposition", signature, Region(decomposition), "private")
    return ModuleOp([callee, *(each.function(number) for number, each in enumerate(instances))])


def returning(block: Block, op_type: type[Operation] | None = None) -> Region:
    """A region that returns all its arguments, or what an op makes of them."""
    values = block.args
    if op_type is not None:
        op = op_type.create(operands=values, result_types=[values[0].type])
        block.add_op(op)
        values = op.results
    block.add_op(hlo.ReturnOp.create(operands=values))
    return Region(block)


def constant_body(results: list[Attribute], arguments: list[Attribute]) -> Region:
    """A region that ignores its arguments and returns ones."""
    block = Block(arg_types=arguments)
    literals = [
        hlo.ConstantOp.create(
            result_types=[result],
            properties={"value": DenseIntOrFPElementsAttr.from_list(result, [1])},
        )
        for result in results
    ]
    block.add_ops([*literals, hlo.ReturnOp.create(operands=[op.results[0] for op in literals])])
    return Region(block)


def bools(**flags: bool) -> dict[str, Attribute]:
    return {name: IntegerAttr.from_bool(value) for name, value in flags.items()}


def scalars(*element_types: Attribute) -> list[Attribute]:
    return [TensorType(element_type, []) for element_type in element_types]


FLOAT_UNARY = (hlo.CeilOp, hlo.FloorOp, hlo.RoundOp, hlo.RoundNearestEvenOp)
ANY_UNARY = (
    hlo.AbsOp,
    hlo.CbrtOp,
    hlo.CosineOp,
    hlo.ExpOp,
    hlo.Expm1Op,
    hlo.ImagOp,
    hlo.LogOp,
    hlo.Log1pOp,
    hlo.LogisticOp,
    hlo.NegOp,
    hlo.RealOp,
    hlo.RsqrtOp,
    hlo.SignOp,
    hlo.SineOp,
    hlo.SqrtOp,
    hlo.TanOp,
    hlo.TanhOp,
)
BINARY = (
    hlo.AddOp,
    hlo.Atan2Op,
    hlo.DivOp,
    hlo.MaxOp,
    hlo.MinOp,
    hlo.MulOp,
    hlo.PowOp,
    hlo.RemOp,
    hlo.SubtractOp,
)
INTEGER_BINARY = (
    hlo.AndOp,
    hlo.OrOp,
    hlo.XorOp,
    hlo.ShiftLeftOp,
    hlo.ShiftRightArithmeticOp,
    hlo.ShiftRightLogicalOp,
)


def elementwise() -> Iterator[Instance]:
    for op_type in FLOAT_UNARY + ANY_UNARY:
        yield Instance(op_type, "2x?xf32", "2x?xf32")
    for op_type in (hlo.NotOp, hlo.PopulationCountOp, hlo.ClzOp):
        yield Instance(op_type, "2xui8", "2xui8")
    for op_type in BINARY:
        yield Instance(op_type, "2x?xbf16 2x?xbf16", "2x?xbf16")
    for op_type in INTEGER_BINARY:
        yield Instance(op_type, "2xi32 2xi32", "2xi32")
    yield Instance(hlo.AddOp, "2xf32 ?xf32", "2xf32")
    yield Instance(hlo.AndOp, "i1 i1", "i1", attributes={"my.note": i64_attr(1)})
    yield Instance(hlo.AbsOp, "2xcomplex<f32>", "2xf32")
    yield Instance(hlo.RealOp, "2xcomplex<f64>", "2xf64")
    yield Instance(hlo.ExpOp, "2xcomplex<f32>", "2xcomplex<f32>")
    exact, within = (
        hlo.enums.ResultAccuracyModeAttr(hlo.enums.ResultAccuracyMode(mode))
        for mode in ("HIGHEST", "TOLERANCE")
    )
    highest = hlo.attrs.ResultAccuracyAttr(mode=exact)
    bounded = hlo.attrs.ResultAccuracyAttr(mode=within, atol=0.5, ulps=2)
    yield Instance(hlo.TanhOp, "2xf32", "2xf32", result_accuracy=highest)
    yield Instance(hlo.LogOp, "2xf32", "2xf32", result_accuracy=bounded)
    yield Instance(hlo.IsFiniteOp, "2xf16", "2xi1")
    yield Instance(hlo.ConvertOp, "2xf32", "2xi64")
    yield Instance(hlo.ConvertOp, "2xf32", "2xf32")
    yield Instance(hlo.BitcastConvertOp, "2xf32", "2x4xi8")
    yield Instance(
        hlo.ReducePrecisionOp,
        "2xf32",
        "2xf32",
        exponent_bits=IntegerAttr(5, i32),
        mantissa_bits=IntegerAttr(10, i32),
    )
    quantized = "2x!quant.uniform<i8:f32,_5.000000e-01:1>"
    yield Instance(hlo.UniformQuantizeOp, "2xf32", quantized)
    yield Instance(hlo.UniformDequantizeOp, quantized, "2xf32")
    yield Instance(hlo.ComplexOp, "2xf32 2xf32", "2xcomplex<f32>")
    less = hlo.ComparisonDirectionAttr(hlo.ComparisonDirection.LT)
    floats = hlo.ComparisonTypeAttr(hlo.ComparisonType.FLOAT)
    yield Instance(hlo.CompareOp, "2xf32 2xf32", "2xi1", comparison_direction=less)
    yield Instance(
        hlo.CompareOp, "?xf32 ?xf32", "?xi1", comparison_direction=less, compare_type=floats
    )
    yield Instance(hlo.SelectOp, "2xi1 2xf32 2xf32", "2xf32")
    yield Instance(hlo.SelectOp, "i1 2xf32 ?xf32", "2xf32")
    yield Instance(hlo.ClampOp, "f32 2xf32 f32", "2xf32")
    yield Instance(hlo.ClampOp, "2xf32 2xf32 2xf32", "2xf32")


def constructors() -> Iterator[Instance]:
    literal = DenseIntOrFPElementsAttr.from_list(type_("2xf32"), [1.0, 2.5])
    yield Instance(hlo.ConstantOp, "", "2xf32", value=literal)
    yield Instance(hlo.ConstantOp, "", "2xf32", value=literal, attributes={"my.note": i64_attr(1)})
    yield Instance(hlo.IotaOp, "", "2x3xi64", iota_dimension=i64_attr(1))
    yield Instance(hlo.DynamicIotaOp, "2xi64", "?x?xf32", iota_dimension=i64_attr(0))
    for distribution in hlo.enums.RngDistributionAttr.enum_type:
        attr = hlo.enums.RngDistributionAttr(distribution)
        yield Instance(hlo.RngOp, "f32 f32 2xi64", "?x?xf32", rng_distribution=attr)
    threefry = hlo.enums.RngAlgorithmAttr(hlo.enums.RngAlgorithmAttr.enum_type("THREE_FRY"))
    yield Instance(hlo.RngBitGeneratorOp, "2xui64", "2xui64 4xui32", rng_algorithm=threefry)
    yield Instance(hlo.PartitionIdOp, "", "ui32")
    yield Instance(hlo.ReplicaIdOp, "", "ui32")


def data_movement() -> Iterator[Instance]:
    zero, one, ones = i64_array([0, 0]), i64_array([0, 1]), i64_array([1, 1])
    yield Instance(hlo.ReshapeOp, "2x3xf32", "6xf32")
    yield Instance(hlo.ReshapeOp, "1xf32", "f32")
    yield Instance(hlo.DynamicReshapeOp, "2x3xf32 1xi64", "?xf32")
    yield Instance(hlo.TransposeOp, "2x?xf32", "?x2xf32", permutation=i64_array([1, 0]))
    yield Instance(hlo.TransposeOp, "f32", "f32", permutation=i64_array([]))
    yield Instance(hlo.ReverseOp, "2x3xf32", "2x3xf32", dimensions=one)
    dims = i64_array([1])
    yield Instance(hlo.BroadcastInDimOp, "1xf32", "2x3xf32", broadcast_dimensions=dims)
    yield Instance(hlo.BroadcastInDimOp, "f32", "2x3xf32", broadcast_dimensions=i64_array([]))
    dynamic = ("?xf32 2xi64", "?x?xf32")
    yield Instance(hlo.DynamicBroadcastInDimOp, *dynamic, broadcast_dimensions=dims)
    yield Instance(
        hlo.DynamicBroadcastInDimOp,
        *dynamic,
        broadcast_dimensions=dims,
        known_nonexpanding_dimensions=i64_array([0]),
    )
    yield Instance(hlo.BroadcastOp, "2xf32", "3x2xf32", broadcast_sizes=i64_array([3]))
    yield Instance(
        hlo.SliceOp,
        "2x5xf32",
        "1x2xf32",
        start_indices=one,
        limit_indices=i64_array([1, 5]),
        strides=i64_array([1, 2]),
    )
    empty = i64_array([])
    yield Instance(
        hlo.SliceOp, "f32", "f32", start_indices=empty, limit_indices=empty, strides=empty
    )
    yield Instance(hlo.DynamicSliceOp, "2x3xf32 i64 i64", "1x1xf32", slice_sizes=ones)
    yield Instance(hlo.DynamicUpdateSliceOp, "2x3xf32 1x1xf32 i64 i64", "2x3xf32")
    yield Instance(hlo.RealDynamicSliceOp, "2x?xf32 2xi64 2xi64 2xi64", "?x?xf32")
    yield Instance(
        hlo.PadOp,
        "2x3xf32 f32",
        "2x6xf32",
        edge_padding_low=zero,
        edge_padding_high=one,
        interior_padding=one,
    )
    yield Instance(hlo.DynamicPadOp, "2x?xf32 f32 2xi64 2xi64 2xi64", "?x?xf32")
    yield Instance(hlo.ConcatenateOp, "2x3xf32 2x?xf32", "2x?xf32", dimension=i64_attr(1))
    rows = hlo.GatherDimensionNumbersAttr(
        offset_dims=[1], collapsed_slice_dims=[0], start_index_map=[0], index_vector_dim=1
    )
    yield Instance(
        hlo.GatherOp,
        "4x3xf32 5xi64",
        "5x3xf32",
        dimension_numbers=rows,
        slice_sizes=i64_array([1, 3]),
        **bools(indices_are_sorted=False),
    )
    batched = hlo.GatherDimensionNumbersAttr(
        operand_batching_dims=[0],
        start_indices_batching_dims=[0],
        collapsed_slice_dims=[1],
        start_index_map=[1],
        index_vector_dim=1,
    )
    yield Instance(
        hlo.GatherOp, "4x3xf32 4x1xi64", "4xf32", dimension_numbers=batched, slice_sizes=ones
    )
    yield Instance(hlo.DynamicGatherOp, "4x?xf32 5xi64 2xi64", "5x?xf32", dimension_numbers=rows)
    yield Instance(
        hlo.TorchIndexSelectOp, "4x3xf32 2xi64", "2x3xf32", dim=i64_attr(0), batch_dims=i64_attr(0)
    )
    yield Instance(hlo.GetDimensionSizeOp, "?x3xf32", "i32", dimension=i64_attr(0))
    bounded = "?x3xf32,#stablehlo.bounds<2,?>"
    yield Instance(hlo.SetDimensionSizeOp, "2x3xf32 i32", bounded, dimension=i64_attr(0))


def linear() -> Iterator[Instance]:
    precisions = ArrayAttr(
        [hlo.enums.PrecisionAttr(hlo.enums.Precision(word)) for word in ("DEFAULT", "HIGHEST")]
    )
    batched = hlo.DotDimensionNumbersAttr(
        lhs_batching_dimensions=[0],
        rhs_batching_dimensions=[0],
        lhs_contracting_dimensions=[2],
        rhs_contracting_dimensions=[1],
    )
    matrix = hlo.DotDimensionNumbersAttr(
        lhs_contracting_dimensions=[1], rhs_contracting_dimensions=[0]
    )
    outer = hlo.DotDimensionNumbersAttr()
    tf32 = FloatTF32Type()
    algorithm = hlo.attrs.DotAlgorithmAttr(lhs_precision_type=tf32, rhs_precision_type=tf32)
    yield Instance(
        hlo.DotGeneralOp, "?x2x3xf32 ?x3x4xf32", "?x2x4xf32", dot_dimension_numbers=batched
    )
    yield Instance(
        hlo.DotGeneralOp,
        "2x3xf32 3x4xf32",
        "2x4xf32",
        dot_dimension_numbers=matrix,
        precision_config=precisions,
    )
    yield Instance(
        hlo.DotGeneralOp,
        "2x3xf32 3x4xf32",
        "2x4xf32",
        dot_dimension_numbers=matrix,
        algorithm=algorithm,
    )
    yield Instance(hlo.DotGeneralOp, "2xf32 3xf32", "2x3xf32", dot_dimension_numbers=outer)
    yield Instance(hlo.DotOp, "2x3xf32 3xf32", "2xf32", precision_config=precisions)
    contraction, transposition = StringAttr("ij,jk->ik"), StringAttr("ij->ji")
    yield Instance(hlo.EinsumOp, "2x3xf32 3x4xf32", "2x4xf32", einsum_config=contraction)
    yield Instance(hlo.UnaryEinsumOp, "2x3xf32", "3x2xf32", einsum_config=transposition)
    groups = {"feature_group_count": i64_attr(3), "batch_group_count": i64_attr(1)}
    ones = i64_array([1, 1])
    yield Instance(
        hlo.ConvolutionOp,
        "?x3x8x8xf32 6x1x3x3xf32",
        "?x6x4x4xf32",
        dimension_numbers=hlo.ConvDimensionNumbersAttr.channels_first(2),
        window_strides=i64_array([2, 2]),
        padding=hlo.padding_attr([(1, 1), (1, 1)]),
        lhs_dilation=ones,
        rhs_dilation=ones,
        window_reversal=hlo.attrs.bool_array([False, True]),
        precision_config=precisions,
        **groups,
    )
    channels_last = hlo.ConvDimensionNumbersAttr.from_sides((0, 2, [1]), (2, 1, [0]), (0, 2, [1]))
    yield Instance(
        hlo.ConvolutionOp,
        "2x8x3xf32 3x1x6xf32",
        "2x6x6xf32",
        dimension_numbers=channels_last,
        **groups,
    )
    yield Instance(
        hlo.DynamicConvOp,
        "2x8x3xf32 3x1x6xf32 1x2xi64",
        "2x?x6xf32",
        dimension_numbers=channels_last,
        window_strides=i64_array([1]),
        **groups,
    )
    no_transpose = hlo.enums.TransposeAttr(hlo.enums.TransposeAttr.enum_type("NO_TRANSPOSE"))
    yield Instance(hlo.CholeskyOp, "3x3xf32", "3x3xf32", **bools(lower=True))
    yield Instance(hlo.CholeskyOp, "2x3x3xf32", "2x3x3xf32")
    yield Instance(
        hlo.TriangularSolveOp,
        "3x3xf32 3x2xf32",
        "3x2xf32",
        transpose_a=no_transpose,
        **bools(left_side=True, lower=True, unit_diagonal=False),
    )
    rfft = hlo.enums.FftTypeAttr(hlo.enums.FftTypeAttr.enum_type("RFFT"))
    yield Instance(
        hlo.FftOp, "2x8xf32", "2x5xcomplex<f32>", fft_type=rfft, fft_length=i64_array([8])
    )
    norm = {"epsilon": FloatAttr(1e-5, f32), "feature_index": i64_attr(1)}
    yield Instance(
        hlo.BatchNormInferenceOp, "2x3x4xf32 3xf32 3xf32 3xf32 3xf32", "2x3x4xf32", **norm
    )
    yield Instance(
        hlo.BatchNormTrainingOp, "2x3x4xf32 3xf32 3xf32", "2x3x4xf32 3xf32 3xf32", **norm
    )
    yield Instance(
        hlo.BatchNormGradOp,
        "2x3x4xf32 3xf32 3xf32 3xf32 2x3x4xf32",
        "2x3x4xf32 3xf32 3xf32",
        **norm,
    )


def reductions() -> Iterator[Instance]:
    add = lambda: [hlo.combiner(hlo.AddOp, f32)]  # noqa: E731
    greatest = hlo.ComparisonDirection.GE
    dims = i64_array([1])
    yield Instance(hlo.ReduceOp, "2x?xf32 f32", "2xf32", dimensions=dims, regions=add)
    swapped = Block(arg_types=scalars(f32, f32))
    swapped.add_op(hlo.SubtractOp.create(operands=swapped.args[::-1], result_types=scalars(f32)))
    swapped.add_op(hlo.ReturnOp.create(operands=swapped.ops.first.results))
    reversed_difference = Region(swapped)
    yield Instance(
        hlo.ReduceOp,
        "2x3xf32 f32",
        "2xf32",
        dimensions=dims,
        regions=lambda: [reversed_difference.clone()],
        attributes={"my.note": i64_attr(1)},
    )
    yield Instance(
        hlo.ReduceOp,
        "2x3xf32 2x3xi64 f32 i64",
        "2xf32 2xi64",
        dimensions=dims,
        regions=lambda: [constant_body(scalars(f32, i64), scalars(f32, i64, f32, i64))],
    )
    window = {"window_dimensions": i64_array([1, 2]), "window_strides": i64_array([1, 2])}
    yield Instance(
        hlo.ReduceWindowOp,
        "2x5xf32 f32",
        "2x3xf32",
        padding=hlo.padding_attr([(0, 0), (1, 0)]),
        regions=add,
        **window,
    )
    yield Instance(
        hlo.SelectAndScatterOp,
        "2x4xf32 2x2xf32 f32",
        "2x4xf32",
        padding=hlo.padding_attr([(0, 0), (0, 0)]),
        regions=lambda: [hlo.comparator(greatest, [f32]), *add()],
        **window,
    )
    rows = hlo.ScatterDimensionNumbersAttr(
        update_window_dims=[1],
        inserted_window_dims=[0],
        scatter_dims_to_operand_dims=[0],
        index_vector_dim=1,
    )
    yield Instance(
        hlo.ScatterOp,
        "4x3xf32 ?xi64 ?x3xf32",
        "4x3xf32",
        scatter_dimension_numbers=rows,
        regions=lambda: [hlo.assign_body(f32)],
        **bools(indices_are_sorted=False, unique_indices=True),
    )
    yield Instance(
        hlo.SortOp,
        "2x?xf32 2x?xi64",
        "2x?xf32 2x?xi64",
        dimension=i64_attr(1),
        regions=lambda: [hlo.comparator(greatest, [f32, i64], hlo.ComparisonType.TOTALORDER)],
        **bools(is_stable=True),
    )
    yield Instance(hlo.MapOp, "2xf32 2xf32", "2xf32", dimensions=i64_array([0]), regions=add)


def control_flow() -> Iterator[Instance]:
    pair = "2xf32 i64"
    pair_types = [type_(text) for text in pair.split()]
    ones = lambda: constant_body([type_("2xf32")], [])  # noqa: E731
    yield Instance(hlo.IfOp, "i1", "2xf32", regions=lambda: [ones(), ones()])
    yield Instance(hlo.CaseOp, "i32", "2xf32", regions=lambda: [ones(), ones(), ones()])
    yield Instance(
        hlo.WhileOp,
        pair,
        pair,
        regions=lambda: [
            constant_body(scalars(i1), pair_types),
            returning(Block(arg_types=pair_types)),
        ],
        attributes={"my.note": i64_attr(1)},
    )
    yield Instance(
        hlo.WhileOp,
        "",
        "",
        regions=lambda: [constant_body(scalars(i1), []), constant_body([], [])],
    )
    yield Instance(hlo.OptimizationBarrierOp, pair, pair)
    yield Instance(hlo.OptimizationBarrierOp, "", "")
    yield Instance(hlo.TupleOp, pair, "tuple<tensor<2xf32>,tensor<i64>>")
    yield Instance(
        hlo.GetTupleElementOp,
        "tuple<tensor<2xf32>,tensor<i64>>",
        "i64",
        index=IntegerAttr(1, i32),
    )
    yield Instance(hlo.CreateTokenOp, "", "!stablehlo.token")
    yield Instance(hlo.AfterAllOp, "!stablehlo.token !stablehlo.token", "!stablehlo.token")
    yield Instance(hlo.CustomCallOp, "2xf32", "2xf32", call_target_name=StringAttr("my.target"))
    index_list = Parser(context(), "[dense<[0, 1]> : tensor<2xindex>]").parse_attribute()
    yield Instance(
        hlo.CustomCallOp,
        "2x3xf32",
        "2x3xf32",
        call_target_name=StringAttr("target"),
        api_version=IntegerAttr(4, i32),
        backend_config=DictionaryAttr({"level": i64_attr(2)}),
        called_computations=ArrayAttr([FlatSymbolRefAttr("decomposition")]),
        operand_layouts=index_list,
        result_layouts=index_list,
        output_operand_aliases=ArrayAttr([hlo.attrs.OutputOperandAliasAttr()]),
        **bools(has_side_effect=True),
    )
    yield Instance(
        hlo.CompositeOp,
        "2xf32",
        "2xf32",
        name_=StringAttr("my.op"),
        composite_attributes=DictionaryAttr({"level": i64_attr(2)}),
        decomposition=FlatSymbolRefAttr("decomposition"),
        version=IntegerAttr(1, i32),
    )


QUANTIZED = (hlo.UniformQuantizeOp, hlo.UniformDequantizeOp)

INSTANCES = [
    *elementwise(),
    *constructors(),
    *data_movement(),
    *linear(),
    *reductions(),
    *control_flow(),
]
