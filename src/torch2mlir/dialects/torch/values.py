"""Operands as plain Python values: constants, lists, and sizes as expressions of the program's symbols."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Operation, OpResult, SSAValue

from torch2mlir.dialects.torch import core, dims, quotients
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim, KnownSize, is_size
from torch2mlir.dialects.torch.lists import is_written
from torch2mlir.dialects.torch.python_ops import FAILURES, PYTHON_OPS, is_constant
from torch2mlir.dialects.torch.quotients import Quotient
from torch2mlir.dialects.torch.tensor_facts import TENSOR_FACTS


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
_DIVISIONS = {"torch.aten.floordiv.int", "torch.aten.remainder.int"}

_ROUNDINGS: dict[str, Callable[[Quotient], KnownSize | None]] = {
    "torch.aten.floor.float": Quotient.floor,
    "torch.aten.ceil.float": Quotient.ceil,
    "torch.aten.Int.float": Quotient.trunc,
    "torch.aten.Int.Scalar": Quotient.trunc,
}
_TO_FLOAT = {"torch.aten.Float.Scalar", "torch.aten.Float.int"}
_PRODUCTS = {f"torch.aten.mul{kinds}" for kinds in ("", ".float", ".int_float", ".float_int")}
_SUMS = {f"torch.aten.add{kinds}" for kinds in ("", ".float", ".int_float", ".float_int")}


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
            case core.PrimListConstructOp() if is_written(value):
                return Unknown(value)
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
            divides = (
                op.name in _DIVISIONS and operands[1] == 0
            )  # which the program does when it runs
            if all(isinstance(o, int | Dim) for o in operands) and not divides:
                return _DIM_ARITHMETIC[op.name](*operands)
        if op.name in PYTHON_OPS:
            result = self._evaluate(op)
            return self._rounded(op) if isinstance(result, Unknown) else result
        if op.name in TENSOR_FACTS and isinstance(op.operands[0].type, t.AnyTensorType):
            fact = TENSOR_FACTS[op.name](op.operands[0].type)
            return Unknown(value) if fact is None else fact
        return Unknown(value)

    def _evaluate(self, op: Operation) -> Any:
        """An op on Python values: what it gives, if it is known what it is given."""
        result = op.results[0]
        operands = [self.of(operand) for operand in op.operands]
        if op.name in _DIM_COMPARISONS and any(isinstance(o, Dim) for o in operands):
            decided = _compared(op.name, operands)
            return Unknown(result) if decided is None else decided
        if op.name in _LIST_COMPARISONS and not all(map(_is_known, operands)):
            are_same = _are_same(*operands)
            return Unknown(result) if are_same is None else are_same is _LIST_COMPARISONS[op.name]
        if op.name == _RANGE_LENGTH and isinstance(operands[1], Dim):
            counts = operands[0] == 0 and operands[2] == 1 and is_size(operands[1])
            return operands[1] if counts else Unknown(result)
        if op.name == _LENGTH and isinstance(operands[0], list):
            return len(operands[0])
        if not all(map(_is_known, operands)):
            return Unknown(result)
        try:
            value = PYTHON_OPS[op.name](*operands)
        except FAILURES:
            return Unknown(result)
        if isinstance(result.type, t.FloatType) and not isinstance(value, complex):
            value = float(value)
        return value if is_constant(value) else Unknown(result)

    def _rounded(self, op: Operation) -> Any:
        """A float of sizes that becomes a whole number."""
        rounding = _ROUNDINGS.get(op.name)
        value = None if rounding is None else self._quotient(op.operands[0])
        size = None if rounding is None or value is None else rounding(value)
        return Unknown(op.results[0]) if size is None else size

    def _quotient(self, value: SSAValue) -> Quotient | None:
        """A float that is computed from sizes, if it is known what f64 makes of it."""
        known = self.of(value)
        if isinstance(known, int | Dim):
            return Quotient(known)
        if isinstance(known, float):
            return quotients.constant(known)
        if not isinstance(value, OpResult):
            return None
        name, operands = value.op.name, value.op.operands
        if name == "torch.aten.div.int":
            sizes = [self.of(operand) for operand in operands]
            are_sizes = all(isinstance(size, int | Dim) for size in sizes)
            return quotients.divided(*sizes) if are_sizes else None
        if name in _TO_FLOAT:
            return self._quotient(operands[0])
        if name == "torch.aten.round.float":
            rounded = self._quotient(operands[0])
            whole = None if rounded is None else rounded.round()
            return None if whole is None else Quotient(whole)
        if name in _PRODUCTS:
            return quotients.product([self._quotient(operand) for operand in operands])
        if name in _SUMS:
            return quotients.total([self._quotient(operand) for operand in operands])
        return None

    def _size(self, op: Operation) -> KnownSize | None:
        sizes, dim = op.operands[0].type.sizes, self.of(op.operands[1])  # type: ignore[attr-defined]
        known = sizes is not None and isinstance(dim, int) and -len(sizes) <= dim < len(sizes)
        return sizes[dim] if known else None


def _is_known(value: Any) -> bool:
    return all(map(_is_known, value)) if isinstance(value, list) else is_constant(value)


def _compared(name: str, operands: Sequence[Any]) -> bool | None:
    """A comparison of sizes, decided where their difference says it for all values of the symbols; else None."""
    if not all(isinstance(operand, int | Dim) for operand in operands):
        return None
    difference = dims.sub(*operands)
    if isinstance(difference, int):
        return bool(PYTHON_OPS[name](difference, 0))
    for sign, decided in ((1, _DIM_COMPARISONS[name][0]), (-1, _DIM_COMPARISONS[name][1])):
        if decided is not None and is_size(dims.add(dims.mul(sign, difference), -1)):
            return decided  # at least 1 apart
    return None


def _are_same(one: Any, other: Any) -> bool | None:
    """Whether two lists have the same sizes, if that is known whatever the symbols are."""
    if not isinstance(one, list) or not isinstance(other, list):
        return None
    if len(one) != len(other):
        return False
    found = {_compared(_EQUAL, pair) for pair in zip(one, other, strict=True)}
    return False if False in found else None if None in found else True


_EQUAL = "torch.aten.eq.int"
_LIST_COMPARISONS = {"torch.aten.eq.int_list": True, "torch.aten.ne.int_list": False}
"""Comparison of lists -> whether it asks for the same sizes."""
_RANGE_LENGTH, _LENGTH = "torch.aten.__range_length", "torch.aten.len.t"
_DIM_COMPARISONS: dict[str, tuple[bool | None, bool | None]] = {
    _EQUAL: (False, False),
    "torch.aten.ne.int": (True, True),
    "torch.aten.lt.int": (False, True),
    "torch.aten.le.int": (False, True),
    "torch.aten.gt.int": (True, False),
    "torch.aten.ge.int": (True, False),
}
"""Comparison -> what it says of a number larger than the other, and of a smaller one."""
