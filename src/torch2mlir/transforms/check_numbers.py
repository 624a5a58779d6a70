"""``torch-check-numbers``: a program ends where Python refuses to compute with the numbers that it read from tensors.

Python has no integer of an infinity or NaN, divides nothing by 0 and has no real root of a negative number; the
dialects, like the processor, have some number for each. What follows from constants and from the sizes of arguments is
left alone: it was computed when the program was captured.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim
from torch2mlir.dialects.torch.tensor_facts import FLOATS
from torch2mlir.dialects.torch.values import Unknown, Values
from torch2mlir.frontends.fx.constants import ConstantPool
from torch2mlir.transforms.semantics.symbols import symbol_ranges

NOT_INTEGRAL = "the program makes an integer of a float that is infinite, NaN or beyond 64 bits"
DIVIDES_BY_ZERO = "the program divides a number by 0"
ROOT_OF_NEGATIVE = "the program takes a root of a negative number"
NO_LOGARITHM = "the program takes the logarithm of a number that is not positive"
NO_ANGLE = "the program takes the sine or cosine of an infinite number"
TOO_LARGE = "the program computes a power that is too large for a float"
_LARGEST_EXPONENT = math.log(sys.float_info.max)

_READS = frozenset(
    f"torch.aten.{name}"
    for name in (
        *("item", "_local_scalar_dense", "Float.Tensor", "Int.Tensor"),
        *("FloatImplicit", "IntImplicit", "ScalarImplicit"),
    )
)
"""Ops that read a number from a tensor."""


class _Origins:
    """Tells which numbers depend on the elements of tensors.

    Args:
        given: the symbols of the arguments' sizes; others are sizes that elements decide.
    """

    def __init__(self, given: Collection[str]) -> None:
        self._given = given
        self.values = Values()
        self._known = dict[SSAValue, bool]()

    def is_of_elements(self, number: SSAValue) -> bool:
        """Whether a number is read from a tensor, or computed with one that is."""
        if number not in self._known:
            self._known[number] = self._finds_elements(number)
        return self._known[number]

    def _finds_elements(self, number: SSAValue) -> bool:
        met, left = {number}, [number]
        while left:
            each = left.pop()
            known = self.values.of(each)
            if isinstance(known, Dim) and not set(known.symbols()) <= set(self._given):
                return True
            if not isinstance(known, Unknown):
                continue
            if isinstance(each.owner, Operation) and each.owner.name in _READS:
                return True
            new = [o for o in _sources(each) if _kind(o) is not None and o not in met]
            met.update(new)
            left += new
        return False


def _sources(number: SSAValue) -> Sequence[SSAValue]:
    """What a number is computed from, in branches and turns of loops too."""
    owner = number.owner
    if isinstance(owner, Block):
        return _handed_on(owner, number)
    ends = [block.last_op for region in owner.regions for block in region.blocks]
    return [*owner.operands, *(o for end in ends if end is not None for o in end.operands)]


def _handed_on(block: Block, number: SSAValue) -> list[SSAValue]:
    """What an argument of a loop's body is, in its first turn and in the others."""
    loop = block.parent_op()
    place = next(i for i, argument in enumerate(block.args) if argument is number)
    if not isinstance(loop, core.PrimLoopOp) or place == 0:
        return []
    end = block.last_op
    return [loop.operands[place + 1], *(() if end is None else [end.operands[place]])]


class _Checker:
    """Writes the checks of one op before it.

    Args:
        op: the op.
        origins: tells what depends on elements.
        written: checks that stand before the op already; those of this op are added.
    """

    def __init__(
        self, op: Operation, origins: _Origins, written: set[tuple[str, SSAValue]]
    ) -> None:
        self.op, self.origins, self._written = op, origins, written
        self._constants = ConstantPool(self._insert)

    def check_is_integral(self) -> None:
        """Of a float that becomes an integer, which the dialect's 64 bits have to hold."""
        number = self.op.operands[0]
        if isinstance(number.type, t.AnyTensorType):  # which is read and converted at once
            if not isinstance(number.type.dtype, FLOATS):
                return
            number = self._emit("aten.Float.Tensor", t.float_type, number)
        if self._matters(number, NOT_INTEGRAL) and _kind(number) == "float":
            size = self._emit("prim.abs.float", t.float_type, number)
            holds = self._compare("lt", size, 2.0**63)
            self._assert(holds, NOT_INTEGRAL)

    def check_divisor(self) -> None:
        """Of a division or a remainder."""
        self._check_is_not_zero(self.op.operands[1])

    def check_is_not_negative(self) -> None:
        """Of a root; that of NaN is NaN."""
        self._check_base(self.op.operands[0])

    def check_is_positive(self) -> None:
        """Of a logarithm; that of NaN is NaN."""
        self._check_not(self.op.operands[0], "le", 0.0, NO_LOGARITHM)

    def check_is_no_infinity(self) -> None:
        """Of an angle."""
        number = self.op.operands[0]
        if self._matters(number, NO_ANGLE):
            size = self._emit("prim.abs.float", t.float_type, number)
            self._assert(self._compare("ne", size, math.inf), NO_ANGLE)

    def check_is_no_overflow(self) -> None:
        """Of ``exp``: Python gives infinities for infinities only."""
        number = self.op.operands[0]
        if self._matters(number, TOO_LARGE):
            above = self._compare("gt", number, _LARGEST_EXPONENT)
            finite = self._compare("lt", number, math.inf)
            overflows = self._emit("aten.__and__.bool", t.bool_type, above, finite)
            self._assert(self._emit("aten.__not__", t.bool_type, overflows), TOO_LARGE)

    def check_power(self) -> None:
        """Of a power: of negative numbers those with whole exponents are real; 0 has no negative ones."""
        base, exponent = self.op.operands
        self._check_is_no_infinite_power()
        if _kind(base) != "float":
            return
        known = self.origins.values.of(exponent)
        if isinstance(known, int | float) and known < 0:
            self._check_is_not_zero(base)
        if not (_is_whole(exponent) or isinstance(known, float) and known == math.floor(known)):
            self._check_base(base)

    def _check_is_no_infinite_power(self) -> None:
        """Python gives infinite powers of infinities only."""
        floats = [number for number in self.op.operands if _kind(number) == "float"]
        power = self.op.results[0]
        if _kind(power) != "float" or not floats or not self._matters(power, TOO_LARGE):
            return
        value = self._emit(self.op.name.removeprefix("torch."), t.float_type, *self.op.operands)
        overflows = self._is_infinite(value)
        for number in floats:
            finite = self._emit("aten.__not__", t.bool_type, self._is_infinite(number))
            overflows = self._emit("aten.__and__.bool", t.bool_type, overflows, finite)
        self._assert(self._emit("aten.__not__", t.bool_type, overflows), TOO_LARGE)

    def _is_infinite(self, number: SSAValue) -> SSAValue:
        size = self._emit("prim.abs.float", t.float_type, number)
        return self._compare("eq", size, math.inf)

    def _check_is_not_zero(self, number: SSAValue) -> None:
        kind = _kind(number)
        if kind is not None and self._matters(number, DIVIDES_BY_ZERO):
            self._assert(
                self._compare("ne", number, 0.0 if kind == "float" else 0), DIVIDES_BY_ZERO
            )

    def _check_base(self, number: SSAValue) -> None:
        self._check_not(number, "lt", 0.0, ROOT_OF_NEGATIVE)

    def _check_not(self, number: SSAValue, comparison: str, other: float, message: str) -> None:
        """That a comparison of a float does not hold, as none does of NaN."""
        if _kind(number) == "float" and self._matters(number, message):
            found = self._compare(comparison, number, other)
            self._assert(self._emit("aten.__not__", t.bool_type, found), message)

    def _matters(self, number: SSAValue, check: str) -> bool:
        """Whether a number depends on elements and has not been checked."""
        if (check, number) in self._written or not self.origins.is_of_elements(number):
            return False
        self._written.add((check, number))
        return True

    def _compare(self, name: str, number: SSAValue, other: float) -> SSAValue:
        return self._emit(
            f"aten.{name}.{_kind(number)}", t.bool_type, number, self._constants.scalar(other)
        )

    def _emit(self, name: str, type: Attribute, *operands: SSAValue) -> SSAValue:
        new = core.build(f"torch.{name}", operands, [type])
        self._insert(new)
        return new.results[0]

    def _assert(self, holds: SSAValue, message: str) -> None:
        properties = {"message": StringAttr(message)}
        self._insert(core.RuntimeAssertOp.create(operands=[holds], properties=properties))

    def _insert(self, new: Operation) -> None:
        block = self.op.parent
        assert block is not None
        new.location = self.op.location
        block.insert_op_before(new, self.op)


def _kind(value: SSAValue) -> str | None:
    """``int`` or ``float``, or None of anything else."""
    if value.type == t.int_type:
        return "int"
    return "float" if value.type == t.float_type else None


def _is_whole(number: SSAValue) -> bool:
    """Whether a number is an integer, or a float that is made of one."""
    if _kind(number) == "int":
        return True
    owner = number.owner
    is_float = isinstance(owner, Operation) and owner.name in _TO_FLOAT
    return is_float and _kind(owner.operands[0]) == "int"  # type: ignore[union-attr]


_TO_FLOAT = ("torch.aten.Float.Scalar", "torch.aten.Float.int")
_OF_TWO = ("", ".int", ".float", ".int_float", ".float_int")
_TO_INTEGER = ("Int.float", "Int.Scalar", "Int.Tensor", "ceil.float", "floor.float")
_DIVISIONS = (f"{name}{kinds}" for name in ("div", "floordiv", "remainder") for kinds in _OF_TWO)
_POWERS = (f"pow{kinds}" for kinds in (*_OF_TWO, ".Scalar"))

_CHECKS: dict[str, Callable[[_Checker], None]] = {
    **{f"torch.aten.{name}": _Checker.check_is_integral for name in _TO_INTEGER},
    **{f"torch.aten.{name}": _Checker.check_divisor for name in _DIVISIONS},
    **{f"torch.aten.{name}": _Checker.check_power for name in _POWERS},
    "torch.aten.sqrt.float": _Checker.check_is_not_negative,
    "torch.aten.log.float": _Checker.check_is_positive,
    "torch.aten.sin.float": _Checker.check_is_no_infinity,
    "torch.aten.cos.float": _Checker.check_is_no_infinity,
    "torch.aten.exp.float": _Checker.check_is_no_overflow,
}
"""Op on numbers -> what checks those it has no result for."""


def _check_block(block: Block, origins: _Origins, written: set[tuple[str, SSAValue]]) -> None:
    for op in list(block.ops):
        if (check := _CHECKS.get(op.name)) is not None:
            check(_Checker(op, origins, written))
        for region in op.regions:
            for nested in region.blocks:
                _check_block(nested, origins, set(written))


@dataclass(frozen=True)
class CheckNumbersPass(PassForOps):
    """See the module's docstring."""

    name = "torch-check-numbers"
    looks_for = frozenset(_CHECKS)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        origins = _Origins(symbol_ranges(op).keys())
        for function in op.body.block.ops:
            if isinstance(function, FuncOp):
                for block in function.body.blocks:
                    _check_block(block, origins, set())
