"""New ops beside one that is there, with its source line: what passes over target dialects write with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from torch2mlir.dialects import arith_ext

INDEX = IndexType()


class Beside:
    """Inserts ops before an op, or behind it, in the order in which they are asked for."""

    def __init__(self, op: Operation, behind: bool = False) -> None:
        self.op = op
        self._point = InsertPoint.after(op) if behind else InsertPoint.before(op)

    def create(
        self,
        kind: type[Operation],
        operands: Sequence[SSAValue],
        types: Sequence[Attribute],
        properties: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ) -> Operation:
        """A new op."""
        return self.insert(
            kind.create(
                operands=operands,
                result_types=types,
                properties=dict(properties or {}),
                regions=regions,
            )
        )

    def insert(self, new: Operation) -> Operation:
        """An op that has been made."""
        new.location = self.op.location
        Rewriter.insert_op(new, self._point)
        return new

    def value(
        self,
        kind: type[Operation],
        operands: Sequence[SSAValue],
        type: Attribute,
        properties: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ) -> SSAValue:
        """The result of a new op that has one."""
        return self.create(kind, operands, [type], properties, regions).results[0]

    def constant(self, literal: Attribute) -> SSAValue:
        """A number, or a tensor of numbers."""
        type = arith_ext.literal_type(literal)
        return self.value(arith_ext.ConstantOp, [], type, {"value": literal})

    def index(self, number: int) -> SSAValue:
        """A position or size."""
        return self.constant(IntegerAttr(number, INDEX))

    def replace(self, *values: SSAValue) -> None:
        """Takes the op away; its users get these values in place of its results."""
        Rewriter.replace_op(self.op, [], values)
