"""transpose, broadcast, reduce and map: structured operations given by a list of dimensions."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import (
    I64,
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
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
from torch2mlir.dialects.tensors import integers

Payload = tuple[type[Operation], dict[str, Attribute]]
"""The one op that a body is, and its attributes."""


def _rank(value: SSAValue) -> int:
    return len(value.type.get_shape()) if isinstance(value.type, ShapedType) else 0


class DimensionsOp(LoopNest, ABC):
    """``ins(..) outs(..) dimensions = [..] {..}``."""

    @classmethod
    def dims_keyword(cls) -> str | None:
        """The name of the property that lists dimensions, where there is one."""
        return next(iter(cls.get_irdl_definition().properties), None)

    def print(self, printer: Printer) -> None:
        count = len(self.operands) - len(self.updated())
        ins = operand_group_text(printer, "ins", self.operands[:count])
        printer.print_string(ins + operand_group_text(printer, "outs", self.operands[count:]))
        if (keyword := self.dims_keyword()) is not None:
            printer.print_string(f" {keyword} = {list(integers(self.properties[keyword]))}")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        payload = _parse_payload(parser)
        inputs = parse_operand_group(parser, "ins")
        inits = parse_operand_group(parser, "outs")
        properties = dict[str, Attribute]()
        if (keyword := cls.dims_keyword()) is not None:
            parser.parse_keyword(keyword)
            parser.parse_punctuation("=")
            dims = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
            properties[keyword] = DenseArrayBase.from_list(i64, dims)
        attributes = parser.parse_optional_attr_dict()
        return cls.create(
            operands=(*inputs, *inits),
            result_types=tensor_types(inits),
            properties=properties,
            attributes=attributes,
            regions=cls.parse_bodies(parser, payload, inputs, inits),
        )

    @classmethod
    def parse_bodies(
        cls,
        parser: Parser,
        payload: Payload | None,
        inputs: Sequence[SSAValue],
        inits: Sequence[SSAValue],
    ) -> list[Region]:
        """The regions, of which there may be none; ``payload`` stood for one."""
        return []


class MovementOp(DimensionsOp, ABC):
    """One input, moved into one output; the body only hands the element on."""

    input = operand_def()
    init = operand_def()
    result = var_result_def()
    body = opt_region_def("single_block")

    def updated(self) -> Sequence[SSAValue]:
        return (self.init,)

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        return iterator_types(parallel=_rank(self.init))

    def build_body(self) -> Region:
        """The region the name stands for, not attached to the operation."""
        return bodies.build_body(self.name, self.operands, bodies.first_input)


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


def _parse_payload(parser: Parser) -> Payload | None:
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
    payload: Payload,
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


class CombiningOp(DimensionsOp, ABC):
    """Elements of inputs and outputs combined by a body that is written out."""

    inputs = var_operand_def()

    @classmethod
    @abstractmethod
    def payload_order(cls, inputs: int, outputs: int) -> Sequence[int]:
        """The operands whose elements the short form, of one operation, applies it to."""

    def updated(self) -> Sequence[SSAValue]:
        return self.operands[len(self.inputs) :]

    def print(self, printer: Printer) -> None:
        super().print(printer)
        printer.print_string(" (")
        printer.print_list(self.regions[0].block.args, printer.print_block_argument)
        printer.print_string(") ")
        printer.print_region(self.regions[0], print_entry_block_args=False)

    @classmethod
    def parse_bodies(
        cls,
        parser: Parser,
        payload: Payload | None,
        inputs: Sequence[SSAValue],
        inits: Sequence[SSAValue],
    ) -> list[Region]:
        if payload is None:
            return [_parse_mapper(parser)]
        order = cls.payload_order(len(inputs), len(inits))
        return [_payload_body(payload, (*inputs, *inits), order)]


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
