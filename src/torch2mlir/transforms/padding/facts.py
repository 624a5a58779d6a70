"""What is known of padded values: their padded dimensions, and which numbers are those of the real sizes.

An input is padded at the end of every dimension whose size is rounded up. Of a value of the program the *real
elements* are those within its real sizes, from the front; what the proof keeps up is that they are what they would be
without padding. All others are arbitrary, NaN and infinities among them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import torch
from xdsl.ir import Operation, OpResult, SSAValue

from torch2mlir.contract.core_ops import SCALAR_OPS
from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.torch import core, dims
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim, KnownSize, Size
from torch2mlir.dialects.torch.values import Unknown, Values
from torch2mlir.errors import BackendContractError
from torch2mlir.frontends import dtypes

Sizes = tuple[KnownSize, ...]


@dataclass
class Padding:
    """What is padded in one function.

    Attributes:
        symbols: the sizes that are rounded up.
        values: operands as Python values.
        extents: real sizes that the program needs as numbers, each with the argument that has it.
    """

    symbols: frozenset[str]
    values: Values = field(default_factory=Values)
    extents: dict[Dim, SSAValue] = field(default_factory=dict)

    def is_padded(self, size: Any) -> bool:
        """Whether a size is rounded up."""
        return isinstance(size, Dim) and not self.symbols.isdisjoint(size.symbols())

    def sizes(self, value: SSAValue) -> Sizes:
        """The sizes of a tensor.

        Raises:
            BackendContractError: one is unknown, so nobody knows whether it is padded.
        """
        assert isinstance(value.type, t.AnyTensorType)
        sizes = value.type.sizes
        if sizes is None or None in sizes:
            owner = value.owner
            refuse(owner if isinstance(owner, Operation) else None, "it has a size nobody knows")
        return sizes  # type: ignore[return-value]

    def axes(self, value: SSAValue) -> set[int]:
        """The padded dimensions of a tensor."""
        return {i for i, size in enumerate(self.sizes(value)) if self.is_padded(size)}

    def dtype(self, value: SSAValue) -> torch.dtype | None:
        """The dtype of a tensor."""
        assert isinstance(value.type, t.AnyTensorType)
        return None if value.type.dtype is None else dtypes.FROM_ELEMENT_TYPE.get(value.type.dtype)

    def numbers(self, op: Operation, index: int) -> list[Any]:
        """An operand that is a list of numbers; sizes among them are expressions.

        Raises:
            BackendContractError: it is made where the program runs.
        """
        known = self.values.of(op.operands[index])
        if not isinstance(known, list):
            refuse(op, "a list of numbers is not known")
        return known

    def touches(self, op: Operation) -> bool:
        """Whether an op has to do with padded tensors, or with numbers that are not those of the real sizes."""
        tensors = [v for v in self._tensors(op) if self._may_be_padded(t.tensor_of(v).sizes)]
        return bool(tensors) or not all(map(self.is_right, op.operands))

    def _tensors(self, op: Operation) -> Sequence[SSAValue]:
        found = list[SSAValue]()
        for value in (*op.operands, *op.results):
            known = self.values.of(value)
            for member in known if isinstance(known, list) else [value]:
                if isinstance(member, SSAValue) and isinstance(member.type, t.AnyTensorType):
                    found.append(member)
        return found

    def _may_be_padded(self, sizes: Sequence[Size] | None) -> bool:
        return sizes is None or any(size is None or self.is_padded(size) for size in sizes)

    def whole(self, value: SSAValue) -> KnownSize | None:
        """A number as an expression of sizes, if it is one; floats without fractions too."""
        known = self.values.of(value)
        if isinstance(known, int | Dim) and not isinstance(known, bool):
            return known
        if isinstance(known, float) and known.is_integer():
            return int(known)
        if not isinstance(known, Unknown) or not isinstance(known.value, OpResult):
            return None
        op = known.value.op
        operands = [self.whole(operand) for operand in op.operands]
        make = _WHOLE.get(op.name)
        numbers = [operand for operand in operands if operand is not None]
        return make(*numbers) if make is not None and len(numbers) == len(operands) else None

    def is_right(self, value: SSAValue) -> bool:
        """Whether a number, or a list of numbers, is what it would be without padding; tensors are."""
        return isinstance(value.type, t.AnyTensorType) or self._is_right(self.values.of(value))

    def _is_right(self, known: Any) -> bool:
        if isinstance(known, list):
            return all(map(self._is_right, known))
        if not isinstance(known, Unknown):
            return not self.is_padded(known)
        if not isinstance(known.value, OpResult):
            return False
        op = known.value.op
        if op.name == "torch.aten.size.int":  # of a size nobody knows
            return False
        if isinstance(op, core.PrimListConstructOp) or op.name.removeprefix("torch.") in _NUMBERS:
            return all(map(self.is_right, op.operands))
        return False


_WHOLE: dict[str, Callable[..., KnownSize]] = {
    "torch.aten.Float.Scalar": lambda size: size,
    "torch.aten.add.float": dims.add,
    "torch.aten.sub.float": dims.sub,
    "torch.aten.mul.float": dims.mul,
    "torch.prim.max.float": dims.maximum,
    "torch.prim.min.float": dims.minimum,
}
_NUMBERS = {name.removeprefix("torch.") for name in SCALAR_OPS}


def is_monotone(size: KnownSize) -> bool:
    """Whether a size does not shrink when the sizes it is made of grow, so that real elements stay within it."""
    if isinstance(size, int) or size.op == "symbol":
        return True
    operands = size.operands()
    if size.op == "mod":
        return False
    if size.op == "floordiv":
        return isinstance(operands[1], int) and operands[1] > 0 and is_monotone(operands[0])
    if size.op == "mul" and any(isinstance(o, int) and o < 0 for o in operands):
        return False
    return all(map(is_monotone, operands))


def refuse(op: Operation | None, reason: str) -> NoReturn:
    """Raises the error for an op that is not known to keep padding apart."""
    raise BackendContractError(
        f"sizes cannot be rounded up: {reason}",
        op=op.name.removeprefix("torch.") if op is not None else None,
        location=describe(op.location) if op is not None else None,
        hint="leave that size out of buckets, or compile for an engine that takes varying sizes "
        '(engine="onnxruntime" or "iree")',
    )
