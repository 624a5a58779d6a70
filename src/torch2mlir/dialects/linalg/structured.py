"""What all structured operations share: `ins(..) outs(..)`, loops, indexing maps and their checks.

A structured operation is a loop nest. Each loop is parallel or a reduction; each operand has an
affine map from the loops to its element; the body combines one element of each operand.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import lru_cache

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    MemRefType,
    ShapedType,
    TensorType,
    i32,
)
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.irdl import AttrSizedOperandSegments, IRDLOperation, var_operand_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.assembly import parse_results, results_text, types_text, values_text

PARALLEL = IteratorTypeAttr.parallel()
REDUCTION = IteratorTypeAttr.reduction()
SEGMENTS = "operandSegmentSizes"


@lru_cache(maxsize=256)
def segment_sizes(inputs: int, outputs: int) -> DenseArrayBase:
    """The property that says where an operation's inputs end and its outputs begin."""
    return DenseArrayBase.from_list(i32, [inputs, outputs])


@lru_cache(maxsize=256)
def iterator_types(*, parallel: int, reduction: int = 0) -> ArrayAttr[IteratorTypeAttr]:
    """Parallel loops followed by reduction loops."""
    return ArrayAttr([PARALLEL] * parallel + [REDUCTION] * reduction)


@lru_cache(maxsize=4096)
def dims_map(loops: int, dims: tuple[int, ...]) -> AffineMapAttr:
    """The map from `loops` loops to those numbered `dims`."""
    expressions = tuple(AffineDimExpr(dim) for dim in dims)
    return AffineMapAttr(AffineMap(loops, 0, expressions))


class LoopNest(IRDLOperation, ABC):
    """An operation that reads some operands and updates others; of these, tensors are results."""

    @abstractmethod
    def updated(self) -> Sequence[SSAValue]:
        """The operands that are computed into."""

    @abstractmethod
    def get_indexing_maps(self) -> ArrayAttr[AffineMapAttr]:
        """One map for each operand, from the loops to the dimensions of the operand."""

    @abstractmethod
    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        """The kind of each loop."""

    def verify_(self) -> None:
        results = tensor_types(self.updated())
        if results != list(self.result_types):
            raise VerifyException(
                f"{self.name}: result types ({types_text(self.result_types)}) must be those of "
                f"the outputs ({types_text(results)})"
            )
        verify_loops(self, self.get_indexing_maps().data, len(self.get_iterator_types()))


def tensor_types(values: Sequence[SSAValue]) -> list[Attribute]:
    """The types of those values that are tensors."""
    return [value.type for value in values if isinstance(value.type, TensorType)]


class StructuredOp(LoopNest, ABC):
    """An operation with groups of inputs and outputs."""

    inputs = var_operand_def()
    outputs = var_operand_def()
    res = var_result_def()
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        *,
        properties: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ) -> None:
        Operation.__init__(
            self,
            operands=(*inputs, *outputs),
            result_types=tensor_types(outputs),
            properties={SEGMENTS: segment_sizes(len(inputs), len(outputs)), **(properties or {})},
            regions=regions,
        )

    def updated(self) -> Sequence[SSAValue]:
        return self.outputs

    def verify_(self) -> None:
        super().verify_()
        if self.regions:
            verify_body(self, self.regions[0])


def element_type(type_: Attribute) -> Attribute:
    """The element type of a tensor or memref, a scalar's own type."""
    return type_.element_type if isinstance(type_, TensorType | MemRefType) else type_


def verify_body(op: StructuredOp, body: Region) -> None:
    """The body takes an element of each operand and yields one for each output."""
    expected = [element_type(type_) for type_ in op.operand_types]
    actual = list(body.block.arg_types)
    if actual != expected:
        raise VerifyException(
            f"{op.name}: the body takes ({types_text(actual)}), "
            f"the operands have elements ({types_text(expected)})"
        )
    last = body.block.last_op
    if not isinstance(last, YieldOp):
        raise VerifyException(f"{op.name}: the body must end with linalg.yield")
    wanted = expected[len(expected) - len(op.outputs) :]
    if [value.type for value in last.operands] != wanted:
        raise VerifyException(
            f"{op.name}: the body yields ({types_text(v.type for v in last.operands)}), "
            f"the outputs have elements ({types_text(wanted)})"
        )


def verify_loops(op: Operation, maps: Sequence[AffineMapAttr], loops: int) -> None:
    """Maps fit the operands' ranks, and operands agree on the size of every loop."""
    if len(maps) != len(op.operands):
        raise VerifyException(
            f"{op.name}: has {len(op.operands)} operands and {len(maps)} indexing maps"
        )
    sizes: dict[int, tuple[int, int]] = {}
    for number, (operand, attribute) in enumerate(zip(op.operands, maps, strict=True)):
        map_ = attribute.data
        shape = operand.type.get_shape() if isinstance(operand.type, ShapedType) else ()
        if map_.num_dims != loops or map_.num_symbols:
            raise VerifyException(
                f"{op.name}: indexing map {number}, {map_}, must be over {loops} loops"
            )
        if len(map_.results) != len(shape):
            raise VerifyException(
                f"{op.name}: operand {number} is {operand.type}, "
                f"its indexing map {map_} has {len(map_.results)} results"
            )
        for size, expression in zip(shape, map_.results, strict=True):
            if size == DYNAMIC_INDEX or not isinstance(expression, AffineDimExpr):
                continue
            known, where = sizes.setdefault(expression.position, (size, number))
            if known != size:
                raise VerifyException(
                    f"{op.name}: loop d{expression.position} has size {known} in operand {where} "
                    f"and {size} in operand {number}"
                )


# Assembly


def operand_group_text(printer: Printer, keyword: str, operands: Sequence[SSAValue]) -> str:
    """` ins(%a, %b : type, type)`, nothing if there are no operands."""
    if not operands:
        return ""
    types = types_text([operand.type for operand in operands])
    return f" {keyword}({values_text(printer, operands)} : {types})"


def operands_text(printer: Printer, op: Operation) -> str:
    """Both operand groups of an operation with segment sizes."""
    segments = op.properties[SEGMENTS]
    assert isinstance(segments, DenseArrayBase)
    inputs = segments.get_values()[0]
    operands = tuple(op.operands)
    ins = operand_group_text(printer, "ins", operands[:inputs])
    return ins + operand_group_text(printer, "outs", operands[inputs:])


def result_types_text(op: Operation) -> str:
    """` -> type`, nothing if there are no results."""
    return f" -> {results_text(op.result_types)}" if op.results else ""


def parse_operand_group(parser: Parser, keyword: str) -> Sequence[SSAValue]:
    """Parse `ins(%a, %b : type, type)` if it is there."""
    position = parser.pos
    if parser.parse_optional_keyword(keyword) is None:
        return ()
    with parser.in_parens():
        operands = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
    return parser.resolve_operands(operands, types, position)


def parse_result_types(parser: Parser) -> Sequence[Attribute]:
    """Parse `-> type` or `-> (type, type)` if it is there."""
    return parse_results(parser) if parser.parse_optional_punctuation("->") else ()
