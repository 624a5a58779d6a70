"""The ``tm_tensor`` dialect: scans, scatters, sorts and attention, in texts that Torch-MLIR's pipelines leave."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, IntegerAttr, i64
from xdsl.ir import Attribute, Dialect, Operation, OpTraits
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.linalg.structured import (
    SEGMENTS,
    operands_text,
    parse_operand_group,
    segment_sizes,
)
from torch2mlir.dialects.rows import Kind, op_classes

ATTRIBUTES = "attributes"
"""The place of the attribute dictionary among the clauses."""
INHERENT = ("dimension_map",)
"""Properties that stand in the attribute dictionary."""


class TmTensorOp(Operation):
    """Base of ops that print as ``tm_tensor.x clause(0) ins(%a : !t) outs(%b : !t) {..} -> !t``."""

    clauses: ClassVar[tuple[str, ...]] = (ATTRIBUTES,)
    """What comes before the operands, in order: ``dimension(0)``, ``inclusive(true)``, the attributes."""
    has_region: ClassVar[bool] = True
    traits: ClassVar[OpTraits] = OpTraits(lambda: ())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties, attributes = dict[str, Attribute](), dict[str, Attribute]()
        for clause in cls.clauses:
            if clause == ATTRIBUTES:
                attributes = parser.parse_optional_attr_dict()
                continue
            parser.parse_keyword(clause)
            with parser.in_parens():
                if clause == "dimension":
                    properties[clause] = IntegerAttr(parser.parse_integer(), i64)
                else:
                    properties[clause] = BoolAttr.from_bool(parser.parse_boolean())
        for name in INHERENT:
            if name in attributes:
                properties[name] = attributes.pop(name)
        groups = [parse_operand_group(parser, keyword) for keyword in ("ins", "outs")]
        properties[SEGMENTS] = segment_sizes(*map(len, groups))
        regions = [parser.parse_region()] if cls.has_region else []
        results = list[Attribute]()
        if parser.parse_optional_punctuation("->"):
            results = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        return cls.create(
            operands=[*groups[0], *groups[1]],
            result_types=results,
            properties=properties,
            attributes=attributes,
            regions=regions,
        )

    @property
    def segments(self) -> tuple[int, ...]:
        """How many inputs and outputs there are."""
        sizes = self.properties.get(SEGMENTS)
        return tuple(sizes.get_values()) if isinstance(sizes, DenseArrayBase) else ()

    def verify_(self) -> None:
        if len(self.segments) != 2 or sum(self.segments) != len(self.operands):
            raise VerifyException(f"{SEGMENTS} do not divide the operands into inputs and outputs")
        if missing := set(self.clauses) - {ATTRIBUTES, *self.properties}:
            raise VerifyException(f"needs the property {min(missing)}")
        if len(self.regions) != int(self.has_region):
            raise VerifyException("needs one region" if self.has_region else "has no regions")

    def print(self, printer: Printer) -> None:
        inherent = {n: self.properties[n] for n in INHERENT if n in self.properties}
        for clause in self.clauses:
            if clause == ATTRIBUTES:
                printer.print_op_attributes({**inherent, **self.attributes})
                continue
            value = self.properties[clause]
            printer.print_string(f" {clause}(")
            if isinstance(value, IntegerAttr) and clause == "dimension":
                printer.print_string(str(value.value.data))
            else:
                printer.print_attribute(value)
            printer.print_string(")")
        printer.print_string(operands_text(printer, self))
        for region in self.regions:
            printer.print_string(" ")
            printer.print_region(region)
        if self.results:
            printer.print_string(" -> ")
            printer.print_list(self.result_types, printer.print_attribute)


class ScanOp(TmTensorOp):
    """Running combination of elements along a dimension."""

    name = "tm_tensor.scan"
    clauses = ("dimension", "inclusive", ATTRIBUTES)


class ScatterOp(TmTensorOp):
    """Elements put at, or combined with those at, given positions."""

    name = "tm_tensor.scatter"
    clauses = (ATTRIBUTES, "unique_indices")


class SortOp(TmTensorOp):
    """Tensors ordered along a dimension by a comparison of their elements."""

    name = "tm_tensor.sort"
    clauses = (ATTRIBUTES, "dimension")


class TopkOp(TmTensorOp):
    """The first elements along a dimension in an order, with their positions."""

    name = "tm_tensor.topk"
    clauses = (ATTRIBUTES, "dimension")


class AttentionOp(TmTensorOp):
    """Scaled dot-product attention."""

    name = "tm_tensor.attention"
    has_region = False


(YieldOp,) = op_classes(
    "tm_tensor",
    {"tensor": Kind()},
    """
    yield values*
      | attr-dict ($values^ `:` type($values))? |
      Ends a region.
    """,
    (IsTerminator(),),
)

TM_TENSOR = Dialect("tm_tensor", [ScanOp, ScatterOp, SortOp, TopkOp, AttentionOp, YieldOp])
