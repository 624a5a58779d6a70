"""StableHLO contractions and convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure

from torch2mlir.dialects.stablehlo import checks, syntax
from torch2mlir.dialects.stablehlo.attrs import (
    BOOL_ARRAY,
    I64_ARRAY,
    ConvDimensionNumbersAttr,
    DotAlgorithmAttr,
    DotDimensionNumbersAttr,
    I64Array,
    bool_array,
    padding_attr,
    padding_pairs,
    parse_i64_list,
)
from torch2mlir.dialects.stablehlo.checks import require, shape_of
from torch2mlir.dialects.stablehlo.enums import PrecisionAttr
from torch2mlir.dialects.stablehlo.syntax import Clause, HloOp

# --- contractions --------------------------------------------------------------------------------


def _print_precisions(printer: Printer, attr: Attribute) -> None:
    precisions = cast(ArrayAttr[PrecisionAttr], attr)
    printer.print_string(f"[{', '.join(precision.data.value for precision in precisions)}]")


def _parse_precisions(parser: Parser) -> Attribute:
    def parse_precision() -> Attribute:
        return PrecisionAttr(parser.parse_str_enum(PrecisionAttr.enum_type))  # type: ignore[arg-type]

    return ArrayAttr(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_precision))


PRECISION_CLAUSE = Clause("precision", "precision_config", _print_precisions, _parse_precisions)


def _print_algorithm(printer: Printer, attr: Attribute) -> None:
    cast(DotAlgorithmAttr, attr).print_parameters(printer)


ALGORITHM_CLAUSE = Clause(
    "algorithm",
    "algorithm",
    _print_algorithm,
    lambda parser: DotAlgorithmAttr.new(DotAlgorithmAttr.parse_parameters(parser)),
)


@irdl_op_definition
class DotGeneralOp(HloOp):
    """Contraction of any dimensions, batched over any others.

    ``stablehlo.dot_general %0, %1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : ...``;
    the result's dimensions are the batching ones, then what is left of `lhs`, then of `rhs`.
    """

    name = "stablehlo.dot_general"
    CLAUSES: ClassVar[tuple[Clause, ...]] = (PRECISION_CLAUSE, ALGORITHM_CLAUSE)

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    dot_dimension_numbers = prop_def(DotDimensionNumbersAttr)
    precision_config = opt_prop_def(ArrayAttr[PrecisionAttr])
    algorithm = opt_prop_def(DotAlgorithmAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def claimed(self) -> Sequence[str]:
        return ["dot_dimension_numbers", *super().claimed()]

    def print_clauses(self, printer: Printer, separator: str) -> None:
        numbers = self.dot_dimension_numbers
        batching = (numbers.lhs_batching_dimensions, numbers.rhs_batching_dimensions)
        contracting = (numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions)
        for keyword, sides in (("batching_dims", batching), ("contracting_dims", contracting)):
            lhs, rhs = (list(side.get_values()) for side in sides)
            if lhs or rhs or keyword == "contracting_dims":
                printer.print_string(f"{separator}{keyword} = {lhs} x {rhs}")
        super().print_clauses(printer, separator)

    @classmethod
    def parse_clause(cls, parser: Parser, keyword: str, properties: dict[str, Attribute]) -> None:
        if keyword not in ("batching_dims", "contracting_dims"):
            super().parse_clause(parser, keyword, properties)
            return
        lhs = parse_i64_list(parser)
        parser.parse_keyword("x")
        side = keyword.removesuffix("_dims")
        dims = {f"lhs_{side}_dimensions": lhs, f"rhs_{side}_dimensions": parse_i64_list(parser)}
        known = properties.get("dot_dimension_numbers")
        fields = known.fields() if isinstance(known, DotDimensionNumbersAttr) else {}
        properties["dot_dimension_numbers"] = DotDimensionNumbersAttr(**{**fields, **dims})  # type: ignore[arg-type]

    def verify_(self) -> None:
        numbers = self.dot_dimension_numbers
        sides = (
            (self.lhs, numbers.lhs_batching_dimensions, numbers.lhs_contracting_dimensions),
            (self.rhs, numbers.rhs_batching_dimensions, numbers.rhs_contracting_dimensions),
        )
        batches, contracted, free = [], [], []
        for value, batching, contracting in sides:
            shape, batch_dims, sum_dims = (
                shape_of(value),
                batching.get_values(),
                contracting.get_values(),
            )
            used = (*batch_dims, *sum_dims)
            checks.require_dims(used, len(shape), "batching and contracting dimensions")
            batches.append([shape[dim] for dim in batch_dims])
            contracted.append([shape[dim] for dim in sum_dims])
            free += [size for dim, size in enumerate(shape) if dim not in used]
        for what, (lhs, rhs) in (("batching", batches), ("contracting", contracted)):
            require(
                checks.same_shape(lhs, rhs),
                f"{what} dimensions of lhs and rhs differ: "
                f"{checks.shape_text(lhs)} and {checks.shape_text(rhs)}",
            )
        batch = [max(pair) for pair in zip(*batches)]
        checks.require_shape(self.result, [*batch, *free], "result")


@irdl_op_definition
class DotOp(HloOp):
    """Product of matrices and vectors (deprecated in favour of ``dot_general``)."""

    name = "stablehlo.dot"
    CLAUSES: ClassVar[tuple[Clause, ...]] = (PRECISION_CLAUSE,)

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    precision_config = opt_prop_def(ArrayAttr[PrecisionAttr])
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        lhs, rhs = shape_of(self.lhs), shape_of(self.rhs)
        require(
            len(lhs) in (1, 2) and len(rhs) in (1, 2) and checks.same_dim(lhs[-1], rhs[0]),
            f"shapes {checks.shape_text(lhs)} and {checks.shape_text(rhs)} do not multiply",
        )
        checks.require_shape(self.result, [*lhs[:-1], *rhs[1:]], "result")


EINSUM_CLAUSES = (syntax.string_clause("config", "einsum_config"),)


@irdl_op_definition
class EinsumOp(HloOp):
    """Einstein sum of two tensors (deprecated)."""

    name = "stablehlo.einsum"
    CLAUSES: ClassVar[tuple[Clause, ...]] = EINSUM_CLAUSES

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    einsum_config = prop_def(StringAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())


@irdl_op_definition
class UnaryEinsumOp(HloOp):
    """Einstein sum of one tensor (deprecated)."""

    name = "stablehlo.unary_einsum"
    CLAUSES: ClassVar[tuple[Clause, ...]] = EINSUM_CLAUSES

    operand = operand_def(TensorType)
    einsum_config = prop_def(StringAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())


# --- convolutions --------------------------------------------------------------------------------


def _parse_bool_list(parser: Parser) -> list[bool]:
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_boolean)


def _parse_pairs(parser: Parser) -> Attribute:
    position = parser.pos
    pairs = parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: tuple(parse_i64_list(parser))
    )
    if any(len(pair) != 2 for pair in pairs):
        parser.raise_error("expected pairs of low and high padding", position)
    return padding_attr(pairs)  # type: ignore[arg-type]


def _print_bools(printer: Printer, attr: Attribute) -> None:
    values = cast(I64Array, attr).get_values()
    printer.print_string(f"[{', '.join('true' if value else 'false' for value in values)}]")


def _print_pairs(printer: Printer, attr: Attribute) -> None:
    pairs = padding_pairs(cast(DenseIntOrFPElementsAttr, attr))
    printer.print_string(str([list(pair) for pair in pairs]))


WINDOW_CLAUSES = (
    syntax.i64_array_clause("stride", "window_strides"),
    Clause("pad", "padding", _print_pairs, _parse_pairs),
    syntax.i64_array_clause("lhs_dilate", "lhs_dilation"),
    syntax.i64_array_clause("rhs_dilate", "rhs_dilation"),
    Clause(
        "reverse",
        "window_reversal",
        _print_bools,
        lambda parser: bool_array(_parse_bool_list(parser)),
    ),
)


def _verify_convolution(
    op: ConvolutionOp | DynamicConvOp, padding: Sequence[tuple[int, int]] | None
) -> None:
    """Check ranks, group counts and the result's shape; spatial sizes only if padding is known."""
    lhs_shape, rhs_shape, result_shape = (shape_of(value) for value in (op.lhs, op.rhs, op.result))
    rank = len(lhs_shape)
    for shape, what in ((rhs_shape, "rhs"), (result_shape, "result")):
        checks.require_length(shape, rank, f"{what} shape")
    lhs, kernel, output = op.dimension_numbers.sides()
    for first, second, spatial in (lhs, kernel, output):
        checks.require_length((first, second, *spatial), rank, "dimension_numbers")
        checks.require_dims((first, second, *spatial), rank, "dimension_numbers")
    windows = [
        values.get_values() if values is not None else (1,) * (rank - 2)
        for values in (op.window_strides, op.lhs_dilation, op.rhs_dilation)
    ]
    for values in windows:
        checks.require_length(values, rank - 2, "window attribute")
    groups, batch_groups = op.feature_group_count.value.data, op.batch_group_count.value.data
    require(groups > 0 and batch_groups > 0, "group counts must be positive")
    features, kernel_features = lhs_shape[lhs[1]], rhs_shape[kernel[1]]
    known = DYNAMIC_INDEX not in (features, kernel_features)
    require(
        not known or features == kernel_features * groups,
        f"{features} input features do not match a kernel of {kernel_features} in {groups} groups",
    )
    expected = [DYNAMIC_INDEX] * rank
    batch = lhs_shape[lhs[0]]
    expected[output[0]] = batch if batch == DYNAMIC_INDEX else batch // batch_groups
    expected[output[1]] = rhs_shape[kernel[0]]
    if padding is not None:
        checks.require_length([low for low, _ in padding], rank - 2, "padding")
        for index, (low, high) in enumerate(padding):
            stride, lhs_dilation, rhs_dilation = (values[index] for values in windows)
            size = checks.dilated(lhs_shape[lhs[2][index]], lhs_dilation)
            window = checks.dilated(rhs_shape[kernel[2][index]], rhs_dilation)
            expected[output[2][index]] = checks.windowed_dim(size, window, stride, low, high)
    checks.require_shape(op.result, expected, "result")


@irdl_op_definition
class ConvolutionOp(HloOp):
    """Convolution (cross-correlation, unless `window_reversal` says otherwise) in any layout.

    ``stablehlo.convolution(%0, %1) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {stride = [2, 2], pad = [[1, 1], [1, 1]]} {feature_group_count = 1 : i64, ...} : ...``
    """

    name = "stablehlo.convolution"

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    window_strides = opt_prop_def(I64_ARRAY)
    padding = opt_prop_def(DenseIntOrFPElementsAttr)
    lhs_dilation = opt_prop_def(I64_ARRAY)
    rhs_dilation = opt_prop_def(I64_ARRAY)
    window_reversal = opt_prop_def(BOOL_ARRAY)
    dimension_numbers = prop_def(ConvDimensionNumbersAttr)
    feature_group_count = prop_def(IntegerAttr)
    batch_group_count = prop_def(IntegerAttr)
    precision_config = opt_prop_def(ArrayAttr[PrecisionAttr])
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def print(self, printer: Printer) -> None:
        printer.print_operands(self.operands)
        printer.print_string(" dim_numbers = ")
        self.dimension_numbers.print_bare(printer)
        printer.print_string(", window = {")
        separator = ""
        for clause in WINDOW_CLAUSES:
            value = self.properties.get(clause.prop)
            if value is not None:
                printer.print_string(f"{separator}{clause.keyword} = ")
                clause.print_value(printer, value)
                separator = ", "
        printer.print_string("}")
        printed = ["dimension_numbers", *(clause.prop for clause in WINDOW_CLAUSES)]
        syntax.print_attr_dict(self, printer, printed=printed)
        printer.print_string(f" : {syntax.function_type_text(self)}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands = parser.parse_op_args_list()
        parser.parse_keyword("dim_numbers")
        parser.parse_punctuation("=")
        properties: dict[str, Attribute] = {
            "dimension_numbers": ConvDimensionNumbersAttr.parse_bare(parser)
        }
        parser.parse_punctuation(",")
        parser.parse_keyword("window")
        parser.parse_punctuation("=")
        clauses = {clause.keyword: clause for clause in WINDOW_CLAUSES}

        def parse_clause() -> None:
            position = parser.pos
            keyword = parser.parse_identifier()
            if keyword not in clauses:
                parser.raise_error(f"expected one of {', '.join(clauses)}", position)
            parser.parse_punctuation("=")
            properties[clauses[keyword].prop] = clauses[keyword].parse_value(parser)

        parser.parse_comma_separated_list(parser.Delimiter.BRACES, parse_clause)
        attributes = syntax.parse_attr_dict(cls, parser, properties)
        signature = syntax.parse_function_signature(parser)
        return syntax.build(cls, parser, operands, signature, properties, attributes)

    def verify_(self) -> None:
        if self.padding is None:
            padding = [(0, 0)] * (len(shape_of(self.lhs)) - 2)
        else:
            padding = padding_pairs(self.padding)
        _verify_convolution(self, padding)


@irdl_op_definition
class DynamicConvOp(IRDLOperation):
    """``convolution`` whose padding is an operand."""

    name = "stablehlo.dynamic_conv"

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    padding = operand_def(TensorType)
    window_strides = opt_prop_def(I64_ARRAY)
    lhs_dilation = opt_prop_def(I64_ARRAY)
    rhs_dilation = opt_prop_def(I64_ARRAY)
    window_reversal = opt_prop_def(BOOL_ARRAY)
    dimension_numbers = prop_def(ConvDimensionNumbersAttr)
    feature_group_count = prop_def(IntegerAttr)
    batch_group_count = prop_def(IntegerAttr)
    precision_config = opt_prop_def(ArrayAttr[PrecisionAttr])
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        checks.require_shape(self.padding, [len(shape_of(self.lhs)) - 2, 2], "padding")
        _verify_convolution(self, None)


OPERATIONS = (
    ConvolutionOp,
    DotGeneralOp,
    DotOp,
    DynamicConvOp,
    EinsumOp,
    UnaryEinsumOp,
)
