"""transpose, broadcast, reduce and map: structured operations given by a list of dimensions."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import (
    I64,
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    IntegerType,
    ShapedType,
    i64,
)
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    SameVariadicOperandSize,
    irdl_op_definition,
    operand_def,
    opt_region_def,
    prop_def,
    region_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.linalg import bodies
from torch2mlir.dialects.linalg.structured import (
    PARALLEL,
    REDUCTION,
    LoopNest,
    dims_map,
    element_type,
    iterator_types,
    operand_group_text,
    parse_operand_group,
    tensor_types,
)


def _rank(value: SSAValue) -> int:
    return len(value.type.get_shape()) if isinstance(value.type, ShapedType) else 0


def _groups_text(printer: Printer, inputs: Sequence[SSAValue], inits: Sequence[SSAValue]) -> str:
    ins = operand_group_text(printer, "ins", inputs)
    return ins + operand_group_text(printer, "outs", inits)


def _dims_text(keyword: str, dims: DenseArrayBase[IntegerType]) -> str:
    return f" {keyword} = [{', '.join(map(str, dims.get_values()))}]"


def _parse_dims(parser: Parser, keyword: str) -> DenseArrayBase:
    parser.parse_keyword(keyword)
    parser.parse_punctuation("=")
    dims = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
    return DenseArrayBase.from_list(i64, dims)


class MovementOp(LoopNest, ABC):
    """One input, moved into one output; the body only hands the element on."""

    input = operand_def()
    init = operand_def()
    result = var_result_def()
    body = opt_region_def("single_block")

    def __init__(
        self, input: SSAValue, init: SSAValue, dims: Sequence[int] | DenseArrayBase
    ) -> None:
        if not isinstance(dims, DenseArrayBase):
            dims = DenseArrayBase.from_list(i64, dims)
        Operation.__init__(
            self,
            operands=(input, init),
            result_types=tensor_types((init,)),
            properties={self.dims_keyword(): dims},
        )

    @classmethod
    def dims_keyword(cls) -> str:
        """The name of the property that lists dimensions."""
        (name,) = cls.get_irdl_definition().properties
        return name

    def updated(self) -> Sequence[SSAValue]:
        return (self.init,)

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        return iterator_types(parallel=_rank(self.init))

    def build_body(self) -> Region:
        """The region the name stands for, not attached to the operation."""
        return bodies.build_body(self.name, self.operands, bodies.first_input)

    def print(self, printer: Printer) -> None:
        source, init = self.operands
        keyword = self.dims_keyword()
        dims = self.properties[keyword]
        assert isinstance(dims, DenseArrayBase)
        printer.print_string(_groups_text(printer, (source,), (init,)) + _dims_text(keyword, dims))
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        inputs = parse_operand_group(parser, "ins")
        inits = parse_operand_group(parser, "outs")
        keyword = cls.dims_keyword()
        dims = _parse_dims(parser, keyword)
        return cls.create(
            operands=(*inputs, *inits),
            result_types=tensor_types(inits),
            properties={keyword: dims},
            attributes=parser.parse_optional_attr_dict(),
        )


@irdl_op_definition
class TransposeOp(MovementOp):
    """Output dimension i is input dimension permutation[i]."""

    name = "linalg.transpose"

    permutation = prop_def(DenseArrayBase.constr(I64))

    def get_indexing_maps(self) -> ArrayAttr[AffineMapAttr]:
        permutation = self.permutation.get_values()
        rank = len(permutation)
        inverse = tuple(permutation.index(dim) for dim in range(rank))
        return ArrayAttr([dims_map(rank, inverse), dims_map(rank, tuple(range(rank)))])

    def verify_(self) -> None:
        permutation = self.permutation.get_values()
        if sorted(permutation) != list(range(_rank(self.input))):
            raise VerifyException(
                f"{self.name}: {list(permutation)} is not a permutation of the dimensions "
                f"of {self.input.type}"
            )
        super().verify_()


@irdl_op_definition
class BroadcastOp(MovementOp):
    """Add the dimensions listed to the input; the others keep their order."""

    name = "linalg.broadcast"

    dimensions = prop_def(DenseArrayBase.constr(I64))

    def get_indexing_maps(self) -> ArrayAttr[AffineMapAttr]:
        added = self.dimensions.get_values()
        rank = _rank(self.init)
        kept = tuple(dim for dim in range(rank) if dim not in added)
        return ArrayAttr([dims_map(rank, kept), dims_map(rank, tuple(range(rank)))])


def _parse_mapper(parser: Parser) -> Region:
    arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
    return parser.parse_region(arguments)


def _parse_payload(parser: Parser) -> tuple[type[Operation], dict[str, Attribute]] | None:
    """Parse `{ arith.addf {attributes} }`, the short form of a body of one operation."""
    if parser.parse_optional_punctuation("{") is None:
        return None
    name = parser.parse_identifier()
    op = parser.ctx.get_optional_op(name)
    if op is None:
        parser.raise_error(f"operation {name} is not registered")
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation("}")
    return op, attributes


def _payload_body(
    payload: tuple[type[Operation], dict[str, Attribute]],
    operands: Sequence[SSAValue],
    order: Sequence[int],
) -> Region:
    """A body that applies one operation to the block arguments numbered `order`."""
    op, attributes = payload
    block = Block(arg_types=[element_type(operand.type) for operand in operands])
    definition = op.get_irdl_definition()  # type: ignore[attr-defined]
    applied = op.create(
        operands=[block.args[index] for index in order],
        result_types=[block.args[-1].type],
        properties={k: v for k, v in attributes.items() if k in definition.properties},
        attributes={k: v for k, v in attributes.items() if k not in definition.properties},
    )
    block.add_ops([applied, YieldOp.create(operands=applied.results)])
    return Region(block)


class CombiningOp(LoopNest, ABC):
    """Elements of inputs and outputs combined by a body that is written out."""

    inputs = var_operand_def()

    @classmethod
    @abstractmethod
    def payload_order(cls, inputs: int, outputs: int) -> Sequence[int]:
        """The operands whose elements the short form, of one operation, applies it to."""

    def updated(self) -> Sequence[SSAValue]:
        return self.operands[len(self.inputs) :]

    def print(self, printer: Printer) -> None:
        count, dims = len(self.inputs), self.properties.get("dimensions")
        printer.print_string(_groups_text(printer, self.operands[:count], self.operands[count:]))
        if isinstance(dims, DenseArrayBase):
            printer.print_string(_dims_text("dimensions", dims))
        printer.print_op_attributes(self.attributes)
        printer.print_string(" (")
        printer.print_list(self.regions[0].block.args, printer.print_block_argument)
        printer.print_string(") ")
        printer.print_region(self.regions[0], print_entry_block_args=False)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        payload = _parse_payload(parser)
        inputs = parse_operand_group(parser, "ins")
        inits = parse_operand_group(parser, "outs")
        takes_dims = "dimensions" in cls.get_irdl_definition().properties
        properties = {"dimensions": _parse_dims(parser, "dimensions")} if takes_dims else {}
        attributes = parser.parse_optional_attr_dict()
        operands = (*inputs, *inits)
        body = (
            _parse_mapper(parser)
            if payload is None
            else _payload_body(payload, operands, cls.payload_order(len(inputs), len(inits)))
        )
        return cls.create(
            operands=operands,
            result_types=tensor_types(inits),
            properties=properties,
            attributes=attributes,
            regions=[body],
        )


@irdl_op_definition
class ReduceOp(CombiningOp):
    """Reduce dimensions; the body combines an element of each input with the outputs."""

    name = "linalg.reduce"

    inits = var_operand_def()
    dimensions = prop_def(DenseArrayBase.constr(I64))
    res = var_result_def()
    combiner = region_def("single_block")
    irdl_options = (SameVariadicOperandSize(),)

    def get_indexing_maps(self) -> ArrayAttr[AffineMapAttr]:
        rank, reduced, count = (
            _rank(self.operands[0]),
            self.dimensions.get_values(),
            len(self.inits),
        )
        kept = tuple(dim for dim in range(rank) if dim not in reduced)
        maps = [dims_map(rank, tuple(range(rank)))] * count + [dims_map(rank, kept)] * count
        return ArrayAttr(maps)

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        reduced, loops = self.dimensions.get_values(), range(_rank(self.operands[0]))
        return ArrayAttr([REDUCTION if dim in reduced else PARALLEL for dim in loops])

    @classmethod
    def payload_order(cls, inputs: int, outputs: int) -> Sequence[int]:
        last = inputs + outputs - 1
        return (last, *range(last))


@irdl_op_definition
class MapOp(CombiningOp):
    """Elementwise; the body takes an element of each input and of the output."""

    name = "linalg.map"

    init = operand_def()
    result = var_result_def()
    mapper = region_def("single_block")

    def get_indexing_maps(self) -> ArrayAttr[AffineMapAttr]:
        rank = _rank(self.init)
        return ArrayAttr([dims_map(rank, tuple(range(rank)))] * len(self.operands))

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        return iterator_types(parallel=_rank(self.init))

    @classmethod
    def payload_order(cls, inputs: int, outputs: int) -> Sequence[int]:
        return range(inputs)
