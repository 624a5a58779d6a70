"""Operands as plain Python values: constants, lists, and sizes as expressions of the program's symbols."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Operation, OpResult, SSAValue

from torch2mlir.dialects.torch import core, dims
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim, KnownSize


@dataclass(frozen=True)
class Unknown:
    """A scalar that is only known when the program runs."""

    value: SSAValue

    def __hash__(self) -> int:
        return id(self.value)


COMPLEX_NUMBER = "torch.aten.Complex.float_float"
"""The op that stands for a complex constant, of which the dialect has none."""

_DIM_ARITHMETIC: dict[str, Callable[..., KnownSize]] = {
    "torch.aten.add.int": dims.add,
    "torch.aten.sub.int": dims.sub,
    "torch.aten.mul.int": dims.mul,
    "torch.aten.floordiv.int": dims.floordiv,
    "torch.aten.remainder.int": dims.mod,
    "torch.aten.neg.int": lambda value: dims.mul(-1, value),
    "torch.prim.max.int": dims.maximum,
    "torch.prim.min.int": dims.minimum,
}


class Values:
    """Resolves operands, remembering what it has resolved."""

    def __init__(self) -> None:
        self._known: dict[SSAValue, Any] = {}

    def of(self, value: SSAValue) -> Any:
        """What an operand is.

        A tensor is its SSA value; a constant, its Python value; a list, a Python list of these; an integer
        computed from sizes, an ``int`` or :class:`Dim`; anything else :class:`Unknown`.
        """
        if isinstance(value.type, t.AnyTensorType):
            return value
        if value not in self._known:
            self._known[value] = self._resolve(value)
        return self._known[value]

    def _resolve(self, value: SSAValue) -> Any:
        if not isinstance(value, OpResult):
            return Unknown(value)
        op: Operation = value.op
        match op:
            case core.ConstantOp():
                return op.value
            case core.PrimListConstructOp() | core.PrimTupleConstructOp():
                return [self.of(operand) for operand in op.operands]
            case core.DerefineOp():
                return self.of(op.operands[0])
            case core.SymbolicIntOp():
                return dims.symbol(op.symbol)
        if op.name == "torch.aten.size.int":
            size = self._size(op)
            return Unknown(value) if size is None else size
        if op.name == "torch.aten.numel":
            sizes = op.operands[0].type.sizes  # type: ignore[attr-defined]
            known = sizes is not None and None not in sizes
            return dims.product(sizes) if known else Unknown(value)
        if op.name == COMPLEX_NUMBER:
            parts = [self.of(operand) for operand in op.operands]
            return complex(*parts) if all(isinstance(p, float) for p in parts) else Unknown(value)
        if op.name in _DIM_ARITHMETIC:
            operands = [self.of(operand) for operand in op.operands]
            if all(isinstance(o, int | Dim) for o in operands):
                return _DIM_ARITHMETIC[op.name](*operands)
        return Unknown(value)

    def _size(self, op: Operation) -> KnownSize | None:
        sizes, dim = op.operands[0].type.sizes, self.of(op.operands[1])  # type: ignore[attr-defined]
        return sizes[dim] if sizes is not None and isinstance(dim, int) else None
